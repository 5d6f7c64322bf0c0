//! Finds sides with the same samples: two names of one file, or a baseline that was copied over the
//! candidate.

use super::SideInput;

pub(super) fn identical(sides: &[SideInput]) -> Vec<[usize; 2]> {
    let first_alike = |second: usize| (0..second).find(|&first| is_same(&sides[first], &sides[second]));
    (1..sides.len()).filter_map(|second| Some([first_alike(second)?, second])).collect()
}

fn is_same(first: &SideInput, second: &SideInput) -> bool {
    let counts = |side: &SideInput| (side.distribution.n(), side.read, side.failed, side.without_metric);
    counts(first) == counts(second)
        && first.distribution == second.distribution
        && first.failures == second.failures
        && match (&first.columns, &second.columns) {
            (Some(first), Some(second)) => {
                first.values_ms == second.values_ms
                    && first.started_s == second.started_s
                    && first.pages == second.pages
            }
            (None, None) => true,
            _ => false,
        }
}
