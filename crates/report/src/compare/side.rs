//! One side of a comparison: the samples of one metric, what stands beside them, and what is missing.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use experience::{Bucket, Distribution};
use recording::{Failure, Groups, Series, Values};

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct SideInput {
    /// What the side is called. Equal labels are told apart by " (2)", " (3)".
    pub label: String,
    /// The format that it was read from, for people.
    pub format: String,
    /// The samples.
    pub distribution: Arc<Distribution>,
    /// The same samples in the order of their recording with what stands beside each. Absent if nothing does.
    pub columns: Option<Columns>,
    /// Counts by the value of the label that was asked for, `None` for those without: in place of columns, where the samples
    /// are counts and the file tells them apart.
    pub tagged: Option<Vec<Tagged>>,
    /// Events read: the samples, and the three that follow.
    pub read: u64,
    /// Events that failed and so have no latency.
    pub failed: u64,
    /// The same one by one, in any order, as far as the recording has them so.
    pub failures: Vec<Failure>,
    /// Events that carry no such metric.
    pub without_metric: u64,
    /// Events outside the period that was asked for.
    pub excluded: u64,
    /// Why whatever measured may have shaped the samples itself.
    pub invalid: Vec<String>,
}

/// Samples with what stands beside each, as columns of equal length.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Columns {
    /// Latency, ms.
    pub values_ms: Vec<f64>,
    /// Seconds since the measurement's start. If it is there, all columns are in its order.
    pub started_s: Option<Vec<f64>>,
    /// Page views.
    pub pages: Option<Vec<u32>>,
    /// The value of the label that was asked for.
    pub groups: Option<Groups>,
    /// Phases in the order of [`recording::Metric::PHASES`], ms, NaN where they did not happen.
    pub phases: Option<[Vec<f32>; 6]>,
}

impl SideInput {
    /// Samples that nothing stands beside.
    pub fn bare(label: &str, distribution: Distribution) -> Self {
        Self {
            label: label.to_owned(),
            format: String::new(),
            read: distribution.n() as u64,
            distribution: Arc::new(distribution),
            columns: None,
            tagged: None,
            failed: 0,
            failures: Vec::new(),
            without_metric: 0,
            excluded: 0,
            invalid: Vec::new(),
        }
    }

    /// Values and start times in order of time, if there are times.
    pub(crate) fn in_time(&self) -> Option<(&[f64], &[f64])> {
        let columns = self.columns.as_ref()?;
        Some((columns.started_s.as_deref()?, &columns.values_ms))
    }
}

impl TryFrom<Series> for SideInput {
    type Error = experience::Error;

    /// Takes over what was read. The series' header and warnings are not in a side: show them yourself.
    fn try_from(series: Series) -> Result<Self, experience::Error> {
        let tagged = tagged(&series)?;
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
            columns,
            tagged,
            read: series.read,
            failed: series.failed,
            failures: series.failures,
            without_metric: series.without_metric,
            excluded: series.excluded,
            invalid: series.invalid,
        })
    }
}

/// A tag of a histogram, if it has one, with its counts.
pub type Tagged = (Option<String>, Distribution);

/// The counts of each tag.
fn tagged(series: &Series) -> Result<Option<Vec<Tagged>>, experience::Error> {
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
    /// Puts all columns into the order of time. Events that started together stay as they were.
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

/// The labels, with " (2)", " (3)", ... where one has been used already.
pub(super) fn distinct_labels(sides: &[SideInput]) -> Vec<String> {
    let mut used = BTreeSet::new();
    let mut distinct = |label: &str| {
        let numbered = (2_u64..).map(|number| format!("{label} ({number})"));
        let mut candidates = std::iter::once(label.to_owned()).chain(numbered);
        candidates.find(|candidate| used.insert(candidate.clone())).unwrap_or_default()
    };
    sides.iter().map(|side| distinct(&side.label)).collect()
}
