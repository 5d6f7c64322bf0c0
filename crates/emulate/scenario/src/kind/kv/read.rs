//! Recordings of the writers and readers of a key-value store: evidence for claims, a table, and a
//! recording with the staleness of each read.

use std::{fs::File, io::BufWriter, path::Path, sync::Arc};

use claim::{Evidence, Object};
use recording::{End, Header, Sample, Writer};
use report::figures::{Column, Figures, Table as Shown};
use serde_json::json;
use statistics::Distribution;
use units::show::{count, share, time};

use super::{
    Kv, LATENCY, Role, STALENESS,
    join::{Joined, Read, Result as Of},
};
use crate::{
    emulator::milliseconds,
    error::Error,
    folder::{some, turn},
    measurement::{Findings, Gaps, Inputs},
};

pub(crate) fn read(all: &[&Kv], reading: &Inputs<'_>, gaps: &mut Gaps) -> Result<Findings, Error> {
    let mut found = Findings::default();
    let mut sides: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
    sides.dedup();
    let mut table = Shown::new("How stale reads were", columns()).note(
        "For how long something newer had been acknowledged when a read was sent; 0 of one that saw the newest. \
         Latency counts from when a read was to be sent.",
    );
    for side in sides.iter().copied() {
        let parts: Vec<&Kv> = all.iter().copied().filter(|one| one.name == side).collect();
        found.conditions.push((format!("{side}, keys and values"), condition(&parts)));
        let mut joined = Joined::default();
        for one in &parts {
            let recorded = take(&mut joined, one, reading, &mut found);
            gaps.tolerate(&format!("{side}, {} ", one.file()), recorded)?;
        }
        let of = joined.finish();
        for host in parts.iter().filter(|one| one.role == Role::Reader).map(|one| one.host.as_str()) {
            let reads = of.reads.iter().filter(|(read, _)| read.host == host);
            table = reads_row(table, [side.to_owned(), host.to_owned()], reads)?;
        }
        if parts.iter().filter(|one| one.role == Role::Reader).count() > 1 {
            table = reads_row(table, [side.to_owned(), "all".to_owned()], of.reads.iter())?;
        }
        keep(&reading.folder.file(&format!("kv-{side}.jsonl")), side, &of)?;
        found.evidence.push((side.to_owned(), evidence(side, &of)?));
    }
    found.figures = (!sides.is_empty()).then(|| Figures::new("Keys and values", "").table(table));
    Ok(found)
}

fn take(joined: &mut Joined, one: &Kv, reading: &Inputs<'_>, found: &mut Findings) -> Result<(), Error> {
    let mut recording = recording::open(&reading.folder.file(&one.file()))?;
    let samples: Vec<Sample> = (&mut recording).collect::<Result<_, _>>()?;
    let end = recording.end();
    // Without its start time a truncated recording cannot be joined.
    let Some(started) = end.and_then(|end| end.started_monotonic_ns) else { return Ok(()) };
    if matches!(one.role, Role::Writer | Role::Reader) {
        let invalid = end.into_iter().flat_map(|end| &end.invalid);
        let invalid = invalid.map(|reason| claim::Doubt::Recorded(reason.clone()).of(one.host.as_str()));
        found.doubts.extend(invalid.map(|doubt| doubt.of(one.name.as_str())));
    }
    for sample in &samples {
        match one.role {
            Role::First | Role::Writer => joined.write(sample, started),
            Role::Reader => joined.read(&one.host, sample, started),
            Role::Last => joined.last(sample),
        }
    }
    Ok(())
}

fn evidence(side: &str, of: &Of) -> Result<Evidence, Error> {
    let mut evidence = Evidence::default();
    let value = json!({ "writes": of.writes, "reads": of.reads.len(), "errors": of.errors, "lost": of.lost.as_ref().ok() });
    let why = of.lost.as_ref().err().cloned();
    evidence.object(Object { why, ..Object::new(format!("keys and values of {side}"), value) });
    if !of.reads.is_empty() {
        evidence.samples(STALENESS, Arc::new(staleness(of.reads.iter())?), None);
        evidence.samples(LATENCY, Arc::new(latency(of.reads.iter())?), None);
    }
    Ok(evidence)
}

