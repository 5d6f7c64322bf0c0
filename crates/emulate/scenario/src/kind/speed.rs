//! `[[speed]]`: a speed test from one host to another, with quality scores for the line. Its server
//! starts before the measurements.

use std::{
    num::NonZero,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use ::speedtest::{
    bandwidth::Bandwidth,
    plan::Plan,
    result::Outcome,
    rubric::{Measured, Score},
};
use claim::{Evidence, Fold, Number, Object, Source, Subject, Tempo, Unit};
use config_file::Document;
use report::figures::{Column, Figures, Table as Shown};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;
use units::{
    Bytes,
    show::{plural, rate, share, time},
};
use world::Diagnostic;

use crate::{
    check::Check,
    error::Error,
    folder::{Folder, absolute, turn, words},
    measurement::{Findings, Gaps, Inputs, Measures, ResultEntry, Task},
    program::{Job, Program},
};

pub(crate) const SOURCE: Source = Source::new("speed");

pub(crate) const NAMES: &str = "speed.download, speed.upload, speed.idle, speed.added, speed.jitter, speed.loss, speed.rpm, \
                                speed.streaming, speed.gaming, speed.calls";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    pub side: Spanned<String>,
    pub from: Spanned<String>,
    pub to: Spanned<String>,
    /// Datagrams use the next port.
    #[serde(default = "default_port")]
    pub port: Spanned<NonZero<u16>>,
    #[serde(default)]
    pub protocol: Protocol,
    /// "quick", "full", or a file with a plan.
    pub plan: Option<Spanned<String>>,
    pub streams: Option<Spanned<u32>>,
    #[serde(default = "crate::measurement::default_duration", with = "units::duration")]
    pub duration: Duration,
    pub after: Option<Spanned<String>>,
}

fn default_port() -> Spanned<NonZero<u16>> {
    Spanned::new(0..0, NonZero::new(8090).expect("8090 is not 0"))
}

/// `http1` is without TLS, the others over TLS.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Protocol {
    #[default]
    Http1,
    Http2,
    Http3,
}

/// A speed test.
#[derive(Debug, Clone)]
pub struct Speed {
    /// The side.
    pub side: String,
    /// The client.
    pub from: String,
    /// The server.
    pub to: String,
    /// The port of the server.
    pub port: u16,
    protocol: Protocol,
    /// "quick", "full", or the path of a plan.
    pub plan: String,
    /// Concurrent requests in each transfer.
    pub streams: u32,
    /// The expected duration.
    pub duration: Duration,
    /// The side whose measurements must end before this measurement begins.
    pub after: Option<Spanned<String>>,
}

/// The result of a speed test: its two hosts, the figures, and the output of its client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpeedResult {
    /// The side.
    pub side: String,
    /// The client.
    pub from: String,
    /// The server.
    pub to: String,
    /// The figures from which the scores are computed.
    pub measured: Measured,
    /// Added round-trip time under load, in the worse direction, in ms. Absent if one direction was not
    /// measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added_ms: Option<f64>,
    /// The output of the client.
    pub outcome: Outcome,
}

/// All tests of one server must use the same protocol.
pub(crate) fn check(check: &Check<'_>, tables: &[Table]) -> Result<Vec<Speed>, Diagnostic> {
    let mut checked: Vec<Speed> = Vec::new();
    for table in tables {
        let mistake = |span, message: &str| Err(check.document.mistake(span, message));
        let side = check.side(&table.side)?;
        check.lasts(table.duration, &table.side)?;
        check.apart(check.host(&table.from)?, check.host(&table.to)?, table.to.span())?;
        if checked.iter().any(|other| other.side == side) {
            let message = "another speed test measures this side; give each a different side";
            return mistake(table.side.span(), message);
        }
        let (to, port) = (table.to.get_ref(), table.port.get_ref().get());
        if port == u16::MAX {
            let message = "the port after 65535 is where the loss test would listen; choose one below";
            return mistake(table.port.span(), message);
        }
        let is_tls = table.protocol.is_tls();
        if checked
            .iter()
            .any(|other| (&other.to, other.port) == (to, port) && other.protocol.is_tls() != is_tls)
        {
            let message = format!(
                "another speed test to port {port} of \"{to}\" speaks {}; give one of them a different port",
                if is_tls { "clear text" } else { "TLS" }
            );
            return mistake(table.to.span(), &message);
        }
        let streams = match &table.streams {
            Some(streams) if !STREAMS.contains(streams.get_ref()) => {
                return mistake(streams.span(), "expected 1 to 64 streams");
            }
            streams => streams.as_ref().map_or(1, |streams| *streams.get_ref()),
        };
        checked.push(Speed {
            side,
            from: table.from.get_ref().clone(),
            to: to.clone(),
            port,
            protocol: table.protocol,
            plan: table.plan.as_ref().map_or_else(|| Ok("quick".to_owned()), |named| plan(check, named))?,
            streams,
            duration: table.duration,
            after: table.after.clone(),
        });
    }
    Ok(checked)
}

