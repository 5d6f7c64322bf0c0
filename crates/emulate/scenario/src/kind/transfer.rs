//! `[[transfer]]`: a bulk transfer from one host to another. The receiver starts before the
//! measurements.

use std::{num::NonZero, path::PathBuf, sync::Arc, time::Duration};

use claim::{Doubt, Evidence, Fold, Number, Object, OwnError, Service, Source, Subject, Tempo, Unit};
use report::{
    FaultMark,
    figures::{Axis, Column, Figures, Line, Table as Shown, Timeline},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;
use trafficgen::transfer::Summary;
use units::{
    Bytes,
    show::{bytes, count, plural, rate, time},
};
use world::Diagnostic;

use crate::{
    check::Check,
    emulator::Peer,
    error::Error,
    folder::{Folder, turn, words},
    measurement::{Findings, Gaps, Inputs, Measures, ResultEntry, Task},
    program::{Job, Program},
};

pub(crate) const SOURCE: Source = Source::new("transfer");

pub(crate) const NAMES: &str =
    "transfer.stall, transfer.duration, transfer.goodput, transfer.memory, transfer.lost";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    pub side: Spanned<String>,
    pub from: Spanned<String>,
    pub to: Spanned<String>,
    #[serde(default = "default_port")]
    pub port: NonZero<u16>,
    #[serde(default)]
    pub protocol: Transport,
    #[serde(default = "crate::measurement::default_duration", with = "units::duration")]
    pub duration: Duration,
    pub bytes: Option<Bytes>,
    #[serde(default, with = "units::duration::option")]
    pub omit: Option<Duration>,
    pub congestion: Option<String>,
    /// Unsent bytes in the sender's kernel (TCP_NOTSENT_LOWAT).
    pub notsent_lowat: Option<Bytes>,
    pub rcvbuf: Option<Bytes>,
    pub window: Option<Bytes>,
    pub after: Option<Spanned<String>>,
}

fn default_port() -> NonZero<u16> {
    NonZero::new(5201).expect("5201 is not 0")
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Transport {
    #[default]
    Tcp,
    Mptcp,
}

/// A transfer from one host to another.
#[derive(Debug, Clone)]
pub struct Transfer {
    /// The side.
    pub side: String,
    /// The sender.
    pub from: String,
    /// The receiver.
    pub to: String,
    /// The port of the receiver.
    pub port: u16,
    /// Whether it uses Multipath TCP.
    pub is_mptcp: bool,
    /// How long to send; with `bytes`, the expected duration.
    pub duration: Duration,
    /// Bytes to send.
    pub bytes: Option<Bytes>,
    /// The initial time that the goodput excludes.
    pub omit: Option<Duration>,
    /// Congestion control of the sender.
    pub congestion: Option<String>,
    /// Limit of unsent bytes in the sender's kernel (TCP_NOTSENT_LOWAT).
    pub notsent_lowat: Option<Bytes>,
    /// Options of the receiver's sockets.
    pub receiver: Receiver,
    /// The side whose measurements must end before this measurement begins.
    pub after: Option<Spanned<String>>,
}

/// Options of the sockets of a transfer's receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Receiver {
    /// The receive buffer; autotuned if absent.
    pub rcvbuf: Option<Bytes>,
    /// The largest window to advertise.
    pub window: Option<Bytes>,
}

/// The result of a transfer: its two hosts and its sender's summary.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TransferResult {
    /// The side.
    pub side: String,
    /// The sending host.
    pub from: String,
    /// The receiving host.
    pub to: String,
    /// The bound of the emulator's error in the duration, in ms. Absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_error_ms: Option<f64>,
    /// The sender's summary.
    #[serde(flatten)]
    pub summary: Summary,
}

/// All transfers to one port must use the same socket options.
pub(crate) fn check(check: &Check<'_>, tables: &[Table]) -> Result<Vec<Transfer>, Diagnostic> {
    let mut checked: Vec<Transfer> = Vec::new();
    for transfer in tables {
        let side = check.side(&transfer.side)?;
        check.lasts(transfer.duration, &transfer.side)?;
        check.apart(check.host(&transfer.from)?, check.host(&transfer.to)?, transfer.to.span())?;
        let (from, to) = (transfer.from.get_ref(), transfer.to.get_ref());
        if checked.iter().any(|other| other.side == side && other.from == *from && other.to == *to) {
            let message = format!("{side} is transferred from \"{from}\" to \"{to}\" twice");
            return Err(check.document.mistake(transfer.from.span(), message));
        }
        if transfer.omit.is_some_and(|omit| omit >= transfer.duration) {
            let message = "omit is as long as the whole transfer; omit less than its duration";
            return Err(check.document.mistake(transfer.side.span(), message));
        }
        let receiver = Receiver { rcvbuf: transfer.rcvbuf, window: transfer.window };
        let port = transfer.port.get();
        if checked.iter().any(|other| (&other.to, other.port) == (to, port) && other.receiver != receiver) {
            let message = format!(
                "another transfer to port {port} of \"{to}\" has a different rcvbuf or window; give one of them a \
                 different port"
            );
            return Err(check.document.mistake(transfer.to.span(), message));
        }
        checked.push(Transfer {
            side,
            from: from.clone(),
            to: to.clone(),
            port,
            is_mptcp: transfer.protocol == Transport::Mptcp,
            duration: transfer.duration,
            bytes: transfer.bytes,
            omit: transfer.omit,
            congestion: transfer.congestion.clone(),
            notsent_lowat: transfer.notsent_lowat,
            receiver,
            after: transfer.after.clone(),
        });
    }
    Ok(checked)
}

