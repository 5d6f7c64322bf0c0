//! The legend of the map.

use std::fmt::Write as _;

use super::{
    Overlay, escape,
    labels::text_width,
    links::{Kind, RTT_LIMITS_MS, Stroke, class_of},
};
use crate::Layout;

pub(super) struct Legend {
    width: f64,
    x: f64,
    y: f64,
    out: String,
}

impl Legend {
    pub(super) fn new(width: f64, top: f64) -> Self {
        Self { width, x: MARGIN, y: top + LINE, out: "<g class=\"legend\">\n".to_owned() }
    }

    pub(super) fn describe(&mut self, layout: &Layout, overlay: &Overlay, strokes: &[Stroke]) {
        let has = |wanted: fn(&Kind) -> bool| strokes.iter().any(|stroke| wanted(&stroke.kind));
        let is_timed = |kind: &Kind| matches!(kind, Kind::Generated | Kind::Given);
        let times = (0..=RTT_LIMITS_MS.len()).filter(|&class| {
            strokes.iter().any(|stroke| is_timed(&stroke.kind) && class_of(stroke.rtt) == class)
        });
        let mut heading = "round trip ";
        for class in times.collect::<Vec<_>>() {
            self.line(&format!("given rtt-{class}"), &format!("{heading}{}", range(class)));
            heading = "";
        }
        if has(|kind| *kind == Kind::Given) && has(|kind| *kind == Kind::Generated) {
            self.line("given plain", "given");
            self.line("generated plain", "from the map");
        }
        if has(|kind| matches!(kind, Kind::Faulty(_))) {
            self.line("given fault", "fault");
        }
        let Some(catchment) = &overlay.catchment else { return };
        let count = |site: Option<usize>| {
            (0..layout.cities.len()).filter(|&city| overlay.site_of(city) == site).count()
        };
        let mut heading = format!("{} in ", catchment.name);
        for (site, &city) in catchment.sites.iter().enumerate() {
            let name = layout.cities.get(city).map_or("nowhere", |city| city.name.as_str());
            let words = format!("{}{name} ({})", std::mem::take(&mut heading), count(Some(site)));
            self.dot(&format!("city site-{}", site % super::style::SITES), &words);
        }
        match count(None) {
            0 => {}
            lost => self.dot("city lost", &format!("out of reach ({lost})")),
        }
    }

    pub(super) fn bottom(&self) -> f64 {
        if self.x > MARGIN { self.y + LINE } else { self.y }.round()
    }

    pub(super) fn finish(self) -> String {
        self.out + "</g>\n"
    }

    fn line(&mut self, class: &str, words: &str) {
        let (x, y) = self.advance(words);
        let _ = writeln!(self.out, "<path class=\"{class}\" d=\"M{x:.1} {:.1}h{SAMPLE}\"/>", y - 4.0);
        self.words(x, y, words);
    }

    fn dot(&mut self, class: &str, words: &str) {
        let (x, y) = self.advance(words);
        let _ = writeln!(
            self.out,
            "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\"/>",
            x + SAMPLE / 2.0,
            y - 4.0
        );
        self.words(x, y, words);
    }

    fn words(&mut self, x: f64, y: f64, words: &str) {
        let _ =
            writeln!(self.out, "<text x=\"{:.1}\" y=\"{y:.1}\">{}</text>", x + SAMPLE + 5.0, escape(words));
    }

    fn advance(&mut self, words: &str) -> (f64, f64) {
        let wide = SAMPLE + 5.0 + text_width(words);
        if self.x > MARGIN && self.x + wide > self.width - MARGIN {
            self.x = MARGIN;
            self.y += LINE;
        }
        let at = (self.x, self.y);
        self.x += wide + 10.0;
        at
    }
}

fn range(class: usize) -> String {
    let (from, to) = (class.checked_sub(1).map(|below| RTT_LIMITS_MS[below]), RTT_LIMITS_MS.get(class));
    match (from, to) {
        (None, Some(to)) => format!("below {to} ms"),
        (Some(from), Some(to)) => format!("{from} to {to} ms"),
        (Some(from), None) => format!("{from} ms and more"),
        (None, None) => unreachable!("there is a limit"),
    }
}

const MARGIN: f64 = 8.0;
const LINE: f64 = 18.0;
const SAMPLE: f64 = 18.0;
