//! Scales: where a value lies between the ends of an axis, and which values have ticks. Pure.

use crate::text::{grouped, percent, rounded};

/// What an axis shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scale {
    /// Equal steps are equal differences.
    Linear { low: f64, high: f64 },
    /// Equal steps are equal factors.
    Log { low: f64, high: f64 },
    /// Of shares: equal steps are equal factors of what lies beyond, -log10(1 - share).
    Nines {
        /// How many nines there are at its end.
        high: f64,
    },
}

impl Scale {
    /// Holds all these values with a little room, also if all are equal. Ignores what a log scale cannot hold.
    pub(super) fn log(values: impl IntoIterator<Item = f64>) -> Self {
        let Some((low, high)) = ends(values.into_iter().filter(|&value| value > 0.0)) else {
            return Self::Log { low: 1.0, high: 10.0 };
        };
        if high / low < 1.02 {
            return Self::Log { low: low / 1.5, high: high * 1.5 };
        }
        let room = (high / low).powf(0.04).max(1.05);
        Self::Log { low: low / room, high: high * room }
    }

    /// Holds all these values with a little room. Begins at 0 unless the values are far from it: then they would be a
    /// line at its end.
    pub(super) fn linear(values: impl IntoIterator<Item = f64>) -> Self {
        let Some((low, high)) = ends(values.into_iter()) else {
            return Self::Linear { low: 0.0, high: 1.0 };
        };
        if low == high {
            let end = if high == 0.0 { 1.0 } else { high * 1.5 };
            return Self::Linear { low: end.min(0.0), high: end.max(0.0) };
        }
        let room = (high - low) * 0.04;
        let low = if low >= 0.0 && low < high * 0.6 { 0.0 } else { low - room };
        Self::Linear { low, high: high + room }
    }

    /// Shares up to the highest of these below 1, which no number of nines reaches; at least one nine.
    pub(super) fn nines(shares: impl IntoIterator<Item = f64>) -> Self {
        let highest = shares.into_iter().filter(|&share| share < 1.0).fold(0.0, f64::max);
        Self::Nines { high: nines(highest).max(1.0) }
    }

    /// 0 at the lower end, 1 at the upper one. What a log or nines axis cannot hold lies at its end.
    pub(super) fn position(self, value: f64) -> f64 {
        match self {
            Self::Linear { low, high } => (value - low) / (high - low),
            Self::Log { low, .. } if value <= low => 0.0,
            Self::Log { low, high } => (value / low).ln() / (high / low).ln(),
            Self::Nines { .. } if value >= 1.0 => 1.0,
            Self::Nines { high } => nines(value) / high,
        }
    }

    /// The values that have ticks, about `gap` apart on an axis of this length.
    pub(super) fn ticks(self, length: f64, gap: f64) -> Vec<f64> {
        match self {
            Self::Linear { low, high } => linear_ticks(low, high, length / gap),
            Self::Log { low, high } => log_ticks(low, high, length, gap),
            Self::Nines { high } => nines_ticks(high, length, gap),
        }
    }

    /// What stands at a tick: as few digits as it needs. Shares are in percent.
    pub(super) fn text(self, value: f64) -> String {
        if let Self::Nines { .. } = self {
            return percent(value * 100.0);
        }
        // Ten digits hide that 0.3 is 0.30000000000000004.
        let text = rounded(value, 10).to_string();
        grouped(&text.replacen('-', "\u{2212}", 1), '\u{202f}')
    }
}

/// 90 % is 1, 99 % is 2, 99.9 % is 3.
fn nines(share: f64) -> f64 {
    -(1.0 - share).log10()
}

fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|value| value.is_finite()).fold(None, |ends, value| {
        let (low, high) = ends.unwrap_or((value, value));
        Some((value.min(low), value.max(high)))
    })
}

/// Round steps of 1, 2 or 5 between two limits, about so many.
fn linear_ticks(low: f64, high: f64, wanted: f64) -> Vec<f64> {
    let rough = (high - low) / wanted.max(1.0);
    if rough.is_nan() || rough <= 0.0 {
        return vec![low];
    }
    let power = 10_f64.powf(rough.log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|&step| step >= rough * 0.999);
    let step = step.unwrap_or(10.0 * power);
    let first = (low / step - 1e-9).ceil();
    let steps = (high / step + 1e-9).floor() - first;
    whole_numbers(steps).map(|i| rounded((first + i) * step, 12)).collect()
}

