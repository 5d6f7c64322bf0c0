//! Simulated recordings of two sides of the same source, measured request by request during the same minute.

use std::f64::consts::TAU;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Log-normal with s = 0.4, independent.
    LogNormal,
    /// 50 ms plus up to 0.05 ms; the level of both sides rises by 0.3 ms.
    SharedDrift,
    /// The same, but the level of each side rises or falls independently.
    OwnDrift,
    /// Six cities in random order, each within 0.05 ms of its base latency; the level of both sides rises by
    /// 0.3 ms.
    Cities,
    WholeMilliseconds,
    Periodic,
    /// One request in twenty takes ten times as long.
    Bimodal,
    /// 60 % of the requests take no time, like cache hits; the others are exponential.
    ZeroInflated,
    Queue,
}

/// Start time of each request in s, and its latency in ms.
pub(crate) type Sides = [(Vec<f64>, Vec<f64>); 2];

impl Shape {
    pub(crate) const ALL: [Self; 9] = [
        Self::LogNormal,
        Self::SharedDrift,
        Self::OwnDrift,
        Self::Cities,
        Self::WholeMilliseconds,
        Self::Periodic,
        Self::Bimodal,
        Self::ZeroInflated,
        Self::Queue,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::LogNormal => "log-normal 0.4",
            Self::SharedDrift => "nearly constant, drift of both",
            Self::OwnDrift => "nearly constant, drift of each",
            Self::Cities => "six cities, drift of both",
            Self::WholeMilliseconds => "whole milliseconds",
            Self::Periodic => "periodic",
            Self::Bimodal => "5 % slow",
            Self::ZeroInflated => "60 % zero",
            Self::Queue => "AR(0.9)",
        }
    }

    pub(crate) fn draw(self, samples: usize, later_ms: f64, seed: u64) -> Sides {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        [0.0, later_ms].map(|later_ms| {
            let mut started_s: Vec<f64> = (0..samples).map(|_| 60.0 * uniform(&mut random)).collect();
            started_s.sort_by(f64::total_cmp);
            // The drift of this side alone.
            let slope = 0.6 * uniform(&mut random) - 0.3;
            let mut state = normal(&mut random);
            let values = started_s.iter().map(|at| later_ms + self.at(*at, slope, &mut state, &mut random));
            let values_ms = values.collect();
            (started_s, values_ms)
        })
    }

    fn at(self, at_s: f64, slope: f64, state: &mut f64, random: &mut Xoshiro256PlusPlus) -> f64 {
        let near = |level: f64, random: &mut Xoshiro256PlusPlus| level + 0.05 * uniform(random);
        match self {
            Self::LogNormal => (0.4 * normal(random)).exp(),
            Self::SharedDrift => near(50.0 + 0.3 * at_s / 60.0, random),
            Self::OwnDrift => near(50.0 + slope * (at_s / 60.0 - 0.5), random),
            Self::Cities => {
                let cities = [58.0, 70.0, 98.0, 118.0, 136.0, 146.0];
                let city = cities[(random.next_u64() % 6) as usize];
                near(city + 0.3 * at_s / 60.0, random)
            }
            Self::WholeMilliseconds => (7.0 + normal(random)).round().max(0.0),
            Self::Periodic => near(55.0 + 5.0 * (TAU * at_s / 20.0).sin(), random),
            Self::Bimodal => {
                let pace = if uniform(random) < 0.05 { 10.0 } else { 1.0 };
                pace * (0.1 * normal(random)).exp()
            }
            Self::ZeroInflated => {
                if uniform(random) < 0.6 {
                    0.0
                } else {
                    -10.0 * uniform(random).ln()
                }
            }
            Self::Queue => {
                *state = 0.9 * *state + (1.0 - 0.9_f64.powi(2)).sqrt() * normal(random);
                50.0 + 5.0 * *state
            }
        }
    }
}

fn uniform(random: &mut Xoshiro256PlusPlus) -> f64 {
    ((random.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    let (radius, angle) = (uniform(random), uniform(random));
    (-2.0 * radius.ln()).sqrt() * (TAU * angle).cos()
}
