//! The form in which purges and URLs are compared. A purge may match too many objects, but must not
//! miss any.
//!
//! Scheme and host are in lower case, without a default port and a trailing dot. Percent-encodings
//! are normalised, and repeated slashes merged.

use std::borrow::Cow;

use super::Purge;
use crate::path;

/// Why a purge is invalid. The message is for the client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Nameless {
    /// A prefix has no host.
    #[error(
        "\"{0}\" is not a prefix: it begins with a host, as in \"www.shop.example/img/\"; purge_everything purges all of a zone"
    )]
    Prefix(String),
    /// It is not a host.
    #[error(
        "\"{0}\" is not a host, as in \"www.shop.example\"; a name beyond ASCII is written in its ASCII form (xn--)"
    )]
    Host(String),
    /// It is not a valid tag.
    #[error("\"{0}\" is not a tag: a tag in Cache-Tag is printable ASCII without commas")]
    Tag(String),
}

/// The purge of a host, in any case.
///
/// # Errors
/// Fails if the text is not a host.
pub fn host(text: &str) -> Result<Purge, Nameless> {
    let host = host_form(text);
    if is_host(&host) { Ok(Purge::Host(host)) } else { Err(Nameless::Host(text.to_owned())) }
}

/// The purge of a prefix of host and path. A scheme is ignored.
///
/// # Errors
/// Fails if the prefix has no host.
pub fn prefix(text: &str) -> Result<Purge, Nameless> {
    let prefix = prefix_form(text);
    if is_host(host_of(&prefix)) { Ok(Purge::Prefix(prefix)) } else { Err(Nameless::Prefix(text.to_owned())) }
}

/// The purge of a tag, in any case.
///
/// # Errors
/// Fails if no response can have the tag.
pub fn tag(text: &str) -> Result<Purge, Nameless> {
    let tag = text.trim();
    let is_tag = !tag.is_empty() && tag.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b',');
    if is_tag { Ok(Purge::Tag(tag.to_ascii_lowercase())) } else { Err(Nameless::Tag(text.to_owned())) }
}

/// Normalises a URL with scheme and host for comparison.
pub fn url(text: &str) -> Cow<'_, str> {
    let Some((scheme, rest)) = text.split_once("://") else { return Cow::Borrowed(text) };
    let rest = rest.split('#').next().unwrap_or_default();
    let (authority, target) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let (path, query) = target.split_at(target.find('?').unwrap_or(target.len()));
    let port = if scheme.eq_ignore_ascii_case("https") { ":443" } else { ":80" };
    let is_usual = |text: &str| !text.bytes().any(|byte| byte.is_ascii_uppercase());
    let host = host_of(authority);
    let normal_path = path::normal(path);
    let normal_path = match path::merged(&normal_path) {
        Cow::Owned(path) => Cow::Owned(path),
        Cow::Borrowed(_) => normal_path,
    };
    let normal_query = path::normal_encoding(query);
    if is_usual(scheme)
        && is_usual(authority)
        && !authority.contains('@')
        && !host.ends_with('.')
        && !authority.ends_with(port)
        && !authority.ends_with(':')
        && matches!((&normal_path, &normal_query), (Cow::Borrowed(_), Cow::Borrowed(_)))
        && rest.len() + scheme.len() + "://".len() == text.len()
    {
        return Cow::Borrowed(text);
    }
    let mut normal = format!("{scheme}://{}", authority_form(authority, &[port]));
    normal.make_ascii_lowercase();
    normal.push_str(&normal_path);
    normal.push_str(&normal_query);
    Cow::Owned(normal)
}

pub(super) fn host_form(text: &str) -> String {
    let text = without_scheme(text.trim());
    host_of(text).trim_end_matches('.').to_ascii_lowercase()
}

pub(super) fn prefix_form(text: &str) -> String {
    let text = without_scheme(text.trim());
    let (authority, target) = text.split_at(text.find(['/', '?']).unwrap_or(text.len()));
    let mut form = authority_form(authority, &USUAL_PORTS).to_ascii_lowercase();
    let target = without_incomplete_encoding(target);
    match target.split_once('?') {
        Some((path, query)) => {
            form.push_str(&path::merged(&path::normal(path)));
            form.push('?');
            form.push_str(&path::normal_encoding(query));
        }
        None => {
            // The last segment may be incomplete, so `/..` is not a dot segment yet.
            let target = path::normal_encoding(target);
            let (folder, last) = target.split_at(target.rfind('/').map_or(0, |slash| slash + 1));
            form.push_str(&path::merged(&path::normal(folder)));
            form.push_str(last);
        }
    }
    form
}

/// A prefix has no scheme, so default ports of all schemes are ignored.
pub(super) fn begins(url: &str, prefix: &str) -> bool {
    if url.starts_with(prefix) {
        return true;
    }
    let (authority, target) = url.split_at(url.find(['/', '?']).unwrap_or(url.len()));
    let bare = USUAL_PORTS.iter().find_map(|port| authority.strip_suffix(port));
    let rest = bare.and_then(|bare| prefix.strip_prefix(bare));
    rest.is_some_and(|rest| target.starts_with(rest))
}

/// Without its scheme. The case is preserved, and an IPv6 address keeps its brackets.
pub(super) fn host_of(url: &str) -> &str {
    let authority = url.split(['/', '?', '#']).next().unwrap_or_default();
    let authority = authority.rsplit('@').next().unwrap_or_default();
    match authority.find(']') {
        Some(end) if authority.starts_with('[') => &authority[..=end],
        _ => authority.split(':').next().unwrap_or_default(),
    }
}

