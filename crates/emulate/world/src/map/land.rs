//! The coastlines, parsed from a table.

use std::{fmt::Write as _, sync::LazyLock};

use super::{path, projection::Projection};

pub(super) struct Shape {
    pub(super) name: &'static str,
    pub(super) coast: Vec<(f64, f64)>,
}

pub(super) fn shapes() -> &'static [Shape] {
    &SHAPES
}

pub(super) fn draw(projection: &Projection, out: &mut String) {
    let outline = path(&projection.outline());
    // A page may contain several maps. Maps with equal identifiers have equal outlines.
    let globe = format!("globe-{:.0}-{:.0}", projection.width(), projection.bottom());
    let _ = writeln!(out, "<clipPath id=\"{globe}\"><path d=\"{outline}Z\"/></clipPath>");
    let _ = writeln!(out, "<path class=\"sea\" d=\"{outline}Z\"/>\n<g clip-path=\"url(#{globe})\">");
    for (class, is_lake) in [("land", false), ("sea", true)] {
        let all = shapes().iter().filter(|shape| shape.name.starts_with("lake") == is_lake);
        let all = all.map(|shape| {
            let points: Vec<_> = shape.coast.iter().map(|&(lon, lat)| projection.coast(lon, lat)).collect();
            path(&points) + "Z"
        });
        let _ = writeln!(out, "<path class=\"{class}\" d=\"{}\"/>", all.collect::<String>());
    }
    out.push_str("</g>\n");
}

static SHAPES: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    let lines = include_str!("land.txt").lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| shape(line).expect("the coastlines are part of the program and are read by its tests"))
        .collect()
});

fn shape(line: &'static str) -> Option<Shape> {
    let (name, points) = line.split_once(' ')?;
    let point = |text: &str| {
        let (lon, lat) = text.split_once(',')?;
        Some((lon.parse().ok()?, lat.parse().ok()?))
    };
    Some(Shape { name, coast: points.split(' ').map(point).collect::<Option<_>>()? })
}
