//! Connect times of data centres to an origin: the last samples of each.

use std::{collections::VecDeque, time::Duration};

use crate::{DataCentreId, Renumbering};

/// Connect times to one origin, by data centre. Data centres exchange them.
#[derive(Debug, Clone)]
pub struct Measurements {
    centres: Vec<VecDeque<(Duration, Duration)>>,
}

/// The recent measurements of one data centre.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Typical {
    /// The lower median, which one or two lost SYNs do not change.
    pub connect: Duration,
    /// The number of samples.
    pub samples: usize,
}

impl Measurements {
    /// Starts without samples, for this number of data centres.
    pub fn new(centres: usize) -> Self {
        Self { centres: vec![VecDeque::new(); centres] }
    }

    /// Records the duration from SYN to SYN-ACK. Samples of an unknown data centre are ignored.
    pub fn add(&mut self, now: Duration, centre: DataCentreId, connect: Duration) {
        let Some(samples) = self.centres.get_mut(usize::from(centre.0)) else { return };
        if samples.len() == MOST {
            samples.pop_front();
        }
        samples.push_back((now, connect));
    }

    /// The same measurements with the numbers of another network.
    #[must_use]
    pub fn renumbered(&self, to: &Renumbering) -> Self {
        let mut new = Self::new(to.count());
        for (id, samples) in (0..).map(DataCentreId).zip(&self.centres) {
            if let Some(place) = to.of(id).and_then(|id| new.centres.get_mut(usize::from(id.0))) {
                place.clone_from(samples);
            }
        }
        new
    }

    /// The measurements within the last [`Self::FRESH`]; `None` with fewer than [`Self::FEWEST`].
    pub fn typical(&self, now: Duration, centre: DataCentreId) -> Option<Typical> {
        let samples = self.centres.get(usize::from(centre.0))?;
        let fresh = samples.iter().filter(|(at, _)| now.saturating_sub(*at) <= Self::FRESH);
        let mut times: Vec<_> = fresh.map(|&(_, connect)| connect).collect();
        if times.len() < Self::FEWEST {
            return None;
        }
        times.sort_unstable();
        Some(Typical { connect: times[(times.len() - 1) / 2], samples: times.len() })
    }

    /// Routes on the Internet change within minutes.
    pub const FRESH: Duration = Duration::from_secs(600);
    /// With five samples, two outliers do not change the median.
    pub const FEWEST: usize = 5;
}

/// A median of 31 is stable, and 300 data centres need 300 KB.
const MOST: usize = 31;

#[cfg(test)]
mod tests {
    use super::*;

    const CENTRE: DataCentreId = DataCentreId(0);

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn the_median_of_what_is_fresh() {
        let mut measured = Measurements::new(1);
        for (at, connect) in [(0, 10), (1, 3000), (2, 12), (3, 11)] {
            measured.add(ms(at), CENTRE, ms(connect));
        }
        assert_eq!(measured.typical(ms(4), CENTRE), None, "four are too few");
        measured.add(ms(4), CENTRE, ms(3000));
        assert_eq!(measured.typical(ms(4), CENTRE), Some(Typical { connect: ms(12), samples: 5 }));
        assert_eq!(measured.typical(ms(600_001), CENTRE), None);
        for _ in 0..100 {
            measured.add(ms(5), CENTRE, ms(7));
        }
        assert_eq!(measured.typical(ms(6), CENTRE), Some(Typical { connect: ms(7), samples: 31 }));
        measured.add(ms(7), DataCentreId(1), ms(1));
        assert_eq!(measured.typical(ms(7), DataCentreId(1)), None);
    }
}
