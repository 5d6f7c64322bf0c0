//! The staleness of reads (for how long a newer version had been acknowledged when the read was
//! sent) and the number of lost acknowledged writes.
//!
//! Writers and readers must share one clock, in nanoseconds since an arbitrary start.

use std::time::Duration;

use crate::Version;

/// The acknowledged writes of one key.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// Versions in ascending order, with the time of their acknowledgement.
    writes: Vec<(Version, u64)>,
    /// For each write: the first acknowledgement of it or of a newer one.
    first_from: Vec<u64>,
}

impl History {
    /// Takes versions and the times at which their writers received the acknowledgement, in any
    /// order.
    pub fn of(mut writes: Vec<(Version, u64)>) -> Self {
        writes.sort_unstable();
        let mut first_from: Vec<u64> = writes
            .iter()
            .rev()
            .scan(u64::MAX, |first, (_, acknowledged)| {
                *first = (*first).min(*acknowledged);
                Some(*first)
            })
            .collect();
        first_from.reverse();
        Self { writes, first_from }
    }

    /// Whether an acknowledged write has this version.
    pub fn has(&self, version: &Version) -> bool {
        self.writes.binary_search_by(|(known, _)| known.cmp(version)).is_ok()
    }

    /// For how long a newer version than `seen` had been acknowledged when the read was sent at
    /// `sent`; `seen` is `None` for no value. A read may or may not see a write that is
    /// acknowledged during the read.
    pub fn staleness(&self, seen: Option<&Version>, sent: u64) -> Duration {
        let first = self.first_from.get(self.newer_than(seen));
        Duration::from_nanos(first.map_or(0, |first| sent.saturating_sub(*first)))
    }

    /// The number of acknowledged writes that are lost if a read after all of them returns `last`:
    /// the newer ones.
    pub fn lost(&self, last: Option<&Version>) -> u64 {
        (self.writes.len() - self.newer_than(last)) as u64
    }

    fn newer_than(&self, version: Option<&Version>) -> usize {
        version.map_or(0, |version| self.writes.partition_point(|(known, _)| known <= version))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::version::tests::version;

    fn three() -> History {
        History::of([3, 1, 2].map(|stamp| (version(stamp, "lhr"), stamp * 100)).to_vec())
    }

    fn stale(history: &History, seen: Option<u64>, sent: u64) -> u128 {
        let seen = seen.map(|stamp| version(stamp, "lhr"));
        history.staleness(seen.as_ref(), sent).as_nanos()
    }

    #[test]
    fn a_read_is_as_old_as_the_first_newer_write_is_acknowledged() {
        let history = three();
        assert_eq!(stale(&history, Some(3), 1000), 0, "the newest");
        assert_eq!(stale(&history, Some(1), 250), 50, "2 has been there since 200");
        assert_eq!(stale(&history, Some(1), 1000), 800, "and 3 makes it no younger");
        assert_eq!(stale(&history, Some(2), 300), 0, "acknowledged when the read was sent, not before");
        assert_eq!(stale(&history, None, 150), 50, "no value, where there is one");
        assert_eq!(stale(&history, None, 100), 0);
        assert_eq!(stale(&history, Some(7), 1000), 0, "newer than all that was acknowledged");
        assert_eq!(stale(&History::default(), None, 1000), 0);
    }

    #[test]
    fn what_is_newer_than_the_last_answer_is_lost() {
        let history = three();
        let lost = |stamp: Option<u64>| {
            let last = stamp.map(|stamp| version(stamp, "lhr"));
            history.lost(last.as_ref())
        };
        assert_eq!([lost(Some(3)), lost(Some(4)), lost(Some(1)), lost(None)], [0, 0, 2, 3]);
        assert!(history.has(&version(2, "lhr")) && !history.has(&version(2, "fra")));
    }

    proptest! {
        #[test]
        fn it_is_the_definition(
            writes in prop::collection::vec((1_u64..20, 0_u64..100), 0..12),
            seen in prop::option::of(0_u64..22),
            sent in 0_u64..120,
        ) {
            let newer = writes.iter().filter(|(stamp, _)| seen.is_none_or(|seen| *stamp > seen));
            let expected = newer.map(|(_, at)| *at).filter(|at| *at < sent).min().map_or(0, |at| sent - at);
            let all = writes.iter().map(|(stamp, at)| (version(*stamp, "lhr"), *at)).collect();
            prop_assert_eq!(stale(&History::of(all), seen, sent), u128::from(expected));
        }
    }
}
