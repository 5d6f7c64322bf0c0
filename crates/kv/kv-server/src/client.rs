//! A client of a store over HTTP, for the command line.

mod exchange;
mod namespaces;

use http_stack::{Body, HeaderMap, Method, Origin, StatusCode, client::Trust};
use kv::{Key, MOST_VALUE_BYTES, Metadata};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::IgnoredAny};
use serde_json::Value;

use self::exchange::Exchange;
pub use self::namespaces::{NamespaceLine, NamespaceList};
use crate::{
    Error,
    encoding::encoded,
    export_line::ExportLine,
    replication::CopyReport,
    value::{AGE, EXPIRATION, METADATA, SOURCE, VERSION},
};

/// A namespace of a store that is reached over HTTP. Methods block and must not be called in a
/// tokio runtime.
#[derive(Debug)]
pub struct KvClient {
    exchange: Exchange,
}

/// A value that was received.
#[derive(Debug, Clone)]
pub struct Came {
    /// The value.
    pub value: Vec<u8>,
    /// The version, if the response contains one.
    pub version: Option<String>,
    /// The age of the copy in seconds.
    pub age_s: Option<u64>,
    /// The tier that served the value.
    pub source: Option<String>,
    /// The expiration in Unix seconds.
    pub expiration: Option<u64>,
    /// The metadata.
    pub metadata: Option<Value>,
}

/// A value to be written.
#[derive(Debug, Clone, Default)]
pub struct Put {
    /// The value.
    pub value: Vec<u8>,
    /// The expiration in Unix seconds.
    pub expiration: Option<u64>,
    /// The time to live in seconds.
    pub expiration_ttl: Option<u64>,
    /// The metadata as JSON.
    pub metadata: Option<String>,
}

/// A value with its metadata: `edge kv get --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Got {
    /// The key.
    pub key: String,
    /// The value as text or base64.
    pub value: String,
    /// Whether the value is base64, because it is not UTF-8.
    pub base64: bool,
    /// The version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The age of the copy in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_s: Option<u64>,
    /// The tier that served the value: `lower` is a copy in the data centre, `regional` and `upper` are
    /// copies in other data centres, and `store` is the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The expiration in Unix seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expiration: Option<u64>,
    /// The metadata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
}

/// The result of an export or an import: `edge kv export --json` and `edge kv import --json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Moved {
    /// Keys that were written.
    pub keys: u64,
    /// Bytes of the values.
    pub bytes: u64,
    /// Keys that were skipped because they have expired or expire within a minute.
    pub left_out: u64,
}

impl Came {
    /// Adds the key.
    pub fn of(self, key: &str) -> Got {
        let Self { value, version, age_s, source, expiration, metadata } = self;
        let ExportLine { key, value, base64, .. } = ExportLine::of(key.to_owned(), &value, None, None);
        Got { key, value, base64, version, age_s, source, expiration, metadata }
    }
}

/// The result of a write: `edge kv put --json` and `edge kv delete --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Written {
    /// The key.
    pub key: String,
    /// The version of the write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// A page of keys: `edge kv list --json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Listed {
    /// The keys in byte order.
    pub keys: Vec<ListedKey>,
    /// Whether this is the last page.
    #[serde(rename(deserialize = "list_complete"))]
    pub complete: bool,
    /// The cursor of the next page, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// A key in a page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ListedKey {
    /// The key.
    pub name: String,
    /// The expiration in Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expiration: Option<u64>,
    /// The metadata.
    #[serde(default, deserialize_with = "inner", skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
}

impl KvClient {
    /// Creates a client of the store at this address. `namespace` selects a namespace if the token
    /// is valid in several.
    ///
    /// # Errors
    /// Fails if no runtime can be started.
    pub fn at(place: Origin, trust: Trust, namespace: Option<&str>, token: &str) -> Result<Self, Error> {
        Ok(Self { exchange: Exchange::with(place, trust, namespace, token)? })
    }

