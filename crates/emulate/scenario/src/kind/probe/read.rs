//! Recordings of the probes of a scenario: samples for the comparison, evidence for claims, and
//! outages.

use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    sync::Arc,
    time::Duration,
};

use claim::{Claim, Evidence, Query};
use recording::{Metric, Series, Wanted, read_series_beside};
use report::{
    SideInput,
    figures::{Column, Figures, Table as Shown},
};
use units::show::{count, time};

use super::{Outage, Outages, Probe, SOURCE, answers::Answers};
use crate::{
    emulator::{self, Timed},
    error::Error,
    folder::{some, turn},
    measurement::{Findings, Gaps, Inputs, Measures, ResultEntry},
};

pub(crate) fn read(probes: &[&Probe], reading: &Inputs<'_>, gaps: &mut Gaps) -> Result<Findings, Error> {
    let labels = labels(reading.claims);
    let mut sides: Vec<OfSide<'_>> = Vec::new();
    for &probe in probes {
        let known = sides.iter().position(|one| one.probes[0].side == probe.side);
        let place = known.unwrap_or_else(|| {
            sides.push(OfSide::default());
            sides.len() - 1
        });
        sides[place].read(probe, reading, &labels, gaps)?;
        for metric in phases(reading.claims, &probe.side) {
            sides[place].read_phase(metric, probe, reading, gaps)?;
        }
    }
    let mut found = Findings::default();
    let mut outages = Vec::new();
    for side in sides {
        outages.extend(side.finish(&mut found)?);
    }
    // Without faults, this time only reflects the request rate.
    found.figures = (!reading.faults.is_empty() && !outages.is_empty()).then(|| figures(&outages));
    for one in outages {
        found.measured.push(ResultEntry {
            side: one.side.clone(),
            host: one.hosts.first().map_or_else(String::new, |host| host.host.clone()),
            kind: SOURCE,
            detail: Arc::new(serde_json::to_value(one).expect("outages have no keys but texts")),
        });
    }
    Ok(found)
}

#[derive(Default)]
struct OfSide<'p> {
    probes: Vec<&'p Probe>,
    series: Option<Series>,
    phases: BTreeMap<Metric, Series>,
    evidence: Evidence,
    outages: Vec<Outage>,
}

impl<'p> OfSide<'p> {
    fn read(
        &mut self,
        probe: &'p Probe,
        reading: &Inputs<'_>,
        labels: &[String],
        gaps: &mut Gaps,
    ) -> Result<(), Error> {
        self.probes.push(probe);
        let mut answers = Answers::new(labels, reading.metric);
        let path = reading.folder.file(&probe.file());
        let series = read_series_beside(&path, &Wanted::metric(reading.metric), &mut |sample| {
            answers.count(sample);
        });
        let is_there = !matches!(series, Err(recording::Error::Open { .. }));
        // Without any response, the reasons of the failures are more useful than an empty
        // recording.
        let series = series.map_err(|error| match answers.failures() {
            Some(reasons) => Error::Unanswered { url: probe.url.clone(), host: probe.host.clone(), reasons },
            None => error.into(),
        });
        let series = gaps.tolerate(&format!("{} from {}", probe.side, probe.host), series)?;
        let timed = answers.take_timed();
        if is_there {
            let lasts = probe.lasts().as_secs_f64();
            // A measurement that waited for another one is shorter than the run.
            let end = series.as_ref().and_then(|series| series.end.as_ref());
            let ran_s = end.map_or(lasts, |end| Duration::from_nanos(end.duration_ns).as_secs_f64());
            let end_s = reading.partial.map_or(lasts, |partial| lasts.min(partial.after_s).min(ran_s));
            let (outage, evidence) = answers.finish(probe, end_s);
            self.outages.push(outage);
            self.evidence.append(evidence);
        }
        let Some(mut series) = series else { return Ok(()) };
        let from = format!("from {}", probe.host);
        series.doubts = series.doubts.into_iter().map(|doubt| doubt.of(from.as_str())).collect();
        bound(&mut series, probe, reading, &timed);
        if let Some(errors) = &series.own_errors_ms {
            emulator::note(&path, errors, |sample| sample.get(reading.metric).is_some())?;
        }
        match &mut self.series {
            Some(known) => known.append(series)?,
            None => self.series = Some(series),
        }
        Ok(())
    }

