//! Measured values in the form that claims evaluate: objects with numbers, distributions and
//! counted labels.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;
use statistics::{Distribution, Page, share_faster};

use crate::{
    own_error::{OwnError, Ranged},
    path::Path,
    subject::{Fold, Query, Source, Subject},
    unit::Unit,
};

/// The values that one kind of measurement has for one side.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    objects: Vec<Object>,
    samples: BTreeMap<&'static str, Samples>,
    events: u64,
    labels: BTreeMap<String, BTreeMap<String, u64>>,
}

#[derive(Debug, Clone)]
struct Samples {
    measured: Arc<Distribution>,
    without_error: Option<Arc<Distribution>>,
}

/// A JSON object with numbers: the output of a program, or the counters of a host.
#[derive(Debug, Clone)]
pub struct Object {
    /// Its description: "the transfer of x from a to b".
    pub what: String,
    /// The JSON value that contains the numbers. Field names end in the unit.
    pub value: Arc<Value>,
    /// The field of `value` that contains the numbers; "" for the whole value.
    pub within: &'static str,
    /// Why numbers are missing, if known.
    pub why: Option<String>,
    /// The bound of the emulator's error in its times, if known.
    pub own_error: Option<OwnError>,
}

impl Object {
    /// An object that consists of the whole value.
    pub fn new(what: impl Into<String>, value: impl Into<Arc<Value>>) -> Self {
        Self { what: what.into(), value: value.into(), within: "", why: None, own_error: None }
    }

    fn number(&self, path: &Path) -> Result<f64, String> {
        let value = if self.within.is_empty() { Some(&*self.value) } else { self.value.get(self.within) };
        path.number(value.unwrap_or(&Value::Null))
    }

    fn number_without_error(&self, path: &Path) -> Result<f64, String> {
        let number = self.number(path)?;
        Ok(match (self.own_error, path.unit()) {
            (Some(error), Unit::Time) => error.of_time(number),
            (Some(error), Unit::Rate | Unit::Frequency) => error.of_rate(number),
            _ => number,
        })
    }
}

/// All measured values, by kind of measurement and side.
#[derive(Debug, Clone)]
pub struct Measured {
    page: Page,
    by_side: BTreeMap<(Source, String), Evidence>,
}

impl Evidence {
    /// Adds an object.
    pub fn object(&mut self, object: Object) {
        self.objects.push(object);
    }

    /// Adds a distribution. `without_error` has the same samples without the emulator's own error.
    pub fn samples(
        &mut self,
        name: &'static str,
        measured: Arc<Distribution>,
        without_error: Option<Arc<Distribution>>,
    ) {
        self.samples.insert(name, Samples { measured, without_error });
    }

    /// Registers a label, so that it counts as zero, not as unknown, if no event carries it.
    pub fn label(&mut self, label: &str) {
        self.labels.entry(label.to_owned()).or_default();
    }

    /// Counts an event. [`Self::labelled`] counts its labels.
    pub fn event(&mut self) {
        self.events += 1;
    }

    /// Counts a label of an event.
    pub fn labelled(&mut self, label: &str, value: &str) {
        let values = self.labels.entry(label.to_owned()).or_default();
        match values.get_mut(value) {
            Some(count) => *count += 1,
            None => drop(values.insert(value.to_owned(), 1)),
        }
    }

    /// Appends the values of another measurement of the side. Distributions with the same name are
    /// not merged.
    pub fn append(&mut self, other: Self) {
        self.objects.extend(other.objects);
        self.samples.extend(other.samples);
        self.events += other.events;
        for (label, values) in other.labels {
            let known = self.labels.entry(label).or_default();
            for (value, count) in values {
                *known.entry(value).or_default() += count;
            }
        }
    }

    fn sum(&self, path: &Path) -> f64 {
        self.objects.iter().filter_map(|object| object.number(path).ok()).sum()
    }

    fn folded(
        &self,
        subject: &Subject,
        (paths, fold): (&[Path], Fold),
        side: &str,
        read: fn(&Object, &Path) -> Result<f64, String>,
    ) -> Result<f64, String> {
        let number = |object: &Object| {
            let numbers = paths.iter().map(|path| read(object, path));
            numbers.sum::<Result<f64, String>>().map_err(|missing| {
                let why = subject.absent(side).or_else(|| object.why.clone()).unwrap_or(missing);
                format!("{}: {why}", object.what)
            })
        };
        let mut numbers = self.objects.iter().map(number);
        match fold {
            Fold::Sum => numbers.sum(),
            Fold::First => numbers.next().unwrap_or_else(|| Err(unmeasured(side))),
            Fold::Max => numbers.try_fold(0.0, |most: f64, next| next.map(|next| most.max(next))),
            Fold::Over(statistic) => {
                let all = Distribution::new(numbers.collect::<Result<_, _>>()?);
                all.map(|all| statistic.value_of_all(&all)).map_err(|_| unmeasured(side))
            }
        }
    }

