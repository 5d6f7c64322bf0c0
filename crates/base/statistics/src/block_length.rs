//! How long the blocks of a block bootstrap must be, decided by the series itself.
//!
//! Politis and White (Automatic Block-Length Selection for the Dependent Bootstrap, Econometric
//! Reviews 23, 2004), with the constant of Patton, Politis and White (Correction, Econometric
//! Reviews 28, 2009) for circular or moving blocks:
//!
//! ```text
//! b = (2 G^2 / D)^(1/3) n^(1/3)      G = sum |k| R(k) w(k/M)      D = 4/3 (sum R(k) w(k/M))^2      |k| <= M
//! ```
//!
//! R(k) is the autocovariance at lag k and w the flat-top window. M is twice the first lag from
//! which K = max(5, log10 n) autocorrelations in a row are below 2 sqrt(log10(n)/n), and at most
//! sqrt(n) + K, as in the R package `np` and the Python package `arch`.
//!
//! At most [`WORK`]/n lags are computed. A series whose correlation reaches further is replaced by
//! the means of its pairs, and the length found is scaled back.

use std::borrow::Cow;

use crate::{
    autocorrelation::{autocovariances, centred},
    distribution::{as_f64, floor},
};

/// 1 if the series looks independent; at most a third of it.
pub(crate) fn residual_block_length(residuals: &[f64]) -> usize {
    let mut series = residuals.to_vec();
    centred(&mut series);
    if series.len() < FEWEST { 1 } else { floor(needed(&series, WORK).ceil()).max(1) }
}

/// `work` bounds lags x n.
fn needed(series: &[f64], work: usize) -> f64 {
    let mut series = Cow::Borrowed(series);
    let mut group = 1.0;
    loop {
        match reach(&series, work) {
            Reach::None => return 1.0,
            Reach::First if group == 1.0 => return 1.0,
            Reach::First => return group * optimal(&series, 2),
            Reach::Lags(bandwidth) => return group * optimal(&series, bandwidth),
            Reach::Beyond => {
                series = series.chunks_exact(2).map(|pair| f64::midpoint(pair[0], pair[1])).collect();
                centred(series.to_mut());
                group *= 2.0;
            }
        }
    }
}

#[derive(Debug, PartialEq)]
enum Reach {
    /// The series is constant.
    None,
    /// Not even to the first lag; M is 2 in the authors' program and 0 in the paper.
    First,
    /// The bandwidth M.
    Lags(usize),
    /// Further than `work` allows.
    Beyond,
}

fn reach(series: &[f64], work: usize) -> Reach {
    let n = series.len();
    let quiet = insignificant(n);
    let most = floor(as_f64(n).sqrt().ceil()) + quiet;
    let affordable = most.min((work / n).max(LEAST_LAGS));
    let level = 2.0 * (as_f64(n).log10() / as_f64(n)).sqrt();
    let total: f64 = series.iter().map(|value| value * value).sum();
    if total <= 0.0 {
        return Reach::None;
    }
    // Sums of squares without the first, and without the last, lag + 1 values: what arch divides
    // by.
    let (mut without_first, mut without_last) = (total - series[0].powi(2), total - series[n - 1].powi(2));
    let mut run = 0;
    let mut covariances = autocovariances(series);
    for lag in 1..affordable {
        without_first -= series[lag].powi(2);
        without_last -= series[n - 1 - lag].powi(2);
        let scale = (without_first * without_last).max(f64::MIN_POSITIVE).sqrt();
        let correlation = covariances.at(lag) * as_f64(n) / scale;
        run = if correlation.abs() < level { run + 1 } else { 0 };
        if run == quiet {
            return match 2 * (lag + 1 - quiet) {
                2 => Reach::First,
                bandwidth if bandwidth.min(most) <= affordable => Reach::Lags(bandwidth.min(most)),
                _ => Reach::Beyond,
            };
        }
    }
    if affordable == most { Reach::Lags(most) } else { Reach::Beyond }
}

fn optimal(series: &[f64], bandwidth: usize) -> f64 {
    let n = as_f64(series.len());
    let mut covariances = autocovariances(series);
    let mut spectrum = covariances.at(0);
    let mut slope = 0.0;
    for lag in 1..=bandwidth {
        let share = as_f64(lag) / as_f64(bandwidth);
        let window = if share <= 0.5 { 1.0 } else { 2.0 * (1.0 - share) };
        let term = 2.0 * window * covariances.at(lag);
        spectrum += term;
        slope += term * as_f64(lag);
    }
    let length = (2.0 * slope * slope / (4.0 / 3.0 * spectrum * spectrum) * n).cbrt();
    // A spectrum of 0 at frequency 0 makes it infinite, or 0/0.
    if length.is_nan() { 1.0 } else { length.min(most(series.len())) }
}

/// ceil(min(3 sqrt(n), n/3)).
fn most(n: usize) -> f64 {
    (3.0 * as_f64(n).sqrt()).min(as_f64(n) / 3.0).ceil()
}

fn insignificant(n: usize) -> usize {
    floor(as_f64(n).log10()).max(5)
}

/// Multiplications per pass: up to 340 000 samples this allows all the sqrt(n) lags of the rule, and 10^7
/// samples have [`LEAST_LAGS`], which takes a fraction of a second.
const WORK: usize = 200_000_000;

/// With fewer lags the rule could not see a correlation end: K is 7 for 10^7 samples.
const LEAST_LAGS: usize = 32;

const FEWEST: usize = 20;

#[cfg(test)]
mod tests;