/// Decades and, where there is room for them, their 2 and 5 or 3.
fn log_ticks(low: f64, high: f64, length: f64, gap: f64) -> Vec<f64> {
    let decades = (high / low).log10();
    // Within less than a decade, 1-2-5 leaves one or two ticks: steps of equal size say more.
    if decades < 0.9 {
        return linear_ticks(low, high, (length / gap / 1.5).floor().max(2.0));
    }
    // Each set with the smallest distance between its neighbours, in decades: log10(2), log10(3), 1.
    let sets: [(&[f64], f64); 3] = [(&[1.0, 2.0, 5.0], 0.301), (&[1.0, 3.0], 0.477), (&[1.0], 1.0)];
    let per_decade = length / decades;
    let within = sets
        .iter()
        .find(|(_, distance)| distance * per_decade >= gap)
        .map_or(&[1.0][..], |(within, _)| within);
    let every = (gap / per_decade).ceil().max(1.0);
    let first = low.log10().floor();
    let powers = whole_numbers(((high.log10().ceil() - first) / every).floor())
        .map(|i| 10_f64.powf(first + i * every));
    let ticks = powers.flat_map(|power| within.iter().map(move |factor| rounded(factor * power, 6)));
    ticks.filter(|&tick| tick >= low * (1.0 - 1e-9) && tick <= high * (1.0 + 1e-9)).collect()
}

/// 0, 50, 90, 99, 99.9 % and so on, as shares.
fn nines_ticks(high: f64, length: f64, gap: f64) -> Vec<f64> {
    let per_nine = length / high;
    let every = (gap / per_nine).ceil().max(1.0);
    // The median lies at 0.3 nines.
    let median = (0.301 * per_nine >= gap * 0.6).then_some(0.5);
    let whole = whole_numbers(((high + 1e-9) / every).floor()).skip(1).map(|i| 1.0 - 10_f64.powf(-i * every));
    std::iter::once(0.0).chain(median).chain(whole).collect()
}

/// 0, 1, ... up to a number that stays small: an axis has room for so many ticks.
fn whole_numbers(last: f64) -> impl Iterator<Item = f64> {
    (0..1000_u32).map(f64::from).take_while(move |&number| number <= last)
}

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
    }

    #[test]
    fn nines_are_powers_of_what_lies_beyond() {
        let scale = Scale::nines([0.0, 0.5, 0.9999, 1.0]);
        assert!((scale.position(0.99) - 0.5).abs() < 1e-9);
        // log10(2) = 0.30103 of four nines.
        assert!((scale.position(0.5) - 0.075_257).abs() < 1e-6);
        assert_eq!(scale.position(1.0), 1.0);
        let ticks: Vec<_> = scale.ticks(700.0, 40.0).into_iter().map(|tick| scale.text(tick)).collect();
        assert_eq!(ticks, ["0", "50", "90", "99", "99.9", "99.99"]);
        // 60 a nine: the median lies 18 from the start, too near; every nine has room.
        assert_eq!(Scale::Nines { high: 5.0 }.ticks(300.0, 40.0).len(), 6);
        // 30 a nine: every second one.
        assert_eq!(Scale::Nines { high: 5.0 }.ticks(150.0, 40.0).len(), 3);
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
        // 103.6/5 = 20.7, so steps of 50.
        assert_eq!(scale.ticks(500.0, 100.0), [0.0, 50.0, 100.0]);
        assert_eq!(Scale::Linear { low: -0.3, high: 0.31 }.ticks(600.0, 100.0), [-0.2, 0.0, 0.2]);
        assert_eq!(
            Scale::Log { low: 9.0, high: 1100.0 }.ticks(700.0, 52.0),
            [10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0]
        );
        // 6 decades on 300: 50 a decade, 15 between 1 and 2, 23.8 between 1 and 3.
        assert_eq!(Scale::Log { low: 0.01, high: 1e4 }.ticks(300.0, 45.0).len(), 7);
        // Less than a decade: 500/52/1.5 = 6 wanted of 35, so steps of 10.
        assert_eq!(Scale::Log { low: 99.0, high: 134.0 }.ticks(500.0, 52.0), [100.0, 110.0, 120.0, 130.0]);
    }

    #[test]
    fn a_tick_has_as_few_digits_as_it_needs() {
        let scale = Scale::Linear { low: -1.0, high: 60_000.0 };
        assert_eq!(
            [0.1 + 0.2, 60_000.0, -0.5, 0.0].map(|value| scale.text(value)),
            ["0.3", "60\u{202f}000", "\u{2212}0.5", "0"]
        );
    }
}
