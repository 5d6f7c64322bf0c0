//! Which samples of two sides are relabelled together, for one statistic.

use super::{
    cells::Cells,
    confidence,
    pooled::Pooled,
    scheme::{Scheme, Side, Timed},
    windows::Windows,
};
use crate::{
    Distribution,
    stretch::{TRIMMED, stretch_of_share, stretch_of_sum},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Grouping {
    Single,
    /// In samples. Both sides are cut by the longer.
    Stretches([usize; 2]),
    Windows(Windows),
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Statistic<'p> {
    /// E[max of N]; the mean for N = 1.
    ExpectedMaximum(u32),
    /// Whether a sample of one side is below one of the other.
    Ranks(&'p Pooled),
    /// The share of samples up to this value.
    Share(f64),
}

impl Grouping {
    pub(crate) fn new(sides: [Side<'_>; 2], statistic: Statistic<'_>) -> Self {
        let explicit = sides.iter().filter_map(|(_, scheme)| match scheme {
            Scheme::Blocks { length, .. } => Some(*length),
            Scheme::Independent | Scheme::Timed(_) => None,
        });
        if let Some(length) = explicit.max() {
            return if length > 1 { Self::Stretches([length; 2]) } else { Self::Single };
        }
        let influences = sides.map(|(side, scheme)| {
            scheme.timed().map(|timed| (timed, statistic.influence(side, timed.values_ms)))
        });
        let stretch = |(timed, influence): &(Timed<'_>, Vec<f64>)| statistic.stretch(influence, *timed);
        let lengths = influences.each_ref().map(|side| side.as_ref().map_or(1, stretch));
        if lengths == [1; 2] {
            return Self::Single;
        }
        let windows = match &influences {
            _ if !statistic.has_windows() => None,
            [Some((first, ours)), Some((second, theirs))] => Windows::new([*first, *second], [ours, theirs]),
            _ => None,
        };
        windows.map_or(Self::Stretches(lengths), Self::Windows)
    }
}

impl Statistic<'_> {
    /// Except for a constant.
    fn influence(self, side: &Distribution, series: &[f64]) -> Vec<f64> {
        match self {
            Self::ExpectedMaximum(1) => series.to_vec(),
            Self::ExpectedMaximum(requests) => {
                let cells = Cells::new(side);
                let influence = confidence::influence(&cells, requests);
                let cell = |value: &f64| {
                    let rank = side.values().partition_point(|sample| sample < value);
                    cells.starts[1..cells.len()].partition_point(|&end| end <= rank)
                };
                series.iter().map(|value| influence[cell(value)]).collect()
            }
            Self::Ranks(pooled) => pooled.cells_of(series).into_iter().map(f64::from).collect(),
            Self::Share(up_to) => series.iter().map(|&value| f64::from(u8::from(value <= up_to))).collect(),
        }
    }

    /// Shares use [`Windows::counts_up_to_quantile`].
    fn has_windows(self) -> bool {
        match self {
            Self::ExpectedMaximum(requests) => requests <= MOST_REQUESTS,
            Self::Ranks(_) => true,
            Self::Share(_) => false,
        }
    }

    fn stretch(self, influence: &[f64], Timed { step, length, .. }: Timed<'_>) -> usize {
        match self {
            // The slowest 1/N of requests decide E[max of N]: do not cut them off.
            Self::ExpectedMaximum(requests) => {
                stretch_of_sum(influence, TRIMMED.min(0.5 / f64::from(requests)), step)
            }
            Self::Ranks(_) => stretch_of_sum(influence, 0.0, step),
            // The indicator is correlated for as long as the value.
            Self::Share(_) => stretch_of_share(influence, step).max(length),
        }
    }
}

/// With more requests, most windows have no sample that decides the maximum.
const MOST_REQUESTS: u32 = 10;
