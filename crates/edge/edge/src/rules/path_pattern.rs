//! Path conditions of rules, which match each form in which an origin may interpret a path.

use std::borrow::Cow;

use http_cache::path;

use super::{Pattern, match_result::MatchResult};

#[derive(Debug)]
pub(super) struct Readings<'p> {
    path: &'p str,
    merged: Cow<'p, str>,
    others: Vec<String>,
}

impl<'p> Readings<'p> {
    /// Expects a path in normal form.
    pub(super) fn of(path: &'p str) -> Self {
        Self { path, merged: path::merged(path), others: path::readings(path) }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PathPattern {
    normal: Pattern,
    decoded: Pattern,
}

impl PathPattern {
    /// A path that the pattern matches.
    pub(super) fn example(&self) -> String {
        self.normal.filled("x")
    }

    pub(crate) fn wildcards(&self) -> usize {
        self.normal.wildcards()
    }

    pub(super) fn captures<'r>(&self, readings: &'r Readings<'_>) -> Vec<&'r str> {
        self.normal.captures(&readings.merged)
    }
    pub(crate) fn new(text: &str) -> Self {
        let normal = Pattern::new(&normal(text));
        let decoded = normal.map(|text| {
            let slashes =
                ["%2F", "%5C", "\\"].iter().fold(text.to_owned(), |text, one| text.replace(one, "/"));
            path::merged(&slashes).into_owned()
        });
        Self { normal, decoded }
    }

    /// Whether an origin may interpret the path as one of the pattern. Expects a path in normal form.
    pub(crate) fn may_match(&self, path: &str) -> bool {
        self.fit(&Readings::of(path)) != MatchResult::No
    }

    pub(super) fn fit(&self, readings: &Readings<'_>) -> MatchResult {
        let merged = self.normal.matches(&readings.merged);
        // A pattern that contains a parameter cannot match interpretations without parameters.
        let names_parameter = [";", "%3B"].iter().any(|sign| self.normal.contains(sign));
        let others = readings.others.iter().filter(|_| !names_parameter);
        let fit = MatchResult::of_all(
            std::iter::once(merged).chain(others.map(|other| self.decoded.matches(other))),
        );
        if fit == MatchResult::No && self.normal.matches(readings.path) { MatchResult::Maybe } else { fit }
    }
}

/// Dot segments are resolved only up to the last slash before the first `*`, because a segment with
/// `*` is not a dot segment.
fn normal(pattern: &str) -> String {
    let end =
        pattern.find('*').map_or(pattern.len(), |star| pattern[..star].rfind('/').map_or(0, |at| at + 1));
    let (folder, rest) = pattern.split_at(end);
    let folder = if folder.starts_with('/') { path::normal(folder) } else { path::normal_encoding(folder) };
    path::merged(&format!("{folder}{}", path::normal_encoding(rest))).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_is_matched_against_each_form_of_a_path() {
        use MatchResult::{Maybe, No, Yes};
        for (pattern, path, fit) in [
            ("/static/*", "/static/a.css", Yes),
            ("/static/*", "/static/a%20b.css", Yes),
            ("/static/*", "/static/a%2Fb.css", Yes),
            ("/static/*", "/static/../account", No),
            ("/static/*", "/static/%2e%2e/account", No),
            ("/static/*", "/static/..%2faccount", Maybe),
            ("/static/*", "/static/..%5Caccount", Maybe),
            ("/static/*", "/static/..\\account", Maybe),
            ("/static/*", "/static/%252e%252e/account", Maybe),
            ("/static/*", "/static/..;/account", Maybe),
            ("/static/*", "/static/..%3B/account", Maybe),
            ("/static/*", "/static/..%20/account", Maybe),
            ("/static/*", "/static/%C0%AE%C0%AE/account", Maybe),
            ("/static/*", "/static/a%3Bb.css", Yes),
            ("/a%3Bb/*", "/a%3Bb/c", Yes),
            ("/static/*", "/account%2F..%2Fstatic/x", Maybe),
            ("/static/*", "//static//x", Yes),
            ("*.css", "/account;x.css", Maybe),
            ("*.css", "/account%3Fx.css", Maybe),
            ("*.css", "/account%00.css", Maybe),
            ("*.css", "/a;v=1/x.css", Yes),
            ("/admin/*", "/%61dmin/x", Yes),
            ("/admin/*", "//admin/x", Yes),
            ("/admin/*", "/./admin/x", Yes),
            ("/admin/*", "/%2Fadmin/x", Maybe),
            ("/admin/*", "/x%2f../admin/x", Maybe),
            ("/admin/*", "/x/..%2fadmin/x", Maybe),
            ("/admin/*", "/admin%2Fx", Maybe),
            ("/admin/*", "/admin;a=b/x", Maybe),
            ("/%61dmin/./*", "/admin/x", Yes),
            ("//admin//*", "/admin/x", Yes),
            ("/caf\u{e9}/*", "/caf%c3%a9/x", Yes),
            ("/files/%2fx/*", "/files/%2Fx/y", Yes),
            ("/a;b/*", "/a;b/c", Yes),
            ("*/private/*", "/x//private/y", Yes),
            ("*", "/..%2f;%00x", Yes),
            ("/", "//", Yes),
        ] {
            let path = path::normal(path).into_owned();
            assert_eq!(PathPattern::new(pattern).fit(&Readings::of(&path)), fit, "{pattern} {path}");
        }
    }
}
