//! Draws cities as dots, and the names of important ones.

use std::fmt::Write as _;

use super::{
    Overlay, escape,
    labels::{Anchor, Label, Labels},
    projection::{Point, Projection},
};
use crate::{CityId, Layout, gazetteer};

pub(super) struct Dot {
    name: String,
    title: String,
    at: Point,
    radius: f64,
    class: String,
    is_site: bool,
}

pub(super) fn dots(layout: &Layout, overlay: &Overlay, projection: &Projection) -> Vec<Dot> {
    let mut hosts = vec![0_u32; layout.cities.len()];
    layout.hosts.iter().for_each(|host| hosts[host.city] += 1);
    let people = |city: CityId| gazetteer::find(&layout.cities[city].name).map_or(0, |entry| entry.people);
    let mut order: Vec<_> = (0..layout.cities.len()).collect();
    let importance =
        |&city: &CityId| (overlay.is_site(city), overlay.is_dark(city), hosts[city], people(city));
    order.sort_by_key(|city| std::cmp::Reverse(importance(city)));
    let smallest = if layout.cities.len() > CROWD { 1.8 } else { 3.2 };
    let scale = projection.dot_scale();
    let dot = |city: CityId| {
        let name = layout.cities[city].name.clone();
        let what = if overlay.is_dark(city) { "dark".to_owned() } else { site_class(overlay, city) };
        Dot {
            title: title(layout, overlay, city, hosts[city]),
            at: projection.point(layout.cities[city].place),
            radius: scale * (smallest + f64::from(hosts[city].saturating_sub(1)).ln_1p().min(5.0) * 0.8),
            class: what,
            is_site: overlay.is_site(city),
            name,
        }
    };
    order.into_iter().map(dot).collect()
}

fn site_class(overlay: &Overlay, city: CityId) -> String {
    match (&overlay.catchment, overlay.site_of(city)) {
        (None, _) => "city".to_owned(),
        (Some(_), Some(site)) => format!("city site-{}", site % super::style::SITES),
        (Some(_), None) => "city lost".to_owned(),
    }
}

fn title(layout: &Layout, overlay: &Overlay, city: CityId, hosts: u32) -> String {
    let name = &layout.cities[city].name;
    let hosts = if hosts == 1 { "1 host".to_owned() } else { format!("{hosts} hosts") };
    let state = if overlay.is_dark(city) { ", down" } else { "" };
    let reach = overlay.catchment.as_ref().map(|catchment| {
        let site = overlay.site_of(city).and_then(|site| catchment.sites.get(site)).copied();
        match site.and_then(|site| layout.cities.get(site)) {
            Some(site) => format!(", reaches {} in {}", catchment.name, site.name),
            None => format!(", does not reach {}", catchment.name),
        }
    });
    format!("{name}: {hosts}{state}{}", reach.unwrap_or_default())
}

pub(super) fn draw(dots: &[Dot], labels: &mut Labels, out: &mut String) {
    out.push_str("<g class=\"cities\">\n");
    for Dot { title, at: Point { x, y }, radius, class, is_site, .. } in dots.iter().rev() {
        if *is_site {
            let _ = writeln!(
                out,
                "<circle class=\"ring {class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{:.1}\"/>",
                radius + 3.0
            );
        }
        let _ = writeln!(
            out,
            "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\"><title>{}</title></circle>",
            escape(title)
        );
    }
    for (index, dot) in dots.iter().enumerate() {
        // The names of the first few may cover dots; otherwise the largest cities in a dense area
        // would have no name.
        let next = match index {
            0 => &dots[..dots.len().min(LEADING)],
            LEADING => &dots[LEADING..],
            _ => &[],
        };
        next.iter().for_each(|dot| labels.reserve(dot.at, dot.reach()));
        if let Some(Label { at: Point { x, y }, anchor }) = labels.place(&dot.name, dot.at, dot.reach()) {
            let side = match anchor {
                Anchor::Start => "",
                Anchor::Middle => " middle",
                Anchor::End => " end",
            };
            let name = escape(&dot.name);
            let _ = writeln!(out, "<text class=\"label{side}\" x=\"{x:.1}\" y=\"{y:.1}\">{name}</text>");
        }
    }
    out.push_str("</g>\n");
}

impl Dot {
    fn reach(&self) -> f64 {
        self.radius + if self.is_site { 4.0 } else { 0.5 }
    }
}

const LEADING: usize = 40;

const CROWD: usize = 60;
