//! Scales: the position of a value on an axis, and the values with ticks. Pure.

use crate::text::{grouped, percent, rounded};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scale {
    Linear {
        low: f64,
        high: f64,
    },
    Log {
        low: f64,
        high: f64,
    },
    /// For shares: equal steps are equal factors of 1 - share.
    Nines {
        high: f64,
    },
}

impl Scale {
    /// Adds a margin. Ignores what a log scale cannot hold.
    pub(super) fn log(values: impl IntoIterator<Item = f64>) -> Self {
        let Some((low, high)) = ends(values.into_iter().filter(|&value| value > 0.0)) else {
            return Self::Log { low: 1.0, high: 10.0 };
        };
        if high / low < 1.0 + LEAST {
            return Self::Log { low: low / 1.5, high: high * 1.5 };
        }
        let room = (high / low).powf(0.04);
        Self::Log { low: low / room, high: high * room }
    }

    /// Begins at 0 unless that would squeeze the values at the end of the axis.
    pub(super) fn linear(values: impl IntoIterator<Item = f64>) -> Self {
        let Some((low, high)) = ends(values.into_iter()) else {
            return Self::Linear { low: 0.0, high: 1.0 };
        };
        if high - low <= LEAST * high.abs().max(low.abs()) {
            let end = if high == 0.0 { 1.0 } else { high * 1.5 };
            return Self::Linear { low: end.min(0.0), high: end.max(0.0) };
        }
        let room = (high - low) * 0.04;
        let low = if low >= 0.0 && low < high * 0.6 { 0.0 } else { low - room };
        Self::Linear { low, high: high + room }
    }

    /// No number of nines reaches a share of 1.
    pub(super) fn nines(shares: impl IntoIterator<Item = f64>) -> Self {
        let highest = shares.into_iter().filter(|&share| share < 1.0).fold(0.0, f64::max);
        Self::Nines { high: nines(highest).max(1.0) }
    }

    /// 0..1; values that the axis cannot hold lie at its end.
    pub(super) fn position(self, value: f64) -> f64 {
        match self {
            Self::Linear { low, high } => (value - low) / (high - low),
            Self::Log { low, .. } if value <= low => 0.0,
            Self::Log { low, high } => (value / low).ln() / (high / low).ln(),
            Self::Nines { .. } if value >= 1.0 => 1.0,
            Self::Nines { high } => nines(value) / high,
        }
    }

    /// At least three ticks, at a distance of `gap`; a text takes `extent` along the axis.
    pub(super) fn ticks(self, length: f64, gap: f64, extent: impl Fn(&str) -> f64) -> Vec<(f64, String)> {
        let texts = |values: Vec<f64>| -> Vec<(f64, String)> {
            values.into_iter().map(|value| (value, self.text(value))).collect()
        };
        let fits = |ticks: &[(f64, String)], gap: f64| {
            let apart =
                |pair: &[(f64, String)]| (self.position(pair[1].0) - self.position(pair[0].0)) * length;
            let texts =
                |pair: &[(f64, String)]| f64::midpoint(extent(&pair[0].1), extent(&pair[1].1)) + BETWEEN;
            ticks.len() >= LEAST_TICKS && ticks.windows(2).all(|pair| apart(pair) >= gap.max(texts(pair)))
        };
        // If every nine has its own step, a narrower gap next to the median is acceptable.
        let gap = if let Self::Nines { .. } = self { gap * 0.6 } else { gap };
        let candidates: Vec<_> = self.candidates().into_iter().map(texts).collect();
        // The finest that keeps the gap; without one, the finest whose texts do not overlap.
        let found = [gap, 0.0].into_iter().find_map(|gap| candidates.iter().find(|ticks| fits(ticks, gap)));
        found.cloned().unwrap_or_else(|| texts(self.thirds()))
    }

