//! AWS Signature Version 4 in the Authorization field, without a clock.
//!
//! The canonical query is also the query to send, so that client and server cannot read it
//! differently.

use http_cache::{Time, path};
use ring::{
    digest::{SHA256, digest},
    hmac::{HMAC_SHA256, Key, sign},
};

/// Scope and keys of signatures.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SigningScope<'k> {
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
    /// [`EMPTY_PAYLOAD`], [`UNSIGNED_PAYLOAD`] or the SHA-256 in hex digits.
    pub(crate) payload: &'r str,
}

impl SigningScope<'_> {
    /// Returns the value of the Authorization field. `date` is from [`amz_date`].
    pub(crate) fn authorization(&self, parts: &SignedParts<'_>, date: &str) -> String {
        let Self { region, service, access_key, .. } = self;
        let day = date.get(..DAY_LENGTH).unwrap_or_default();
        let scope = format!("{day}/{region}/{service}/aws4_request");
        let names: Vec<_> = parts.headers.iter().map(|(name, _)| &name[..]).collect();
        let names = names.join(";");
        let request = hex(digest(&SHA256, self.canonical_request(parts, &names).as_bytes()).as_ref());
        let signature = self.sign(day, &format!("AWS4-HMAC-SHA256\n{date}\n{scope}\n{request}"));
        format!(
            "AWS4-HMAC-SHA256 Credential={access_key}/{scope},SignedHeaders={names},Signature={signature}"
        )
    }

    fn canonical_request(&self, parts: &SignedParts<'_>, names: &str) -> String {
        let SignedParts { method, path, query, headers, payload } = parts;
        // S3 encodes a key once. All other services encode the path as sent again.
        let path = if self.service == "s3" {
            encoded(&percent_decoded(path), b"/")
        } else {
            encoded(path.as_bytes(), b"/")
        };
        let mut text = format!("{method}\n{path}\n{query}\n");
        for (name, value) in *headers {
            let value: Vec<_> = value.split(' ').filter(|part| !part.is_empty()).collect();
            text += &format!("{name}:{}\n", value.join(" "));
        }
        text + &format!("\n{names}\n{payload}")
    }

    fn sign(&self, day: &str, text: &str) -> String {
        let mut key = format!("AWS4{}", self.secret_key).into_bytes();
        for part in [day, self.region, self.service, "aws4_request", text] {
            key = sign(&Key::new(HMAC_SHA256, &key), part.as_bytes()).as_ref().to_vec();
        }
        hex(&key)
    }
}

/// Returns a query with sorted parameters, each with an equals sign, in the encoding of AWS. A `+` of the
/// visitor is a space.
pub(crate) fn canonical_query(query: &str) -> String {
    let pairs = query.split('&').filter(|piece| !piece.is_empty()).map(|piece| {
        let (name, value) = piece.split_once('=').unwrap_or((piece, ""));
        let part = |text| encoded(&path::decoded_field(text), b"");
        (part(name), part(value))
    });
    let mut pairs: Vec<_> = pairs.collect();
    pairs.sort();
    let pairs: Vec<_> = pairs.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    pairs.join("&")
}

/// Returns the form of X-Amz-Date: `20130524T000000Z`.
pub(crate) fn amz_date(now: Time) -> String {
    let seconds = now.as_millis() / 1000;
    let (year, month, day) = civil(seconds / DAY_SECONDS);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
}

/// The date of a number of days since 1970, in the proleptic Gregorian calendar. Years begin in March here,
/// so that the leap day is the last day of a year.
fn civil(days: u64) -> (u64, u64, u64) {
    // From 0000-03-01, and in eras of 400 years, which have the same number of days.
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    // March to July and August to December have 153 days each.
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

fn percent_decoded(text: &str) -> Vec<u8> {
    percent_encoding::percent_decode_str(text).collect()
}

/// RFC 3986 with upper-case digits. Unreserved bytes and those in `kept` are not encoded.
fn encoded(bytes: &[u8], kept: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) || kept.contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push('%');
            text.extend(
                [byte >> 4, byte & 15].map(|digit| char::from(b"0123456789ABCDEF"[usize::from(digit)])),
            );
        }
    }
    text
}

fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)])).collect()
}

/// The SHA-256 of an empty body.
pub(crate) const EMPTY_PAYLOAD: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
/// The body is not part of the signature.
pub(crate) const UNSIGNED_PAYLOAD: &str = "UNSIGNED-PAYLOAD";

const DAY_LENGTH: usize = "20130524".len();
const DAY_SECONDS: u64 = 86_400;

#[cfg(test)]
mod tests;
