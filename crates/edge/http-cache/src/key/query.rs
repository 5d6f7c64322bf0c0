//! The query in a key.

use super::{KeyRule, is_named};

pub(super) fn push(key: &mut String, query: Option<&str>, rule: &KeyRule) {
    let Some(names) = &rule.query else { return push_rest(key, query, rule) };
    let chosen = |piece: &str| names.iter().find(|name| is_named(piece, name)).map(String::as_str);
    // Some origins also separate parameters by `;`, and sorting would reorder these.
    let chosen = |parameter: &'_ str| parameter.split(';').find_map(chosen);
    let parameters = query.unwrap_or_default().split('&');
    let mut found: Vec<_> =
        parameters.filter_map(|parameter| Some((chosen(parameter)?, parameter))).collect();
    if !found.iter().any(|(_, parameter)| parameter.contains(';')) {
        found.sort_by_key(|(name, _)| *name);
    }
    push_list(key, found.iter().map(|(_, parameter)| *parameter));
}

/// The whole query, or without the parameters that the rule excludes.
fn push_rest(key: &mut String, query: Option<&str>, rule: &KeyRule) {
    let Some(query) = query else { return };
    if rule.query_exclude.is_empty() && !rule.sort_query {
        key.push('?');
        key.push_str(query);
        return;
    }
    let mut left: Vec<_> =
        query.split('&').filter(|parameter| !is_excluded(parameter, &rule.query_exclude)).collect();
    if rule.sort_query && !query.contains(';') {
        // The order of parameters with one name counts.
        left.sort_by_key(|parameter| parameter.split('=').next());
    }
    push_list(key, left.into_iter());
}

/// Only names that are written literally, because a key that has more is safe.
fn is_excluded(parameter: &str, names: &[String]) -> bool {
    let fits = |found: &str| {
        names.iter().any(|name| match name.strip_suffix('*') {
            Some(prefix) => found.starts_with(prefix),
            None => found == name,
        })
    };
    parameter.split(';').all(|piece| fits(piece.split('=').next().unwrap_or_default()))
}

fn push_list<'p>(key: &mut String, parameters: impl Iterator<Item = &'p str>) {
    for (at, parameter) in parameters.enumerate() {
        key.push(if at == 0 { '?' } else { '&' });
        key.push_str(parameter);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excluded_parameters_are_not_in_the_key() {
        let rule = KeyRule {
            query_exclude: vec!["utm_*".into(), "fbclid".into()],
            sort_query: true,
            ..KeyRule::default()
        };
        for (query, expected) in [
            (None, ""),
            (Some(""), "?"),
            (Some("utm_source=x"), ""),
            (Some("b=2&utm_source=x&a=1&fbclid=y"), "?a=1&b=2"),
            (Some("a=2&b=0&a=1"), "?a=2&a=1&b=0"),
            (Some("fbclid2=1&Fbclid=2&%66bclid=3"), "?%66bclid=3&Fbclid=2&fbclid2=1"),
            (Some("utm_a=1;id=2&utm_b;fbclid=3"), "?utm_a=1;id=2"),
            (Some("b=1;a=2&a=3"), "?b=1;a=2&a=3"),
        ] {
            let mut key = String::new();
            push(&mut key, query, &rule);
            assert_eq!(key, expected, "{query:?}");
        }
    }
}
