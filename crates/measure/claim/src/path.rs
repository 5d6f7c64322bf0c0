//! A path in a JSON value: "json.summary.restart_s". The unit follows from the name of the field.

use std::{fmt, str::FromStr};

use serde_json::Value;

use crate::unit::Unit;

/// A path to a number in a JSON value.
#[derive(Debug, Clone, PartialEq)]
pub struct Path(Vec<Step>);

#[derive(Debug, Clone, PartialEq)]
enum Step {
    Key(String),
    /// The first element of an array whose `field` has this value.
    Where {
        field: String,
        value: String,
    },
}

impl Path {
    /// The unit of the number.
    pub fn unit(&self) -> Unit {
        self.unit_and_scale().0
    }

    /// The number, in its unit.
    ///
    /// # Errors
    ///
    /// There is no number at this path; the error is a sentence that names the missing part.
    pub fn number(&self, value: &Value) -> Result<f64, String> {
        let mut found = value;
        for (index, step) in self.0.iter().enumerate() {
            found = step.find(found).ok_or_else(|| format!("{} has no {step}", Steps(&self.0[..index])))?;
        }
        let number = found.as_f64().ok_or_else(|| format!("{self} is not a number"))?;
        Ok(number * self.unit_and_scale().1)
    }

    /// An array index is not a name: `fast_mbps.0` is a bit rate.
    fn unit_and_scale(&self) -> (Unit, f64) {
        let name = self.0.iter().rev().find_map(Step::name).unwrap_or_default();
        let unit = UNITS.iter().find(|(ending, ..)| name.ends_with(ending));
        unit.map_or((Unit::Number, 1.0), |&(_, unit, scale)| (unit, scale))
    }
}

impl Step {
    fn find<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        match (self, value) {
            (Self::Key(key), Value::Object(fields)) => fields.get(key),
            (Self::Key(number), Value::Array(elements)) => elements.get(number.parse::<usize>().ok()?),
            (Self::Where { field, value }, Value::Array(elements)) => {
                elements.iter().find(|element| element.get(field).is_some_and(|is| is_written(is, value)))
            }
            _ => None,
        }
    }

    fn name(&self) -> Option<&str> {
        match self {
            Self::Key(key) if key.parse::<usize>().is_err() => Some(key),
            _ => None,
        }
    }
}

fn is_written(value: &Value, text: &str) -> bool {
    match value {
        Value::String(string) => string == text,
        Value::Number(number) => number.as_f64() == text.parse().ok(),
        Value::Bool(bool) => bool.to_string() == text,
        _ => false,
    }
}

impl FromStr for Path {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let steps = text.strip_prefix("json").and_then(steps);
        steps.filter(|steps| !steps.is_empty()).map(Self).ok_or_else(|| {
            format!(
                "\"{text}\" is not a place in JSON; expected fields and numbers of elements with dots before them, such as \
                 json.summary.restart_s or json.fast_mbps.0, or an element by a field, such as json.runs[name=first].errors"
            )
        })
    }
}

fn steps(mut rest: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let (step, after) = if let Some(inside) = rest.strip_prefix('[') {
            let (inside, after) = inside.split_once(']')?;
            let (field, value) = inside.split_once('=')?;
            (Step::Where { field: field.to_owned(), value: value.to_owned() }, after)
        } else {
            let key = rest.strip_prefix('.')?;
            let (key, after) = key.split_at(key.find(['.', '[']).unwrap_or(key.len()));
            (Step::Key((!key.is_empty()).then(|| key.to_owned())?), after)
        };
        steps.push(step);
        rest = after;
    }
    Some(steps)
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Steps(&self.0).fmt(f)
    }
}

struct Steps<'s>(&'s [Step]);

impl fmt::Display for Steps<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("json")?;
        self.0.iter().try_for_each(|step| match step {
            Step::Key(key) => write!(f, ".{key}"),
            Step::Where { .. } => step.fmt(f),
        })
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => f.write_str(key),
            Self::Where { field, value } => write!(f, "[{field}={value}]"),
        }
    }
}

/// The factor is to the unit. The first match applies.
const UNITS: [(&str, Unit, f64); 10] = [
    ("_per_s", Unit::Frequency, 1.0),
    ("_s", Unit::Time, 1e3),
    ("_ms", Unit::Time, 1.0),
    ("_us", Unit::Time, 1e-3),
    ("_ns", Unit::Time, 1e-6),
    ("_mbps", Unit::Rate, 1e6),
    // A field of iperf3.
    ("bits_per_second", Unit::Rate, 1.0),
    ("_bps", Unit::Rate, 1.0),
    ("bytes", Unit::Size, 1.0),
    ("_share", Unit::Share, 1.0),
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn number(path: &str) -> Result<f64, String> {
        let value = json!({
            "summary": { "restart_s": 4.5, "fast_mbps": [402.0, 508.5], "max_pause_ms": null },
            "counters": { "PruneCalled": 74, "0": 1 },
            "strategies": [
                { "name": "default", "errors": 0, "odd_share": 0.25 },
                { "name": "random", "errors": 12, "by_fill": [{ "used_share": 0.5, "p50_us": 246 }] },
            ],
        });
        path.parse::<Path>()?.number(&value)
    }

    #[test]
    fn numbers_are_found_and_counted_in_their_unit() {
        for (path, expected, unit) in [
            ("json.summary.restart_s", 4500.0, Unit::Time),
            ("json.summary.fast_mbps.1", 508.5e6, Unit::Rate),
            ("json.counters.PruneCalled", 74.0, Unit::Number),
            ("json.counters.0", 1.0, Unit::Number),
            ("json.strategies.0.odd_share", 0.25, Unit::Share),
            ("json.strategies[name=random].errors", 12.0, Unit::Number),
            ("json.strategies[name=random].by_fill[used_share=0.5].p50_us", 0.246, Unit::Time),
        ] {
            assert_eq!(number(path), Ok(expected), "{path}");
            let parsed: Path = path.parse().unwrap();
            assert_eq!((parsed.unit(), parsed.to_string().as_str()), (unit, path));
        }
    }

    #[test]
    fn names_say_the_unit() {
        for (path, unit) in [
            ("json.connects_per_s", Unit::Frequency),
            ("json.end.sum_received.bits_per_second", Unit::Rate),
            ("json.end.sum_received.bytes", Unit::Size),
            ("json.memory.most_bytes", Unit::Size),
            ("json.took_ns", Unit::Time),
            ("json.0", Unit::Number),
        ] {
            assert_eq!(path.parse::<Path>().unwrap().unit(), unit, "{path}");
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        for (path, expected) in [
            ("json.summary.restart_ms", "json.summary has no restart_ms"),
            ("json.sumary.restart_s", "json has no sumary"),
            ("json.strategies.2.errors", "json.strategies has no 2"),
            ("json.strategies[name=window].errors", "json.strategies has no [name=window]"),
            ("json.counters.PruneCalled.x", "json.counters.PruneCalled has no x"),
            ("json.summary.max_pause_ms", "json.summary.max_pause_ms is not a number"),
            ("json.strategies", "json.strategies is not a number"),
        ] {
            assert_eq!(number(path), Err(expected.to_owned()));
        }
    }

    #[test]
    fn nonsense_is_no_place() {
        for path in ["json", "json.", "json..a", "json.a[b]", "json.a[b=c", "jsonx", "a.b", "json.a]b=c["] {
            let said = path.parse::<Path>().map(|path| path.to_string()).unwrap_err();
            assert!(said.contains("is not a place in JSON"), "{said}");
        }
    }
}