    fn candidates(self) -> Vec<Vec<f64>> {
        match self {
            Self::Linear { low, high } => linear_ticks(low, high),
            Self::Log { low, high } => log_ticks(low, high),
            Self::Nines { high } => nines_ticks(high),
        }
    }

    fn thirds(self) -> Vec<f64> {
        match self {
            Self::Linear { low, high } => vec![low, f64::midpoint(low, high), high],
            Self::Log { low, high } => vec![low, (low * high).sqrt(), high],
            Self::Nines { high } => [0.0, 0.5, 1.0].map(|part| 1.0 - 10_f64.powf(-high * part)).to_vec(),
        }
    }

    pub(super) fn text(self, value: f64) -> String {
        if let Self::Nines { .. } = self {
            return percent(value * 100.0);
        }
        // Ten digits, so that 0.3 is not shown as 0.30000000000000004.
        let value = rounded(value, 10);
        let minus = |text: String| text.replace('-', "\u{2212}");
        if value != 0.0 && !(1e-5..1e9).contains(&value.abs()) {
            return minus(format!("{value:e}"));
        }
        grouped(&minus(value.to_string()), '\u{202f}')
    }
}

fn nines(share: f64) -> f64 {
    -(1.0 - share).log10()
}

fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|value| value.is_finite()).fold(None, |ends, value| {
        let (low, high) = ends.unwrap_or((value, value));
        Some((value.min(low), value.max(high)))
    })
}

fn linear_ticks(low: f64, high: f64) -> Vec<Vec<f64>> {
    let range = high - low;
    if !(range > 0.0 && range.is_finite()) {
        return Vec::new();
    }
    let power = range.log10().floor();
    let powers = (0..=2_u32).map(|lower| 10_f64.powf(power - 2.0 + f64::from(lower)));
    let steps = powers.flat_map(|power| [1.0, 2.0, 5.0].map(|factor| factor * power));
    let ticks = |step: f64| {
        let first = (low / step - 1e-9).ceil();
        let steps = (high / step + 1e-9).floor() - first;
        whole_numbers(steps).map(|i| rounded((first + i) * step, 12)).collect()
    };
    steps.filter(|step| range / step <= 100.0).map(ticks).collect()
}

fn log_ticks(low: f64, high: f64) -> Vec<Vec<f64>> {
    let decades = (high / low).log10();
    let first = low.log10().floor();
    let every = |every: f64, within: &[f64]| -> Vec<f64> {
        let powers = whole_numbers(((high.log10().ceil() - first) / every).floor())
            .map(|i| 10_f64.powf(first + i * every));
        let ticks = powers.flat_map(|power| within.iter().map(move |factor| rounded(factor * power, 6)));
        ticks.filter(|&tick| tick >= low * (1.0 - 1e-9) && tick <= high * (1.0 + 1e-9)).collect()
    };
    let usual = [&[1.0, 2.0, 5.0][..], &[1.0, 3.0], &[1.0]].map(|within| every(1.0, within));
    let sparse = [2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0].map(|step| every(step, &[1.0]));
    let dense = every(1.0, &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0]);
    let even = if decades < 2.0 { linear_ticks(low, high) } else { Vec::new() };
    if decades < 0.9 {
        return even;
    }
    usual.into_iter().chain(sparse).chain([dense]).chain(even).collect()
}

fn nines_ticks(high: f64) -> Vec<Vec<f64>> {
    let beyond = |nines: f64| 1.0 - 10_f64.powf(-nines);
    let half = nines(0.5);
    let every = |every: f64| whole_numbers(((high + 1e-9) / every).floor()).map(move |i| i * every);
    let all = |places: &mut dyn Iterator<Item = f64>| {
        let mut places: Vec<f64> = places.filter(|&place| place <= high + 1e-9).collect();
        places.sort_by(f64::total_cmp);
        places.into_iter().map(beyond).collect::<Vec<_>>()
    };
    let halves = all(&mut every(1.0).flat_map(|place| [place, place + half]));
    let median = all(&mut every(1.0).chain([half]));
    let sparse = [1.0, 2.0, 3.0, 4.0, 5.0].map(|step| all(&mut every(step)));
    [halves, median].into_iter().chain(sparse).collect()
}

