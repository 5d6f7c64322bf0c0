//! How long data centres take to connect to an origin: the last samples of each.

use std::{collections::VecDeque, time::Duration};

use crate::{CentreId, Renumbering};

/// Connect times to one origin, by data centre. Data centres tell one another what they measured, so that all have nearly the same.
#[derive(Debug, Clone)]
pub struct Measurements {
    centres: Vec<VecDeque<(Duration, Duration)>>,
}

/// What one data centre measured of late.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Typical {
    /// The median, which a lost SYN or two leave as it is. Of an even number of samples the lesser one in the middle.
    pub connect: Duration,
    /// Of how many.
    pub samples: usize,
}

impl Measurements {
    /// None yet, for so many data centres.
    pub fn new(centres: usize) -> Self {
        Self { centres: vec![VecDeque::new(); centres] }
    }

    /// A connection was made in so long: SYN to SYN-ACK. One of a data centre that is not known is left out.
    pub fn add(&mut self, now: Duration, centre: CentreId, connect: Duration) {
        let Some(samples) = self.centres.get_mut(usize::from(centre.0)) else { return };
        if samples.len() == MOST {
            samples.pop_front();
        }
        samples.push_back((now, connect));
    }

    /// The same under the numbers of another network.
    #[must_use]
    pub fn renumbered(&self, to: &Renumbering) -> Self {
        let mut new = Self::new(to.count());
        for (id, samples) in (0..).map(CentreId).zip(&self.centres) {
            if let Some(place) = to.of(id).and_then(|id| new.centres.get_mut(usize::from(id.0))) {
                place.clone_from(samples);
            }
        }
        new
    }

    /// What a data centre measured within the last [`Self::FRESH`]; `None` with fewer than [`Self::FEWEST`] samples.
    pub fn typical(&self, now: Duration, centre: CentreId) -> Option<Typical> {
        let samples = self.centres.get(usize::from(centre.0))?;
        let fresh = samples.iter().filter(|(at, _)| now.saturating_sub(*at) <= Self::FRESH);
        let mut times: Vec<_> = fresh.map(|&(_, connect)| connect).collect();
        if times.len() < Self::FEWEST {
            return None;
        }
        times.sort_unstable();
        Some(Typical { connect: times[(times.len() - 1) / 2], samples: times.len() })
    }

    /// Older samples tell nothing: routes on the Internet change within minutes.
    pub const FRESH: Duration = Duration::from_secs(600);
    /// With five, two that were slow by accident are not the median.
    pub const FEWEST: usize = 5;
}

/// Samples of a data centre: a median of 31 is steady, and 300 data centres have them in 300 KB.
const MOST: usize = 31;

#[cfg(test)]
mod tests {
    use super::*;

    const CENTRE: CentreId = CentreId(0);

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
        // The one of time 0 is too old, and the others are too few.
        assert_eq!(measured.typical(ms(600_001), CENTRE), None);
        for _ in 0..100 {
            measured.add(ms(5), CENTRE, ms(7));
        }
        assert_eq!(measured.typical(ms(6), CENTRE), Some(Typical { connect: ms(7), samples: 31 }));
        measured.add(ms(7), CentreId(1), ms(1));
        assert_eq!(measured.typical(ms(7), CentreId(1)), None);
    }
}
