//! Reading two stores concurrently: the faster response is returned, and the slower one decides
//! whether a store needs read repair.
//!
//! A reader that knows a newer version than the faster response contains waits for the slower one.

use std::cmp::Ordering;

use crate::Version;

/// One of the two stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The first store.
    Left,
    /// The second store.
    Right,
}

impl Side {
    /// The other store.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }

    /// The index in a list of both stores.
    pub fn place(self) -> usize {
        match self {
            Self::Left => 0,
            Self::Right => 1,
        }
    }
}

/// The response of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreReply {
    /// The version of the store's record of the key, if it has one.
    Version(Option<Version>),
    /// The store has no record of the key, but may lack records that the other store has.
    Unsure,
    /// The request failed.
    Failed,
}

/// What follows from a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Which response is returned to the reader.
    pub answer: Answer,
    /// The repair that is needed, if any.
    pub repair: Option<Repair>,
}

/// Which response is returned to the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The other response is awaited.
    Wait,
    /// The response of this store is returned.
    Of(Side),
    /// A response was already returned.
    Given,
    /// Both requests failed.
    Nobody,
}

/// Read repair of two stores whose records of a key differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// The store with the older record or without one. It receives the record of the other store.
    pub behind: Side,
    /// The version of the newer record.
    pub newer: Version,
    /// Whether the older value was already returned: then all tiers are notified.
    pub is_answer_old: bool,
}

/// One read of both stores.
#[derive(Debug, Clone, Default)]
pub struct DualRead {
    known: Option<Version>,
    first: Option<(Side, StoreReply)>,
    is_answered: bool,
}

impl DualRead {
    /// A read by a data centre that knows this version of the key, if any.
    pub fn knowing(known: Option<Version>) -> Self {
        Self { known, first: None, is_answered: false }
    }

    /// Handles the response of a store. Each store responds once.
    pub fn hear(&mut self, side: Side, heard: StoreReply) -> Verdict {
        let Some((first, said)) = self.first.take() else {
            self.is_answered = matches!(&heard, StoreReply::Version(version) if *version >= self.known);
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
        // The newer version is greater than another one, so it is always Some.
        let repair = newer.1.map(|newer| Repair { behind, newer, is_answer_old });
        Verdict { answer, repair }
    }
}

impl StoreReply {
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
            let mut race = DualRead::knowing(of(known));
            let mut answer = None;
            let mut repair = None;
            for side in [first, first.other()] {
                let verdict = race.hear(side, StoreReply::Version(stores[side.place()].clone()));
                if let Answer::Of(side) = verdict.answer {
                    prop_assert_eq!(answer.replace(stores[side.place()].clone()), None, "there is one answer");
                }
                repair = repair.or(verdict.repair);
            }
            let answer = answer.expect("both have answered");
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
        let heard = || StoreReply::Version(of(Some(1)));
        let answers = |known: Option<u64>, said: [StoreReply; 2]| {
            let mut race = DualRead::knowing(of(known));
            let [left, right] = said;
            [race.hear(Side::Left, left).answer, race.hear(Side::Right, right).answer]
        };
        assert_eq!(answers(None, [StoreReply::Failed, heard()]), [Answer::Wait, Answer::Of(Side::Right)]);
        assert_eq!(answers(None, [heard(), StoreReply::Failed]), [Answer::Of(Side::Left), Answer::Given]);
        assert_eq!(answers(None, [StoreReply::Failed, StoreReply::Failed]), [Answer::Wait, Answer::Nobody]);
        assert_eq!(answers(Some(2), [heard(), StoreReply::Failed]), [Answer::Wait, Answer::Of(Side::Left)]);
        assert_eq!(answers(Some(2), [StoreReply::Failed, heard()]), [Answer::Wait, Answer::Of(Side::Right)]);
        // An unsure store may lack the record of the other one.
        assert_eq!(answers(None, [StoreReply::Unsure, heard()]), [Answer::Wait, Answer::Of(Side::Right)]);
        assert_eq!(
            answers(None, [StoreReply::Unsure, StoreReply::Failed]),
            [Answer::Wait, Answer::Of(Side::Left)]
        );
    }
}
