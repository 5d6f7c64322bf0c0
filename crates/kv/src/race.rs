//! A read of two stores at once: the faster one answers, and what the slower one says decides what has to be repaired.
//!
//! Who knows that there is something newer than what the faster one says waits for the slower one: a copy that was told of a write does
//! not go back to what was before it while either store has that write.

use std::cmp::Ordering;

use crate::Version;

/// Which of the two stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The one.
    Left,
    /// The other.
    Right,
}

impl Side {
    /// The other one.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }

    /// Its place in a list of both.
    pub fn place(self) -> usize {
        match self {
            Self::Left => 0,
            Self::Right => 1,
        }
    }
}

/// What a store said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// The version of what it knows of the key, if it knows anything.
    Version(Option<Version>),
    /// It knows nothing of the key, and may lack what the other one has always had.
    Unsure,
    /// It cannot be asked.
    Failed,
}

/// What follows from what a store said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Who answers.
    pub answer: Answer,
    /// What is to be repaired, if anything is.
    pub repair: Option<Repair>,
}

/// Who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The other one may still answer.
    Wait,
    /// What this one said is the answer.
    Of(Side),
    /// The answer was given before.
    Given,
    /// Nobody.
    Nobody,
}

/// Stores that know different things of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// The one that is behind, which is given what the other one knows.
    pub behind: Side,
    /// What the other one knows.
    pub newer: Version,
    /// Whether the answer was too old: then copies of it may be in all places of the key, and all are told.
    pub is_answer_old: bool,
}

/// One read.
#[derive(Debug, Clone, Default)]
pub struct Race {
    known: Option<Version>,
    first: Option<(Side, Heard)>,
    is_answered: bool,
}

impl Race {
    /// A read by somebody who knows of this version, if of any.
    pub fn knowing(known: Option<Version>) -> Self {
        Self { known, first: None, is_answered: false }
    }

    /// Takes what a store said. Each one says something once.
    pub fn hear(&mut self, side: Side, heard: Heard) -> Verdict {
        let Some((first, said)) = self.first.take() else {
            self.is_answered = matches!(&heard, Heard::Version(version) if *version >= self.known);
            self.first = Some((side, heard));
            return Verdict::of(if self.is_answered { Answer::Of(side) } else { Answer::Wait });
        };
        match (said.version(), heard.version()) {
            (None, None) => Verdict::of(Answer::Nobody),
            (None, Some(_)) => Verdict::of(Answer::Of(side)),
            (Some(_), None) if self.is_answered => Verdict::of(Answer::Given),
            (Some(_), None) => Verdict::of(Answer::Of(first)),
            (Some(said), Some(heard)) => self.settle((first, said), (side, heard)),
        }
    }

    /// Both have said what they know.
    fn settle(&self, first: (Side, Option<Version>), second: (Side, Option<Version>)) -> Verdict {
        let faster = first.0;
        let (behind, newer) = match first.1.cmp(&second.1) {
            Ordering::Less => (faster, second),
            Ordering::Greater => (second.0, first),
            Ordering::Equal if self.is_answered => return Verdict::of(Answer::Given),
            Ordering::Equal => return Verdict::of(Answer::Of(faster)),
        };
        let answer = if self.is_answered { Answer::Given } else { Answer::Of(newer.0) };
        let is_answer_old = self.is_answered && behind == faster;
        // What is greater than something is there.
        let repair = newer.1.map(|newer| Repair { behind, newer, is_answer_old });
        Verdict { answer, repair }
    }
}

impl Heard {
    /// The version, if it can be asked.
    fn version(self) -> Option<Option<Version>> {
        match self {
            Self::Version(version) => Some(version),
            Self::Unsure => Some(None),
            Self::Failed => None,
        }
    }
}

impl Verdict {
    fn of(answer: Answer) -> Self {
        Self { answer, repair: None }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::version::tests::version;

    fn of(stamp: Option<u64>) -> Option<Version> {
        stamp.map(|stamp| version(stamp, "a"))
    }

    proptest! {
        /// Whoever is faster, both know the newer one afterwards, and all places are told if the older one was the answer.
        #[test]
        fn after_a_read_both_stores_know_the_newest(
            left in prop::option::of(0..3_u64),
            right in prop::option::of(0..3_u64),
            known in prop::option::of(0..3_u64),
            left_is_faster in any::<bool>(),
        ) {
            let mut stores = [of(left), of(right)];
            let newest = stores.iter().max().cloned().flatten();
            let first = if left_is_faster { Side::Left } else { Side::Right };
            let mut race = Race::knowing(of(known));
            let mut answer = None;
            let mut repair = None;
            for side in [first, first.other()] {
                let verdict = race.hear(side, Heard::Version(stores[side.place()].clone()));
                if let Answer::Of(side) = verdict.answer {
                    prop_assert_eq!(answer.replace(stores[side.place()].clone()), None, "there is one answer");
                }
                repair = repair.or(verdict.repair);
            }
            let answer = answer.expect("both have answered");
            // Nothing older than what was known, unless nobody has that.
            prop_assert!(answer >= of(known).min(newest.clone()));
            prop_assert_eq!(repair.as_ref().is_some_and(|repair| repair.is_answer_old), answer != newest);
            if let Some(Repair { behind, newer, .. }) = repair {
                prop_assert_eq!(Some(&newer), newest.as_ref());
                prop_assert_ne!(&stores[behind.place()], &newest);
                stores[behind.place()] = Some(newer);
            }
            prop_assert_eq!(stores, [newest.clone(), newest]);
        }
    }

    #[test]
    fn one_store_is_enough_for_an_answer() {
        let heard = || Heard::Version(of(Some(1)));
        let answers = |known: Option<u64>, said: [Heard; 2]| {
            let mut race = Race::knowing(of(known));
            let [left, right] = said;
            [race.hear(Side::Left, left).answer, race.hear(Side::Right, right).answer]
        };
        assert_eq!(answers(None, [Heard::Failed, heard()]), [Answer::Wait, Answer::Of(Side::Right)]);
        assert_eq!(answers(None, [heard(), Heard::Failed]), [Answer::Of(Side::Left), Answer::Given]);
        assert_eq!(answers(None, [Heard::Failed, Heard::Failed]), [Answer::Wait, Answer::Nobody]);
        // It is older than what is known, and nobody has more.
        assert_eq!(answers(Some(2), [heard(), Heard::Failed]), [Answer::Wait, Answer::Of(Side::Left)]);
        assert_eq!(answers(Some(2), [Heard::Failed, heard()]), [Answer::Wait, Answer::Of(Side::Right)]);
        // It may lack what the other one has.
        assert_eq!(answers(None, [Heard::Unsure, heard()]), [Answer::Wait, Answer::Of(Side::Right)]);
        assert_eq!(answers(None, [Heard::Unsure, Heard::Failed]), [Answer::Wait, Answer::Of(Side::Left)]);
    }
}
