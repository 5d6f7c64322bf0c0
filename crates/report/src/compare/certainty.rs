//! What may be claimed of a difference: the number and its word, which always come together.

use experience::Difference;

use crate::model::{Certainty, Verdict};

/// The word of the report for that of the statistics.
pub(super) fn word(certainty: experience::Certainty) -> Certainty {
    match certainty {
        experience::Certainty::Sure => Certainty::Sure,
        experience::Certainty::Borderline => Certainty::Borderline,
        experience::Certainty::Likely => Certainty::Likely,
        experience::Certainty::Undecided => Certainty::Undecided,
    }
}

/// Writes into a verdict how sure it is.
pub(super) fn claim(verdict: &mut Verdict, difference: &Difference) {
    (verdict.sure, verdict.certainty) = (Some(difference.sure), Some(word(difference.certainty)));
    verdict.samples_needed = difference.samples_needed;
}
