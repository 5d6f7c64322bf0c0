//! The spans of a batch one by one: a batch is lists within objects within lists.

use std::fmt;

use serde::{
    Deserialize,
    de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor},
};

use super::{Attribute, Span};
use crate::{Error, read::json::Taker};

pub(super) struct Batches<'t, F> {
    taker: &'t mut Taker<F>,
    service: Option<String>,
    level: Level,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Document,
    Resource,
    Scope,
    Spans,
}

impl Level {
    fn within(self, key: &str) -> Option<Self> {
        match (self, key) {
            (Self::Document, "resourceSpans") => Some(Self::Resource),
            // The latter until version 0.16 of the protocol.
            (Self::Resource, "scopeSpans" | "instrumentationLibrarySpans") => Some(Self::Scope),
            (Self::Scope, "spans") => Some(Self::Spans),
            _ => None,
        }
    }
}

impl<'t, F> Batches<'t, F> {
    pub fn new(taker: &'t mut Taker<F>) -> Self {
        Self { taker, service: None, level: Level::Document }
    }
}

impl<'de, F> DeserializeSeed<'de> for Batches<'_, F>
where
    F: FnMut((Span, Option<String>)) -> Result<(), Error>,
{
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.level == Level::Spans {
            let span = Span::deserialize(deserializer)?;
            return self.taker.take((span, self.service));
        }
        deserializer.deserialize_map(self)
    }
}

impl<'de, F> Visitor<'de> for Batches<'_, F>
where
    F: FnMut((Span, Option<String>)) -> Result<(), Error>,
{
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with spans")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut object: A) -> Result<(), A::Error> {
        while let Some(key) = object.next_key::<String>()? {
            if let Some(level) = self.level.within(&key) {
                object.next_value_seed(List {
                    of: Batches { taker: &mut *self.taker, service: self.service.clone(), level },
                })?;
            } else if self.level == Level::Resource && key == "resource" {
                self.service = object.next_value::<Resource>()?.service();
            } else {
                object.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

struct List<'t, F> {
    of: Batches<'t, F>,
}

impl<'de, F> DeserializeSeed<'de> for List<'_, F>
where
    F: FnMut((Span, Option<String>)) -> Result<(), Error>,
{
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, F> Visitor<'de> for List<'_, F>
where
    F: FnMut((Span, Option<String>)) -> Result<(), Error>,
{
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<(), A::Error> {
        let Batches { taker, service, level } = self.of;
        while array
            .next_element_seed(Batches { taker: &mut *taker, service: service.clone(), level })?
            .is_some()
        {}
        Ok(())
    }
}

#[derive(Deserialize)]
struct Resource {
    #[serde(default)]
    attributes: Vec<Attribute>,
}

impl Resource {
    fn service(&self) -> Option<String> {
        let name = self.attributes.iter().find(|attribute| attribute.key.text() == Some("service.name"));
        name.and_then(|name| name.value.string_value.text()).map(str::to_owned)
    }
}
