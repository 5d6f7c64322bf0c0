//! AWS Signature Version 4 in the Authorization field, without a clock.
//!
//! The canonical query is also the query to send, so that client and server cannot read it
//! differently.

use std::{borrow::Cow, time::Duration};

use http_cache::{Time, path};
use http_stack::clock;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};
use ring::{
    digest::{SHA256, digest},
    hmac::{HMAC_SHA256, Key, sign},
};

/// The credential scope and the keys of signatures.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Signer<'k> {
    pub(crate) region: &'k str,
    pub(crate) service: &'k str,
    pub(crate) access_key: &'k str,
    pub(crate) secret_key: &'k str,
}

/// The signed parts of a request.
#[derive(Debug)]
pub(crate) struct SignedParts<'r> {
    pub(crate) method: &'r str,
    /// As sent.
    pub(crate) path: &'r str,
    /// In canonical form, from [`canonical_query`].
    pub(crate) query: &'r str,
    /// Names in lower case, sorted. Values of several lines are joined by commas.
    pub(crate) headers: &'r [(String, String)],
    /// [`EMPTY_PAYLOAD_SHA256`], [`UNSIGNED_PAYLOAD`] or the SHA-256 in hex digits.
    pub(crate) payload: &'r str,
}

impl Signer<'_> {
    /// Returns the value of the Authorization field. `date` is from [`amz_date`].
    pub(crate) fn authorization(&self, parts: &SignedParts<'_>, date: &str) -> String {
        let Self { region, service, access_key, .. } = self;
        let day = date.get(..DAY_LENGTH).unwrap_or_default();
        let scope = format!("{day}/{region}/{service}/aws4_request");
        let names: Vec<_> = parts.headers.iter().map(|(name, _)| &name[..]).collect();
        let names = names.join(";");
        let request = hex(digest(&SHA256, self.canonical_request(parts, &names).as_bytes()).as_ref());
        let signature = self.signature(day, &format!("AWS4-HMAC-SHA256\n{date}\n{scope}\n{request}"));
        format!(
            "AWS4-HMAC-SHA256 Credential={access_key}/{scope},SignedHeaders={names},Signature={signature}"
        )
    }

    fn canonical_request(&self, parts: &SignedParts<'_>, names: &str) -> String {
        let SignedParts { method, path, query, headers, payload } = parts;
        // S3 encodes a key once. All other services encode the path as sent again.
        let path = if self.service == "s3" {
            encoded(&Cow::from(percent_decode_str(path)), ENCODED_IN_PATH)
        } else {
            encoded(path.as_bytes(), ENCODED_IN_PATH)
        };
        let mut text = format!("{method}\n{path}\n{query}\n");
        for (name, value) in *headers {
            let value: Vec<_> = value.split(' ').filter(|part| !part.is_empty()).collect();
            text += &format!("{name}:{}\n", value.join(" "));
        }
        text + &format!("\n{names}\n{payload}")
    }

    fn signature(&self, day: &str, text: &str) -> String {
        let mut key = format!("AWS4{}", self.secret_key).into_bytes();
        for part in [day, self.region, self.service, "aws4_request", text] {
            key = sign(&Key::new(HMAC_SHA256, &key), part.as_bytes()).as_ref().to_vec();
        }
        hex(&key)
    }
}

/// Returns a query with sorted parameters, each with an equals sign, in the encoding of AWS. A `+` of the
/// client is a space.
pub(crate) fn canonical_query(query: &str) -> String {
    let pairs = query.split('&').filter(|piece| !piece.is_empty()).map(|piece| {
        let (name, value) = piece.split_once('=').unwrap_or((piece, ""));
        let part = |text| encoded(&path::decoded_field(text), ENCODED);
        (part(name), part(value))
    });
    let mut pairs: Vec<_> = pairs.collect();
    pairs.sort();
    let pairs: Vec<_> = pairs.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    pairs.join("&")
}

/// Returns the form of X-Amz-Date: `20130524T000000Z`.
pub(crate) fn amz_date(now: Time) -> String {
    let text = clock::rfc3339(Duration::from_millis(now.as_millis()));
    let (seconds, _) = text.split_once('.').unwrap_or_default();
    format!("{}Z", seconds.replace(['-', ':'], ""))
}

fn encoded(bytes: &[u8], set: &'static AsciiSet) -> String {
    percent_encode(bytes, set).to_string()
}

fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)])).collect()
}

/// The SHA-256 of an empty body.
pub(crate) const EMPTY_PAYLOAD_SHA256: &str =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
/// The body is not part of the signature.
pub(crate) const UNSIGNED_PAYLOAD: &str = "UNSIGNED-PAYLOAD";

const DAY_LENGTH: usize = "20130524".len();

/// All bytes but the unreserved ones of RFC 3986.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
const ENCODED_IN_PATH: &AsciiSet = &ENCODED.remove(b'/');

#[cfg(test)]
mod tests;