/// A server for Multipath TCP also accepts TCP.
pub(crate) fn servers(transfers: &[&Transfer]) -> Vec<Program> {
    let mut places: Vec<(&str, u16)> =
        transfers.iter().map(|transfer| (transfer.to.as_str(), transfer.port)).collect();
    places.sort_unstable();
    places.dedup();
    let server = |(host, port): (&str, u16)| {
        let is_here = |transfer: &&&Transfer| transfer.to == host && transfer.port == port;
        let is_mptcp = transfers.iter().filter(is_here).any(|transfer| transfer.is_mptcp);
        let receiver = transfers.iter().find(is_here).map_or_else(Receiver::default, |one| one.receiver);
        let mut command = ["longhaul", "transfer", "serve", "--listen"].map(str::to_owned).to_vec();
        command.push(format!("[::]:{port}"));
        command.extend(is_mptcp.then(|| "--mptcp".to_owned()));
        for (flag, size) in [("--rcvbuf", receiver.rcvbuf), ("--window", receiver.window)] {
            command.extend(size.into_iter().flat_map(|size| [flag.to_owned(), size.to_string()]));
        }
        Program { host: host.to_owned(), command, ready: Some(port) }
    };
    places.into_iter().map(server).collect()
}

impl Transfer {
    fn name(&self) -> String {
        format!("{}-from-{}-to-{}", self.side, self.from, self.to)
    }

    pub(crate) fn file(&self) -> String {
        format!("transfer-{}.json", self.name())
    }

    fn log(&self, folder: &Folder<'_>) -> PathBuf {
        folder.log(&format!("transfer-{}", self.name()))
    }

    fn condition(&self) -> String {
        let protocol = if self.is_mptcp { "MPTCP" } else { "TCP" };
        let length = match self.bytes {
            Some(bytes) => format!(", {bytes}"),
            None => format!(" for {}", units::duration::show(self.duration)),
        };
        let options = [
            ("omit", self.omit.map(units::duration::show)),
            ("congestion", self.congestion.clone()),
            ("notsent_lowat", self.notsent_lowat.map(|size| size.to_string())),
            ("rcvbuf", self.receiver.rcvbuf.map(|size| size.to_string())),
            ("window", self.receiver.window.map(|size| size.to_string())),
        ];
        let options = options.into_iter().filter_map(|(name, value)| Some(format!(", {name} {}", value?)));
        let options: String = options.collect();
        format!("{} to {} over {protocol}{length}{options}{}", self.from, self.to, turn(self.after.as_ref()))
    }
}

impl Measures for Transfer {
    fn side(&self) -> &str {
        &self.side
    }

    fn hosts(&self) -> Vec<&str> {
        vec![&self.from, &self.to]
    }

    fn after(&self) -> Option<&Spanned<String>> {
        self.after.as_ref()
    }

    fn lasts(&self) -> Duration {
        self.duration
    }

    fn task(&self, folder: &Folder<'_>, _: Duration, log_limit: Bytes) -> Task {
        let server = format!("{}:{}", self.to, self.port);
        let mut command = words(&["longhaul", "transfer", "send", &server, "--json"]);
        command.extend(match self.bytes {
            Some(bytes) => words(&["--bytes", &bytes.to_string()]),
            None => words(&["--for", &units::duration::show(self.duration)]),
        });
        let options = [
            ("--omit", self.omit.map(units::duration::show)),
            ("--congestion", self.congestion.clone()),
            ("--notsent-lowat", self.notsent_lowat.map(|most| most.to_string())),
        ];
        for (flag, value) in options {
            command.extend(value.iter().flat_map(|value| words(&[flag, value])));
        }
        command.extend(self.is_mptcp.then(|| "--mptcp".to_owned()));
        let log = self.log(folder);
        let result = Some((folder.file(&self.file()), LARGEST_SUMMARY));
        let job = Job { host: self.from.clone(), command, log, log_limit, result };
        let after = self.after.as_ref().map(|after| after.get_ref().clone());
        Task { after, ..Task::ours(&self.side, job) }
    }
}

