//! The request for a series.

use crate::{
    AccessLog, ColumnMapping, Metric, Unit,
    read::{Labels, Options},
};

/// The metric, phases and labels to read from a recording.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The metric. By default the first of `latency`, `ttfb` and `total` that a sample has, or the
    /// file's only one.
    pub metric: Option<Metric>,
    /// Phases that are taken out of the metric.
    pub excluded_phases: Vec<Metric>,
    /// The label to group by.
    pub by: Option<String>,
    /// The unit of plain numbers where the file does not name it.
    pub unit: Option<Unit>,
    /// Meanings of columns of a CSV file.
    pub columns: Vec<ColumnMapping>,
    /// How the lines of an access log are made.
    pub access_log: Option<AccessLog>,
    /// More values than this are kept as a histogram.
    pub exact_up_to: usize,
}

impl Default for Wanted {
    fn default() -> Self {
        Self {
            metric: None,
            excluded_phases: Vec::new(),
            by: None,
            unit: None,
            columns: Vec::new(),
            access_log: None,
            exact_up_to: EXACT_UP_TO,
        }
    }
}

impl Wanted {
    /// A metric, and defaults for the rest.
    pub fn metric(metric: Metric) -> Self {
        Self { metric: Some(metric), ..Self::default() }
    }

    pub(super) fn options(&self) -> Options {
        Options {
            metric: self.metric,
            unit: self.unit,
            columns: self.columns.clone(),
            access_log: self.access_log.clone(),
            labels: self.by.clone().map_or(Labels::None, Labels::One),
        }
    }
}

const EXACT_UP_TO: usize = 20_000_000;
