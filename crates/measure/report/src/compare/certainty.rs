//! The certainty of a difference: the number and its word, which are always used together.

use statistics::Difference;

use crate::model::{Certainty, Verdict};

pub(super) fn word(certainty: statistics::Certainty) -> Certainty {
    match certainty {
        statistics::Certainty::Sure => Certainty::Sure,
        statistics::Certainty::Borderline => Certainty::Borderline,
        statistics::Certainty::Likely => Certainty::Likely,
        statistics::Certainty::Undecided => Certainty::Undecided,
    }
}

pub(super) fn claim(verdict: &mut Verdict, difference: &Difference) {
    (verdict.sure, verdict.certainty) = (Some(difference.sure), Some(word(difference.certainty)));
    verdict.samples_needed = difference.samples_needed;
}
