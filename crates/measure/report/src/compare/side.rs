//! One side of a comparison: the samples of one metric, further columns for them, and missing data.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use claim::Doubt;
use recording::{Failure, Groups, Series, Values};
use statistics::{Bucket, Distribution};

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct SideInput {
    /// The side's name. Equal names get " (2)", " (3)".
    pub label: String,
    /// The format that it was read from, for display.
    pub format: String,
    /// The samples.
    pub distribution: Arc<Distribution>,
    /// The same samples without the emulator's own error, if it is known.
    pub without_error: Option<Arc<Distribution>>,
    /// The same samples in recorded order with further columns, if there are any.
    pub columns: Option<Columns>,
    /// Start of the recording, seconds since 1970, if it has a date.
    pub start_unix_s: Option<f64>,
    /// Planned faults, seconds since the measurement started; every run of the plan has them at
    /// these times.
    pub planned_faults_s: Vec<[f64; 2]>,
    /// Counts by the value of the requested label, `None` for samples without it. Replaces columns
    /// for a tagged histogram.
    pub tagged: Option<Vec<Tagged>>,
    /// Events read: samples, and the events of the following three kinds.
    pub read: u64,
    /// Events that failed and so have no latency.
    pub failed: u64,
    /// Failed events one by one, in any order, if the recording lists them.
    pub failures: Vec<Failure>,
    /// Events without this metric.
    pub without_metric: u64,
    /// Events outside the requested period.
    pub excluded: u64,
    /// Reasons why the measuring program may have shaped the samples itself.
    pub invalid: Vec<String>,
}

/// Samples with further data, as columns of equal length.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Columns {
    /// Latency, ms.
    pub values_ms: Vec<f64>,
    /// Seconds since the measurement started. If present, all columns are ordered by it.
    pub started_s: Option<Vec<f64>>,
    /// Page views.
    pub pages: Option<Vec<u32>>,
    /// The value of the requested label.
    pub groups: Option<Groups>,
    /// Phases in the order of [`recording::Metric::PHASES`], ms; NaN if they did not occur.
    pub phases: Option<[Vec<f32>; recording::Metric::PHASES.len()]>,
}

impl SideInput {
    /// Samples without further columns.
    pub fn bare(label: &str, distribution: Distribution) -> Self {
        Self {
            label: label.to_owned(),
            format: String::new(),
            read: distribution.n() as u64,
            distribution: Arc::new(distribution),
            without_error: None,
            columns: None,
            start_unix_s: None,
            planned_faults_s: Vec::new(),
            tagged: None,
            failed: 0,
            failures: Vec::new(),
            without_metric: 0,
            excluded: 0,
            invalid: Vec::new(),
        }
    }

    pub(crate) fn in_time(&self) -> Option<(&[f64], &[f64])> {
        let columns = self.columns.as_ref()?;
        Some((columns.started_s.as_deref()?, &columns.values_ms))
    }

    /// In the order of time. `None` without a planned fault, or if too few samples are left.
    pub(crate) fn outside_planned_faults(&self) -> Option<Vec<f64>> {
        let (started_s, values_ms) = self.in_time().filter(|_| !self.planned_faults_s.is_empty())?;
        let is_near = |at: f64| {
            self.planned_faults_s.iter().any(|[from, to]| (from - NEAR_S..=to + NEAR_S).contains(&at))
        };
        let rest = started_s.iter().zip(values_ms).filter(|(at, _)| !is_near(**at));
        let rest: Vec<f64> = rest.map(|(_, value)| *value).collect();
        (rest.len() >= FEWEST_OUTSIDE).then_some(rest)
    }
}

/// Covers requests in flight when a fault begins, and those that meet its queue after its end.
const NEAR_S: f64 = 1.0;

/// Fewer samples do not show how they depend on each other.
const FEWEST_OUTSIDE: usize = 50;

impl TryFrom<Series> for SideInput {
    type Error = statistics::Error;

