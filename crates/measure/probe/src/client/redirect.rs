//! Computes the next request from a request, a status and a Location.

use http_stack::{Bytes, Method, StatusCode, header};

use super::target::Target;

#[derive(Debug)]
pub(crate) enum Redirect {
    None,
    To(Box<Target>),
    Unusable,
}

/// 303, and 301 and 302 after a POST, change to a GET without a body (RFC 9110 section 15.4); 307
/// and 308 repeat the request. Credentials are sent only to the origin that they were given for.
pub(crate) fn next(from: &Target, status: StatusCode, location: &str) -> Redirect {
    let repeats = match status {
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => from.method != Method::POST,
        StatusCode::SEE_OTHER => matches!(from.method, Method::GET | Method::HEAD),
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => true,
        _ => return Redirect::None,
    };
    let Ok(place) = resolve(from, location).parse::<Target>() else { return Redirect::Unusable };
    let mut next = Target { origin: place.origin, path: place.path, ..from.clone() };
    if !repeats {
        next.method = Method::GET;
        next.body = Bytes::new();
        for field in [header::CONTENT_TYPE, header::CONTENT_LENGTH, header::CONTENT_ENCODING] {
            next.headers.remove(field);
        }
    }
    if next.origin != from.origin {
        for field in [header::AUTHORIZATION, header::COOKIE, header::PROXY_AUTHORIZATION, header::HOST] {
            next.headers.remove(field);
        }
    }
    Redirect::To(Box::new(next))
}

/// RFC 3986 section 5.2.
fn resolve(base: &Target, reference: &str) -> String {
    let reference = reference.split('#').next().unwrap_or_default();
    let scheme = base.origin.scheme.name();
    let root = format!("{scheme}://{}", base.origin.authority());
    let (base_path, _) = split_query(base.path.as_str());
    if has_scheme(reference) {
        return reference.to_owned();
    }
    if reference.starts_with("//") {
        return format!("{scheme}:{reference}");
    }
    let (path, query) = split_query(reference);
    let path = match path {
        "" if query.is_empty() => return base.to_string(),
        "" => base_path.to_owned(),
        absolute if absolute.starts_with('/') => without_dots(absolute),
        relative => {
            let folder = base_path.rfind('/').map_or("/", |slash| &base_path[..=slash]);
            without_dots(&format!("{folder}{relative}"))
        }
    };
    format!("{root}{path}{query}")
}

fn split_query(text: &str) -> (&str, &str) {
    text.split_at(text.find('?').unwrap_or(text.len()))
}

/// A colon before any slash or question mark ends a scheme.
fn has_scheme(reference: &str) -> bool {
    reference.find(['/', '?', ':']).is_some_and(|at| reference.as_bytes().get(at) == Some(&b':'))
}

/// RFC 3986 section 5.2.4.
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    for (index, &segment) in segments.iter().enumerate() {
        let is_last = index + 1 == segments.len();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                if is_last {
                    kept.push("");
                }
            }
            other => kept.push(other),
        }
    }
    format!("/{}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(base: &str, location: &str) -> String {
        match next(&base.parse().unwrap(), StatusCode::FOUND, location) {
            Redirect::To(target) => target.to_string(),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn references_resolve_as_in_rfc_3986_section_5_4() {
        for (location, expected) in [
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g/"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q"),
            ("g#s", "http://a/b/c/g"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../..", "http://a/"),
            ("../../../g", "http://a/g"),
            ("/./g", "http://a/g"),
            ("g;x=1/../y", "http://a/b/c/y"),
            ("g?y/../x", "http://a/b/c/g?y/../x"),
            ("https://elsewhere:444/z", "https://elsewhere:444/z"),
            ("mailto:x", "Unusable"),
            ("http://", "Unusable"),
        ] {
            assert_eq!(to("http://a/b/c/d;p?q", location), expected, "{location}");
        }
    }

    #[test]
    fn methods_and_credentials() {
        let post: Target = "http://a/".parse().unwrap();
        let post = post.method("POST").unwrap().body("x").header("authorization", "secret").unwrap();
        let to = |status, location| match next(&post, status, location) {
            Redirect::To(target) => target,
            other => panic!("{other:?}"),
        };
        let found = to(StatusCode::FOUND, "/b");
        assert_eq!((found.method.as_str(), found.body.len()), ("GET", 0));
        assert!(found.headers.contains_key("authorization"), "same origin");
        let repeated = to(StatusCode::TEMPORARY_REDIRECT, "http://b/");
        assert_eq!((repeated.method.as_str(), repeated.body.len()), ("POST", 1));
        assert!(!repeated.headers.contains_key("authorization"), "another origin");
        assert!(matches!(next(&post, StatusCode::OK, "mailto:x"), Redirect::None));
        assert!(matches!(next(&post, StatusCode::NOT_MODIFIED, "/b"), Redirect::None));
    }
}
