//! Percent-encoding of a URL segment or parameter.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

pub(crate) fn encoded(text: &str) -> String {
    match text {
        // Unencoded, these would be removed as dot segments (RFC 3986 section 5.2.4).
        "." => "%2E".to_owned(),
        ".." => "%2E%2E".to_owned(),
        text => utf8_percent_encode(text, ENCODED).to_string(),
    }
}

/// All characters except the unreserved ones of RFC 3986.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
