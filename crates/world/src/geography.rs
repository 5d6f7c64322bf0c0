//! How far cities are apart, and what light makes of it.

use std::time::Duration;

/// A place on the globe in degrees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// Degrees north, -90..=90.
    pub lat: f64,
    /// Degrees east, -180..=180.
    pub lon: f64,
}

/// The length of the arc of the great circle between two places, by the haversine formula on a sphere.
pub fn great_circle_km(a: Place, b: Place) -> f64 {
    let (lat_a, lat_b) = (a.lat.to_radians(), b.lat.to_radians());
    let half = |degrees: f64| (degrees.to_radians() / 2.0).sin().powi(2);
    let haversine = half(b.lat - a.lat) + lat_a.cos() * lat_b.cos() * half(b.lon - a.lon);
    2.0 * EARTH_RADIUS_KM * haversine.sqrt().min(1.0).asin()
}

/// One-way propagation over `km` of great circle, when the fibre's real way is `inflation` times as long.
pub fn propagation(km: f64, inflation: f64) -> Duration {
    Duration::from_secs_f64(km * inflation / LIGHT_IN_GLASS_KM_PER_S).max(METRO)
}

/// The mean radius (IUGG).
const EARTH_RADIUS_KM: f64 = 6371.0;

/// 5 us a kilometre: c divided by a fibre's refractive index of about 1.5.
const LIGHT_IN_GLASS_KM_PER_S: f64 = 200_000.0;

/// Nothing is nearer than across town: 30 km of glass one way, 0.3 ms there and back.
const METRO: Duration = Duration::from_micros(150);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_distances() {
        let london = Place { lat: 51.51, lon: -0.13 };
        let newyork = Place { lat: 40.71, lon: -74.01 };
        let sydney = Place { lat: -33.87, lon: 151.21 };
        // Published great-circle distances: 5570 km and 16 990 km; the earth's flattening is worth up to 0.5 %.
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
    fn light_needs_five_microseconds_a_kilometre() {
        assert_eq!(propagation(1000.0, 1.0), Duration::from_millis(5));
        assert_eq!(propagation(1000.0, 1.5), Duration::from_micros(7500));
        assert_eq!(propagation(0.0, 1.5), Duration::from_micros(150));
    }
}
