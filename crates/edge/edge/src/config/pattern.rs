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

    /// Whether the pattern matches all of `text`.
    pub fn matches(&self, text: &str) -> bool {
        self.matches_bytes(text.as_bytes())
    }

    /// Whether the pattern matches all of `text`, which need not be UTF-8.
    pub fn matches_bytes(&self, text: &[u8]) -> bool {
        let Some((start, rest)) = self.0.split_once('*') else { return self.0.as_bytes() == text };
        let Some(mut text) = text.strip_prefix(start.as_bytes()) else { return false };
        let mut parts: Vec<_> = rest.split('*').map(str::as_bytes).collect();
        let end = parts.pop().unwrap_or_default();
        // The leftmost match leaves the most text for the remaining parts.
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            let Some(at) = text.windows(part.len()).position(|window| window == part) else { return false };
            text = &text[at + part.len()..];
        }
        text.ends_with(end)
    }
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
}