    /// Reads a key; `None` if it has no value.
    ///
    /// # Errors
    /// Fails if the store does not respond or refuses the request.
    pub fn get(&self, key: &str) -> Result<Option<Came>, Error> {
        Key::new(key)?;
        let target = format!("/{}?urlencoded=true", encoded(key));
        let (status, headers, value) =
            self.exchange.ask(Method::GET, &target, HeaderMap::new(), Body::empty())?;
        if status == StatusCode::NOT_FOUND && headers.contains_key(crate::value::CACHE_STATUS) {
            return Ok(None);
        }
        self.exchange.checked(status, &value)?;
        let text = |name| headers.get(name).and_then(|field| field.to_str().ok());
        let number = |name| text(name).and_then(|text| text.parse().ok());
        Ok(Some(Came {
            version: text(VERSION).map(str::to_owned),
            age_s: number(AGE),
            source: text(SOURCE).map(str::to_owned),
            expiration: number(EXPIRATION),
            metadata: headers.get(METADATA).and_then(|field| serde_json::from_slice(field.as_bytes()).ok()),
            value: value.into(),
        }))
    }

    /// Sets a key.
    ///
    /// # Errors
    /// Fails if the store does not respond or refuses the request.
    pub fn put(&self, key: &str, put: Put) -> Result<Written, Error> {
        Key::new(key)?;
        let metadata = put.metadata.as_ref().map(|text| Metadata::new(text.as_bytes())).transpose()?;
        let (bytes, largest) = (put.value.len() as u64, MOST_VALUE_BYTES);
        if bytes > largest {
            return Err(Error::TooLong { bytes, largest });
        }
        let mut target = format!("/{}?urlencoded=true", encoded(key));
        for (name, number) in [("expiration", put.expiration), ("expiration_ttl", put.expiration_ttl)] {
            if let Some(number) = number {
                target.push_str(&format!("&{name}={number}"));
            }
        }
        let mut headers = HeaderMap::new();
        if let Some(metadata) = &metadata {
            crate::value::set(&mut headers, METADATA, metadata.as_str());
        }
        let (status, headers, text) =
            self.exchange.ask(Method::PUT, &target, headers, Body::whole(put.value))?;
        self.exchange.checked(status, &text)?;
        Ok(written(key, &headers))
    }

    /// Deletes a key, which need not exist.
    ///
    /// # Errors
    /// Fails if the store does not respond or refuses the request.
    pub fn delete(&self, key: &str) -> Result<Written, Error> {
        Key::new(key)?;
        let target = format!("/{}?urlencoded=true", encoded(key));
        let (status, headers, text) =
            self.exchange.ask(Method::DELETE, &target, HeaderMap::new(), Body::empty())?;
        self.exchange.checked(status, &text)?;
        Ok(written(key, &headers))
    }

    /// Lists a page of at most 1000 keys.
    ///
    /// # Errors
    /// Fails if the store does not respond or refuses the request.
    pub fn list(&self, prefix: &str, limit: usize, cursor: Option<&str>) -> Result<Listed, Error> {
        let cursor = cursor.map_or_else(String::new, |cursor| format!("&cursor={}", encoded(cursor)));
        let target = format!("/?key_count_limit={limit}&prefix={}{cursor}", encoded(prefix));
        let (status, _, text) = self.exchange.ask(Method::GET, &target, HeaderMap::new(), Body::empty())?;
        self.exchange.checked(status, &text)?;
        serde_json::from_slice(&text)
            .map_err(|error| self.exchange.refused(&format!("invalid response: {error}")))
    }

    /// Sets many keys, all or none in a file.
    ///
    /// # Errors
    /// Fails if the store does not respond or refuses the request.
    pub fn put_several(&self, namespace: &str, lines: &[ExportLine]) -> Result<(), Error> {
        let text = serde_json::to_vec(lines).unwrap_or_default();
        let target = format!("/{}/bulk", encoded(namespace));
        self.exchange.call::<IgnoredAny>(Method::PUT, &target, Body::whole(text)).map(drop)
    }

    /// Returns the value's state in each data centre of the network.
    ///
    /// # Errors
    /// Fails if the store does not respond or refuses the request.
    pub fn whereabouts(&self, namespace: &str, key: &str) -> Result<CopyReport, Error> {
        Key::new(key)?;
        let target = format!("/{}/whereabouts/{}", encoded(namespace), encoded(key));
        Ok(self.exchange.call::<CopyReport>(Method::GET, &target, Body::empty())?.result)
    }
}

fn written(key: &str, headers: &HeaderMap) -> Written {
    let version = headers.get(VERSION).and_then(|field| field.to_str().ok()).map(str::to_owned);
    Written { key: key.to_owned(), version }
}

/// In a list, metadata are JSON inside a JSON string.
fn inner<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
}
