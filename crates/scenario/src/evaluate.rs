//! From what was written while measuring to the outcome: reads the files, and judges the claims.

use std::{collections::BTreeMap, fs, path::Path};

use experience::{Distribution, Page, share_faster};
use planet::Fidelity;
use recording::{Metric, Sample, Series, Wanted, read_series};

use crate::{
    claim::judge,
    error::Error,
    outage::{Outage, Outages},
    outcome::{FaultMark, Outcome, Partial, Side},
    pinged::{Pinged, Tally},
    plan::{Ping, Plan, Probe, Target},
    printed::Printed,
    run::Folder,
    subject::{OverHosts, OverPings, Subject},
    transferred::Transferred,
};

mod conditions;

/// What came of a plan that was run.
pub(crate) fn evaluate(
    plan: &Plan,
    fidelity: Fidelity,
    folder: &Folder<'_>,
    partial: Option<Partial>,
) -> Result<Outcome, Error> {
    let mut missing = Missing { is_allowed: partial.is_some(), sentences: Vec::new() };
    let sides = sides(plan, folder, &mut missing)?;
    let measured = Measured::read(plan, &sides, folder, partial, &mut missing)?;
    let judged = if partial.is_some() { &[] } else { plan.claims.as_slice() };
    let claims = judged.iter().map(|claim| judge(claim, |subject, side| measured.value(subject, side)));
    let faults = plan.faults.iter().map(|timed| FaultMark {
        label: timed.fault.to_string(),
        at_s: timed.at.as_secs_f64(),
        until_s: timed.lasts.map(|lasts| (timed.at + lasts).as_secs_f64()),
    });
    Ok(Outcome {
        claims: claims.collect(),
        faults: faults.collect(),
        fidelity,
        start: sides.first().and_then(|side| side.series.header.as_ref()?.start.clone()),
        conditions: conditions::conditions(plan, &sides),
        sides,
        outages: measured.outages,
        transfers: measured.transfers,
        pings: measured.pings,
        commands: measured.commands,
        partial,
        warnings: missing.sentences,
    })
}

/// What could not be read of a run: an error, unless the run was ended before its time.
struct Missing {
    is_allowed: bool,
    sentences: Vec<String>,
}

impl Missing {
    /// What was read, or nothing.
    fn bear<T>(&mut self, what: &str, read: Result<T, Error>) -> Result<Option<T>, Error> {
        match read {
            Err(error) if self.is_allowed => {
                self.sentences.push(format!("{what} has no result: {error}"));
                Ok(None)
            }
            other => other.map(Some),
        }
    }
}

/// What was measured, as claims ask for it.
struct Measured {
    page: Page,
    requests: BTreeMap<String, Distribution>,
    outages: Vec<Outages>,
    transfers: Vec<Transferred>,
    pings: Vec<Pinged>,
    commands: Vec<Printed>,
    /// Of round trips, by side.
    errors: BTreeMap<String, Distribution>,
    /// Connections of each side.
    connections: BTreeMap<String, Connections>,
}

/// How many connections were opened, and how many of them to another address than the one tried first.
#[derive(Debug, Clone, Copy, Default)]
struct Connections {
    opened: u64,
    fallbacks: u64,
}

impl Measured {
    fn read(
        plan: &Plan,
        sides: &[Side],
        folder: &Folder<'_>,
        partial: Option<Partial>,
        missing: &mut Missing,
    ) -> Result<Self, Error> {
        // What was read is finite and not negative, so each side with a sample is a distribution.
        let distribution = |side: &Side| {
            let values = side.series.values.clone();
            Some((side.label.clone(), Distribution::try_from(values).ok()?))
        };
        let (pings, errors) = pings(plan, folder, missing)?;
        let (outages, connections) = of_requests(plan, folder, partial, missing)?;
        Ok(Self {
            page: plan.page,
            requests: sides.iter().filter_map(distribution).collect(),
            outages,
            transfers: transfers(plan, folder, missing)?,
            pings,
            commands: commands(plan, folder, missing)?,
            errors,
            connections,
        })
    }

