//! Many requests on a schedule, to one URL or to several concurrently.

use std::{
    io::{self, BufWriter, Write},
    process::ExitCode,
    time::Duration,
};

use anyhow::Context;
use probe::{
    ShutdownSignal,
    client::Target,
    load::{self, Config, Progress, Run},
    metrics::Metrics,
    summary::Summary,
    watch::{self, Watch},
};
use recording::Writer;

use super::{Probe, cannot_write, create, live::View, render};
use crate::{
    interrupt,
    output::{self, say},
    progress,
};

#[derive(PartialEq)]
enum Outcome {
    Good,
    Bad,
    Interrupted,
}

impl Probe {
    pub(super) fn measure(&self, targets: &[Target], stop: &ShutdownSignal) -> anyhow::Result<ExitCode> {
        let config = self.config()?;
        let of = u32::try_from(targets.len())?;
        let configs: Vec<Config> = (0..of).map(|number| config.turn(number, of)).collect();
        let mut runs = Vec::new();
        for (number, (target, config)) in targets.iter().zip(&configs).enumerate() {
            let file: Box<dyn Write + Send> = match self.output.get(number) {
                Some(path) => Box::new(BufWriter::new(create(path)?)),
                None => Box::new(io::sink()),
            };
            let recording = Writer::new(file, &self.header(number, target, config))?;
            let metrics = self.watch.then(|| Metrics::of(target));
            runs.push(Run { target, config, metrics, progress: Progress::default(), recording });
        }
        let watch = self.watch.then(|| self.export(&runs)).transpose()?;
        let shown = runs.iter().map(|run| (run.target.to_string(), run.progress.clone()));
        let mut view = View::new(shown, config.duration);
        let view = (!self.quiet)
            .then(|| progress::watch(move |now, columns| view.draw(now, columns)))
            .transpose()?;
        let summaries = load::run_side_by_side(runs, stop);
        drop(view);
        drop(watch);
        let summaries = match summaries {
            Err(error @ probe::Error::Record { .. }) => {
                let files: Vec<_> = self.output.iter().map(|path| cannot_write(path)).collect();
                Err(error).with_context(|| files.join(", or "))?
            }
            other => other?,
        };
        self.conclude_all(&summaries)
    }

    fn export<W: Write>(&self, runs: &[Run<'_, W>]) -> anyhow::Result<Watch> {
        let push = self.otlp.as_ref().map(|url| url.parse::<Target>()).transpose()?;
        let config = watch::Config { listen: self.listen.clone(), push, every: PUSH_EVERY };
        let watch = Watch::start(config, runs.iter().filter_map(|run| run.metrics.clone()).collect())?;
        for address in &watch.addresses {
            say(&format!("metrics at http://{address}/metrics"));
        }
        Ok(watch)
    }

    fn conclude_all(&self, summaries: &[Summary]) -> anyhow::Result<ExitCode> {
        let outcomes =
            summaries.iter().map(|summary| self.conclude(summary)).collect::<anyhow::Result<Vec<_>>>()?;
        if self.output.len() > 1 && !self.quiet {
            let files: Vec<_> = self.output.iter().map(|file| file.display().to_string()).collect();
            say(&format!("compare them: longhaul compare {}", files.join(" ")));
        }
        if outcomes.contains(&Outcome::Interrupted) {
            say("interrupted: the run ended before its time");
            return Ok(interrupt::exit_code());
        }
        let is_good = outcomes.iter().all(|outcome| *outcome == Outcome::Good);
        Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn conclude(&self, summary: &Summary) -> anyhow::Result<Outcome> {
        if self.json {
            output::print_json(summary)?;
        } else if !self.quiet {
            output::print(&render::summary(summary))?;
        }
        for reason in &summary.reasons {
            say(&format!("{}: {reason}", output::paint("INVALID", output::RED)));
        }
        let is_unanswered = summary.n == summary.errors;
        if is_unanswered && summary.n > 0 {
            say(&format!(
                "{}: all requests failed: {}",
                output::paint("FAILED", output::RED),
                render::reasons(summary)
            ));
        }
        let too_many = self.has_too_many_failures(summary);
        self.advise(summary);
        let is_good = summary.reasons.is_empty() && !is_unanswered && !too_many;
        Ok(match (summary.interrupted, is_good) {
            (true, _) => Outcome::Interrupted,
            (false, true) => Outcome::Good,
            (false, false) => Outcome::Bad,
        })
    }

    /// Prints an error if more requests failed than --fail-above allows.
    fn has_too_many_failures(&self, summary: &Summary) -> bool {
        let Some(limit) = self.fail_above else { return false };
        #[expect(clippy::cast_precision_loss, reason = "there are far fewer than 2^53 requests")]
        let failed = summary.errors as f64 / summary.n.max(1) as f64;
        if failed > limit.get() {
            let reasons = render::reasons(summary);
            say(&format!(
                "{}: {} of the requests failed, more than {limit}: {reasons}",
                output::paint("FAILED", output::RED),
                units::show::share(failed)
            ));
        }
        failed > limit.get()
    }
}

const PUSH_EVERY: Duration = Duration::from_secs(10);
