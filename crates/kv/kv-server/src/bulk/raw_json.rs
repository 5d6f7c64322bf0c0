//! Any JSON as compact text that keeps the order of members.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};

use crate::json;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Compact(pub(super) String);

impl<'de> Deserialize<'de> for Compact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyJson)
    }
}

struct AnyJson;

impl<'de> Visitor<'de> for AnyJson {
    type Value = Compact;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Compact, E> {
        Ok(Compact("null".to_owned()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Compact, E> {
        Ok(Compact(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Compact, E> {
        Ok(Compact(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Compact, E> {
        Ok(Compact(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Compact, E> {
        // A number that was parsed from JSON is finite, so serialising it cannot fail.
        Ok(Compact(serde_json::to_string(&value).unwrap_or_default()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Compact, E> {
        let mut text = String::new();
        json::text(&mut text, value);
        Ok(Compact(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Compact, A::Error> {
        let mut parts = Vec::new();
        while let Some(Compact(part)) = all.next_element()? {
            parts.push(part);
        }
        let mut text = String::new();
        json::between(&mut text, json::LIST, parts, |text, part| text.push_str(&part));
        Ok(Compact(text))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut all: A) -> Result<Compact, A::Error> {
        let mut parts = Vec::new();
        while let Some((name, Compact(value))) = all.next_entry::<String, Compact>()? {
            parts.push((name, value));
        }
        let mut text = String::new();
        json::between(&mut text, json::OBJECT, parts, |text, (name, value)| {
            json::text(text, &name);
            text.push(':');
            text.push_str(&value);
        });
        Ok(Compact(text))
    }
}