fn authority_form(authority: &str, ports: &[&str]) -> String {
    let authority = authority.rsplit('@').next().unwrap_or_default();
    let authority = ports.iter().find_map(|port| authority.strip_suffix(port)).unwrap_or(authority);
    let host = host_of(authority);
    let port = Some(&authority[host.len()..]).filter(|port| *port != ":").unwrap_or_default();
    format!("{}{port}", host.trim_end_matches('.'))
}

fn without_scheme(text: &str) -> &str {
    match text.split_once("://") {
        Some((scheme, rest)) if !scheme.contains(['/', '?', '.']) => rest,
        _ => text.strip_prefix("//").filter(|rest| rest.contains('.')).unwrap_or(text),
    }
}

fn without_incomplete_encoding(text: &str) -> &str {
    let start = text.len().saturating_sub(2);
    match text.as_bytes().iter().skip(start).position(|&byte| byte == b'%') {
        Some(at) => &text[..start + at],
        None => text,
    }
}

fn is_host(host: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:[]".contains(&byte);
    !host.is_empty() && host.bytes().all(is_letter) && host.bytes().any(|byte| byte.is_ascii_alphanumeric())
}

const USUAL_PORTS: [&str; 2] = [":80", ":443"];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_purge_reaches_all_spellings_of_a_url() {
        let object = "http://plain.test/img/~a%2Fb.png?q=%7E&r=%2f";
        for spelling in [
            "http://plain.test/img/~a%2Fb.png?q=%7E&r=%2f",
            "HTTP://Plain.Test:80/img/~a%2Fb.png?q=~&r=%2F",
            "http://plain.test./img/%7Ea%2fb.png?q=%7e&r=%2F",
            "http://plain.test//img/./x/../~a%2Fb.png?q=~&r=%2F",
            "http://user@plain.test/img/~a%2Fb.png?q=~&r=%2F#top",
            "http://plain.test:/img/~a%2Fb.png?q=~&r=%2F",
        ] {
            assert!(Purge::Url(spelling.into()).may_mean(object), "{spelling}");
            assert!(Purge::Url(object.into()).may_mean(spelling), "{spelling}");
        }
        for other in ["https://plain.test/img/~a%2Fb.png?q=~&r=%2F", "http://plain.test/img/~a%2Fb.png"] {
            assert!(!Purge::Url(other.into()).may_mean(object), "{other}");
        }
    }

    #[test]
    fn a_prefix_and_a_host_reach_all_spellings() {
        let object = "http://plain.test/img/~a/b.png?q=1";
        for (text, is_meant) in [
            ("plain.test", true),
            ("Plain.Test/img/", true),
            ("http://Plain.Test./img/", true),
            ("HTTPS://plain.test:443/img", true),
            ("plain.test:80/img/%7Ea", true),
            ("plain.test/img/%7", true),
            ("plain.test/img/%", true),
            ("plain.test//img//", true),
            ("plain.test/x/../img/", true),
            ("plain.test/img/~a/b.png?", true),
            (" plain.test/im ", true),
            ("plain.test/js/", false),
            ("plain.test/img/..", false),
            ("plain.test:8080/", false),
            ("other.test/", false),
        ] {
            let purge = prefix(text).unwrap();
            assert_eq!(purge.may_mean(object), is_meant, "{text}");
            assert_eq!(Purge::Prefix(text.into()).may_mean(object), is_meant, "{text}");
        }
        assert!(prefix("plain.test/a").unwrap().may_mean("http://plain.test:443/a"));
        for (text, is_meant) in
            [("PLAIN.test", true), ("plain.test.", true), ("plain.test:80", true), ("plain", false)]
        {
            assert_eq!(host(text).unwrap().may_mean(object), is_meant, "{text}");
        }
        assert!(host("[::1]").unwrap().may_mean("http://[::1]:8080/"));
    }

    #[test]
    fn a_purge_without_a_name_is_refused() {
        for text in
            ["", "/", " ", "//", "/img/", "http://", "https:///img/", "?a", "*", ".", "b\u{fc}cher.test/"]
        {
            assert!(prefix(text).is_err(), "{text}");
            assert!(host(text).is_err(), "{text}");
        }
        for text in ["", " ", "a,b", "gr\u{fc}n", "a\u{7f}", "a\n"] {
            let is_trimmed = text.trim() != text && !text.trim().is_empty();
            assert_eq!(tag(text).is_ok(), is_trimmed, "{text}");
        }
        assert_eq!(tag("Red"), Ok(Purge::Tag("red".into())));
    }

    proptest! {
        #[test]
        fn the_form_of_a_url_is_idempotent(text in "(http|HTTPS)://[aA.]{1,4}(:80|:443|:8)?(/[/.%2efF~a]{0,8}){0,2}(\\?[%7eE=]{0,6})?") {
            let once = url(&text).into_owned();
            prop_assert_eq!(&url(&once), &once);
        }

        #[test]
        fn no_text_panics(text in ".{0,30}", other in "[/:@\\[\\]%?#.a]{0,16}") {
            for text in [&text, &other, &format!("http://{other}")] {
                let once = url(text).into_owned();
                for purge in [Purge::Url(text.clone()), Purge::Host(text.clone()), Purge::Prefix(text.clone())] {
                    purge.may_mean(&once);
                }
                let _ = (prefix(text), host(text), tag(text));
            }
        }
    }
}