fn whole_numbers(last: f64) -> impl Iterator<Item = f64> {
    (0..1000_u32).map(f64::from).take_while(move |&number| number <= last)
}

/// With fewer ticks, an axis does not show its scale.
const LEAST_TICKS: usize = 3;
const BETWEEN: f64 = 6.0;
/// A smaller relative range would need ticks with more digits than measurements have.
const LEAST: f64 = 1e-5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_scale_has_equal_steps_for_equal_factors() {
        let scale = Scale::Log { low: 10.0, high: 1000.0 };
        assert_eq!(
            [10.0, 100.0, 1000.0, 1.0, 0.0].map(|value| scale.position(value)),
            [0.0, 0.5, 1.0, 0.0, 0.0]
        );
        // (1000/1)^0.04 = 1.318 at both ends.
        let Scale::Log { low, high } = Scale::log([1.0, 1000.0, 0.0, f64::NAN]) else {
            panic!("a log scale")
        };
        assert!((low - 0.7586).abs() < 1e-4 && (high - 1318.26).abs() < 0.01);
        assert_eq!(Scale::log([6.0]), Scale::Log { low: 4.0, high: 9.0 });
        assert_eq!(Scale::log([]), Scale::Log { low: 1.0, high: 10.0 });
        // Values that hardly differ still fill the axis: 100 x 1.0002^0.04 is 100.000 8.
        let Scale::Log { high, .. } = Scale::log([100.0, 100.02]) else { panic!("a log scale") };
        assert!((high - 100.020_8).abs() < 1e-4, "{high}");
    }

    fn ticks(scale: Scale, length: f64, gap: f64) -> Vec<f64> {
        scale.ticks(length, gap, |_| 0.0).into_iter().map(|(tick, _)| tick).collect()
    }

    #[test]
    fn nines_are_powers_of_what_lies_beyond() {
        let scale = Scale::nines([0.0, 0.5, 0.9999, 1.0]);
        assert!((scale.position(0.99) - 0.5).abs() < 1e-9);
        // log10(2) = 0.30103 of four nines.
        assert!((scale.position(0.5) - 0.075_257).abs() < 1e-6);
        assert_eq!(scale.position(1.0), 1.0);
        let texts: Vec<_> = scale.ticks(700.0, 40.0, |_| 0.0).into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, ["0", "50", "90", "95", "99", "99.5", "99.9", "99.95", "99.99"]);
        // 60 a nine: the median is 18 from the start, too near; every nine has room.
        assert_eq!(ticks(Scale::Nines { high: 5.0 }, 300.0, 40.0).len(), 6);
        assert_eq!(ticks(Scale::Nines { high: 5.0 }, 100.0, 40.0).len(), 3);
    }

    #[test]
    fn a_linear_scale_begins_at_0_unless_that_is_far() {
        assert_eq!(Scale::linear([10.0, 100.0]), Scale::Linear { low: 0.0, high: 103.6 });
        // 100 - 4 % of 25.
        assert_eq!(Scale::linear([100.0, 125.0]), Scale::Linear { low: 99.0, high: 126.0 });
        assert_eq!(Scale::linear([-50.0, 50.0]), Scale::Linear { low: -54.0, high: 54.0 });
        assert_eq!(Scale::linear([4.0]), Scale::Linear { low: 0.0, high: 6.0 });
        assert_eq!(Scale::linear([-4.0]), Scale::Linear { low: -6.0, high: 0.0 });
        assert_eq!(Scale::linear([]), Scale::Linear { low: 0.0, high: 1.0 });
    }

    #[test]
    fn ticks_are_round_numbers() {
        let scale = Scale::Linear { low: 0.0, high: 103.6 };
        // Steps of 20 would be 500 x 20/103.6 = 97 apart, so steps of 50.
        assert_eq!(ticks(scale, 500.0, 100.0), [0.0, 50.0, 100.0]);
        assert_eq!(ticks(Scale::Linear { low: -0.3, high: 0.31 }, 600.0, 100.0), [-0.2, 0.0, 0.2]);
        assert_eq!(
            ticks(Scale::Log { low: 9.0, high: 1100.0 }, 700.0, 52.0),
            [10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0]
        );
        assert_eq!(ticks(Scale::Log { low: 0.01, high: 1e4 }, 300.0, 45.0).len(), 7);
        // Steps of 5 are 500 x ln(130/125)/ln(134/99) = 65 apart at their closest, steps of 2 are
        // 25.
        let even = ticks(Scale::Log { low: 99.0, high: 134.0 }, 500.0, 52.0);
        assert_eq!(even, [100.0, 105.0, 110.0, 115.0, 120.0, 125.0, 130.0]);
    }

    #[test]
    fn every_axis_has_three_ticks_whose_texts_do_not_meet() {
        let (wide, narrow, low) = ((462.0, 62.0, true), (160.0, 62.0, true), (62.0, 36.0, false));
        let decade = |power: i32| 10_f64.powi(power);
        let ratios = [1.000_02, 1.001, 1.02, 1.5, 2.0, 6.0, 9.9, 11.0, 80.0, 1e3, 1e6, 1e12];
        let logs = (-9..9).flat_map(|power| {
            ratios.map(|ratio| Scale::log([1.7 * decade(power), 1.7 * decade(power) * ratio]))
        });
        let logs = logs.flat_map(|scale| [(scale, wide), (scale, low)]);
        let linear = |from: f64, power| Scale::linear([from * decade(power), (from + 1.3) * decade(power)]);
        let values = (-6..9).flat_map(|power| [0.0, 1.0, 1e3, 1e4].map(|from| linear(from, power)));
        let values = values.flat_map(|scale| [(scale, wide), (scale, low)]);
        let times = (-3..6).flat_map(|power| [0.0, 1.0, 1e2].map(|from| (linear(from, power), narrow)));
        let nines = (1..=9).map(|count| Scale::nines([1.0 - 1.0 / f64::from(count * count * count)]));
        let nines = nines.flat_map(|scale| [(scale, wide), (scale, narrow)]);
        for (scale, (length, gap, along)) in logs.chain(values).chain(times).chain(nines) {
            let extent = |text: &str| if along { crate::svg::frame::width(text, 14.0) } else { 14.0 };
            let ticks = scale.ticks(length, gap, extent);
            assert!(ticks.len() >= 3, "{scale:?} on {length}: {ticks:?}");
            for pair in ticks.windows(2) {
                let apart = (scale.position(pair[1].0) - scale.position(pair[0].0)) * length;
                let needed = f64::midpoint(extent(&pair[0].1), extent(&pair[1].1));
                assert!(apart >= needed, "{scale:?} on {length}: {ticks:?}");
                assert_ne!(pair[0].1, pair[1].1, "{scale:?}");
            }
            let ends = [ticks[0].0, ticks[ticks.len() - 1].0].map(|tick| scale.position(tick));
            assert!(ends[0] > -1e-6 && ends[1] < 1.0 + 1e-6, "{scale:?}: {ticks:?}");
        }
    }

    #[test]
    fn a_tick_has_as_few_digits_as_it_needs() {
        let scale = Scale::Linear { low: -1.0, high: 60_000.0 };
        assert_eq!(
            [0.1 + 0.2, 60_000.0, -0.5, 0.0, 1e12, -2.5e-7].map(|value| scale.text(value)),
            ["0.3", "60\u{202f}000", "\u{2212}0.5", "0", "1e12", "\u{2212}2.5e\u{2212}7"]
        );
    }
}