    /// A number of a side, in the unit of its subject; or why there is none. A number with too few samples behind it
    /// proves nothing.
    fn value(&self, subject: &Subject, side: &str) -> Result<f64, String> {
        let missing = || format!("{side} was not measured");
        let thin = |samples: &Distribution| {
            format!("{subject} of {side} has fewer than 10 of its {} samples beyond it", samples.n())
        };
        match subject {
            Subject::Requests(measure) => {
                let samples = self.requests.get(side).ok_or_else(missing)?;
                measure.value(samples, self.page).ok_or_else(|| thin(samples))
            }
            Subject::FasterThan(than) => {
                let other = self.requests.get(than).ok_or_else(|| format!("{than} was not measured"))?;
                let own = self.requests.get(side).ok_or_else(missing)?;
                Ok(share_faster(own, other, self.page.effective_requests()))
            }
            Subject::Fallback => {
                let of_side = self.connections.get(side).filter(|connections| connections.opened > 0);
                let Connections { opened, fallbacks } =
                    *of_side.ok_or_else(|| format!("{side} opened no connection"))?;
                Ok(as_f64(fallbacks) / as_f64(opened))
            }
            Subject::Outage(OverHosts(over)) => {
                let outages = self.outages.iter().find(|outages| outages.side == side);
                Ok(outages.and_then(|outages| outages.value(*over)).ok_or_else(missing)? * 1e3)
            }
            Subject::Duration => self.transfers(side)?.map(Transferred::took_ms).try_fold(0.0, larger),
            Subject::Memory => self.transfers(side)?.map(Transferred::memory_bytes).try_fold(0.0, larger),
            Subject::Stall => self.transfers(side)?.map(Transferred::stall_ms).try_fold(0.0, larger),
            Subject::Goodput => self.transfers(side)?.map(Transferred::goodput_bps).sum(),
            Subject::Lost => self.transfers(side)?.map(Transferred::lost).sum::<Result<u64, _>>().map(as_f64),
            Subject::Answered => {
                let pinged = self.pings.iter().find(|pinged| pinged.side == side && pinged.sent > 0);
                pinged.map(|pinged| as_f64(pinged.received) / as_f64(pinged.sent)).ok_or_else(missing)
            }
            Subject::PingError(OverPings(over)) => {
                let errors =
                    self.errors.get(side).ok_or_else(|| format!("no ping of {side} was answered"))?;
                over.value(errors).ok_or_else(|| thin(errors))
            }
            Subject::Printed(path) => {
                let printed =
                    self.commands.iter().find(|printed| printed.side == side).ok_or_else(missing)?;
                path.number(&printed.value).map_err(|why| format!("{side}: {why}"))
            }
        }
    }

    fn transfers(&self, side: &str) -> Result<impl Iterator<Item = &Transferred>, String> {
        let mut of_side = self.transfers.iter().filter(move |transfer| transfer.side == side).peekable();
        if of_side.peek().is_none() {
            return Err(format!("{side} was not measured"));
        }
        Ok(of_side)
    }
}

fn larger(most: f64, next: Result<f64, String>) -> Result<f64, String> {
    next.map(|next| most.max(next))
}

#[expect(clippy::cast_precision_loss, reason = "2^53 bytes are 9 PB")]
fn as_f64(number: u64) -> f64 {
    number as f64
}

/// The samples of each side that probes measured.
fn sides(plan: &Plan, folder: &Folder<'_>, missing: &mut Missing) -> Result<Vec<Side>, Error> {
    let mut sides: Vec<Side> = Vec::new();
    for probe in &plan.probes {
        let what = format!("{} from {}", probe.side, probe.host);
        let Some(mut series) = missing.bear(&what, series(plan, probe, folder))? else { continue };
        for sentence in series.invalid.iter_mut().chain(&mut series.warnings) {
            *sentence = format!("from {}: {sentence}", probe.host);
        }
        match sides.iter_mut().find(|side| side.label == probe.side) {
            Some(side) => side.series.append(series)?,
            None => sides.push(Side { label: probe.side.clone(), series }),
        }
    }
    Ok(sides)
}

/// What one probe measured. Without a single answer there is nothing to compare, and the reasons say more than a file
/// without values.
fn series(plan: &Plan, probe: &Probe, folder: &Folder<'_>) -> Result<Series, Error> {
    let path = folder.probe(probe);
    read_series(&path, &Wanted::metric(plan.metric)).map_err(|error| match failures(&path) {
        Some(reasons) => Error::Unanswered {
            url: probe.url.clone(),
            host: probe.host.clone(),
            reasons: reasons.join(", "),
        },
        None => error.into(),
    })
}

/// Why requests failed, each reason with how often; `None` if one did not, or if there is none.
fn failures(path: &Path) -> Option<Vec<String>> {
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    for sample in recording::open(path).ok()? {
        *reasons.entry(sample.ok()?.error?).or_default() += 1;
    }
    let reasons: Vec<_> = reasons.into_iter().map(|(reason, n)| format!("{n} {reason}")).collect();
    (!reasons.is_empty()).then_some(reasons)
}

type OfRequests = (Vec<Outages>, BTreeMap<String, Connections>);