    /// The header and warnings of the series are not in a side: show them yourself.
    fn try_from(series: Series) -> Result<Self, statistics::Error> {
        let tagged = tagged(&series)?;
        let without_error = without_error(&series)?;
        let (values, columns) = match series.values {
            Values::Exact(values_ms) => {
                let has_columns = series.started_s.is_some()
                    || series.pages.is_some()
                    || series.groups.is_some()
                    || series.phases.is_some();
                let columns = has_columns.then(|| {
                    let mut columns = Columns {
                        values_ms: values_ms.clone(),
                        started_s: series.started_s,
                        pages: series.pages,
                        groups: series.groups,
                        phases: series.phases,
                    };
                    columns.sort_by_time();
                    columns
                });
                (Values::Exact(values_ms), columns)
            }
            counted @ Values::Counted { .. } => (counted, None),
        };
        Ok(Self {
            label: series.label,
            format: series.format.name().to_owned(),
            distribution: Arc::new(values.try_into()?),
            without_error,
            columns,
            start_unix_s: series.start_unix_s,
            planned_faults_s: Vec::new(),
            tagged,
            read: series.read,
            failed: series.failed,
            failures: series.failures,
            without_metric: series.without_metric,
            excluded: series.excluded,
            invalid: worthless(&series.doubts),
        })
    }
}

fn without_error(series: &Series) -> Result<Option<Arc<Distribution>>, statistics::Error> {
    let (Some(errors), Some(values)) = (&series.own_errors_ms, series.values.exact()) else {
        return Ok(None);
    };
    let without = values.iter().zip(errors).map(|(value, error)| (value - error).max(0.0)).collect();
    Ok(Some(Arc::new(Distribution::new(without)?)))
}

fn worthless(doubts: &[Doubt]) -> Vec<String> {
    doubts.iter().filter(|doubt| doubt.invalidates()).map(ToString::to_string).collect()
}

/// A tag of a histogram, if it has one, and its counts.
pub type Tagged = (Option<String>, Distribution);

fn tagged(series: &Series) -> Result<Option<Vec<Tagged>>, statistics::Error> {
    let (Values::Counted { relative_error, .. }, Some(parts)) = (&series.values, &series.parts) else {
        return Ok(None);
    };
    if parts.iter().all(|part| part.tag.is_none()) {
        return Ok(None);
    }
    let mut tags = BTreeMap::<Option<&str>, Vec<Bucket>>::new();
    for part in parts {
        tags.entry(part.tag.as_deref()).or_default().extend_from_slice(&part.buckets);
    }
    tags.retain(|_, buckets| !buckets.is_empty());
    let counted = |(tag, buckets): (Option<&str>, Vec<Bucket>)| {
        Ok((tag.map(str::to_owned), Distribution::from_counts(buckets, *relative_error)?))
    };
    tags.into_iter().map(counted).collect::<Result<_, _>>().map(Some)
}

impl Columns {
    /// Stable: events that started together keep their order.
    fn sort_by_time(&mut self) {
        let Some(started_s) = &self.started_s else { return };
        if started_s.is_sorted() {
            return;
        }
        let mut order: Vec<usize> = (0..started_s.len()).collect();
        order.sort_by(|&a, &b| started_s[a].total_cmp(&started_s[b]));
        fn pick<T: Copy>(column: &mut Vec<T>, order: &[usize]) {
            *column = order.iter().map(|&from| column[from]).collect();
        }
        pick(&mut self.values_ms, &order);
        self.started_s.iter_mut().for_each(|column| pick(column, &order));
        self.pages.iter_mut().for_each(|column| pick(column, &order));
        self.groups.iter_mut().for_each(|groups| pick(&mut groups.of, &order));
        self.phases.iter_mut().flatten().for_each(|column| pick(column, &order));
    }
}

pub(super) fn distinct_labels(sides: &[SideInput]) -> Vec<String> {
    distinct(sides.iter().map(|side| side.label.as_str()))
}

pub(super) fn distinct<'l>(labels: impl Iterator<Item = &'l str>) -> Vec<String> {
    let mut used = BTreeSet::new();
    let distinct = |label: &str| {
        let numbered = (2_u64..).map(|number| format!("{label} ({number})"));
        let mut candidates = std::iter::once(label.to_owned()).chain(numbered);
        candidates.find(|candidate| used.insert(candidate.clone())).unwrap_or_default()
    };
    labels.map(distinct).collect()
}
