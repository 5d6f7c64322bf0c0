//! A table with specific keys and the keys of an [`Impairment`].
//!
//! serde's `flatten` would ignore misspelt keys, and would lose the spans for error messages.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{DeserializeSeed, Error, IntoDeserializer, MapAccess, Visitor},
    forward_to_deserialize_any,
};

use super::Impairment;

/// A table of a world file with an impairment.
#[derive(Debug, Clone, Serialize)]
pub struct Impaired<T> {
    /// The specific keys.
    #[serde(flatten)]
    pub own: T,
    /// The keys of the impairment.
    #[serde(flatten)]
    pub impairment: Impairment,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Impaired<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut impairment = Impairment::default();
        let own = T::deserialize(Aside { deserializer, impairment: &mut impairment })?;
        Ok(Self { own, impairment })
    }
}

struct Aside<'i, D> {
    deserializer: D,
    impairment: &'i mut Impairment,
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Aside<'_, D> {
    type Error = D::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        own: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.deserializer.deserialize_map(Table { own, visitor, impairment: self.impairment })
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.deserializer.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

struct Table<'i, V> {
    own: &'static [&'static str],
    visitor: V,
    impairment: &'i mut Impairment,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Table<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_map(Own { table, own: self.own, impairment: self.impairment })
    }
}

struct Own<'i, A> {
    table: A,
    own: &'static [&'static str],
    impairment: &'i mut Impairment,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Own<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        while let Some(key) = self.table.next_key_seed(Key { own: self.own })? {
            if self.own.contains(&key.as_str()) {
                return seed.deserialize(key.into_deserializer()).map(Some);
            }
            self.impairment.take(&key, &mut self.table)?;
        }
        Ok(None)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.table.next_value_seed(seed)
    }
}

struct Key {
    own: &'static [&'static str],
}

impl<'de> DeserializeSeed<'de> for Key {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Key {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<String, E> {
        let known = || self.own.iter().chain(&Impairment::KEYS);
        if known().any(|known| *known == key) {
            return Ok(key.to_owned());
        }
        let known: Vec<_> = known().map(|known| format!("`{known}`")).collect();
        Err(E::custom(format!("unknown field `{key}`, expected one of {}", known.join(", "))))
    }
}

#[cfg(test)]
mod tests {
    use config_file::Document;

    use crate::file::{Access, Link};

    fn said(line: &str) -> String {
        let text = format!("between = ['a', 'b']\nrate = '1Mbit'\n{line}\n");
        Document::new("w.toml", text).parse::<Link>().unwrap_err().to_string()
    }

    #[test]
    fn misspelt_keys_of_both_kinds_are_located_and_corrected() {
        for (line, nearest) in [("aqn = 'codel'", "aqm"), ("delai = '1ms'", "delay")] {
            let said = said(line);
            assert!(said.starts_with("w.toml:3:1: unknown field `"), "{said}");
            assert!(said.ends_with(&format!("did you mean \"{nearest}\"?")), "{said}");
        }
    }

    #[test]
    fn impossible_values_of_both_kinds_are_located() {
        for (line, expected) in [
            ("delay = '1 parsec'", "w.toml:3:9: \"1 parsec\" has the unknown unit"),
            ("aqm = 'red'", "w.toml:3:7: \"red\" is not a queue discipline"),
            ("loss = 3", "w.toml:3:8: invalid type: integer `3`, expected a value in quotes"),
            ("ecn = 'yes'", "w.toml:3:7: invalid type: string \"yes\", expected a boolean"),
        ] {
            let said = said(line);
            assert!(said.starts_with(expected), "expected {expected}\n  but got {said}");
        }
    }

    #[test]
    fn a_span_is_of_the_value() {
        let text = "name = 'mine'\nup = '1Mbit'\nnetem = 'delay 1ms'\n";
        let line: Access = Document::new("w.toml", text).parse().unwrap();
        let netem = line.impairment.netem.unwrap();
        assert_eq!(&text[netem.span()], "'delay 1ms'");
        assert_eq!(&text[line.own.name.span()], "'mine'");
    }

    #[test]
    fn what_a_table_must_have_it_must_have() {
        let said = Document::new("w.toml", "loss = '1%'").parse::<Access>().unwrap_err().to_string();
        assert!(said.contains("missing field `name`"), "{said}");
    }
}
