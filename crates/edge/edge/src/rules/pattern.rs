//! Patterns with the wildcard `*`, for the conditions of rules.

/// A pattern. `*` matches any text, including empty text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    /// Creates a pattern. All characters except `*` match literally.
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub(super) fn map(&self, form: impl FnOnce(&str) -> String) -> Self {
        Self(form(&self.0))
    }

    pub(super) fn contains(&self, text: &str) -> bool {
        self.0.contains(text)
    }

    pub(super) fn wildcards(&self) -> usize {
        self.0.matches('*').count()
    }

    /// Returns the pattern with a text in place of each wildcard.
    pub(super) fn filled(&self, text: &str) -> String {
        self.0.replace('*', text)
    }

    /// Whether the pattern matches all of `text`.
    pub fn matches(&self, text: &str) -> bool {
        self.matches_bytes(text.as_bytes())
    }

    /// Whether the pattern matches all of `text`, which need not be UTF-8.
    pub fn matches_bytes(&self, text: &[u8]) -> bool {
        self.walk(text, |_| {})
    }

    /// Returns the text of each wildcard. Empty if the pattern does not match.
    pub(super) fn captures<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let mut found = Vec::new();
        let is_match = self.walk(text.as_bytes(), |part| found.push(part));
        found.retain(|_| is_match);
        found.into_iter().map(|part| str::from_utf8(part).unwrap_or_default()).collect()
    }

    fn walk<'t>(&self, text: &'t [u8], mut on_wildcard: impl FnMut(&'t [u8])) -> bool {
        let Some((start, rest)) = self.0.split_once('*') else { return self.0.as_bytes() == text };
        let Some(mut text) = text.strip_prefix(start.as_bytes()) else { return false };
        let (middle, end) = rest.rsplit_once('*').map_or((None, rest), |(middle, end)| (Some(middle), end));
        // The leftmost match leaves the most text for the remaining parts.
        for part in middle.into_iter().flat_map(|middle| middle.split('*')).map(str::as_bytes) {
            let Some(at) = position(text, part) else { return false };
            on_wildcard(&text[..at]);
            text = &text[at + part.len()..];
        }
        let Some(last) = text.strip_suffix(end.as_bytes()) else { return false };
        on_wildcard(last);
        true
    }
}

fn position(text: &[u8], part: &[u8]) -> Option<usize> {
    if part.is_empty() {
        return Some(0);
    }
    text.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn star_matches_any_text() {
        for (pattern, text, fits) in [
            ("/static/*", "/static/", true),
            ("/static/*", "/static/a/b.js", true),
            ("/static/*", "/stati", false),
            ("*.js", "/a.js", true),
            ("*.js", "/a.jsx", false),
            ("/a*b*c", "/a-b-b-c", true),
            ("/a*b*c", "/a-c-b", false),
            ("*", "", true),
            ("/a*a", "/a", false),
            ("", "", true),
        ] {
            assert_eq!(Pattern::new(pattern).matches(text), fits, "{pattern} {text}");
        }
    }

    #[test]
    fn captures_are_the_texts_of_the_wildcards() {
        for (pattern, text, captures) in [
            ("/a/*", "/a/b/c", &["b/c"][..]),
            ("/a*b*c", "/a-b-b-c", &["-", "-b-"]),
            ("**", "x", &["", "x"]),
            ("/a/*", "/a/", &[""]),
            ("/a", "/a", &[]),
            ("/a/*", "/b/c", &[]),
            ("/a*b*c", "/axbx", &[]),
        ] {
            assert_eq!(Pattern::new(pattern).captures(text), captures, "{pattern} {text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn captures_filled_in_give_the_text(pattern in "[ab*]{0,6}", text in "[ab]{0,12}") {
            let pattern = Pattern::new(&pattern);
            if pattern.matches(&text) {
                let mut parts = pattern.0.split('*');
                let mut again = parts.next().unwrap().to_owned();
                for (capture, part) in pattern.captures(&text).into_iter().zip(parts) {
                    again += capture;
                    again += part;
                }
                proptest::prop_assert_eq!(again, text);
            } else {
                proptest::prop_assert!(pattern.captures(&text).is_empty());
            }
        }
    }
}
