//! Merges recordings of any format into one file; with a single input, this is a conversion.

use std::{
    collections::HashMap,
    io::{Cursor, Read},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use claim::Doubt;

use crate::{
    Counts, End, Error, Event, Header, Labels, Metric, Options, Origin, Reader, Recorder, Sample, Sink,
    Target, WriteOptions, create, is_standard,
    read::{
        EPOCH_NS,
        file::{Whole, is_same_file},
        rfc3339,
        unpack::unpack,
    },
};

/// The result of [`merge`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Merged {
    /// Samples in the inputs.
    pub read: u64,
    /// Samples in the output, including failed ones where the format supports them.
    pub written: u64,
    /// Samples that failed, of those in the inputs.
    pub failed: u64,
    /// Successful samples that lack the one metric of the output's format.
    pub without_metric: u64,
    /// Warnings about the inputs, with the file's name if there are several.
    pub doubts: Vec<Doubt>,
    /// Losses because of the output's format, as sentences.
    pub lost: Vec<String>,
}

/// Reads all inputs, in their order, into one output. Pages and redirect chains are renumbered, and
/// times count from the earliest start. Setting `stop` ends the merge at the next sample, but does
/// not interrupt an input that stalls ([`temporaries_of`](crate::temporaries_of)).
///
/// # Errors
/// An output that is one of the inputs, an error of an input or of the output, counts for a target
/// of samples, or [`Error::Stopped`]. On an error the output does not exist.
pub fn merge(
    inputs: &[PathBuf],
    output: &Path,
    target: Target,
    reading: &Options,
    writing: &WriteOptions,
    stop: &AtomicBool,
) -> Result<Merged, Error> {
    spare(inputs, output)?;
    let metric = writing.metric.or(reading.metric);
    let writing = WriteOptions { metric, ..writing.clone() };
    let reading = Options { metric, labels: labels(target, &writing), ..reading.clone() };
    let mut merged = Merged::default();
    let headers: Vec<Option<Header>> = inputs.iter().map(|path| header(path)).collect::<Result<_, _>>()?;
    let starts = starts(&headers);
    let mut is_relative = false;
    let mut recorder = create(output, target, &writing)?;
    recorder.begin(&common(&headers, starts.as_deref()))?;
    let mut end = End::default();
    let mut numbers = Numbers::default();
    for (index, path) in inputs.iter().enumerate() {
        let shift_ns = starts.as_ref().map_or(0, |starts| starts[index]);
        numbers.forget();
        let mut moved = Moved {
            recorder: recorder.as_mut(),
            output,
            stop,
            shift_ns,
            numbers: (inputs.len() > 1).then_some(&mut numbers),
            sample: Sample::default(),
            read: 0,
            failed: 0,
            is_relative: false,
        };
        let origin = crate::read(path, &reading, &mut moved)?;
        merged.read += moved.read;
        merged.failed += moved.failed;
        is_relative |= moved.is_relative;
        if origin.header.is_some() && headers[index].is_none() {
            let lost = "its header is left out, because it cannot be read twice.".to_owned();
            merged.doubts.push(noticed(path, inputs, lost));
        }
        add(&mut end, &origin, shift_ns);
        merged.doubts.extend(origin.warnings.into_iter().map(|words| noticed(path, inputs, words)));
    }
    if is_relative && starts.is_none() && inputs.len() > 1 {
        let warning = "Not all inputs have a start time: times that are not dates remain relative to the start of each input.";
        merged.doubts.insert(0, Doubt::Noticed(warning.to_owned()));
    }
    (end.samples, end.failed) = (merged.read, merged.failed);
    check(stop, output)?;
    let written = recorder.finish(&end)?;
    (merged.written, merged.without_metric) = (written.samples, written.without_metric);
    merged.lost = written.lost;
    Ok(merged)
}

/// Fails if the output would replace an input, by whatever name. A terminal or another device is
/// not replaced.
fn spare(inputs: &[PathBuf], output: &Path) -> Result<(), Error> {
    match inputs.iter().find(|input| is_same_file(input, output)) {
        Some(input) => Err(Error::WouldReplace { input: input.clone(), output: output.to_owned() }),
        None => Ok(()),
    }
}

fn check(stop: &AtomicBool, output: &Path) -> Result<(), Error> {
    if stop.load(Ordering::Relaxed) { Err(Error::Stopped { path: output.to_owned() }) } else { Ok(()) }
}

struct Moved<'m> {
    recorder: &'m mut dyn Recorder,
    output: &'m Path,
    stop: &'m AtomicBool,
    shift_ns: u64,
    /// `None` if there is only one input.
    numbers: Option<&'m mut Numbers>,
    sample: Sample,
    read: u64,
    failed: u64,
    /// Whether it contains times that are not dates.
    is_relative: bool,
}