    fn share(&self, label: &str, value: &str, side: &str) -> Result<f64, String> {
        let values = self.labels.get(label).filter(|_| self.events > 0);
        let values = values.ok_or_else(|| format!("no request of {side} has the label \"{label}\""))?;
        Ok(as_f64(values.get(value).copied().unwrap_or_default()) / as_f64(self.events))
    }
}

impl Measured {
    /// An empty set of values; `page` is the page that users load.
    pub fn new(page: Page) -> Self {
        Self { page, by_side: BTreeMap::new() }
    }

    /// Adds the values that a kind of measurement has for a side.
    pub fn add(&mut self, source: Source, side: &str, evidence: Evidence) {
        self.by_side.entry((source, side.to_owned())).or_default().append(evidence);
    }

    /// A number of a side, in the unit of its subject. A number from too few samples is an error.
    ///
    /// # Errors
    ///
    /// The number does not exist; the error is a sentence with the reason.
    pub fn value(&self, subject: &Subject, side: &str) -> Result<Ranged, String> {
        let absent = || subject.absent(side).unwrap_or_else(|| unmeasured(side));
        let of = |side: &str| self.by_side.get(&(subject.source(), side.to_owned()));
        match subject.query() {
            Query::Number { paths, fold } => {
                let evidence = of(side).filter(|evidence| !evidence.objects.is_empty());
                let evidence = evidence.ok_or_else(|| unmeasured(side))?;
                let folded = |read| evidence.folded(subject, (paths, *fold), side, read);
                Ok(Ranged::between(folded(Object::number)?, folded(Object::number_without_error)?))
            }
            Query::Ratio { of: part, to: whole } => {
                let (part, whole) = of(side).map_or((0.0, 0.0), |one| (one.sum(part), one.sum(whole)));
                if whole > 0.0 { Ok((part / whole).into()) } else { Err(absent()) }
            }
            Query::Samples { of: name, measure } => {
                let samples = of(side).and_then(|one| one.samples.get(name)).ok_or_else(absent)?;
                let value = |samples: &Distribution| measure.value(samples, self.page);
                let measured = value(&samples.measured).ok_or_else(|| {
                    let n = samples.measured.n();
                    format!("{subject} of {side} has fewer than 10 of its {n} samples beyond it")
                })?;
                let without_error = samples.without_error.as_deref().and_then(value);
                Ok(Ranged::between(measured, without_error.unwrap_or(measured)))
            }
            Query::FasterThan(than) => {
                let samples = |side: &str| {
                    of(side).and_then(|one| one.samples.get(REQUEST)).ok_or_else(|| unmeasured(side))
                };
                let (other, own) = (samples(than)?, samples(side)?);
                let share = |own: &Distribution, other: &Distribution| {
                    share_faster(own, other, self.page.effective_requests())
                };
                let measured = Ranged::from(share(&own.measured, &other.measured));
                // Highest if all of the error is on this side, and lowest if all of it is on the
                // other.
                let highest = own.without_error.as_deref().map(|own| share(own, &other.measured));
                let lowest = other.without_error.as_deref().map(|other| share(&own.measured, other));
                Ok([highest, lowest].into_iter().flatten().fold(measured, Ranged::or))
            }
            Query::Share { label, value } => {
                Ok(of(side).ok_or_else(|| unmeasured(side))?.share(label, value, side)?.into())
            }
        }
    }
}

fn unmeasured(side: &str) -> String {
    format!("{side} was not measured")
}

#[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
fn as_f64(number: u64) -> f64 {
    number as f64
}

