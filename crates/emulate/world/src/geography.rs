//! Great-circle distances and propagation delays.

use std::time::Duration;

/// A place in degrees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// Degrees north, -90..=90.
    pub lat: f64,
    /// Degrees east, -180..=180.
    pub lon: f64,
}

/// By the haversine formula on a sphere.
pub fn great_circle_km(a: Place, b: Place) -> f64 {
    let (lat_a, lat_b) = (a.lat.to_radians(), b.lat.to_radians());
    let half = |degrees: f64| (degrees.to_radians() / 2.0).sin().powi(2);
    let haversine = half(b.lat - a.lat) + lat_a.cos() * lat_b.cos() * half(b.lon - a.lon);
    2.0 * EARTH_RADIUS_KM * haversine.sqrt().min(1.0).asin()
}

/// Points along the great circle, at most `step` degrees apart. Between antipodes it passes the
/// north pole, or, from pole to pole, the point 0, 0.
pub fn arc(a: Place, b: Place, step: f64) -> Vec<Place> {
    let vector = |place: Place| {
        let (lat, lon) = (place.lat.to_radians(), place.lon.to_radians());
        [lat.cos() * lon.cos(), lat.cos() * lon.sin(), lat.sin()]
    };
    let (from, to) = (vector(a), vector(b));
    let cosine: f64 = (0..3).map(|axis| from[axis] * to[axis]).sum();
    let angle = cosine.clamp(-1.0, 1.0).acos();
    if (std::f64::consts::PI - angle) < 1e-3 {
        let middle = Place { lat: if a.lat.abs() > 89.0 { 0.0 } else { 90.0 }, lon: 0.0 };
        return arc(a, middle, step).into_iter().chain(arc(middle, b, step).into_iter().skip(1)).collect();
    }
    let steps = (angle.to_degrees() / step).ceil().max(1.0);
    let place = |number: u32| {
        let part = f64::from(number) / steps;
        let (near, far) = if angle < 1e-9 {
            (1.0 - part, part)
        } else {
            (((1.0 - part) * angle).sin() / angle.sin(), (part * angle).sin() / angle.sin())
        };
        let [x, y, z] = [0, 1, 2].map(|axis| near * from[axis] + far * to[axis]);
        Place { lat: z.atan2(x.hypot(y)).to_degrees(), lon: y.atan2(x).to_degrees() }
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most 180 degrees in steps"
    )]
    let steps = steps as u32;
    (0..=steps).map(place).collect()
}

/// One-way, over a fibre path `inflation` times as long as the great circle.
pub fn propagation(km: f64, inflation: f64) -> Duration {
    Duration::from_secs_f64(km * inflation / LIGHT_IN_GLASS_KM_PER_S).max(METRO)
}

const EARTH_RADIUS_KM: f64 = 6371.0;

/// c divided by a fibre's refractive index of about 1.5.
const LIGHT_IN_GLASS_KM_PER_S: f64 = 200_000.0;

/// Across a metro area: 30 km of fibre one way.
const METRO: Duration = Duration::from_micros(150);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_distances() {
        let london = Place { lat: 51.51, lon: -0.13 };
        let newyork = Place { lat: 40.71, lon: -74.01 };
        let sydney = Place { lat: -33.87, lon: 151.21 };
        // Published great-circle distances: 5570 km and 16 990 km; the earth's flattening causes up to 0.5
        // %.
        assert!((great_circle_km(london, newyork) - 5570.0).abs() < 28.0);
        assert!((great_circle_km(london, sydney) - 16_990.0).abs() < 85.0);
        assert_eq!(great_circle_km(london, london), 0.0);
    }

    #[test]
    fn antipodes_are_half_the_circumference() {
        let there = great_circle_km(Place { lat: 0.0, lon: 0.0 }, Place { lat: 0.0, lon: 180.0 });
        assert!((there - std::f64::consts::PI * 6371.0).abs() < 1e-6);
    }

    #[test]
    fn an_arc_has_equal_steps_that_add_up() {
        let (london, tokyo) = (Place { lat: 51.51, lon: -0.13 }, Place { lat: 35.68, lon: 139.69 });
        let arc = arc(london, tokyo, 3.0);
        assert_eq!(arc.len(), 30);
        let step = great_circle_km(london, tokyo) / 29.0;
        assert!(arc.windows(2).all(|pair| (great_circle_km(pair[0], pair[1]) - step).abs() < 1e-6 * step));
        // It passes north of both: over Siberia.
        assert!(arc.iter().any(|place| place.lat > 65.0), "{arc:?}");
    }

    #[test]
    fn arcs_without_a_direction_have_one() {
        let (here, there) = (Place { lat: 0.0, lon: 0.0 }, Place { lat: 0.0, lon: 180.0 });
        let antipodes = arc(here, there, 10.0);
        assert!(antipodes.iter().all(|place| place.lat.is_finite() && place.lon.is_finite()));
        assert!(antipodes.iter().any(|place| place.lat > 89.0));
        let (north, south) = (Place { lat: 90.0, lon: 0.0 }, Place { lat: -90.0, lon: 0.0 });
        assert_eq!(arc(north, south, 10.0).len(), 19);
        assert_eq!(arc(here, here, 3.0), [here, here]);
    }

    #[test]
    fn light_needs_five_microseconds_a_kilometre() {
        assert_eq!(propagation(1000.0, 1.0), Duration::from_millis(5));
        assert_eq!(propagation(1000.0, 1.5), Duration::from_micros(7500));
        assert_eq!(propagation(0.0, 1.5), Duration::from_micros(150));
    }
}
