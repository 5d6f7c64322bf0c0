//! Directives of Cache-Control (RFC 9111, section 5.2) and of the targeted field that takes
//! precedence (RFC 9213).

use std::collections::BTreeMap;

use super::rfc9111::{Fields, Ns, SECOND};

#[derive(Debug, Default)]
pub(super) struct Directives(BTreeMap<String, Option<String>>);

impl Directives {
    pub(super) fn of(value: Option<&String>) -> Self {
        let mut directives = Self::default();
        for member in members(value.map_or("", |value| value)) {
            let (name, argument) = match member.split_once('=') {
                Some((name, argument)) => (name, Some(argument.trim().trim_matches('"').to_owned())),
                None => (member.as_str(), None),
            };
            directives.0.entry(name.trim().to_ascii_lowercase()).or_insert(argument);
        }
        directives
    }

    /// RFC 9213, section 2.1: if a targeted field exists, it applies alone.
    pub(super) fn of_response(fields: &Fields) -> Self {
        Self::of(fields.get("cdn-cache-control").or_else(|| fields.get("cache-control")))
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(super) fn has_alone(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(Option::is_none)
    }

    pub(super) fn withholds(&self, name: &str, field: &str) -> bool {
        let names = self.0.get(name).and_then(Option::as_ref);
        names.is_some_and(|names| names.split(',').any(|name| name.trim().eq_ignore_ascii_case(field)))
    }

    pub(super) fn seconds(&self, name: &str) -> Option<Ns> {
        self.0.get(name)?.as_ref()?.parse::<u64>().ok().map(|seconds| seconds * SECOND)
    }
}

fn members(value: &str) -> Vec<String> {
    let (mut members, mut is_quoted) = (vec![String::new()], false);
    for letter in value.chars() {
        is_quoted ^= letter == '"';
        match members.last_mut() {
            Some(member) if letter != ',' || is_quoted => member.push(letter),
            _ => members.push(String::new()),
        }
    }
    members.into_iter().map(|member| member.trim().to_owned()).filter(|member| !member.is_empty()).collect()
}
