//! Robinson projection from places to points.

use crate::geography::Place;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// The central meridian is 11 degrees east, so that the edge is in the Bering Strait.
pub(super) struct Projection {
    width: f64,
    top: f64,
    south: f64,
}

impl Projection {
    pub(super) fn new(width: f64, top: f64, south: f64) -> Self {
        Self { width, top, south }
    }

    pub(super) fn point(&self, place: Place) -> Point {
        self.relative(from_middle(place.lon), place.lat)
    }

    /// A coastline's longitude is between 169 W and 191 E; 191 is the right edge.
    pub(super) fn coast(&self, lon: f64, lat: f64) -> Point {
        self.relative(lon - MIDDLE, lat)
    }

    pub(super) fn relative(&self, lon: f64, lat: f64) -> Point {
        let (length, height) = robinson(lat);
        Point {
            x: self.width / 2.0 * (1.0 + length * lon / 180.0),
            y: self.top + self.y_scale() * (1.0 - height),
        }
    }

    pub(super) fn width(&self) -> f64 {
        self.width
    }

    pub(super) fn bottom(&self) -> f64 {
        self.relative(0.0, self.south).y
    }

    pub(super) fn dot_scale(&self) -> f64 {
        (self.width / 1200.0).sqrt()
    }

    pub(super) fn outline(&self) -> Vec<Point> {
        let lats = || (0..=32).map(|step| self.south + (90.0 - self.south) * f64::from(step) / 32.0);
        let west = lats().map(|lat| self.relative(-180.0, lat));
        west.chain(lats().rev().map(|lat| self.relative(180.0, lat))).collect()
    }

    /// Robinson's x is 0.8487 R length lon, and y is 1.3523 R height: R follows from the width.
    fn y_scale(&self) -> f64 {
        1.3523 * self.width / (2.0 * 0.8487 * std::f64::consts::PI)
    }
}

pub(super) fn from_middle(lon: f64) -> f64 {
    (lon - MIDDLE + 180.0).rem_euclid(360.0) - 180.0
}

/// The length of a parallel and its distance from the equator, relative.
fn robinson(lat: f64) -> (f64, f64) {
    let at = lat.abs().min(90.0) / 5.0;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 18")]
    let index = (at.floor() as usize).min(TABLE.len() - 2);
    #[expect(clippy::cast_precision_loss, reason = "between 0 and 17")]
    let part = at - index as f64;
    let between = |a: f64, b: f64| a + (b - a) * part;
    let ((length, height), (next_length, next_height)) = (TABLE[index], TABLE[index + 1]);
    (between(length, next_length), between(height, next_height).copysign(lat))
}

const MIDDLE: f64 = 11.0;

/// For every fifth degree of latitude from the equator (Robinson, 1974).
const TABLE: [(f64, f64); 19] = [
    (1.0, 0.0),
    (0.9986, 0.0620),
    (0.9954, 0.1240),
    (0.9900, 0.1860),
    (0.9822, 0.2480),
    (0.9730, 0.3100),
    (0.9600, 0.3720),
    (0.9427, 0.4340),
    (0.9216, 0.4958),
    (0.8962, 0.5571),
    (0.8679, 0.6176),
    (0.8350, 0.6769),
    (0.7986, 0.7346),
    (0.7597, 0.7903),
    (0.7186, 0.8435),
    (0.6732, 0.8936),
    (0.6213, 0.9394),
    (0.5722, 0.9761),
    (0.5322, 1.0),
];
