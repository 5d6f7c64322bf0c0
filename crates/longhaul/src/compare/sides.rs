//! Reads the recordings of a comparison and makes sides of them.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use anyhow::{Context, bail};
use recording::{Metric, Series, Wanted, read_series};
use report::SideInput;

use super::Compare;

impl Compare {
    /// The metric that all sides have, the sides, and what a reader must know of them.
    pub(super) fn sides(&self) -> anyhow::Result<(Metric, Vec<SideInput>, Vec<String>)> {
        let mut series = self.read()?;
        for side in &mut series {
            side.restrict(self.from, self.to, &self.exclude)?;
        }
        if let Some(mark) = self.mark {
            let Ok([one]) = <[Series; 1]>::try_from(series) else {
                bail!("--mark divides one recording into two sides; give one, or several with one label");
            };
            series = one.split_at(mark)?.into();
        }
        let metric = series[0].metric;
        if let Some(other) = series.iter().find(|side| side.metric != metric) {
            bail!(
                "{} has {metric} and {} has {}: they cannot be compared; choose with --metric",
                series[0].label,
                other.label,
                other.metric
            );
        }
        let mut warnings = Vec::new();
        for side in &mut series {
            let said = std::mem::take(&mut side.warnings);
            warnings.extend(said.into_iter().map(|warning| format!("{}: {warning}", side.label)));
        }
        let sides = in_parallel(series, SideInput::try_from).into_iter().collect::<Result<_, _>>()?;
        Ok((metric, sides, warnings))
    }

    /// Reads all files and puts those of one label together.
    fn read(&self) -> anyhow::Result<Vec<Series>> {
        let wanted = Wanted {
            metric: self.metric,
            excluded_phases: self.exclude_phase.clone(),
            by: self.by.clone(),
            unit: self.unit,
            access_log: self.log_format.clone(),
            exact_up_to: self.exact_up_to,
        };
        let read = |(label, path): &(Option<String>, PathBuf)| -> anyhow::Result<Series> {
            let series = read_series(path, &wanted)?;
            Ok(Series { label: label.clone().unwrap_or(series.label), ..series })
        };
        let inputs: Vec<_> = self.recordings.iter().map(|text| input(text)).collect();
        let all: Vec<anyhow::Result<Series>> = in_parallel(inputs.iter().collect(), read);
        let mut sides: Vec<Series> = Vec::new();
        for ((label, path), series) in inputs.iter().zip(all) {
            let series = series?;
            let named = label.is_some();
            match sides.iter_mut().find(|side| named && side.label == series.label) {
                Some(side) => {
                    side.append(series).with_context(|| format!("{}: not of one kind", path.display()))?;
                }
                None => sides.push(series),
            }
        }
        Ok(sides)
    }
}

/// The same work on each item, as many at a time as there are processors; results in the order of the items.
fn in_parallel<I: Send, O: Send>(items: Vec<I>, work: impl Fn(I) -> O + Sync) -> Vec<O> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let waiting = Mutex::new(items.into_iter().enumerate());
    // A guard of its own statement, so that the work is done without it.
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

/// "LABEL=FILE" or "FILE". A file whose name has an equals sign is still a file.
fn input(text: &str) -> (Option<String>, PathBuf) {
    match text.split_once('=') {
        Some((label, path)) if !label.is_empty() && !Path::new(text).exists() => {
            (Some(label.to_owned()), path.into())
        }
        _ => (None, text.into()),
    }
}
