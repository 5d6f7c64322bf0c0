//! Copies headers that are stored: a received header would keep the read buffer of its connection
//! allocated.

use http_stack::{Bytes, HeaderMap, HeaderValue};

pub(crate) fn compact(mut headers: HeaderMap) -> HeaderMap {
    let mut text = Vec::with_capacity(headers.values().map(HeaderValue::len).sum());
    headers.values().for_each(|value| text.extend_from_slice(value.as_bytes()));
    let (text, mut begin) = (Bytes::from(text), 0);
    for value in headers.values_mut() {
        let end = begin + value.len();
        if let Ok(copy) = HeaderValue::from_maybe_shared(text.slice(begin..end)) {
            *value = copy;
        }
        begin = end;
    }
    headers
}

/// Bytes per field in addition to the text: index and entry.
pub(crate) const FIELD: usize = 112;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compacted_headers_release_the_buffer() {
        let buffer = Bytes::from(b"text/plain and 16 KB more".to_vec());
        let mut headers = HeaderMap::new();
        let shared = HeaderValue::from_maybe_shared(buffer.slice(..10)).unwrap();
        headers.append("content-type", shared);
        headers.append("x", "\u{e4}".parse().unwrap());
        headers.append("x", "".parse().unwrap());
        headers.append("x", "c".parse().unwrap());
        assert!(!buffer.is_unique());
        let before = headers.clone();
        let compact = compact(headers);
        assert_eq!(compact, before);
        drop(before);
        assert!(buffer.is_unique());
    }
}
