//! Reads the recordings of a comparison and groups them into sides.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use anyhow::{Context, bail};
use claim::Doubt;
use recording::{Metric, Series, Wanted, is_standard, read_series};
use report::{SideInput, Unanswered};

use super::{Compare, failing};

pub(super) struct Sides {
    pub(super) metric: Metric,
    pub(super) answered: Vec<SideInput>,
    pub(super) unanswered: Vec<Unanswered>,
    pub(super) doubts: Vec<Doubt>,
}

impl Compare {
    pub(super) fn sides(&self) -> anyhow::Result<Sides> {
        let (series, unanswered) = self.read()?;
        if self.mark.is_some() && series.len() > 2 {
            bail!("--mark divides one recording into two sides; give one, or several with one label");
        }
        if let Some(empty) = series.iter().find(|side| side.values.count() == 0) {
            bail!("{}: all {} samples lie outside of the period", empty.label, empty.excluded);
        }
        let metric = series.first().map(|side| side.metric);
        if let [first, others @ ..] = &series[..]
            && let Some(other) = others.iter().find(|side| side.metric != first.metric)
        {
            bail!(
                "{} has {} and {} has {}: they cannot be compared; choose with --metric",
                first.label,
                first.metric,
                other.label,
                other.metric
            );
        }
        let metric = metric.or(self.metric).unwrap_or(Metric::CANDIDATES[0]);
        self.check_phases(&series)?;
        let mut doubts = Vec::new();
        for side in &series {
            let weak = side.doubts.iter().filter(|doubt| !doubt.invalidates()).cloned();
            doubts.extend(weak.map(|doubt| doubt.of(side.label.as_str())));
        }
        let answered = in_parallel(series, SideInput::try_from).into_iter().collect::<Result<_, _>>()?;
        Ok(Sides { metric, answered, unanswered, doubts })
    }

    fn read(&self) -> anyhow::Result<(Vec<Series>, Vec<Unanswered>)> {
        let wanted = Wanted {
            metric: self.metric,
            excluded_phases: self.excluded_phases(),
            by: self.by.clone(),
            unit: self.unit,
            columns: self.column.clone(),
            access_log: self.log_format.clone(),
            exact_up_to: self.exact_up_to,
        };
        let read = |(label, path): &(Option<String>, PathBuf)| -> anyhow::Result<Vec<Series>> {
            let mut series = read_series(path, &wanted)?;
            series.label = label.clone().unwrap_or(series.label);
            // Applied per file, before the merge: each file has its own start time.
            series.restrict(self.from, self.to, &self.exclude)?;
            Ok(match self.mark {
                Some(mark) => series.split_at(mark)?.into(),
                None => vec![series],
            })
        };
        let inputs: Vec<_> = self.recordings.iter().map(|text| input(text)).collect();
        if inputs.iter().filter(|(_, path)| is_standard(path)).count() > 1 {
            bail!("- is standard input, which can be read once: give the other recordings as files");
        }
        let all: Vec<anyhow::Result<Vec<Series>>> = in_parallel(inputs.iter().collect(), read);
        let mut sides: Vec<(usize, Series)> = Vec::new();
        let mut failed = Vec::new();
        for (number, ((label, path), parts)) in inputs.iter().zip(all).enumerate() {
            let parts = match parts {
                Err(error) => {
                    failed.push((label.is_some(), failing::unanswered(number, label.as_deref(), error)?));
                    continue;
                }
                Ok(parts) => parts,
            };
            for part in parts {
                match sides.iter_mut().find(|(_, side)| label.is_some() && side.label == part.label) {
                    Some((_, side)) => {
                        side.append(part).with_context(|| format!("{}: not of one kind", path.display()))?;
                    }
                    None => sides.push((number, part)),
                }
            }
        }
        let unanswered = failing::together(failed, &mut sides);
        Ok((sides.into_iter().map(|(_, side)| side).collect(), unanswered))
    }

    /// Excluding a phase from only some of the sides would make them incomparable.
    fn check_phases(&self, series: &[Series]) -> anyhow::Result<()> {
        let had = |side: &&Series| side.taken_out > 0;
        let (with, without) = (series.iter().find(had), series.iter().find(|side| !had(side)));
        if let (Some(with), Some(without)) = (with, without) {
            bail!(
                "--exclude-phase: {} has the phase and {} knows nothing of it: they cannot be compared without it",
                with.label,
                without.label
            );
        }
        Ok(())
    }
}

/// The results keep the order of the items.
fn in_parallel<I: Send, O: Send>(items: Vec<I>, work: impl Fn(I) -> O + Sync) -> Vec<O> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let waiting = Mutex::new(items.into_iter().enumerate());
    // A separate closure, so that the lock is released before the work.
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
    let worker = || {
        let mut done = Vec::new();
        while let Some((place, item)) = next() {
            done.push((place, work(item)));
        }
        done
    };
    let mut done: Vec<(usize, O)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..processors).map(|_| scope.spawn(worker)).collect();
        let joined = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        joined.flatten().collect()
    });
    done.sort_unstable_by_key(|&(place, _)| place);
    done.into_iter().map(|(_, output)| output).collect()
}

/// An existing file whose name contains an equals sign is a FILE.
pub(super) fn input(text: &str) -> (Option<String>, PathBuf) {
    match text.split_once('=') {
        Some((label, path)) if !label.is_empty() && !Path::new(text).exists() => {
            (Some(label.to_owned()), path.into())
        }
        _ => (None, text.into()),
    }
}
