//! Draws links as great-circle arcs, coloured by round-trip time.

use std::{collections::BTreeSet, fmt::Write as _, time::Duration};

use units::show;

use super::{
    Overlay, escape, path,
    projection::{Point, Projection, from_middle},
};
use crate::{
    CityId, Layout,
    geography::{Place, arc},
};

pub(super) struct Stroke {
    pub(super) between: (CityId, CityId),
    pub(super) kind: Kind,
    pub(super) rtt: Duration,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Generated,
    Catchment(usize),
    Given,
    Faulty(String),
}

pub(super) fn strokes(layout: &Layout, overlay: &Overlay, most_meshed: usize) -> Vec<Stroke> {
    let count = layout.cities.len();
    let is_meshed = count <= most_meshed && overlay.catchment.is_none();
    let mut all: BTreeSet<(CityId, CityId)> = layout.named_links().collect();
    if is_meshed {
        all.extend((0..count).flat_map(|b| (0..b).map(move |a| (a, b))));
    }
    all.extend(overlay.links.iter().copied().chain(overlay.changed()));
    let all = all.into_iter().filter(|&(a, b)| a < count && b < count && a != b);
    let hops =
        |(a, b)| layout.route(a, b).windows(2).map(|hop| (hop[0].min(hop[1]), hop[0].max(hop[1]))).collect();
    let all: BTreeSet<_> = all.flat_map(|ends| -> Vec<_> { hops(ends) }).collect();
    let rtt = |(a, b)| 2 * layout.link(a, b).propagation;
    let mut strokes: Vec<_> = all
        .into_iter()
        .map(|between| {
            let kind = match overlay.fault(layout, between) {
                Some(fault) => Kind::Faulty(fault),
                None if layout.is_named(between) || overlay.links.contains(&between) => Kind::Given,
                None => Kind::Generated,
            };
            Stroke { between, kind, rtt: rtt(between) }
        })
        .collect();
    if let Some(catchment) = &overlay.catchment {
        for city in 0..count {
            let Some((site, &at)) =
                overlay.site_of(city).and_then(|site| Some((site, catchment.sites.get(site)?)))
            else {
                continue;
            };
            if at != city && at < count {
                strokes.push(Stroke {
                    between: (city, at),
                    kind: Kind::Catchment(site),
                    rtt: rtt((city, at)),
                });
            }
        }
    }
    strokes.sort_by(|a, b| a.kind.cmp(&b.kind).then(b.rtt.cmp(&a.rtt)));
    strokes
}

pub(super) fn draw(strokes: &[Stroke], layout: &Layout, projection: &Projection, out: &mut String) {
    out.push_str("<g class=\"links\">\n");
    for stroke in strokes {
        let (a, b) = stroke.between;
        let (a, b) = (&layout.cities[a], &layout.cities[b]);
        let d: String = pieces(stroke.arc(layout), projection).iter().map(|piece| path(piece)).collect();
        let class = match &stroke.kind {
            Kind::Generated => format!("generated rtt-{}", class_of(stroke.rtt)),
            Kind::Given => format!("given rtt-{}", class_of(stroke.rtt)),
            Kind::Catchment(site) => format!("reach site-{}", site % super::style::SITES),
            Kind::Faulty(_) if layout.is_named(stroke.between) => "given fault".to_owned(),
            Kind::Faulty(_) => "fault".to_owned(),
        };
        let fault = if let Kind::Faulty(fault) = &stroke.kind { format!(", {fault}") } else { String::new() };
        let title = format!("{} - {}: {}{fault}", a.name, b.name, show::time(stroke.rtt.as_secs_f64()));
        let _ = writeln!(out, "<path class=\"{class}\" d=\"{d}\"><title>{}</title></path>", escape(&title));
    }
    out.push_str("</g>\n");
}

impl Stroke {
    pub(super) fn arc(&self, layout: &Layout) -> Vec<Place> {
        let (a, b) = self.between;
        arc(layout.cities[a].place, layout.cities[b].place, DEGREES_A_STEP)
    }
}

fn pieces(arc: Vec<Place>, projection: &Projection) -> Vec<Vec<Point>> {
    let mut pieces = vec![Vec::new()];
    let mut before: Option<(f64, f64)> = None;
    for Place { lat, lon } in arc {
        let lon = from_middle(lon);
        if let Some((last_lon, last_lat)) = before
            && (lon - last_lon).abs() > 180.0
        {
            let edge = 180.0_f64.copysign(last_lon);
            let beyond = lon + 360.0_f64.copysign(last_lon);
            let lat_at_edge = last_lat + (lat - last_lat) * (edge - last_lon) / (beyond - last_lon);
            pieces.last_mut().expect("begins with one").push(projection.relative(edge, lat_at_edge));
            pieces.push(vec![projection.relative(-edge, lat_at_edge)]);
        }
        pieces.last_mut().expect("begins with one").push(projection.relative(lon, lat));
        before = Some((lon, lat));
    }
    pieces
}

pub(super) fn class_of(rtt: Duration) -> usize {
    RTT_LIMITS_MS.iter().filter(|&&limit| rtt >= Duration::from_millis(limit)).count()
}

pub(super) const RTT_LIMITS_MS: [u64; 4] = [20, 50, 100, 200];

const DEGREES_A_STEP: f64 = 3.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arc_over_the_edge_is_in_two_pieces() {
        let projection = Projection::new(1000.0, 0.0, -57.0);
        let (tokyo, seattle) = (Place { lat: 35.68, lon: 139.69 }, Place { lat: 47.61, lon: -122.33 });
        let both = pieces(arc(tokyo, seattle, 3.0), &projection);
        assert_eq!(both.len(), 2);
        let (out, back) = (both[0].last().unwrap(), both[1][0]);
        assert!(out.x > 800.0 && back.x < 200.0 && (out.y - back.y).abs() < 1e-9, "{out:?} {back:?}");
        assert!(
            both.iter().flat_map(|piece| piece.windows(2)).all(|pair| (pair[0].x - pair[1].x).abs() < 50.0)
        );
        let london = Place { lat: 51.5, lon: -0.1 };
        assert_eq!(pieces(arc(tokyo, london, 3.0), &projection).len(), 1);
    }

    #[test]
    fn classes_begin_at_their_limits() {
        let classes =
            [0, 19, 20, 49, 50, 99, 100, 199, 200, 900].map(|ms| class_of(Duration::from_millis(ms)));
        assert_eq!(classes, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]);
    }
}