const REQUEST: &str = "request";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Measure, Statistic};

    const SOURCE: Source = Source::new("probe");

    fn measured() -> Measured {
        let mut evidence = Evidence::default();
        evidence.label("error");
        for (cache, error) in
            [(Some("hit"), None), (Some("hit"), None), (Some("miss"), None), (None, Some("timeout"))]
        {
            evidence.event();
            cache.into_iter().for_each(|value| evidence.labelled("cache", value));
            error.into_iter().for_each(|value| evidence.labelled("error", value));
        }
        for (longest_s, why) in [(Some(1.0), None), (Some(4.0), None), (None, Some("it broke".to_owned()))] {
            let value = json!({ "longest_s": longest_s, "n": 2 });
            evidence.object(Object { why, ..Object::new("a host", value) });
        }
        let mut measured = Measured::new(Page::new(1, 1.0).unwrap());
        measured.add(SOURCE, "swift", evidence);
        measured
    }

    fn share(label: &str, value: &str) -> Subject {
        let query = Query::Share { label: label.to_owned(), value: value.to_owned() };
        Subject::new(SOURCE, "request.share", query, Unit::Share)
    }

    #[test]
    fn a_share_is_of_all_events_also_of_those_that_failed() {
        let measured = measured();
        assert_eq!(measured.value(&share("cache", "hit"), "swift"), Ok(0.5.into()));
        assert_eq!(measured.value(&share("error", "timeout"), "swift"), Ok(0.25.into()));
        assert_eq!(
            measured.value(&share("error", "refused"), "swift"),
            Ok(0.0.into()),
            "known and never seen"
        );
        assert_eq!(
            measured.value(&share("tier", "upper"), "swift"),
            Err("no request of swift has the label \"tier\"".to_owned()),
            "what was not measured is missing, never zero"
        );
        assert_eq!(
            measured.value(&share("cache", "hit"), "nobody"),
            Err("nobody was not measured".to_owned())
        );
    }

    #[test]
    fn numbers_of_several_objects_become_one() {
        let measured = measured();
        let number = |path: &str, fold| {
            let query = Query::Number { paths: vec![path.parse().unwrap()], fold };
            measured.value(&Subject::new(SOURCE, "x", query, Unit::Number), "swift").map(|one| one.value)
        };
        assert_eq!(number("json.n", Fold::Sum), Ok(6.0));
        assert_eq!(number("json.n", Fold::First), Ok(2.0));
        assert_eq!(number("json.n", Fold::Over(Statistic::Mean)), Ok(2.0));
        let mut hosts = Measured::new(Page::new(1, 1.0).unwrap());
        for longest_s in [1.0, 9.0, 3.0] {
            let mut evidence = Evidence::default();
            evidence.object(Object::new("a host", json!({ "longest_s": longest_s })));
            hosts.add(SOURCE, "swift", evidence);
        }
        let query = |fold| Query::Number { paths: vec!["json.longest_s".parse().unwrap()], fold };
        let over = |statistic| Subject::new(SOURCE, "x", query(Fold::Over(statistic)), Unit::Time);
        // (1 + 9 + 3) / 3 s. The hosts are the whole population, so no percentile is thin.
        assert_eq!(hosts.value(&over(Statistic::Mean), "swift"), Ok((13_000.0 / 3.0).into()));
        assert_eq!(hosts.value(&over(Statistic::Percentile(50.0)), "swift"), Ok(3000.0.into()));
        assert_eq!(number("json.longest_s", Fold::First), Ok(1000.0));
        assert_eq!(number("json.longest_s", Fold::Max), Err("a host: it broke".to_owned()));
        let [of, to] = ["json.longest_s", "json.n"].map(|path| path.parse().unwrap());
        let ratio = Subject::new(SOURCE, "x", Query::Ratio { of, to }, Unit::Number);
        assert_eq!(measured.value(&ratio, "swift"), Ok((5000.0 / 6.0).into()));
    }

    #[test]
    fn without_the_emulators_error_times_are_shorter_and_rates_higher() {
        let mut measured = Measured::new(Page::new(1, 1.0).unwrap());
        let mut evidence = Evidence::default();
        let value = json!({ "took_s": 2.0, "goodput_mbps": 8.0, "n": 3 });
        let own_error = Some(OwnError { error_ms: 400.0, took_ms: 2000.0 });
        evidence.object(Object { own_error, ..Object::new("a host", value) });
        let distribution = |values: &[f64]| Arc::new(Distribution::new(values.to_vec()).unwrap());
        evidence.samples("request", distribution(&[10.0, 20.0]), Some(distribution(&[9.0, 16.0])));
        measured.add(SOURCE, "swift", evidence);
        let mut other = Evidence::default();
        other.samples("request", distribution(&[9.5, 30.0]), Some(distribution(&[9.5, 12.0])));
        measured.add(SOURCE, "other", other);

        let number = |path: &str| {
            let query = Query::Number { paths: vec![path.parse().unwrap()], fold: Fold::Sum };
            measured.value(&Subject::new(SOURCE, "x", query, Unit::Number), "swift").unwrap()
        };
        assert_eq!(number("json.took_s"), Ranged { value: 2000.0, low: 1600.0, high: 2000.0 });
        // 8 Mbit/s over 2 s are 10 Mbit/s over the 1.6 s that remain without the emulator's error.
        assert_eq!(number("json.goodput_mbps"), Ranged { value: 8e6, low: 8e6, high: 1e7 });
        assert_eq!(number("json.n"), 3.0.into());

        let samples = |query| measured.value(&Subject::new(SOURCE, "x", query, Unit::Time), "swift").unwrap();
        let mean = Query::Samples { of: "request", measure: Measure::of_samples(Statistic::Mean) };
        assert_eq!(samples(mean), Ranged { value: 15.0, low: 12.5, high: 15.0 });
        // 10 and 20 are faster than 30 only. Without this side's error 9 and 16 win three pairs;
        // without the other's only 10 wins, over 12.
        let share = samples(Query::FasterThan("other".to_owned()));
        assert_eq!(share, Ranged { value: 0.5, low: 0.25, high: 0.75 });
    }
}
