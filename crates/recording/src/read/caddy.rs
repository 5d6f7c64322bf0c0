//! Reads Caddy's default access log in JSON: the lines of the logger `http.log.access`.
//!
//! `ts` is when the line was written, at the end of the request; the start lies `duration` before it. Both may be numbers
//! or text ("1.2ms", a date), as the log is configured: `duration_format` is seconds with a fraction, or whole milliseconds
//! or nanoseconds, which nothing in the file tells apart ([`Seconds`]). A status of 0 is a request that was given no answer.

use std::borrow::Cow;

use serde::Deserialize;

use super::{
    Frame, Input, Options,
    json::{self, Loose, label, length, status},
    lines::Line,
    rfc3339,
    seconds::{FRACTION, Seconds},
};
use crate::{Error, Event, Metric, Place, Sample, Sink, Unit, error::counted};

mod duration;

pub(super) fn read(input: Input<'_>, options: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    sink.metric(Metric::Latency);
    let path = input.path.clone();
    let mut sample = Sample::default();
    let (mut taken, mut others) = (0, 0);
    let mut seconds = Seconds::new(options.unit);
    let cut = json::each_line(input, EXPECTED, |line| {
        let Some(entry) = parse(line)? else {
            others += 1;
            return Ok(());
        };
        taken += 1;
        let place = |key| Place { path: path.clone(), line: line.number, column: column(line.text, key) };
        let wrong = |(key, found, expected)| Error::Number { place: place(key), found, expected };
        if let Some(number) = entry.duration.as_ref().and_then(Time::number) {
            seconds.look(&number, || place("duration"));
        }
        entry.fill(&mut sample, seconds.unit(), options.unit.is_some()).map_err(wrong)?;
        entry.label(&mut sample, options);
        Ok(sink.event(&Event { number: line.number, sample: &sample, exact: &[] })?)
    })?;
    let mut warnings = Vec::from_iter(seconds.finish()?);
    if taken > 0 {
        warnings.push(
            "An access log has the server's own times: without the network between it and the client."
                .to_owned(),
        );
    }
    if others > 0 {
        warnings.push(format!("{} of other loggers left out.", counted(others, "line")));
    }
    warnings.extend(cut);
    Ok(Frame { warnings, ..Frame::default() })
}

/// `None` for a line that is not a request's.
fn parse(line: Line<'_>) -> Result<Option<Entry<'_>>, serde_json::Error> {
    /// What every line has.
    #[derive(Deserialize)]
    struct Any {
        #[serde(default)]
        logger: Loose,
    }
    let is_access =
        |logger: &Loose| logger.text().is_some_and(|logger| logger.starts_with("http.log.access"));
    match serde_json::from_slice::<Entry<'_>>(line.text) {
        Ok(entry) if is_access(&entry.logger) => Ok(Some(entry)),
        // A log may be configured without the logger's name.
        Ok(entry) => Ok(Some(entry).filter(|entry| entry.logger.text().is_none() && entry.is_request())),
        // The lines of other loggers have fields of the same names.
        Err(error) if error.is_data() => match serde_json::from_slice::<Any>(line.text) {
            Ok(any) if !is_access(&any.logger) => Ok(None),
            _ => Err(error),
        },
        Err(error) => Err(error),
    }
}

#[derive(Deserialize)]
struct Entry<'l> {
    #[serde(default)]
    logger: Loose,
    #[serde(borrow)]
    ts: Option<Time<'l>>,
    #[serde(borrow)]
    duration: Option<Time<'l>>,
    status: Option<i64>,
    size: Option<u64>,
    request: Option<Request>,
}

/// A number, or text that contains its unit.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a number or text")]
enum Time<'l> {
    Whole(i64),
    Number(f64),
    #[serde(borrow)]
    Text(Cow<'l, str>),
}

#[derive(Deserialize)]
struct Request {
    #[serde(default)]
    remote_ip: Loose,
    #[serde(default)]
    client_ip: Loose,
    #[serde(default)]
    proto: Loose,
    #[serde(default)]
    method: Loose,
    #[serde(default)]
    host: Loose,
    #[serde(default)]
    uri: Loose,
}

/// The wrong field, its content, and the expected form.
type Wrong = (&'static str, String, &'static str);

