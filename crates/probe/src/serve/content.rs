//! The version of what an origin serves, so that whoever measures can tell an answer from before a change from one after it.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use http::{HeaderMap, HeaderValue, header};

/// Counts the changes; its entity tag (RFC 9110 section 8.8.3) is the number of the version, from 1 on.
///
/// No clock is in it: a response that has the tag of a version was begun after that version was made and before the next one was.
#[derive(Debug)]
pub(crate) struct Content {
    version: AtomicU64,
}

impl Content {
    pub(crate) fn new() -> Self {
        Self { version: AtomicU64::new(1) }
    }

    /// What is served now.
    pub(crate) fn tag(&self) -> String {
        tag(self.version.load(SeqCst))
    }

    /// Makes the next version, and returns its tag.
    pub(crate) fn change(&self) -> String {
        tag(self.version.fetch_add(1, SeqCst) + 1)
    }
}

fn tag(version: u64) -> String {
    format!("\"{version}\"")
}

/// Whether a client has the version with this tag already (RFC 9110 section 13.1.2).
pub(crate) fn is_known(request: &HeaderMap, tag: &str) -> bool {
    let lines = request.get_all(header::IF_NONE_MATCH).iter().filter_map(|line| line.to_str().ok());
    let mut known = lines.flat_map(|line| line.split(',')).map(str::trim);
    known.any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
}

/// Says which version a response is.
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