fn plan(check: &Check<'_>, named: &Spanned<String>) -> Result<String, Diagnostic> {
    let name = named.get_ref();
    if name == "quick" || name == "full" {
        return Ok(name.clone());
    }
    let path = absolute(check.folder).join(name);
    let document = Document::open(&path).map_err(|error| {
        let message =
            format!("{name} is neither quick nor full, nor a file with a plan that can be read: {error}");
        check.document.mistake(named.span(), message)
    })?;
    Plan::read(name, &document)?;
    Ok(path.to_string_lossy().into_owned())
}

pub(crate) fn servers(tests: &[&Speed]) -> Vec<Program> {
    let mut places: Vec<(&str, u16, bool)> =
        tests.iter().map(|test| (test.to.as_str(), test.port, test.protocol.is_tls())).collect();
    places.sort_unstable();
    places.dedup();
    let server = |(host, port, is_tls): (&str, u16, bool)| {
        let mut command = words(&["longhaul", "speed", "serve", "--listen", &format!("[::]:{port}")]);
        command.extend(is_tls.then(|| "--tls".to_owned()));
        Program { host: host.to_owned(), command, ready: Some(port) }
    };
    places.into_iter().map(server).collect()
}

impl Protocol {
    fn is_tls(self) -> bool {
        self != Self::Http1
    }

    fn name(self) -> &'static str {
        match self {
            Self::Http1 => "http1",
            Self::Http2 => "http2",
            Self::Http3 => "http3",
        }
    }
}

impl Speed {
    fn name(&self) -> String {
        format!("speed-{}-from-{}-to-{}", self.side, self.from, self.to)
    }

    pub(crate) fn file(&self) -> String {
        format!("{}.json", self.name())
    }

    fn log(&self, folder: &Folder<'_>) -> PathBuf {
        folder.log(&self.name())
    }

    fn condition(&self) -> String {
        let Self { from, to, plan, .. } = self;
        let (protocol, streams) = (self.protocol.name(), plural(self.streams.into(), "stream"));
        let plan = Path::new(plan).file_name().unwrap_or_default().display();
        format!("{from} to {to} over {protocol}, plan {plan}, {streams}{}", turn(self.after.as_ref()))
    }
}

impl Measures for Speed {
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
        let scheme = if self.protocol.is_tls() { "https" } else { "http" };
        let url = format!("{scheme}://{}:{}", self.to, self.port);
        let streams = self.streams.to_string();
        let mut command = words(&["longhaul", "speed", "test", &url, "--json", "--quiet"]);
        command.extend(words(&[
            "--protocol",
            self.protocol.name(),
            "--plan",
            &self.plan,
            "--streams",
            &streams,
        ]));
        command.extend(self.protocol.is_tls().then(|| "--insecure".to_owned()));
        let result = Some((folder.file(&self.file()), LARGEST_OUTCOME));
        let job = Job { host: self.from.clone(), command, log: self.log(folder), log_limit, result };
        let after = self.after.as_ref().map(|after| after.get_ref().clone());
        Task { after, codes: vec![0], ..Task::ours(&self.side, job) }
    }
}

pub(crate) fn subject(name: &str) -> Option<Result<Subject, String>> {
    Subject::of_table(SOURCE, &NUMBERS, name).map(Ok)
}

pub(crate) fn read(tests: &[&Speed], reading: &Inputs<'_>, gaps: &mut Gaps) -> Result<Findings, Error> {
    let mut found = Findings::default();
    let mut all = Vec::new();
    for test in tests {
        found.conditions.push((format!("{}, speed test", test.side), test.condition()));
        all.extend(gaps.tolerate(&format!("{}, speed test", test.side), result(test, reading))?);
    }
    found.figures = (!all.is_empty()).then(|| figures(&all));
    for one in all {
        let detail = Arc::new(serde_json::to_value(&one).expect("a result has no keys but texts"));
        let mut evidence = Evidence::default();
        evidence.object(one.object(Arc::clone(&detail)));
        found.evidence.push((one.side.clone(), evidence));
        found.measured.push(ResultEntry { side: one.side, host: one.from, kind: SOURCE, detail });
    }
    Ok(found)
}

fn result(test: &Speed, reading: &Inputs<'_>) -> Result<SpeedResult, Error> {
    let path = reading.folder.file(&test.file());
    let text = reading.folder.text(&path)?;
    let outcome: Outcome =
        serde_json::from_str(&text).map_err(|source| Error::SpeedOutcome { path, source })?;
    Ok(SpeedResult::new(test, outcome))
}

