//! The further columns of each value: its page, its group and its phases.

use super::{Groups, NO_GROUP, groups::Numbers};
use crate::{Metric, Sample, Wanted};

/// Each is empty or as long as the values.
#[derive(Debug, Default)]
pub(super) struct Beside {
    pages: Vec<u32>,
    page_numbers: Numbers<u64>,
    groups: Vec<u32>,
    group_numbers: Numbers<String>,
    phases: [Vec<f32>; Metric::PHASES.len()],
}

pub(super) type Columns = (Option<Vec<u32>>, Option<Groups>, Option<[Vec<f32>; Metric::PHASES.len()]>);

impl Beside {
    pub(super) fn is_empty(&self) -> bool {
        self.pages.is_empty() && self.groups.is_empty() && self.phases[0].is_empty()
    }

    /// [`NO_GROUP`] without a page.
    pub(super) fn page(&mut self, sample: &Sample) -> u32 {
        sample.page.map_or(NO_GROUP, |page| self.page_numbers.number(&page))
    }

    pub(super) fn push(&mut self, sample: &Sample, place: usize, wanted: &Wanted) {
        if sample.page.is_some() || !self.pages.is_empty() {
            self.pages.resize(place, NO_GROUP);
            let page = self.page(sample);
            self.pages.push(page);
        }
        if let Some(by) = &wanted.by {
            let name = sample.label(by);
            if name.is_some() || !self.groups.is_empty() {
                self.groups.resize(place, NO_GROUP);
                self.groups.push(name.map_or(NO_GROUP, |name| self.group_numbers.number(&*name)));
            }
        }
        if sample.has_phases() || !self.phases[0].is_empty() {
            for (column, phase) in self.phases.iter_mut().zip(Metric::PHASES) {
                let took = sample.get(phase).filter(|_| !wanted.excluded_phases.contains(&phase));
                column.resize(place, f32::NAN);
                column.push(took.map_or(f32::NAN, milliseconds_f32));
            }
        }
    }

    pub(super) fn into_columns(self) -> Columns {
        let groups = Groups { names: self.group_numbers.into_names(), of: self.groups };
        (
            Some(self.pages).filter(|pages| !pages.is_empty()),
            Some(groups).filter(|groups| !groups.of.is_empty()),
            Some(self.phases).filter(|phases| !phases[0].is_empty()),
        )
    }
}

/// For a chart of shares seven digits are plenty.
#[expect(clippy::cast_possible_truncation, reason = "rounded, as documented")]
fn milliseconds_f32(nanoseconds: u64) -> f32 {
    (nanoseconds as f64 / 1e6) as f32
}
