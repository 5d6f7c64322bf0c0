//! Access logs in JSON, an object a line, with a table of keys for each format.

use std::{collections::BTreeSet, fmt};

use serde::{
    Deserialize,
    de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor},
};

use super::{
    Parser, Problem, Taken,
    clock::Clock,
    fields::{Escapes, Fields, instant, is_absent, list, take_value},
    format::{Field, Kind, Scale, Stamped, nginx},
    mapping::mapped,
};
use crate::{
    ColumnMapping, Metric,
    read::json::{Text, problem},
};

pub(super) struct Keys {
    /// An object without any of these is not a request.
    pub required: &'static [&'static str],
    pub meaning: fn(&str) -> Meaning,
    pub finish: fn(&Object, &mut Fields<'_>) -> Result<(), Wrong>,
    pub note: fn(&Fields<'_>) -> Option<&'static str>,
}

pub(super) type Wrong = (&'static str, &'static str);

pub(super) enum Meaning {
    Kind(Kind),
    /// A date, or a number since 1970.
    Moment(Stamped),
    /// Used by [`Keys::finish`].
    None,
}

pub(super) struct Objects<'o> {
    keys: &'static Keys,
    columns: &'o [ColumnMapping],
    /// Empty unless the user gives keys meanings.
    seen: BTreeSet<String>,
    clock: Clock,
}

impl<'o> Objects<'o> {
    pub fn new(keys: &'static Keys, columns: &'o [ColumnMapping]) -> Self {
        let clock =
            Clock::new("%d/%b/%Y:%H:%M:%S %z", "10/Oct/2000:13:55:36 -0700").expect("the pattern is known");
        Self { keys, columns, seen: BTreeSet::new(), clock }
    }

    /// An error is the expected form.
    fn value(&self, key: &str, value: &str, found: &mut Fields<'_>) -> Result<(), String> {
        if is_absent(value.as_bytes()) {
            return Ok(());
        }
        let kind = match (self.keys.meaning)(key) {
            Meaning::None => return Ok(()),
            Meaning::Moment(stamped) => {
                let local = || {
                    let (ns, length) = self.clock.read(value.as_bytes())?;
                    (length == value.len()).then_some((ns, 1_000_000_000))
                };
                match instant(value).or_else(local) {
                    Some((ns, resolution_ns)) => {
                        found.moment(ns, resolution_ns, stamped);
                        return Ok(());
                    }
                    None => Kind::Label(key.to_owned()),
                }
            }
            Meaning::Kind(kind) => match mapped(self.columns, key, kind) {
                Kind::Durations(metric, scale) => return durations(metric, scale, value, found),
                kind => kind,
            },
        };
        take_value(&Field { name: key.to_owned(), kind }, value.as_bytes(), found)
    }
}

impl Parser for Objects<'_> {
    fn names(&self) -> Option<BTreeSet<String>> {
        Some(self.seen.clone())
    }

    fn take(&mut self, line: &[u8], found: &mut Fields<'_>) -> Result<Taken, Problem> {
        found.escapes = Escapes::None;
        let object: Object = serde_json::from_slice(line).map_err(|error| Problem {
            offset: error.column().saturating_sub(1),
            found: format!("no JSON object ({})", problem(&error)),
            expected: "one JSON object a line".to_owned(),
        })?;
        if !self.keys.required.iter().all(|key| object.has(key)) {
            return Ok(Taken::Other);
        }
        for (key, value) in &object.0 {
            if !self.columns.is_empty() && self.seen.len() < MOST_KEYS && !self.seen.contains(key) {
                self.seen.insert(key.clone());
            }
            found.at = place_of(line, key);
            self.value(key, value, found).map_err(|expected| departs(line, key, value, &expected))?;
        }
        (self.keys.finish)(&object, found)
            .map_err(|(key, expected)| departs(line, key, object.get(key).unwrap_or_default(), expected))?;
        Ok(Taken::Request)
    }

    fn warnings(&self, found: &Fields<'_>) -> Vec<String> {
        (self.keys.note)(found).map(str::to_owned).into_iter().collect()
    }
}

fn departs(line: &[u8], key: &str, value: &str, expected: &str) -> Problem {
    let shown: String = value.chars().take(SHOWN).collect();
    Problem { offset: place_of(line, key), found: format!("{shown:?}"), expected: expected.to_owned() }
}

fn durations(metric: Metric, scale: Scale, value: &str, found: &mut Fields<'_>) -> Result<(), String> {
    const EXPECTED: &str = "seconds, perhaps several such as \"0.1, 0.2\", or nothing";
    let (sum, _) = list(value.as_bytes()).filter(|&(_, length)| length == value.len()).ok_or(EXPECTED)?;
    if let Some(sum) = sum {
        let unit = found.unit(scale, value.as_bytes());
        found.duration(metric, unit.milliseconds(sum).ok_or(EXPECTED)?);
    }
    Ok(())
}

fn place_of(text: &[u8], key: &str) -> usize {
    let quoted = format!("\"{key}\"");
    let Some(at) = memchr::memmem::find(text, quoted.as_bytes()) else { return 0 };
    let after = at + quoted.len();
    let is_value = |byte: &u8| !matches!(byte, b' ' | b':' | b'"');
    after + text[after..].iter().position(is_value).unwrap_or(0)
}

/// Only values that are text or numbers, unparsed.
pub(super) struct Object(Vec<(String, String)>);

impl Object {
    pub fn get(&self, key: &str) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(name, _)| name == key)?;
        Some(value.as_str()).filter(|value| !is_absent(value.as_bytes()))
    }

    fn has(&self, key: &str) -> bool {
        self.0.iter().any(|(name, _)| name == key)
    }
}

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

/// nginx's log whose `log_format` makes JSON (`escape=json`) with the names of the variables as
/// keys.
pub(super) static NGINX: Keys =
    Keys { required: &["request_time"], meaning: nginx_meaning, finish: |_, _| Ok(()), note: |_| None };

fn nginx_meaning(key: &str) -> Meaning {
    let variable = key.trim_start_matches(['$', '@']);
    // nginx's variables, and other common names.
    let times = ["msec", "time_iso8601", "time_local", "timestamp", "time", "ts", "date"];
    if times.contains(&variable) {
        Meaning::Moment(Stamped::End)
    } else {
        Meaning::Kind(nginx::kind(variable))
    }
}

const SHOWN: usize = 40;

const MOST_KEYS: usize = 1000;