pub(crate) fn subject(name: &str) -> Option<Result<Subject, String>> {
    Subject::of_table(SOURCE, &NUMBERS, name).map(Ok)
}

pub(crate) fn read(
    transfers: &[&Transfer],
    reading: &Inputs<'_>,
    gaps: &mut Gaps,
) -> Result<Findings, Error> {
    let mut found = Findings::default();
    let mut all = Vec::new();
    for transfer in transfers {
        found.conditions.push((format!("{}, transfer", transfer.side), transfer.condition()));
        let read = gaps.tolerate(&format!("{}, transfer", transfer.side), receipt(transfer, reading))?;
        all.extend(read);
    }
    found.figures = (!all.is_empty()).then(|| figures(&all, reading.faults));
    for one in all {
        let detail = Arc::new(serde_json::to_value(&one).expect("a summary has no keys but texts"));
        let mut evidence = Evidence::default();
        evidence.object(one.object(Arc::clone(&detail)));
        found.evidence.push((one.side.clone(), evidence));
        found.measured.push(ResultEntry { side: one.side, host: one.from, kind: SOURCE, detail });
    }
    Ok(found)
}

fn receipt(transfer: &Transfer, reading: &Inputs<'_>) -> Result<TransferResult, Error> {
    let path = reading.folder.file(&transfer.file());
    let text = reading.folder.text(&path)?;
    let summary: Summary = serde_json::from_str(&text).map_err(|source| Error::Summary { path, source })?;
    let (layout, emulator) = (reading.layout, reading.emulator);
    let receiver = layout.host(&transfer.to).map(|host| layout.first_port(host).v4.into());
    let peer = Peer { address: receiver, service: Some(Service::tcp(transfer.port)) };
    let took = summary.took_s.map(Duration::from_secs_f64);
    let own_error = emulator.of_whole(layout, &transfer.from, peer, &transfer.log(reading.folder), took);
    let Transfer { side, from, to, .. } = transfer.clone();
    let own_error_ms = own_error.map(|error| error.error_ms);
    Ok(TransferResult { side, from, to, own_error_ms, summary })
}

impl TransferResult {
    fn object(&self, detail: Arc<serde_json::Value>) -> Object {
        let why = self.summary.unfinished.as_deref().unwrap_or("too little arrived to tell");
        let what = format!("the transfer of {} from {} to {}", self.side, self.from, self.to);
        let own_error = self.own_error_ms.zip(self.summary.took_s);
        let own_error = own_error.map(|(error_ms, took_s)| OwnError { error_ms, took_ms: took_s * 1e3 });
        Object { why: Some(why.to_owned()), own_error, ..Object::new(what, detail) }
    }

    /// "mptcp, 2 subflows", "mptcp that fell back to tcp".
    fn carrier(&self) -> String {
        let summary = &self.summary;
        match summary.subflows {
            _ if summary.fell_back => "mptcp that fell back to tcp".to_owned(),
            Some(subflows) => format!("{}, {}", summary.protocol, plural(subflows, "subflow")),
            None => summary.protocol.clone(),
        }
    }

    fn row(&self) -> [String; 10] {
        let summary = &self.summary;
        let absent = || "not known".to_owned();
        let lost = summary.bytes_lost.zip(summary.bytes_bad).map(|(lost, bad)| lost + bad);
        [
            self.side.clone(),
            self.from.clone(),
            self.to.clone(),
            summary.goodput_mbps.map_or_else(absent, |mbps| rate(mbps * 1e6)),
            summary
                .stall
                .map_or_else(absent, |stall| format!("{} at {}", time(stall.longest_s), time(stall.at_s))),
            lost.map_or_else(absent, |bytes| format!("{} B", count(bytes))),
            summary.retransmits.map_or_else(absent, count),
            summary.took_s.map_or_else(absent, time),
            summary.memory.map_or_else(absent, |memory| bytes(memory.most_bytes)),
            self.carrier(),
        ]
    }
}

