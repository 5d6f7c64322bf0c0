//! A read of two stores at once: the faster one answers, and what the slower one says decides what has to be repaired.

use crate::Version;

/// Which of the two stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The one.
    Left,
    /// The other.
    Right,
}

/// What a store said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// The version of what it knows of the key, if it knows anything.
    Version(Option<Version>),
    /// It cannot be asked.
    Failed,
}

/// What follows from what a store said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The other one may still answer.
    Wait,
    /// What this one said is the answer.
    Answer,
    /// Nobody answers.
    Failed,
    /// The answer was given; this is to be repaired, if anything is.
    Settled(Option<Repair>),
}

/// Stores that know different things of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// The one that is behind, which is given what the other one knows.
    pub behind: Side,
    /// Whether the answer was too old: then copies of it may be in all places of the key, and all are told.
    pub is_answer_old: bool,
}

/// One read.
#[derive(Debug, Clone, Default)]
pub struct Race {
    first: Option<(Side, Heard)>,
}

impl Race {
    /// Takes what a store said. Each one says something once.
    pub fn hear(&mut self, side: Side, heard: Heard) -> Answer {
        let Some((first, said)) = self.first.take() else {
            let answer = if heard == Heard::Failed { Answer::Wait } else { Answer::Answer };
            self.first = Some((side, heard));
            return answer;
        };
        match (said, heard) {
            (Heard::Failed, Heard::Failed) => Answer::Failed,
            (Heard::Failed, Heard::Version(_)) => Answer::Answer,
            (Heard::Version(_), Heard::Failed) => Answer::Settled(None),
            (Heard::Version(said), Heard::Version(heard)) => Answer::Settled(match said.cmp(&heard) {
                std::cmp::Ordering::Less => Some(Repair { behind: first, is_answer_old: true }),
                std::cmp::Ordering::Equal => None,
                std::cmp::Ordering::Greater => Some(Repair { behind: side, is_answer_old: false }),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::version::tests::version;

    proptest! {
        /// Whoever is faster, both know the newer one afterwards, and all places are told if the older one was the answer.
        #[test]
        fn after_a_read_both_stores_know_the_newest(
            left in prop::option::of(0..3_u64),
            right in prop::option::of(0..3_u64),
            left_is_faster in any::<bool>(),
        ) {
            let of = |stamp: Option<u64>| stamp.map(|stamp| version(stamp, "a"));
            let mut known = [of(left), of(right)];
            let newest = known.iter().max().cloned().flatten();
            let order = if left_is_faster { [Side::Left, Side::Right] } else { [Side::Right, Side::Left] };
            let place = |side: Side| usize::from(side == Side::Right);
            let mut race = Race::default();
            prop_assert_eq!(race.hear(order[0], Heard::Version(known[place(order[0])].clone())), Answer::Answer);
            let answer = known[place(order[0])].clone();
            let Answer::Settled(repair) = race.hear(order[1], Heard::Version(known[place(order[1])].clone())) else {
                return Err(TestCaseError::fail("both have answered"));
            };
            prop_assert_eq!(repair.as_ref().is_some_and(|repair| repair.is_answer_old), answer != newest);
            if let Some(Repair { behind, .. }) = repair {
                prop_assert_ne!(&known[place(behind)], &newest);
                known[place(behind)] = newest.clone();
            }
            prop_assert_eq!(known, [newest.clone(), newest]);
        }
    }

    #[test]
    fn one_store_is_enough_for_an_answer() {
        let heard = || Heard::Version(Some(version(1, "a")));
        let mut race = Race::default();
        assert_eq!(race.hear(Side::Left, Heard::Failed), Answer::Wait);
        assert_eq!(race.hear(Side::Right, heard()), Answer::Answer);
        let mut race = Race::default();
        assert_eq!(race.hear(Side::Left, heard()), Answer::Answer);
        assert_eq!(race.hear(Side::Right, Heard::Failed), Answer::Settled(None));
        let mut race = Race::default();
        assert_eq!(race.hear(Side::Left, Heard::Failed), Answer::Wait);
        assert_eq!(race.hear(Side::Right, Heard::Failed), Answer::Failed);
    }
}