    fn read_phase(
        &mut self,
        metric: Metric,
        probe: &Probe,
        reading: &Inputs<'_>,
        gaps: &mut Gaps,
    ) -> Result<(), Error> {
        let mut answers = Answers::new(&[], metric);
        let path = reading.folder.file(&probe.file());
        let series = read_series_beside(&path, &Wanted::metric(metric), &mut |sample| answers.count(sample));
        if matches!(series, Err(recording::Error::Metric { .. } | recording::Error::AllFailed { .. })) {
            return Ok(());
        }
        let what = format!("{metric} of {} from {}", probe.side, probe.host);
        let Some(mut series) = gaps.tolerate(&what, series.map_err(Error::from))? else { return Ok(()) };
        bound(&mut series, probe, reading, &answers.take_timed());
        match self.phases.entry(metric) {
            Entry::Occupied(mut known) => known.get_mut().append(series)?,
            Entry::Vacant(place) => drop(place.insert(series)),
        }
        Ok(())
    }

    fn finish(mut self, found: &mut Findings) -> Result<Option<Outages>, Error> {
        let side = &self.probes[0].side;
        if let Some(series) = self.series {
            let header = series.header.as_ref();
            found.start = found.start.take().or_else(|| header?.start.clone());
            let hosts: Vec<&str> = self.probes.iter().map(|probe| probe.host.as_str()).collect();
            let conditions = header.into_iter().flat_map(|header| &header.conditions);
            let how: Vec<String> = conditions
                .filter(|(name, _)| *name != "url")
                .map(|(name, value)| format!("{name} {value}"))
                .collect();
            let Probe { url, after, .. } = self.probes[0];
            let what = format!("{url} from {}{}", some(&hosts), turn(after.as_ref()));
            found.conditions.push((side.clone(), what));
            found.conditions.push((format!("{side}, how"), how.join(", ")));
            let weak = series.doubts.iter().filter(|doubt| !doubt.invalidates()).cloned();
            found.doubts.extend(weak.map(|doubt| doubt.of(side.as_str())));
            let input = SideInput { label: side.clone(), ..SideInput::try_from(series)? };
            self.evidence.samples("request", Arc::clone(&input.distribution), input.without_error.clone());
            found.sides.push(input);
        }
        for (metric, series) in self.phases {
            let input = SideInput::try_from(series)?;
            self.evidence.samples(metric.name(), input.distribution, input.without_error);
        }
        found.evidence.push((side.clone(), self.evidence));
        Ok(Outages::new(side, self.outages))
    }
}

fn bound(series: &mut Series, probe: &Probe, reading: &Inputs<'_>, timed: &Timed) {
    let started = series.end.as_ref().and_then(|end| end.started_monotonic_ns);
    series.own_errors_ms = reading.emulator.errors(reading.layout, &probe.host, timed, started);
}

fn phases(claims: &[Claim], side: &str) -> BTreeSet<Metric> {
    let about_it = claims.iter().filter(|claim| claim.is_about(side));
    let asked = about_it.filter_map(|claim| match claim.subject.query() {
        Query::Samples { of, .. } if claim.subject.source() == SOURCE => Metric::from_name(of),
        _ => None,
    });
    asked.collect()
}

fn labels(claims: &[Claim]) -> Vec<String> {
    let asked = claims.iter().filter_map(|claim| match claim.subject.query() {
        Query::Share { label, .. } if claim.subject.source() == SOURCE => Some(label.clone()),
        _ => None,
    });
    let mut labels: Vec<String> = asked.collect();
    labels.sort_unstable();
    labels.dedup();
    labels
}

fn figures(outages: &[Outages]) -> Figures {
    let columns = [
        Column::text("longest outage"),
        Column::number("hosts"),
        Column::number("median host"),
        Column::number("worst host"),
        Column::text(""),
    ];
    let mut table = Shown::new("Longest time without an answer", columns);
    for one in outages {
        let worst = one.hosts.iter().find(|host| host.longest_s >= one.max_s);
        let worst = worst.map(|host| format!("{} from {} on", host.host, time(host.at_s)));
        let [median, max] = [one.p50_s, one.max_s].map(time);
        let hosts = count(one.hosts.len() as u64);
        table = table.row([one.side.clone(), hosts, median, max, worst.unwrap_or_default()]);
    }
    Figures::new("Outages", "").table(table)
}