type Stale = (Read, std::time::Duration);

fn staleness<'r>(reads: impl Iterator<Item = &'r Stale>) -> Result<Distribution, Error> {
    Ok(Distribution::new(reads.map(|(_, stale)| stale.as_secs_f64() * 1e3).collect())?)
}

fn latency<'r>(reads: impl Iterator<Item = &'r Stale>) -> Result<Distribution, Error> {
    Ok(Distribution::new(reads.map(|(read, _)| milliseconds(read.took_ns)).collect())?)
}

fn columns() -> [Column; 9] {
    [
        Column::text("side"),
        Column::text("reader"),
        Column::number("reads"),
        Column::number("stale"),
        Column::number("staleness, median"),
        Column::number("p95"),
        Column::number("max"),
        Column::number("latency, median"),
        Column::number("p95"),
    ]
}

fn reads_row<'r>(
    table: Shown,
    [side, host]: [String; 2],
    reads: impl Iterator<Item = &'r Stale> + Clone,
) -> Result<Shown, Error> {
    let n = reads.clone().count();
    if n == 0 {
        return Ok(table);
    }
    let (stale, took) = (staleness(reads.clone())?, latency(reads.clone())?);
    let old = reads.filter(|(_, stale)| !stale.is_zero()).count();
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
    let part = old as f64 / n as f64;
    let ms = |ms: f64| time(ms / 1e3);
    let at = |of: &Distribution, at: f64| {
        if at < statistics::thin_above(of.n()) { ms(of.quantile(at)) } else { "-".to_owned() }
    };
    Ok(table.row([
        side,
        host,
        count(n as u64),
        share(part),
        at(&stale, 0.5),
        at(&stale, 0.95),
        ms(stale.max()),
        at(&took, 0.5),
        at(&took, 0.95),
    ]))
}

/// The latency is the staleness, for `longhaul compare`. It starts at the first read.
fn keep(path: &Path, side: &str, of: &Of) -> Result<(), Error> {
    let access = |source| Error::Access { path: path.to_owned(), source };
    let header = Header {
        tool: "longhaul run".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        clock: "monotonic".to_owned(),
        label: Some(side.to_owned()),
        conditions: [("latency".to_owned(), "the staleness of a read".to_owned())].into(),
        ..Header::default()
    };
    let begin = of.reads.iter().map(|(read, _)| read.sent_ns).min().unwrap_or_default();
    let mut writer = Writer::new(BufWriter::new(File::create(path).map_err(access)?), &header)?;
    for (read, stale) in &of.reads {
        let labels =
            [("host", Some(&read.host)), ("key", Some(&read.key)), ("kv-source", read.source.as_ref())];
        let labels = labels.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.clone())));
        writer.write(&Sample {
            started_ns: Some(read.sent_ns - begin),
            latency_ns: Some(u64::try_from(stale.as_nanos()).unwrap_or(u64::MAX)),
            labels: labels.collect(),
            ..Sample::default()
        })?;
    }
    let end = End { samples: of.reads.len() as u64, started_monotonic_ns: Some(begin), ..End::default() };
    writer.finish(&end)?;
    Ok(())
}

/// "2 keys, 1/s written from a, 10/s read from b, c".
fn condition(parts: &[&Kv]) -> String {
    let hosts = |role: Role| -> (String, String) {
        let of: Vec<&Kv> = parts.iter().copied().filter(|one| one.role == role).collect();
        let names: Vec<&str> = of.iter().map(|one| one.host.as_str()).collect();
        (of.first().map_or_else(String::new, |one| one.rate.to_string()), some(&names))
    };
    let ((write_rate, writers), (read_rate, readers)) = (hosts(Role::Writer), hosts(Role::Reader));
    let (keys, after) = parts.first().map_or((0, None), |one| (one.keys, one.after.as_ref()));
    let keys = units::show::plural(keys.into(), "key");
    format!(
        "{keys}, {write_rate} written from each of {writers}, {read_rate} read from each of {readers}{}",
        turn(after)
    )
}