fn figures(transfers: &[TransferResult], faults: &[FaultMark]) -> Figures {
    let columns = [
        Column::text("transfer"),
        Column::text("from").wide(),
        Column::text("to").wide(),
        Column::number("goodput"),
        Column::number("longest stall"),
        Column::number("lost"),
        Column::number("segments sent again").wide(),
        Column::number("took"),
        Column::number("memory"),
        Column::text("over"),
    ];
    let table = Shown::new("Results of transfers", columns).note(
        "Lost: bytes that did not arrive or arrived damaged. Memory: the maximum that the sender's kernel held.",
    );
    let mut figures =
        Figures::new("Transfers", "").table(transfers.iter().fold(table, |table, one| table.row(one.row())));
    for one in transfers {
        if let Some(why) = &one.summary.unfinished {
            figures = figures.doubt(Doubt::Unfinished { why: why.clone() }.of(one.side.as_str()));
        }
    }
    match throughput(transfers, faults) {
        Some(timeline) => figures.panel(timeline),
        None => figures,
    }
}

/// `None` if no transfer received bytes.
///
/// A retransmitted byte delays the bytes after it, which then reach the application together. A
/// mean over a longer interval hides such peaks.
fn throughput(transfers: &[TransferResult], faults: &[FaultMark]) -> Option<Timeline> {
    let starts = |one: &TransferResult, index: usize| Some(one.summary.intervals.get(index)?.t_s);
    let steps = transfers.iter().filter_map(|one| Some(starts(one, 1)? - starts(one, 0)?));
    let step = steps.reduce(f64::max)?;
    let ends = transfers.iter().filter_map(|one| one.summary.intervals.last());
    let end = ends.map(|interval| interval.t_s).fold(0.0, f64::max);
    // All means cover the same number of intervals.
    let length = (end / POINTS / step).ceil().max(1.0) * step;
    let arrived = transfers.iter().filter(|one| !one.summary.intervals.is_empty());
    let mut timeline = Timeline::new("Throughput over time", Axis::linear("arrived", "Mbit/s"));
    for one in arrived {
        timeline = timeline.line(Line::steps(&one.side, 0.0, length, means(one, length)));
    }
    for fault in faults {
        let until = fault.until_s.unwrap_or(end).min(end + length);
        timeline = timeline.phase(&fault.label, fault.at_s.min(until), until);
    }
    let sentence = sentence(transfers, faults, length);
    Some(timeline.says(sentence))
}

fn means(transfer: &TransferResult, length: f64) -> Vec<f64> {
    let mut means = Vec::new();
    for interval in &transfer.summary.intervals {
        let place = place(interval.t_s / length);
        means.resize(means.len().max(place + 1), 0.0);
        means[place] += bits(interval.bytes) / length / 1e6;
    }
    means
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "there are few points")]
fn place(at: f64) -> usize {
    // For rounding: 0.3 / 0.1 is less than 3.
    (at + 1e-9).clamp(0.0, 1e6) as usize
}

fn sentence(transfers: &[TransferResult], faults: &[FaultMark], length: f64) -> String {
    let stalls = transfers.iter().filter_map(|one| Some((&one.side, one.summary.stall?)));
    let longest = stalls.max_by(|(_, a), (_, b)| a.longest_s.total_cmp(&b.longest_s));
    let during = if faults.is_empty() {
        String::new()
    } else {
        format!(" during {}", plural(faults.len() as u64, "fault"))
    };
    let silence = longest.map_or_else(String::new, |(side, stall)| {
        let [longest, at] = [stall.longest_s, stall.at_s].map(time);
        format!(" The longest stall: {side}, {longest} from {at}.")
    });
    let what = plural(transfers.len() as u64, "transfer");
    format!("What arrived of {what}{during}.{silence} Means over {}.", time(length))
}

#[expect(clippy::cast_precision_loss, reason = "for display")]
fn bits(bytes: u64) -> f64 {
    bytes as f64 * 8.0
}

const NUMBERS: [Number; 5] = [
    number("transfer.stall", &["json.stall.longest_s"], Fold::Max, Unit::Time, ""),
    Number {
        tempo: Tempo::Faster,
        ..number("transfer.duration", &["json.took_s"], Fold::Max, Unit::Time, "")
    },
    number("transfer.goodput", &["json.goodput_mbps"], Fold::Sum, Unit::Rate, ""),
    number(
        "transfer.memory",
        &["json.memory.most_bytes"],
        Fold::Max,
        Unit::Size,
        "its kernel does not report its memory",
    ),
    number("transfer.lost", &["json.bytes_lost", "json.bytes_bad"], Fold::Sum, Unit::Size, ""),
];

const fn number(
    name: &'static str,
    paths: &'static [&'static str],
    fold: Fold,
    unit: Unit,
    without: &'static str,
) -> Number {
    Number { name, paths, fold, unit, tempo: Tempo::Shorter, without }
}

/// At most 65 536 intervals of a few dozen bytes.
const LARGEST_SUMMARY: Bytes = Bytes(16_000_000);

const POINTS: f64 = 60.0;

#[cfg(test)]
mod tests;
