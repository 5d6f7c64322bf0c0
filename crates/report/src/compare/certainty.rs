//! The certainty of a difference: the number and its word, which are always used together.

use experience::Difference;

use crate::model::{Certainty, Verdict};

/// The report's word for the certainty that the statistics found.
pub(super) fn word(certainty: experience::Certainty) -> Certainty {
    match certainty {
        experience::Certainty::Sure => Certainty::Sure,
        experience::Certainty::Borderline => Certainty::Borderline,
        experience::Certainty::Likely => Certainty::Likely,
        experience::Certainty::Undecided => Certainty::Undecided,
    }
}

/// Writes the certainty into a verdict.
pub(super) fn claim(verdict: &mut Verdict, difference: &Difference) {
    (verdict.sure, verdict.certainty) = (Some(difference.sure), Some(word(difference.certainty)));
    verdict.samples_needed = difference.samples_needed;
}
