//! Reads Caddy's default access log in JSON: the lines of the logger `http.log.access`.
//!
//! `ts` is the end of the request. `duration` is text ("1.2ms"), seconds with a fraction, or whole
//! milliseconds or nanoseconds (`duration_format`), which the file does not distinguish
//! ([`Seconds`]). A status of 0 is a request without a response.

use std::borrow::Cow;

use serde::Deserialize;

use super::{
    Parser, Problem, Taken,
    fields::{Escapes, Fields, instant},
    format::Stamped,
};
use crate::{
    Metric, Unit,
    read::{
        json::{Loose, length, problem, status},
        rfc3339,
        seconds::FRACTION,
    },
};

mod duration;

pub(super) struct Caddy;

impl Parser for Caddy {
    fn take(&mut self, line: &[u8], found: &mut Fields<'_>) -> Result<Taken, Problem> {
        found.escapes = Escapes::None;
        let Some(entry) = parse(line).map_err(|error| Problem {
            offset: error.column().saturating_sub(1),
            found: format!("no line of a request ({})", problem(&error)),
            expected: "one JSON object, as Caddy writes it".to_owned(),
        })?
        else {
            return Ok(Taken::Other);
        };
        entry.fill(line, found)?;
        entry.label(found);
        Ok(Taken::Request)
    }
}

/// `None` for a line that is not a request's.
fn parse(line: &[u8]) -> Result<Option<Entry<'_>>, serde_json::Error> {
    #[derive(Deserialize)]
    struct Any {
        #[serde(default)]
        logger: Loose,
    }
    let is_access =
        |logger: &Loose| logger.text().is_some_and(|logger| logger.starts_with("http.log.access"));
    match serde_json::from_slice::<Entry<'_>>(line) {
        Ok(entry) if is_access(&entry.logger) => Ok(Some(entry)),
        // A log may be configured without the logger's name.
        Ok(entry) => Ok(Some(entry).filter(|entry| entry.logger.text().is_none() && entry.is_request())),
        // The lines of other loggers have fields of the same names.
        Err(error) if error.is_data() => match serde_json::from_slice::<Any>(line) {
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

impl Entry<'_> {
    fn is_request(&self) -> bool {
        self.request.is_some() && self.duration.is_some() && self.status.is_some()
    }

    fn fill(&self, line: &[u8], found: &mut Fields<'_>) -> Result<(), Problem> {
        if let Some(duration) = &self.duration {
            let offset = offset(line, "duration");
            // Each may prove the unit.
            found.plain.extend(duration.number().map(|number| (offset, number)));
            let departs =
                |(text, expected): Wrong| Problem { offset, found: text, expected: expected.to_owned() };
            let unit = found.seconds.unit();
            let latency = duration.duration(unit, found.is_unit_given()).map_err(departs)?;
            found.duration(Metric::Latency, latency as f64 / 1e6);
            let ended = self.ts.as_ref().and_then(Time::instant);
            if let Some((ns, resolution_ns)) = ended.filter(|&(ns, _)| ns >= latency) {
                found.moment(ns, resolution_ns, Stamped::End);
            }
        }
        found.sample.status = status(self.status);
        found.sample.body_bytes = self.size;
        if self.status == Some(0) {
            found.fail("no response");
        }
        Ok(())
    }

    fn label(&self, found: &mut Fields<'_>) {
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
            found.label(name, value.text().unwrap_or_default().as_bytes());
        }
    }
}

type Wrong = (String, &'static str);

impl Time<'_> {
    /// With a point or without, which decides the unit.
    fn number(&self) -> Option<String> {
        match self {
            Self::Whole(whole) => Some(whole.to_string()),
            Self::Number(number) => Some(format!("{number:?}")),
            Self::Text(_) => None,
        }
    }

    /// In nanoseconds.
    fn duration(&self, unit: Unit, is_given: bool) -> Result<u64, Wrong> {
        let (found, nanos) = match self {
            // So large a whole number must be `duration_format nano` or `ms`.
            Self::Whole(whole) if !is_given && *whole >= LONGEST_S => {
                return Err((whole.to_string(), FRACTION));
            }
            #[expect(clippy::cast_precision_loss, reason = "a duration of 2^53 ns is a hundred days")]
            Self::Whole(whole) => (whole.to_string(), length(unit, *whole as f64)),
            Self::Number(number) => (number.to_string(), length(unit, *number)),
            Self::Text(text) => (format!("{text:?}"), duration::parse(text)),
        };
        nanos.ok_or((found, DURATION))
    }

    /// Nanoseconds since 1970, and their resolution; `None` for a date without its year or zone.
    /// The size of a number determines its unit.
    fn instant(&self) -> Option<(u64, u64)> {
        match self {
            Self::Whole(whole) => instant(&whole.to_string()),
            // 1741944413000.0 is milliseconds.
            Self::Number(number) => instant(&format!("{number:?}")),
            Self::Text(text) => {
                let ns = rfc3339(text).or_else(|| rfc3339(&with_colon(text)?))?;
                Some((ns, if text.contains('.') { FINE } else { SECOND }))
            }
        }
    }
}

/// "...+0100" becomes "...+01:00" of RFC 3339.
fn with_colon(text: &str) -> Option<String> {
    let at = text.len().checked_sub(2)?;
    Some(format!("{}:{}", text.get(..at)?, text.get(at..)?))
}

fn offset(text: &[u8], key: &str) -> usize {
    let key = format!("\"{key}\":");
    memchr::memmem::find(text, key.as_bytes()).map_or(0, |at| at + key.len())
}

/// A larger whole number is not the seconds of a request, but a smaller unit.
const LONGEST_S: i64 = 1000;

/// Resolutions of times, ns.
const SECOND: u64 = 1_000_000_000;
const FINE: u64 = 1_000_000;

const DURATION: &str = "a duration, in seconds or such as \"1.2ms\"";

#[cfg(test)]
mod tests;
