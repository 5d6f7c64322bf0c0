//! The version of an origin's content, which distinguishes responses before and after a change.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use http_stack::{HeaderMap, HeaderValue, header};

/// The entity tag (RFC 9110 section 8.8.3) is the number of the version, from 1 on. A response with
/// a tag started after its version was created, and before the next one was.
#[derive(Debug)]
pub(crate) struct Content {
    version: AtomicU64,
}

impl Content {
    pub(crate) fn new() -> Self {
        Self { version: AtomicU64::new(1) }
    }

    pub(crate) fn tag(&self) -> String {
        tag(self.version.load(SeqCst))
    }

    pub(crate) fn change(&self) -> String {
        tag(self.version.fetch_add(1, SeqCst) + 1)
    }
}

fn tag(version: u64) -> String {
    format!("\"{version}\"")
}

/// If-None-Match, RFC 9110 section 13.1.2.
pub(crate) fn is_known(request: &HeaderMap, tag: &str) -> bool {
    let lines = request.get_all(header::IF_NONE_MATCH).iter().filter_map(|line| line.to_str().ok());
    let mut known = lines.flat_map(|line| line.split(',')).map(str::trim);
    known.any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
}

pub(crate) fn put(response: &mut HeaderMap, tag: &str) {
    if let Ok(tag) = HeaderValue::from_str(tag) {
        response.insert(header::ETAG, tag);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_knows_the_tags_that_it_names() {
        let known = |lines: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(header::IF_NONE_MATCH, HeaderValue::from_static(line));
            }
            is_known(&headers, "\"2\"")
        };
        assert!(
            known(&["\"2\""]) && known(&["W/\"2\""]) && known(&["\"1\"", "\"3\", \"2\""]) && known(&["*"])
        );
        assert!(!known(&[]) && !known(&["\"1\""]) && !known(&["2"]));
    }

    #[test]
    fn a_change_makes_the_next_version() {
        let content = Content::new();
        assert_eq!((content.tag(), content.change(), content.tag()), (tag(1), tag(2), tag(2)));
    }
}
