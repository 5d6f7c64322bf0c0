//! Sources of samples for the grid: distributions of latency, and the dependence of each sample on the
//! previous ones.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Shape {
    /// e^(s Z).
    LogNormal(f64),
    Exponential,
    /// P(X > x) = x^-1.5: a finite mean, no finite variance.
    Pareto,
    /// Log-normal with s = 0.1; this fraction is ten times as slow.
    Bimodal(f64),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Dependence {
    Independent,
    /// AR(1) with this coefficient, on the normal scores of the samples.
    Autoregressive(f64),
    /// One request in a thousand starts a burst of 20 requests on average (geometric), each five times as
    /// slow.
    Bursts,
}

impl Shape {
    pub(crate) const ALL: [Self; 8] = [
        Self::LogNormal(0.4),
        Self::LogNormal(1.0),
        Self::LogNormal(1.5),
        Self::Exponential,
        Self::Pareto,
        Self::Bimodal(0.002),
        Self::Bimodal(0.01),
        Self::Bimodal(0.05),
    ];

    pub(crate) fn name(self) -> String {
        match self {
            Self::LogNormal(s) => format!("log-normal {s}"),
            Self::Exponential => "exponential".to_owned(),
            Self::Pareto => "Pareto 1.5".to_owned(),
            Self::Bimodal(slow) => format!("{} % slow", slow * 100.0),
        }
    }

    fn at(self, z: f64) -> f64 {
        match self {
            Self::LogNormal(s) => (s * z).exp(),
            Self::Exponential => -share_above(z).ln(),
            Self::Pareto => share_above(z).powf(-1.0 / 1.5),
            Self::Bimodal(slow) => {
                let pace = if share_above(z) < slow { 10.0 } else { 1.0 };
                pace * (0.1 * z).exp()
            }
        }
    }
}

impl Dependence {
    pub(crate) const ALL: [Self; 5] = [
        Self::Independent,
        Self::Autoregressive(0.5),
        Self::Autoregressive(0.8),
        Self::Autoregressive(0.95),
        Self::Bursts,
    ];

    pub(crate) fn name(self) -> String {
        match self {
            Self::Independent => "independent".to_owned(),
            Self::Autoregressive(rho) => format!("AR({rho})"),
            Self::Bursts => "bursts".to_owned(),
        }
    }
}

pub(crate) fn samples(shape: Shape, dependence: Dependence, n: usize, seed: u64) -> Vec<f64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut z = normal(&mut random);
    // Stationary probability of being in a burst: 20 of 1020.
    let mut in_burst = uniform(&mut random) < 20.0 / 1020.0;
    (0..n)
        .map(|_| match dependence {
            Dependence::Independent => shape.at(normal(&mut random)),
            Dependence::Autoregressive(rho) => {
                z = rho * z + (1.0 - rho * rho).sqrt() * normal(&mut random);
                shape.at(z)
            }
            Dependence::Bursts => {
                in_burst = uniform(&mut random) < if in_burst { 1.0 - 1.0 / 20.0 } else { 1.0 / 1000.0 };
                shape.at(normal(&mut random)) * if in_burst { 5.0 } else { 1.0 }
            }
        })
        .collect()
}

/// Uniform in (0, 1].
fn uniform(random: &mut Xoshiro256PlusPlus) -> f64 {
    ((random.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    let (radius, angle) = (uniform(random), uniform(random));
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

/// Laplace's continued fraction in the tail, a series around 0.
fn share_above(z: f64) -> f64 {
    if z < -3.0 {
        return 1.0 - share_above(-z);
    }
    let density = (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
    if z > 3.0 {
        return density / (1..=30).rev().fold(z, |tail, k| z + f64::from(k) / tail);
    }
    // 1/2 - density (z + z^3/3 + z^5/15 + ...).
    let (mut term, mut sum) = (z, z);
    for odd in (3..100).step_by(2) {
        term *= z * z / f64::from(odd);
        sum += term;
    }
    0.5 - density * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_shares() {
        for (z, share) in [(0.0, 0.5), (1.0, 0.158_655_254), (3.0, 0.001_349_898), (4.0, 3.167_124e-5)] {
            assert!((share_above(z) / share - 1.0).abs() < 1e-6, "{z}");
            assert!((share_above(-z) - (1.0 - share)).abs() < 1e-6, "{z}");
        }
    }
}
