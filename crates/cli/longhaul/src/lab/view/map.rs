//! The live view as a map: cities, and links with traffic.

use std::{cmp::Reverse, collections::BTreeSet};

use planet::Status;
use report::terminal::table::{Line, Words};
use world::{
    CityId, Layout,
    geography::{Place, arc},
    map,
};

use super::{
    Size,
    braille::{ACROSS, Canvas, DOWN, Dot, Layer},
    flow::Window,
    frame::{faults, shortened},
};
use crate::{
    lab::figures::whole,
    output::{BOLD, RED},
};

pub(super) fn map(window: &Window, layout: &Layout, size: Size) -> Vec<Line> {
    let rest = size.rows.saturating_sub(1);
    let faults = shortened(faults(window), rest / 3);
    let sheet = Sheet::of(layout, size.columns, rest - faults.len());
    let mut canvas = Canvas::new(size.columns, sheet.rows);
    continents(&sheet, &mut canvas);
    links(window, layout, &sheet, &mut canvas);
    cities(&window.now, layout, &sheet, &mut canvas);
    [canvas.lines(), vec![legend()], faults].concat()
}

fn continents(sheet: &Sheet, canvas: &mut Canvas) {
    for coast in map::coasts() {
        let next = coast.iter().cycle().skip(1);
        for (&(lon, lat), &(next_lon, next_lat)) in std::iter::zip(coast, next) {
            let (east, north) = (next_lon - lon, next_lat - lat);
            let steps = (east.abs().max(north.abs()) * sheet.dots_per_degree).ceil().max(1.0);
            for step in (0..).map(f64::from).take_while(|step| *step < steps) {
                let part = step / steps;
                let place = Place { lat: lat + north * part, lon: lon + east * part };
                canvas.dot(sheet.dot(place), Layer::Coast);
            }
        }
    }
}

/// Links with traffic, losses or a fault, along the great circle.
fn links(window: &Window, layout: &Layout, sheet: &Sheet, canvas: &mut Canvas) {
    for flow in window.flows().0 {
        let Some((from, to)) = layout.city(&flow.link.from).zip(layout.city(&flow.link.to)) else { continue };
        let layer = match flow.link {
            link if link.is_down => Layer::Down,
            _ if flow.drops_per_second > 0.0 => Layer::Losing,
            _ => Layer::Moving,
        };
        let [from, to] = [from, to].map(|city| layout.cities[city].place);
        for place in arc(from, to, 0.5 / sheet.dots_per_degree) {
            canvas.dot(sheet.dot(place), layer);
        }
    }
}

fn cities(status: &Status, layout: &Layout, sheet: &Sheet, canvas: &mut Canvas) {
    let active = status.faults.iter().filter(|fault| fault.is_active);
    let dark: BTreeSet<CityId> =
        active.filter_map(|fault| layout.city(fault.fault.city.as_deref()?)).collect();
    let mut hosts = vec![0_usize; layout.cities.len()];
    layout.hosts.iter().for_each(|host| hosts[host.city] += 1);
    let mut order: Vec<CityId> = (0..layout.cities.len()).collect();
    order.sort_by_key(|&city| Reverse(hosts[city]));
    let style = |city| if dark.contains(&city) { RED } else { BOLD };
    let dot = |city: CityId| sheet.dot(layout.cities[city].place);
    for &city in &order {
        canvas.mark(dot(city), style(city));
    }
    for &city in &order {
        canvas.name(dot(city), &layout.cities[city].name, style(city));
    }
}

fn legend() -> Line {
    let meanings = [(Layer::Moving, "moving"), (Layer::Losing, "losing"), (Layer::Down, "down")];
    let words =
        meanings.map(|(layer, meaning)| Words::styled(format!("{SAMPLE} {meaning}   "), layer.style()));
    Line::new(words)
}

struct Sheet {
    rows: usize,
    dots_per_degree: f64,
    west: f64,
    north: f64,
}

impl Sheet {
    fn of(layout: &Layout, columns: usize, most_rows: usize) -> Self {
        let places = layout.cities.iter().map(|city| city.place);
        let (west, east) = span(places.clone().map(|place| unrolled(place.lon)), 90.0, LONGITUDES);
        let (south, north) = span(places.map(|place| place.lat), 40.0, LATITUDES);
        let [across, down] = [columns * ACROSS, most_rows * DOWN].map(|dots| whole(dots as u64));
        let dots_per_degree = (across / (east - west)).min(down / (north - south));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most most_rows")]
        let rows = ((north - south) * dots_per_degree / whole(DOWN as u64)).ceil() as usize;
        let margin = (across / dots_per_degree - (east - west)) / 2.0;
        Self { rows: rows.min(most_rows), dots_per_degree, west: west - margin, north }
    }

    fn dot(&self, place: Place) -> Dot {
        let x = (unrolled(place.lon) - self.west) * self.dots_per_degree;
        (x, (self.north - place.lat) * self.dots_per_degree)
    }
}

fn span(values: impl Iterator<Item = f64> + Clone, least: f64, limits: (f64, f64)) -> (f64, f64) {
    let low = values.clone().fold(f64::INFINITY, f64::min);
    let high = values.fold(f64::NEG_INFINITY, f64::max);
    let half = ((high - low) / 2.0 + MARGIN).max(least / 2.0);
    let middle = f64::midpoint(low, high);
    ((middle - half).max(limits.0), (middle + half).min(limits.1))
}

/// The edge of the map is in the Bering Strait.
fn unrolled(lon: f64) -> f64 {
    if lon < LONGITUDES.0 { lon + 360.0 } else { lon }
}

/// Degrees east.
const LONGITUDES: (f64, f64) = (-169.0, 191.0);
const LATITUDES: (f64, f64) = (-90.0, 90.0);

const MARGIN: f64 = 8.0;

const SAMPLE: &str = "\u{2824}\u{2824}\u{2824}";

#[cfg(test)]
mod tests;
