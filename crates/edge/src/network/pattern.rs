//! Text with `*` for anything: what the conditions of a rule are written in.

/// A pattern; `*` stands for any text, the empty one included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    /// Everything but `*` stands for itself.
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Whether all of `text` fits.
    pub fn matches(&self, text: &str) -> bool {
        let Some((start, rest)) = self.0.split_once('*') else { return self.0 == text };
        let Some(mut text) = text.strip_prefix(start) else { return false };
        let mut parts: Vec<_> = rest.split('*').collect();
        let end = parts.pop().unwrap_or_default();
        // The first place where a part fits leaves the most for those after it.
        for part in parts {
            let Some(at) = text.find(part) else { return false };
            text = &text[at + part.len()..];
        }
        text.ends_with(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_anything() {
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
