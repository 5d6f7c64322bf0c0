//! nginx's access log where its `log_format` makes JSON of it (`escape=json`): an object a line, whose keys are nginx's own
//! names of variables. A log with other keys needs the format string, like any access log.

use std::fmt;

use serde::{
    Deserialize,
    de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor},
};

use super::{Field, Fields, Kind, SERVERS_OWN, Stamped, clock::Clock, format::nginx_kind, list, take_value};
use crate::{
    Error, Event, Metric, Place, Sample, Sink, Unit,
    read::{
        Frame, Input, Options,
        json::{self, Text},
        number, rfc3339,
    },
    unit::nanoseconds,
};

pub(in crate::read) fn read(
    input: Input<'_>,
    options: &Options,
    sink: &mut dyn Sink,
) -> Result<Frame, Error> {
    let path = input.path.clone();
    let mut found = Fields::new(options);
    let clock =
        Clock::new("%d/%b/%Y:%H:%M:%S %z", "10/Oct/2000:13:55:36 -0700").expect("the pattern is known");
    let (mut taken, mut others, mut coarsest_ns) = (0_u64, 0_u64, 0);
    let cut = json::each_line(input, EXPECTED, |line| {
        let Object(entries) = serde_json::from_slice(line.text)?;
        if !entries.iter().any(|(name, _)| name == REQUEST_TIME) {
            others += 1;
            return Ok(());
        }
        taken += 1;
        found.clear();
        found.sample = Sample::default();
        for (name, value) in &entries {
            let place =
                |offset: usize| Place { path: path.clone(), line: line.number, column: offset as u64 + 1 };
            found.at = place_of(line.text, name);
            take(name, value, &clock, &mut found).map_err(|expected| {
                let shown: String = value.chars().take(SHOWN).collect();
                Error::Number { place: place(found.at), found: format!("{shown:?}"), expected }
            })?;
            for (offset, whole) in found.plain.drain(..) {
                found.seconds.look(&whole, || place(offset));
            }
        }
        coarsest_ns = found.time.map_or(coarsest_ns, |_| coarsest_ns.max(found.resolution_ns));
        found.finish();
        Ok(sink.event(&Event { number: line.number, sample: &found.sample, exact: &found.exact })?)
    })?;
    if taken == 0 {
        let place = Place { path, line: 1, column: 1 };
        return Err(Error::Empty {
            place,
            found: "no line has a request_time".to_owned(),
            expected: EXPECTED,
        });
    }
    let mut warnings = Vec::from_iter(found.seconds.finish()?);
    warnings.push(SERVERS_OWN.to_owned());
    if coarsest_ns >= 1_000_000_000 {
        warnings
            .push("The log's times are in whole seconds; percentiles over time cannot be finer.".to_owned());
    }
    if others > 0 {
        warnings.push(format!("{} without a request_time left out.", crate::error::counted(others, "line")));
    }
    warnings.extend(cut);
    Ok(Frame { warnings, ..Frame::default() })
}

