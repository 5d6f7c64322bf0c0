//! What is said of a thing that was measured: names and values.

use serde_json::{Value, json};

/// What something has: a name by OpenTelemetry's conventions, and a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    key: &'static str,
    value: Of,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Of {
    Text(String),
    Number(i64),
}

impl Attribute {
    /// One with a text.
    pub fn text(key: &'static str, value: impl Into<String>) -> Self {
        Self { key, value: Of::Text(value.into()) }
    }

    /// One with a number.
    pub fn number(key: &'static str, value: i64) -> Self {
        Self { key, value: Of::Number(value) }
    }

    fn json(&self) -> Value {
        let value = match &self.value {
            Of::Text(text) => json!({ "stringValue": text }),
            // 64-bit integers are strings in the JSON of protocol buffers.
            Of::Number(number) => json!({ "intValue": number.to_string() }),
        };
        json!({ "key": self.key, "value": value })
    }
}

/// Who measured: the service with what tells it from others, and the scope within it.
#[derive(Debug, Clone)]
pub struct Resource {
    /// `service.name` and the like.
    pub attributes: Vec<Attribute>,
    /// The part of the program that measured.
    pub scope: &'static str,
    /// Its version.
    pub version: &'static str,
}

impl Resource {
    pub(crate) fn resource(&self) -> Value {
        json!({ "attributes": all(&self.attributes) })
    }

    pub(crate) fn scope(&self) -> Value {
        json!({ "name": self.scope, "version": self.version })
    }
}

/// A list of them.
pub(crate) fn all(attributes: &[Attribute]) -> Value {
    attributes.iter().map(Attribute::json).collect()
}