impl SpeedResult {
    fn new(test: &Speed, outcome: Outcome) -> Self {
        let measured = outcome.measured();
        let Speed { side, from, to, .. } = test.clone();
        Self { side, from, to, measured, added_ms: measured.added_ms(), outcome }
    }

    fn object(&self, detail: Arc<serde_json::Value>) -> Object {
        let missing = self.outcome.missing.iter().map(|one| format!("{}: {}", one.what, one.why));
        let missing: Vec<String> = missing.collect();
        let why = (!missing.is_empty()).then(|| format!("not measured: {}", missing.join("; ")));
        let what = format!("the speed test of {} from {} to {}", self.side, self.from, self.to);
        // A figure summarizes many short exchanges, so a bound for the whole test would be useless.
        Object { why, ..Object::new(what, detail) }
    }

    fn row(&self) -> [String; 9] {
        let ms = |figure: Option<f64>| figure.map_or_else(absent, |ms| time(ms / 1e3));
        let bps = |figure: Option<f64>| figure.map_or_else(absent, rate);
        let Measured { download_bps, upload_bps, idle_ms, jitter_ms, loss_ratio, .. } = self.measured;
        let limited = |found: &Bandwidth| {
            found.limited_by.clone().filter(|_| found.bps_p90.is_some()).unwrap_or_else(absent)
        };
        [
            self.side.clone(),
            bps(download_bps),
            limited(&self.outcome.download),
            bps(upload_bps),
            limited(&self.outcome.upload),
            ms(idle_ms),
            ms(self.added_ms),
            ms(jitter_ms),
            loss_ratio.map_or_else(absent, share),
        ]
    }

    fn scores(&self) -> impl Iterator<Item = [String; 5]> {
        let scores = &self.outcome.scores;
        let each = [("streaming", &scores.streaming), ("gaming", &scores.gaming), ("calls", &scores.rtc)];
        each.into_iter().map(|(name, score)| {
            let Score { max, why, .. } = score;
            let why: Vec<&str> = why.iter().map(|reason| reason.text.as_str()).collect();
            let points = format!("{} of {max}", score.points_in_words());
            [self.side.clone(), name.to_owned(), score.class_in_words(), points, why.join("; ")]
        })
    }
}

fn figures(tests: &[SpeedResult]) -> Figures {
    let columns = [
        Column::text("line"),
        Column::number("download"),
        Column::text("limited by").wide(),
        Column::number("upload"),
        Column::text("limited by").wide(),
        Column::number("idle latency"),
        Column::number("added under load"),
        Column::number("jitter"),
        Column::number("lost"),
    ];
    let measured = Shown::new("What lines carry, and what they add while they do", columns).note(
        "Added under load: how much longer a round trip is with the line full, in the worse direction.",
    );
    let columns = [
        Column::text("line"),
        Column::text("for"),
        Column::text("is"),
        Column::number("points"),
        Column::text("because of").wide(),
    ];
    let scores = Shown::new("What lines are good for", columns);
    let rows = tests.iter().flat_map(SpeedResult::scores);
    Figures::new("Speed tests", "")
        .table(tests.iter().fold(measured, |table, one| table.row(one.row())))
        .table(rows.fold(scores, Shown::row))
}

fn absent() -> String {
    "not known".to_owned()
}

const NUMBERS: [Number; 10] = [
    number("speed.download", &["json.measured.download_bps"], Unit::Rate),
    number("speed.upload", &["json.measured.upload_bps"], Unit::Rate),
    number("speed.idle", &["json.measured.idle_ms"], Unit::Time),
    number("speed.added", &["json.added_ms"], Unit::Time),
    number("speed.jitter", &["json.measured.jitter_ms"], Unit::Time),
    number("speed.loss", &["json.measured.loss_ratio"], Unit::Share),
    number("speed.rpm", &["json.outcome.rpm.value"], Unit::Number),
    number("speed.streaming", &["json.outcome.scores.streaming.points"], Unit::Number),
    number("speed.gaming", &["json.outcome.scores.gaming.points"], Unit::Number),
    number("speed.calls", &["json.outcome.scores.rtc.points"], Unit::Number),
];

const fn number(name: &'static str, paths: &'static [&'static str], unit: Unit) -> Number {
    Number { name, paths, fold: Fold::First, unit, tempo: Tempo::Shorter, without: "" }
}

const STREAMS: std::ops::RangeInclusive<u32> = 1..=64;

/// At most 100 steps of 1000 requests, each a rate or a sample of about 80 bytes.
const LARGEST_OUTCOME: Bytes = Bytes(16_000_000);

#[cfg(test)]
mod tests;