/// Takes the value of a key. An error is the expected form.
fn take(name: &str, value: &str, clock: &Clock, found: &mut Fields<'_>) -> Result<(), &'static str> {
    if value.is_empty() || value == "-" {
        return Ok(());
    }
    let variable = name.trim_start_matches(['$', '@']);
    if TIMES.contains(&variable) {
        // A log may have two; the finer one counts, and a name that means something else is a label.
        if let Some((ns, resolution_ns)) = instant(value, clock) {
            if found.time.is_none() || resolution_ns < found.resolution_ns {
                found.time = Some((ns, Stamped::End));
                found.resolution_ns = resolution_ns;
            }
            return Ok(());
        }
    }
    let kind = match nginx_kind(variable) {
        Kind::Time { .. } => Kind::Label(variable.to_owned()),
        Kind::Durations(metric) => return durations(metric, value, found),
        kind => kind,
    };
    let expected = match &kind {
        Kind::Duration(..) => "a number of seconds from 0 to 1e12, or nothing",
        _ => "what nginx writes for it",
    };
    take_value(&Field { name: variable.to_owned(), kind }, value.as_bytes(), found).map_err(|_| expected)
}

fn durations(metric: Metric, value: &str, found: &mut Fields<'_>) -> Result<(), &'static str> {
    const EXPECTED: &str = "seconds, perhaps several such as \"0.1, 0.2\", or nothing";
    let (sum, _) = list(value.as_bytes()).filter(|&(_, length)| length == value.len()).ok_or(EXPECTED)?;
    if let Some(sum) = sum {
        let unit = found.unit(value.as_bytes());
        found.duration(metric, unit.milliseconds(sum).ok_or(EXPECTED)?);
    }
    Ok(())
}

/// Nanoseconds since 1970 and how finely the text tells them: RFC 3339, nginx's `$time_local`, or seconds (`$msec`).
fn instant(text: &str, clock: &Clock) -> Option<(u64, u64)> {
    let is_fine = text.contains('.');
    let resolution_ns = if is_fine { 1_000_000 } else { 1_000_000_000 };
    if let Ok(seconds) = text.parse::<f64>() {
        // An f64 has no room for the nanoseconds of a date.
        let ns = number::nanoseconds(text.as_bytes(), Unit::S).unwrap_or_else(|| nanoseconds(seconds * 1e3));
        return (1e8..1e11).contains(&seconds).then_some((ns, resolution_ns));
    }
    let ns = rfc3339(text).or_else(|| {
        let (ns, length) = clock.read(text.as_bytes())?;
        (length == text.len()).then_some(ns)
    })?;
    Some((ns, resolution_ns))
}

/// Where the value of a key stands in its line.
fn place_of(text: &[u8], key: &str) -> usize {
    let quoted = format!("\"{key}\"");
    let Some(at) = memchr::memmem::find(text, quoted.as_bytes()) else { return 0 };
    let after = at + quoted.len();
    let is_value = |byte: &u8| !matches!(byte, b' ' | b':' | b'"');
    after + text[after..].iter().position(is_value).unwrap_or(0)
}

/// The keys of an object whose values are text or numbers, with those as they are written; all others are left out.
struct Object(Vec<(String, String)>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Object;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Object, A::Error> {
                let mut entries = Vec::new();
                while let Some((Text(key), Scalar(value))) = object.next_entry()? {
                    entries.extend(value.map(|value| (key, value)));
                }
                Ok(Object(entries))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// A value as text; a number that has a point keeps it.
struct Scalar(Option<String>);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Anything;
        impl<'de> Visitor<'de> for Anything {
            type Value = Scalar;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }
            fn visit_str<E>(self, text: &str) -> Result<Scalar, E> {
                Ok(Scalar(Some(text.to_owned())))
            }
            fn visit_bool<E>(self, value: bool) -> Result<Scalar, E> {
                Ok(Scalar(Some(value.to_string())))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Scalar, E> {
                Ok(Scalar(Some(value.to_string())))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Scalar, E> {
                Ok(Scalar(Some(value.to_string())))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Scalar, E> {
                // 0.000 has a point too.
                Ok(Scalar(Some(if value.fract() == 0.0 { format!("{value:.1}") } else { value.to_string() })))
            }
            fn visit_unit<E>(self) -> Result<Scalar, E> {
                Ok(Scalar(None))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Scalar, A::Error> {
                while array.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Scalar(None))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Scalar, A::Error> {
                while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Scalar(None))
            }
        }
        deserializer.deserialize_any(Anything)
    }
}

/// What a line of a request has.
const REQUEST_TIME: &str = "request_time";

/// Keys for the time of the line: nginx's variables, and other common names.
const TIMES: [&str; 7] = ["msec", "time_iso8601", "time_local", "timestamp", "time", "ts", "date"];

const EXPECTED: &str = "a line of nginx's access log as JSON, one object with request_time";

/// How much of a value a message shows.
const SHOWN: usize = 40;
