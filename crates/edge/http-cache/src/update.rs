//! Updates of stored responses by 304 (RFC 9111 section 3.2) and HEAD (section 4.3.5).

use http_types::{
    HeaderMap, HeaderName, Method, StatusCode,
    header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, ETAG, LAST_MODIFIED},
};

use crate::{Stored, hop_by_hop::HOP_BY_HOP};

/// Copies the fields of a validating response, except the tag and those that describe the stored
/// body.
pub fn refresh(stored: &mut HeaderMap, answer: &HeaderMap) {
    let has_tag = stored.contains_key(ETAG);
    let stays = |name: &HeaderName| describes_the_body(name) || (has_tag && *name == ETAG);
    for name in answer.keys().filter(|name| !stays(name)) {
        stored.remove(name);
        for value in answer.get_all(name) {
            stored.append(name, value.clone());
        }
    }
}

/// Whether the response to a HEAD matches the stored response.
pub fn is_same(stored: &Stored, answer: &HeaderMap) -> bool {
    [CONTENT_LENGTH, ETAG, LAST_MODIFIED].iter().all(|name| {
        match (answer.get(name), stored.headers.get(name)) {
            (Some(theirs), Some(ours)) => theirs == ours,
            (Some(_), None) => *name == CONTENT_LENGTH,
            (None, _) => true,
        }
    })
}

/// Whether a complete response ends the use of the stored one. 5xx and 429 do not describe the
/// resource, 304 and 412 concern a condition, 206 and 416 a part.
pub fn ends_use(method: &Method, status: StatusCode) -> bool {
    match *method {
        Method::GET => {
            !status.is_informational()
                && !status.is_server_error()
                && !matches!(status.as_u16(), 206 | 304 | 412 | 416 | 429)
        }
        // A 2xx to HEAD is compared with the stored response. 405 concerns the method.
        Method::HEAD => {
            !status.is_success() && !matches!(status.as_u16(), 405) && ends_use(&Method::GET, status)
        }
        _ => false,
    }
}

fn describes_the_body(name: &HeaderName) -> bool {
    [CONTENT_LENGTH, CONTENT_ENCODING, CONTENT_RANGE].contains(name) || HOP_BY_HOP.contains(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(fields: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn the_most_recent_complete_answer_ends_the_use_of_what_is_stored() {
        let ends = |method: &Method, status| ends_use(method, StatusCode::from_u16(status).unwrap());
        for status in [200, 201, 204, 301, 302, 401, 403, 404, 405, 410, 451] {
            assert!(ends(&Method::GET, status), "{status}");
        }
        for status in [206, 304, 412, 416, 429, 500, 502, 503, 504, 599] {
            assert!(!ends(&Method::GET, status) && !ends(&Method::HEAD, status), "{status}");
        }
        assert!(ends(&Method::HEAD, 404) && !ends(&Method::HEAD, 200) && !ends(&Method::HEAD, 405));
        assert!(!ends(&Method::OPTIONS, 404) && !ends(&Method::POST, 200));
    }

    #[test]
    fn a_confirmation_brings_its_fields_and_leaves_the_body_alone() {
        let mut stored = map(&[("a", "1"), ("b", "1"), ("content-length", "5"), ("content-encoding", "br")]);
        refresh(
            &mut stored,
            &map(&[("a", "2"), ("a", "3"), ("content-length", "0"), ("content-encoding", "gzip")]),
        );
        assert_eq!(
            stored,
            map(&[("a", "2"), ("a", "3"), ("b", "1"), ("content-length", "5"), ("content-encoding", "br")])
        );
        let mut weak = map(&[("etag", "W/\"a\"")]);
        refresh(&mut weak, &map(&[("etag", "\"a\"")]));
        assert_eq!(weak, map(&[("etag", "W/\"a\"")]));
        let mut dated = map(&[("last-modified", "Mon")]);
        refresh(&mut dated, &map(&[("last-modified", "Mon"), ("etag", "W/\"a\"")]));
        assert!(dated.contains_key(ETAG));
    }
}