impl Entry<'_> {
    fn is_request(&self) -> bool {
        self.request.is_some() && self.duration.is_some() && self.status.is_some()
    }

    fn fill(&self, sample: &mut Sample, unit: Unit, is_given: bool) -> Result<(), Wrong> {
        let duration = self.duration.as_ref().map(|time| time.duration(unit, is_given));
        sample.latency_ns = duration.transpose()?;
        let ended = self.ts.as_ref().and_then(Time::instant);
        sample.started_ns = json::between(sample.latency_ns, ended);
        sample.status = status(self.status);
        sample.body_bytes = self.size;
        sample.error = (self.status == Some(0)).then(|| "no response".to_owned());
        Ok(())
    }

    fn label(&self, sample: &mut Sample, options: &Options) {
        let Some(request) = &self.request else { return };
        for (name, value) in [
            ("host", &request.host),
            ("method", &request.method),
            ("uri", &request.uri),
            ("protocol", &request.proto),
            ("remote_ip", &request.remote_ip),
            ("client_ip", &request.client_ip),
            ("logger", &self.logger),
        ] {
            label(sample, &options.labels, name, value.text());
        }
    }
}

impl Time<'_> {
    /// A plain number as it is written, as far as it matters: with a point or without.
    fn number(&self) -> Option<String> {
        match self {
            Self::Whole(whole) => Some(whole.to_string()),
            Self::Number(number) => Some(format!("{number:?}")),
            Self::Text(_) => None,
        }
    }

    /// A length of time in nanoseconds.
    fn duration(&self, unit: Unit, is_given: bool) -> Result<u64, Wrong> {
        let (found, nanos) = match self {
            // So large a whole number must be `duration_format nano` or `ms`, whatever the others are.
            Self::Whole(whole) if !is_given && *whole >= LONGEST_S => {
                return Err(("duration", whole.to_string(), FRACTION));
            }
            #[expect(clippy::cast_precision_loss, reason = "a duration of 2^53 ns is a hundred days")]
            Self::Whole(whole) => (whole.to_string(), length(unit, *whole as f64)),
            Self::Number(number) => (number.to_string(), length(unit, *number)),
            Self::Text(text) => (format!("{text:?}"), duration::parse(text)),
        };
        nanos.ok_or(("duration", found, DURATION))
    }

    /// Nanoseconds since 1970; `None` for a date without its year or zone, as some formats write it. Numbers are seconds,
    /// milliseconds or nanoseconds by their size.
    fn instant(&self) -> Option<u64> {
        #[expect(
            clippy::cast_precision_loss,
            reason = "an f64 has a quarter of a microsecond of today's seconds"
        )]
        let number = match self {
            Self::Whole(nanos) if *nanos >= FIRST_NS => return u64::try_from(*nanos).ok(),
            Self::Whole(whole) => *whole as f64,
            Self::Number(number) => *number,
            Self::Text(text) => return rfc3339(text).or_else(|| rfc3339(&with_colon(text)?)),
        };
        let unit = match number {
            _ if number < 1e11 => Unit::S,
            _ if number < 1e14 => Unit::Ms,
            _ => Unit::Ns,
        };
        length(unit, number)
    }
}

/// "...+0100" as RFC 3339 has it, "...+01:00".
fn with_colon(text: &str) -> Option<String> {
    let at = text.len().checked_sub(2)?;
    Some(format!("{}:{}", text.get(..at)?, text.get(at..)?))
}

/// Where the value of a key begins, from 1.
fn column(text: &[u8], key: &str) -> u64 {
    let key = format!("\"{key}\":");
    memchr::memmem::find(text, key.as_bytes()).map_or(1, |at| (at + key.len() + 1) as u64)
}

/// A whole number of seconds above this is not a duration of a request but a smaller unit.
const LONGEST_S: i64 = 1000;

/// From here on a number is nanoseconds since 1970, not milliseconds: the year 5138 in those.
const FIRST_NS: i64 = 100_000_000_000_000;

const EXPECTED: &str = "a line of Caddy's log, one JSON object";
const DURATION: &str = "a duration, in seconds or such as \"1.2ms\"";

#[cfg(test)]
mod tests;
