//! The dispatcher `resources/http-cache.py` of the tests, from the description of their format: each request carries the script of its test.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use serde::Deserialize;
use serde_json::{Value, json};

use super::super::message::{Head, date_from_now};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Config {
    response_status: Option<(u16, String)>,
    response_headers: Vec<Vec<Value>>,
    response_body: Option<String>,
    expected_type: Option<String>,
}

#[derive(Default)]
pub(super) struct Tests(Mutex<HashMap<String, Vec<Value>>>);

pub(super) struct Reply {
    pub(super) status: String,
    pub(super) fields: Vec<(String, String)>,
    pub(super) body: String,
}

impl Reply {
    pub(super) fn plain(status: &str, body: impl Into<String>) -> Self {
        Self {
            status: status.to_owned(),
            fields: vec![("Content-Type".to_owned(), "text/plain".to_owned())],
            body: body.into(),
        }
    }

    pub(super) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.fields.push((name.to_owned(), value.into()));
        self
    }
}

impl Tests {
    pub(super) fn reply(&self, method: &str, target: &str, head: &Head) -> Reply {
        let query = target.split_once('?').map_or("", |(_, query)| query);
        let parameter = |name: &str| {
            let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs.find(|(own, _)| *own == name).map(|(_, value)| value.to_owned())
        };
        let Some(test) = parameter("uuid") else { return Reply::plain("404 Not Found", "no uuid") };
        if method == "OPTIONS" {
            let origin = head.get("origin").unwrap_or("*");
            let fields = head.get("access-control-request-headers").unwrap_or("*");
            return Reply::plain("200 OK", "preflight")
                .with("Access-Control-Allow-Origin", origin)
                .with("Access-Control-Allow-Methods", "GET")
                .with("Access-Control-Allow-Headers", fields)
                .with("Access-Control-Max-Age", "86400");
        }
        match parameter("dispatch").as_deref() {
            Some("state") => {
                let state = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&test);
                Reply::plain("200 OK", json!(state).to_string()).with("Cache-Control", "no-store")
            }
            Some("test") => self
                .test(&test, method, target, head)
                .unwrap_or_else(|| Reply::plain("400 Bad Request", "no script")),
            _ => Reply::plain("404 Not Found", "no dispatch"),
        }
    }

    fn test(&self, test: &str, method: &str, target: &str, head: &Head) -> Option<Reply> {
        let script = base64(head.get("test-requests")?)?;
        let mut script: Vec<Config> = serde_json::from_slice(&script).ok()?;
        let mut tests = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let state = tests.entry(test.to_owned()).or_default();
        if state.len() >= script.len() {
            return None;
        }
        let config = script.swap_remove(state.len());
        let url = format!("http://{}{target}", head.get("host").unwrap_or_default());
        let fields = fields(&config, &url);
        let noted: HashMap<_, _> = fields
            .iter()
            .map(|(name, value)| (name.to_ascii_lowercase(), value.clone()))
            .filter(|(name, _)| NOTED.contains(&name.as_str()))
            .collect();
        let received: HashMap<_, _> =
            head.fields.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone())).collect();
        state.push(
            json!({ "request_method": method, "request_headers": received, "response_headers": noted }),
        );
        let count = state.len().to_string();
        let status = config.status(head, state.first());
        let has = |name: &str| noted.contains_key(name);
        let mut reply =
            Reply { status, fields, body: config.response_body.unwrap_or_else(|| test.to_owned()) };
        if !has("access-control-allow-origin") {
            reply = reply.with("Access-Control-Allow-Origin", "*");
        }
        if !has("content-type") {
            reply = reply.with("Content-Type", "text/plain");
        }
        Some(reply.with("Server-Request-Count", count))
    }
}

impl Config {
    /// A test that expects a validation gets a 304 to the validator of its first response, and else a status that cannot pass.
    fn status(&self, head: &Head, first: Option<&Value>) -> String {
        let (code, phrase) = self.response_status.clone().unwrap_or((200, "OK".to_owned()));
        if !self.expected_type.as_deref().is_some_and(|kind| kind.ends_with("validated")) {
            return format!("{code} {phrase}");
        }
        let is_confirmed = |field: &str, condition: &str| {
            let validator = first.and_then(|first| first["response_headers"][field].as_str());
            validator.is_some() && validator == head.get(condition)
        };
        match is_confirmed("last-modified", "if-modified-since") || is_confirmed("etag", "if-none-match") {
            true => "304 Not Modified".to_owned(),
            false => "999 No Validation".to_owned(),
        }
    }
}

/// Numbers are seconds from now, and locations get a parameter.
fn fields(config: &Config, url: &str) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    for field in &config.response_headers {
        let [name, value, ..] = field.as_slice() else { continue };
        let Some(name) = name.as_str() else { continue };
        let lower = name.to_ascii_lowercase();
        let value = match value {
            Value::Number(seconds) if DATES.contains(&lower.as_str()) => {
                date_from_now(seconds.as_i64().unwrap_or_default())
            }
            Value::String(text) if !LOCATIONS.contains(&lower.as_str()) => text.clone(),
            Value::String(text) if text.is_empty() => url.to_owned(),
            Value::String(text) => format!("{url}&target={text}"),
            other => other.to_string(),
        };
        fields.push((name.to_owned(), value));
    }
    fields
}

/// Decodes base 64 (RFC 4648 section 4).
fn base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for letter in text.bytes().filter(|letter| *letter != b'=') {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = ((bits << 6) | u32::from(value)) & 0xff_ffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xff).ok()?);
        }
    }
    Some(bytes)
}

const LOCATIONS: [&str; 2] = ["location", "content-location"];
const DATES: [&str; 3] = ["date", "expires", "last-modified"];
const NOTED: [&str; 4] = ["content-type", "access-control-allow-origin", "last-modified", "etag"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_64_is_decoded() {
        assert_eq!(base64("SGVsbG8=").unwrap(), b"Hello");
        assert_eq!(base64("SGVsbG8h").unwrap(), b"Hello!");
        assert!(base64("S*").is_none());
    }

    #[test]
    fn the_script_of_a_request_makes_its_response() {
        let config = |text: &str| serde_json::from_str::<Config>(text).unwrap();
        let located = fields(
            &config(r#"{"response_headers": [["Location", "a"], ["Foo", "1"], ["Vary", "Foo", false]]}"#),
            "http://h/x?a=1",
        );
        let expected = [("Location", "http://h/x?a=1&target=a"), ("Foo", "1"), ("Vary", "Foo")];
        assert_eq!(located, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
}