/// How long the hosts of each side went without an answer, and what connections it opened.
fn of_requests(
    plan: &Plan,
    folder: &Folder<'_>,
    partial: Option<Partial>,
    missing: &mut Missing,
) -> Result<OfRequests, Error> {
    let mut sides: Vec<(&str, Vec<Outage>)> = Vec::new();
    let mut connections: BTreeMap<String, Connections> = BTreeMap::new();
    for probe in &plan.probes {
        let of_side = connections.entry(probe.side.clone()).or_default();
        let what = format!("{} from {}", probe.side, probe.host);
        let outage = outage(probe, folder, partial, of_side);
        let Some(outage) = missing.bear(&what, outage)? else { continue };
        match sides.iter_mut().find(|(side, _)| *side == probe.side) {
            Some((_, hosts)) => hosts.push(outage),
            None => sides.push((&probe.side, vec![outage])),
        }
    }
    let outages = sides.into_iter().filter_map(|(side, hosts)| Outages::new(side, hosts)).collect();
    Ok((outages, connections))
}

/// How long one host went without an answer, until its end or until the run was ended.
fn outage(
    probe: &Probe,
    folder: &Folder<'_>,
    partial: Option<Partial>,
    connections: &mut Connections,
) -> Result<Outage, Error> {
    let mut answers_s = Vec::new();
    for sample in recording::open(&folder.probe(probe))? {
        let sample: Sample = sample?;
        connections.opened += u64::from(sample.fallback.is_some());
        connections.fallbacks += u64::from(sample.fallback == Some(true));
        let answered = sample.started_ns.zip(sample.get(Metric::Total));
        answers_s.extend(answered.map(|(started, took)| as_f64(started.saturating_add(took)) / 1e9));
    }
    let lasts = probe.duration.as_secs_f64();
    Ok(Outage::longest(&probe.host, answers_s, partial.map_or(lasts, |partial| lasts.min(partial.after_s))))
}

fn transfers(plan: &Plan, folder: &Folder<'_>, missing: &mut Missing) -> Result<Vec<Transferred>, Error> {
    let read = |transfer: &crate::plan::Transfer| {
        let path = folder.transfer(transfer);
        let text = text(&path)?;
        let summary = serde_json::from_str(&text).map_err(|source| Error::Summary { path, source })?;
        let (side, from, to) = (transfer.side.clone(), transfer.from.clone(), transfer.to.clone());
        Ok(Transferred { side, from, to, summary })
    };
    let mut all = Vec::new();
    for transfer in &plan.transfers {
        all.extend(missing.bear(&format!("{}, transfer", transfer.side), read(transfer))?);
    }
    Ok(all)
}

fn commands(plan: &Plan, folder: &Folder<'_>, missing: &mut Missing) -> Result<Vec<Printed>, Error> {
    let read = |command: &crate::plan::Command| {
        let path = folder.command(command);
        let value = serde_json::from_str(&text(&path)?).map_err(|source| Error::Printed { path, source })?;
        Ok(Printed::new(&command.side, &command.host, value, &plan.claims))
    };
    let mut all = Vec::new();
    for command in &plan.commands {
        all.extend(missing.bear(&format!("{}, command", command.side), read(command))?);
    }
    Ok(all)
}

fn text(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|source| Error::Access { path: path.to_owned(), source })
}

type Pings = (Vec<Pinged>, BTreeMap<String, Distribution>);

fn pings(plan: &Plan, folder: &Folder<'_>, missing: &mut Missing) -> Result<Pings, Error> {
    let mut tallies: Vec<(&str, Tally)> = Vec::new();
    for ping in &plan.pings {
        let known = tallies.iter().position(|(side, _)| *side == ping.side);
        let index = known.unwrap_or_else(|| {
            tallies.push((&ping.side, Tally::new(&ping.side)));
            tallies.len() - 1
        });
        let counted = count(&mut tallies[index].1, ping, folder);
        missing.bear(&format!("{}, pings from {}", ping.side, ping.host), counted)?;
    }
    let (mut pings, mut errors) = (Vec::new(), BTreeMap::new());
    for (side, tally) in tallies {
        let (pinged, error) = tally.finish();
        pings.push(pinged);
        errors.extend(error.map(|error| (side.to_owned(), error)));
    }
    Ok((pings, errors))
}

/// Adds the pings of one host.
fn count(tally: &mut Tally, ping: &Ping, folder: &Folder<'_>) -> Result<(), Error> {
    let numbers = ping.targets.iter().enumerate();
    let numbers: BTreeMap<String, usize> =
        numbers.map(|(number, target)| (target.address.to_string(), number)).collect();
    let mut pings = Vec::new();
    for sample in recording::open(&folder.pings(ping))? {
        let sample = sample?;
        let target = sample.labels.get("target").and_then(|address| numbers.get(address));
        pings.extend(target.map(|&target| (target, sample.get(Metric::Latency))));
    }
    let world_ms = |target: &Target| (target.host.clone(), target.rtt.as_secs_f64() * 1e3);
    let targets: Vec<_> = ping.targets.iter().map(world_ms).collect();
    tally.count(&ping.host, &targets, pings);
    Ok(())
}

#[cfg(test)]
mod tests;
