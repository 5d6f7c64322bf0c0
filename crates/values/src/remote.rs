//! The store from outside, over HTTP: what the command line asks.

mod exchange;
mod namespaces;

use http::{Body, HeaderMap, Method, Origin, StatusCode, client::Trust};
use kv::{Key, MOST_VALUE_BYTES, Metadata};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::IgnoredAny};
use serde_json::Value;

use self::exchange::Exchange;
pub use self::namespaces::{NamespaceLine, NamespaceList};
use crate::{
    Error,
    encoding::encoded,
    line::Line,
    linked::Whereabouts,
    value::{AGE, EXPIRATION, METADATA, SOURCE, VERSION},
};

/// A namespace of a store that is reached over HTTP. Its methods block; they are to be called outside of any tokio runtime.
#[derive(Debug)]
pub struct Remote {
    exchange: Exchange,
}

/// A value that came.
#[derive(Debug, Clone)]
pub struct Came {
    /// Its bytes.
    pub value: Vec<u8>,
    /// Its version, if the store says so.
    pub version: Option<String>,
    /// How old the copy was, in seconds.
    pub age_s: Option<u64>,
    /// Where the answer comes from.
    pub source: Option<String>,
    /// The second in which it is over, counted from 1970.
    pub expiration: Option<u64>,
    /// What its writer said of it.
    pub metadata: Option<Value>,
}

/// What is to be written.
#[derive(Debug, Clone, Default)]
pub struct Put {
    /// The value.
    pub value: Vec<u8>,
    /// The second in which it is over, counted from 1970.
    pub expiration: Option<u64>,
    /// Seconds after which it is over.
    pub expiration_ttl: Option<u64>,
    /// JSON that is kept beside it.
    pub metadata: Option<String>,
}

/// A value and all that is known of it: `edge kv get --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Got {
    /// The key.
    pub key: String,
    /// Its value: text, or base64.
    pub value: String,
    /// Whether it is base64, as the value is not UTF-8.
    pub base64: bool,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// How old the copy was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_s: Option<u64>,
    /// Where the answer comes from: lower, a copy in the data centre; regional or upper, one in another; or store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The second in which it is over, counted from 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expiration: Option<u64>,
    /// What its writer said of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
}

/// What an export or an import came to: `edge kv export --json` and `edge kv import --json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Moved {
    /// Keys that were written.
    pub keys: u64,
    /// Bytes of their values.
    pub bytes: u64,
    /// Keys that were left out: over, or so within a minute.
    pub left_out: u64,
}

impl Came {
    /// The same with its key.
    pub fn of(self, key: &str) -> Got {
        let Self { value, version, age_s, source, expiration, metadata } = self;
        let Line { key, value, base64, .. } = Line::of(key.to_owned(), &value, None, None);
        Got { key, value, base64, version, age_s, source, expiration, metadata }
    }
}

/// What a write came to: `edge kv put --json` and `edge kv delete --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Written {
    /// The key.
    pub key: String,
    /// The version that this write made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// Keys: `edge kv list --json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Listed {
    /// In the order of their bytes.
    pub keys: Vec<ListedKey>,
    /// Whether there are no more.
    #[serde(rename(deserialize = "list_complete"))]
    pub complete: bool,
    /// Where the next page begins, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// A key in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ListedKey {
    /// The key.
    pub name: String,
    /// The second in which its value is over, counted from 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expiration: Option<u64>,
    /// What its writer said of it.
    #[serde(default, deserialize_with = "inner", skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
}

impl Remote {
    /// The store at this address, and the namespace that `namespace` names or the token is for.
    ///
    /// # Errors
    /// When no runtime can be started.
    pub fn at(place: Origin, trust: Trust, namespace: Option<&str>, token: &str) -> Result<Self, Error> {
        Ok(Self { exchange: Exchange::with(place, trust, namespace, token)? })
    }

    /// The value of a key; `None` if there is none.
    ///
    /// # Errors
    /// When the store does not answer, or refuses.
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
    /// When the store does not answer, or refuses.
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

    /// Deletes a key, whether it has a value or not.
    ///
    /// # Errors
    /// When the store does not answer, or refuses.
    pub fn delete(&self, key: &str) -> Result<Written, Error> {
        Key::new(key)?;
        let target = format!("/{}?urlencoded=true", encoded(key));
        let (status, headers, text) =
            self.exchange.ask(Method::DELETE, &target, HeaderMap::new(), Body::empty())?;
        self.exchange.checked(status, &text)?;
        Ok(written(key, &headers))
    }

    /// A page of keys, of at most a thousand.
    ///
    /// # Errors
    /// When the store does not answer, or refuses.
    pub fn list(&self, prefix: &str, limit: usize, cursor: Option<&str>) -> Result<Listed, Error> {
        let cursor = cursor.map_or_else(String::new, |cursor| format!("&cursor={}", encoded(cursor)));
        let target = format!("/?key_count_limit={limit}&prefix={}{cursor}", encoded(prefix));
        let (status, _, text) = self.exchange.ask(Method::GET, &target, HeaderMap::new(), Body::empty())?;
        self.exchange.checked(status, &text)?;
        serde_json::from_slice(&text)
            .map_err(|error| self.exchange.refused(&format!("its answer is not as expected: {error}")))
    }

    /// Sets many keys, all or none.
    ///
    /// # Errors
    /// When the store does not answer, or refuses.
    pub fn put_several(&self, namespace: &str, lines: &[Line]) -> Result<(), Error> {
        let text = serde_json::to_vec(lines).unwrap_or_default();
        let target = format!("/{}/bulk", encoded(namespace));
        self.exchange.call::<IgnoredAny>(Method::PUT, &target, Body::whole(text)).map(drop)
    }

    /// What each data centre of the network would answer now.
    ///
    /// # Errors
    /// When the store does not answer, or refuses.
    pub fn whereabouts(&self, namespace: &str, key: &str) -> Result<Whereabouts, Error> {
        Key::new(key)?;
        let target = format!("/{}/whereabouts/{}", encoded(namespace), encoded(key));
        Ok(self.exchange.call::<Whereabouts>(Method::GET, &target, Body::empty())?.result)
    }
}

fn written(key: &str, headers: &HeaderMap) -> Written {
    let version = headers.get(VERSION).and_then(|field| field.to_str().ok()).map(str::to_owned);
    Written { key: key.to_owned(), version }
}

/// Metadata in a list are JSON in a text.
fn inner<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
}