impl Sink for Moved<'_> {
    fn metric(&mut self, metric: Metric) {
        self.recorder.metric(metric);
    }

    fn event(&mut self, event: &Event<'_>) -> Result<(), Error> {
        check(self.stop, self.output)?;
        self.read += 1;
        self.failed += u64::from(event.sample.error.is_some());
        self.is_relative |= event.sample.started_ns.is_some_and(|ns| ns <= EPOCH_NS);
        if self.shift_ns == 0 && self.numbers.is_none() {
            return self.recorder.event(event);
        }
        self.sample.clone_from(event.sample);
        for time in [&mut self.sample.started_ns, &mut self.sample.intended_ns] {
            // Times since 1970 have the same origin in every input.
            *time = time.map(|ns| if ns > EPOCH_NS { ns } else { ns.saturating_add(self.shift_ns) });
        }
        if let Some(numbers) = &mut self.numbers {
            self.sample.page = self.sample.page.map(|page| numbers.pages.number(page));
            self.sample.chain = self.sample.chain.map(|chain| numbers.chains.number(chain));
        }
        self.recorder.event(&Event { sample: &self.sample, ..*event })
    }

    fn counts(&mut self, counts: &Counts) -> Result<(), Error> {
        check(self.stop, self.output)?;
        self.read += counts.events();
        self.is_relative |= counts.started_s.is_some_and(|started| started <= EPOCH_NS as f64 / 1e9);
        self.recorder.counts(counts)
    }
}

#[derive(Default)]
struct Numbers {
    pages: Numbered,
    chains: Numbered,
}

#[derive(Default)]
struct Numbered {
    known: HashMap<u64, u64>,
    next: u64,
}

impl Numbers {
    /// Called for the next input, which reuses the same numbers for other pages.
    fn forget(&mut self) {
        self.pages.known.clear();
        self.chains.known.clear();
    }
}

impl Numbered {
    fn number(&mut self, own: u64) -> u64 {
        *self.known.entry(own).or_insert_with(|| {
            self.next += 1;
            self.next - 1
        })
    }
}

fn labels(target: Target, writing: &WriteOptions) -> Labels {
    match (target, &writing.tag) {
        (Target::Native | Target::Csv | Target::Tsv, _) => Labels::All,
        (Target::Hlog, Some(tag)) => Labels::One(tag.clone()),
        _ => Labels::None,
    }
}

/// `None` for other formats than native, and if the input is not a file.
fn header(path: &Path) -> Result<Option<Header>, Error> {
    let file = Whole::open(path)?;
    if is_standard(path) || !file.is_file() {
        return Ok(None);
    }
    // An unreadable file is reported when all of it is read.
    let Ok((head, rest)) = unpack(file, path) else { return Ok(None) };
    Ok(Reader::new(Cursor::new(head).chain(rest), path).ok().map(|reader| reader.header().clone()))
}

/// Offsets from the earliest, ns; `None` unless all have a start time.
fn starts(headers: &[Option<Header>]) -> Option<Vec<u64>> {
    let start = |header: &Option<Header>| rfc3339(header.as_ref()?.start.as_deref()?);
    let starts: Vec<u64> = headers.iter().map(start).collect::<Option<_>>()?;
    let earliest = starts.iter().copied().min()?;
    Some(starts.into_iter().map(|start| start - earliest).collect())
}

fn common(headers: &[Option<Header>], starts: Option<&[u64]>) -> Header {
    if let [Some(only)] = headers {
        return only.clone();
    }
    let ours = Header {
        tool: "longhaul".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        clock: "monotonic".to_owned(),
        ..Header::default()
    };
    let Some(known) = headers.iter().map(Option::as_ref).collect::<Option<Vec<&Header>>>() else {
        return ours;
    };
    let Some((first, others)) = known.split_first() else { return ours };
    let same = |field: fn(&Header) -> &Option<String>| {
        field(first).clone().filter(|_| others.iter().all(|other| field(other) == field(first)))
    };
    let earliest = starts.and_then(|starts| starts.iter().position(|&shift| shift == 0));
    let conditions = first
        .conditions
        .iter()
        .filter(|(name, value)| others.iter().all(|other| other.conditions.get(*name) == Some(value)));
    Header {
        host: same(|header| &header.host),
        label: same(|header| &header.label),
        start: earliest.and_then(|index| known[index].start.clone()),
        conditions: conditions.map(|(name, value)| (name.clone(), value.clone())).collect(),
        ..ours
    }
}

fn add(end: &mut End, origin: &Origin, shift_ns: u64) {
    let Some(other) = &origin.end else { return };
    let larger = |a: Option<f64>, b: Option<f64>| match (a, b) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (a, b) => a.or(b),
    };
    end.duration_ns = end.duration_ns.max(other.duration_ns.saturating_add(shift_ns));
    end.schedule_lateness_p999_ns = end.schedule_lateness_p999_ns.max(other.schedule_lateness_p999_ns);
    end.cpu_share = larger(end.cpu_share, other.cpu_share);
    end.interrupted |= other.interrupted;
    end.invalid.extend(other.invalid.iter().cloned());
}

fn noticed(path: &Path, inputs: &[PathBuf], words: String) -> Doubt {
    match inputs.len() {
        1 => Doubt::Noticed(words),
        _ => Doubt::Noticed(words).of(path.display().to_string()),
    }
}

#[cfg(test)]
mod pairs;
#[cfg(test)]
mod tests;
