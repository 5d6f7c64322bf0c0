//! Attributes of spans, metrics and resources.

use serde_json::{Value, json};

/// A name by OpenTelemetry's conventions, and a value.
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
    /// An attribute with a string value.
    pub fn text(key: &'static str, value: impl Into<String>) -> Self {
        Self { key, value: Of::Text(value.into()) }
    }

    /// An attribute with an integer value.
    pub fn number(key: &'static str, value: i64) -> Self {
        Self { key, value: Of::Number(value) }
    }

    fn json(&self) -> Value {
        let value = match &self.value {
            Of::Text(text) => json!({ "stringValue": text }),
            // 64-bit integers are strings in Protocol Buffers JSON.
            Of::Number(number) => json!({ "intValue": number.to_string() }),
        };
        json!({ "key": self.key, "value": value })
    }
}

/// The source of telemetry: the service and the instrumentation scope.
#[derive(Debug, Clone)]
pub struct Resource {
    /// Attributes of the service, such as `service.name`.
    pub attributes: Vec<Attribute>,
    /// The name of the instrumentation scope.
    pub scope: &'static str,
    /// The version of the instrumentation scope.
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

pub(crate) fn all(attributes: &[Attribute]) -> Value {
    attributes.iter().map(Attribute::json).collect()
}
