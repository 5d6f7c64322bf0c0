//! Bulk writes in JSON:
//! `[{"key": "a", "value": "1", "expiration_ttl": 60, "metadata": {}, "base64": false}]`.

mod bounded_list;
mod raw_json;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http_stack::{Bytes, StatusCode};
use kv::{Expiration, Key, Metadata, Millis};
use kv_redb::Put;
use serde::Deserialize;
use serde_json::Number;

use self::{bounded_list::Bounded, raw_json::Compact};
use crate::api_error::ApiError;

#[derive(Deserialize)]
struct BulkItem {
    key: String,
    value: String,
    #[serde(default)]
    base64: Option<bool>,
    expiration: Option<Number>,
    expiration_ttl: Option<Number>,
    metadata: Option<Compact>,
}

/// Parses a bulk write. `largest` limits the length of each value.
///
/// # Errors
/// Fails if the list or a pair is invalid. The message names the pair.
pub fn read(text: &[u8], largest: u64, now: Millis) -> Result<Vec<Put>, ApiError> {
    let Bounded::<BulkItem, MOST_PAIRS> { all: pairs, count } = serde_json::from_slice(text)
        .map_err(|error| ApiError::bad(format!("expected a list of pairs with key and value: {error}")))?;
    at_most(count)?;
    let put = |(number, pair): (usize, BulkItem)| {
        let named = |mut problem: ApiError, key: &str| {
            problem.message = format!("pair {} (\"{}\"): {}", number + 1, shortened(key), problem.message);
            problem
        };
        let key = pair.key.clone();
        checked(pair, largest, now).map_err(|problem| named(problem, &key))
    };
    pairs.into_iter().enumerate().map(put).collect()
}

/// Parses a list of keys.
///
/// # Errors
/// Fails if a key is invalid, or if there are too many.
pub fn read_keys(text: &[u8]) -> Result<Vec<Key>, ApiError> {
    let Bounded::<String, MOST_PAIRS> { all: names, count } = serde_json::from_slice(text)
        .map_err(|error| ApiError::bad(format!("expected a list of keys: {error}")))?;
    at_most(count)?;
    Ok(names.iter().map(|name| Key::new(name)).collect::<Result<_, _>>()?)
}

fn checked(pair: BulkItem, largest: u64, now: Millis) -> Result<Put, ApiError> {
    let key = Key::new(&pair.key)?;
    let value = match pair.base64 {
        Some(true) => {
            let decoded = STANDARD.decode(&pair.value);
            decoded.map_err(|error| ApiError::bad(format!("the value is not base64: {error}")))?
        }
        _ => pair.value.into_bytes(),
    };
    if value.len() as u64 > largest {
        return Err(ApiError::too_large(value.len() as u64, largest));
    }
    let text = |number: Option<Number>| number.map(|number| number.to_string());
    let (at, ttl) = (text(pair.expiration), text(pair.expiration_ttl));
    let expiration = Expiration::asked(at.as_deref(), ttl.as_deref(), now)?;
    let metadata = pair.metadata.map(|text| Metadata::new(text.0.as_bytes())).transpose()?;
    Ok(Put { key: key.as_str().to_owned(), value: Bytes::from(value), expiration, metadata, version: None })
}

fn at_most(count: usize) -> Result<(), ApiError> {
    if count <= MOST_PAIRS {
        return Ok(());
    }
    let message = format!("{count} exceed the limit of {MOST_PAIRS} per request");
    Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, message))
}

fn shortened(key: &str) -> String {
    key.chars().take(64).collect()
}

const MOST_PAIRS: usize = 10_000;

#[cfg(test)]
mod tests {
    use kv::Millis;

    use super::*;

    const NOW: Millis = Millis(1_000_000_000);

    fn refused(text: &str) -> (u16, String) {
        let problem = read(text.as_bytes(), 10, NOW).unwrap_err();
        (problem.status.as_u16(), problem.message)
    }

    #[test]
    fn each_pair_has_what_its_writer_said() {
        let text = r#"[{"key":"a","value":"1"},
            {"key":"b","value":"AAE=","base64":true,"expiration_ttl":60,"metadata":{"z":[1.5,null],"a":"x"}},
            {"key":"c","value":"","expiration":1000060,"metadata":null,"base64":false}]"#;
        let puts = read(text.as_bytes(), 10, NOW).unwrap();
        assert_eq!((&puts[0].value[..], puts[0].expiration), (&b"1"[..], None));
        assert_eq!((&puts[1].value[..], puts[1].expiration), (&[0, 1][..], Some(Expiration(1_000_060))));
        assert_eq!(puts[1].metadata.as_ref().unwrap().as_str(), r#"{"z":[1.5,null],"a":"x"}"#);
        assert_eq!((puts[2].expiration, &puts[2].metadata), (Some(Expiration(1_000_060)), &None));
    }

    #[test]
    fn a_mistake_says_in_which_pair_it_is() {
        for (text, status, part) in [
            (r#"{"key":"a"}"#, 400, "expected a list of pairs"),
            (r#"[{"key":"a"}]"#, 400, "missing field `value`"),
            (r#"[{"key":"a","value":"1"},{"key":"","value":"1"}]"#, 400, "pair 2 (\"\"): Key names"),
            (r#"[{"key":"a","value":"12345678901"}]"#, 413, "pair 1 (\"a\"): Value length of 11"),
            (r#"[{"key":"a","value":"?","base64":true}]"#, 400, "not base64"),
            (r#"[{"key":"a","value":"1","expiration_ttl":1}]"#, 400, "at least 60"),
            (r#"[{"key":"a","value":"1","expiration":1.5}]"#, 400, "Invalid expiration of 1.5"),
        ] {
            let (got, message) = refused(text);
            assert!(got == status && message.contains(part), "{text}: {got} {message}");
        }
        let many = format!("[{}\"a\"]", "\"a\",".repeat(10_000));
        assert_eq!(read_keys(many.as_bytes()).unwrap_err().status.as_u16(), 413);
        assert_eq!(read_keys(br#"["a","b"]"#).unwrap().len(), 2);
        assert!(read_keys(br#"["."]"#).is_err());
    }
}
