//! Cross-origin resource sharing (Fetch Standard, section 3.3): grants and preflight responses.

use http_stack::{HeaderMap, HeaderName, HeaderValue, Method, header};

/// The origins whose pages may read responses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cors {
    pub(crate) origins: Vec<AllowedOrigin>,
    pub(crate) methods: Option<HeaderValue>,
    pub(crate) headers: Option<HeaderValue>,
    pub(crate) expose: Option<HeaderValue>,
    pub(crate) credentials: bool,
    /// Seconds for which browsers store the response to a preflight.
    pub(crate) max_age: Option<HeaderValue>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AllowedOrigin {
    Any,
    Exact(String),
    /// Any subdomain: the text before it, and the text after it with its first dot.
    Subdomains(String, String),
}

/// The fields for the response to one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CorsGrant {
    allowed: Option<HeaderValue>,
    credentials: bool,
    expose: Option<HeaderValue>,
    varies: bool,
}

impl AllowedOrigin {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text == "*" {
            return Ok(Self::Any);
        }
        let wrong = || {
            format!(
                "\"{text}\" is not an origin: expected \"https://app.example\", \"https://*.app.example\" or \"*\""
            )
        };
        let lower = text.to_ascii_lowercase();
        let (scheme, authority) = lower.split_once("://").ok_or_else(wrong)?;
        let is_name = |name: &str| {
            !name.is_empty()
                && name.bytes().all(|letter| letter.is_ascii_alphanumeric() || b"-._:[]".contains(&letter))
        };
        let is_scheme = !scheme.is_empty()
            && scheme.bytes().all(|letter| letter.is_ascii_alphanumeric() || b"+-.".contains(&letter));
        match authority.strip_prefix('*') {
            _ if !is_scheme => Err(wrong()),
            Some(suffix) if suffix.starts_with('.') && is_name(&suffix[1..]) => {
                Ok(Self::Subdomains(format!("{scheme}://"), suffix.to_owned()))
            }
            None if is_name(authority) => Ok(Self::Exact(lower)),
            _ => Err(wrong()),
        }
    }

    fn allows(&self, origin: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Exact(own) => own == origin,
            Self::Subdomains(before, after) => {
                let name = origin.strip_prefix(&**before).and_then(|rest| rest.strip_suffix(&**after));
                name.is_some_and(|name| {
                    let is_letter = |letter: u8| letter.is_ascii_alphanumeric() || b"-._".contains(&letter);
                    !name.is_empty() && name.bytes().all(is_letter)
                })
            }
        }
    }
}

impl Cors {
    pub(super) fn depends_on_origin(&self) -> bool {
        self.origins != [AllowedOrigin::Any]
    }

    pub(super) fn grant(&self, headers: &HeaderMap) -> CorsGrant {
        let mut lines = headers.get_all(header::ORIGIN).iter();
        let origin = lines.next().filter(|_| lines.next().is_none());
        let allowed = if self.depends_on_origin() {
            let is_allowed = |origin: &&HeaderValue| {
                origin.to_str().is_ok_and(|origin| self.origins.iter().any(|own| own.allows(origin)))
            };
            origin.filter(is_allowed).cloned()
        } else {
            Some(HeaderValue::from_static("*"))
        };
        CorsGrant {
            allowed,
            credentials: self.credentials,
            expose: self.expose.clone(),
            varies: self.depends_on_origin(),
        }
    }

    /// Returns the fields of the response to a preflight. `None` for any other request.
    pub(super) fn preflight(&self, method: &Method, headers: &HeaderMap) -> Option<HeaderMap> {
        let asked = header::ACCESS_CONTROL_REQUEST_METHOD;
        if *method != Method::OPTIONS || !headers.contains_key(header::ORIGIN) || !headers.contains_key(asked)
        {
            return None;
        }
        let grant = CorsGrant { expose: None, ..self.grant(headers) };
        let mut fields = HeaderMap::new();
        if grant.allowed.is_some() {
            let own = [
                (header::ACCESS_CONTROL_ALLOW_METHODS, &self.methods),
                (header::ACCESS_CONTROL_ALLOW_HEADERS, &self.headers),
                (header::ACCESS_CONTROL_MAX_AGE, &self.max_age),
            ];
            fields.extend(own.into_iter().filter_map(|(name, value)| Some((name, value.clone()?))));
        }
        grant.apply(&mut fields);
        Some(fields)
    }
}

impl CorsGrant {
    /// Replaces the origin's fields, which may be for the page of another request.
    pub(super) fn apply(&self, headers: &mut HeaderMap) {
        for name in REPLACED {
            headers.remove(name);
        }
        if let Some(allowed) = &self.allowed {
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, allowed.clone());
            if self.credentials {
                headers.insert(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
            }
            if let Some(expose) = &self.expose {
                headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, expose.clone());
            }
        }
        let is_origin = |name: &str| matches!(name.trim(), "*") || name.trim().eq_ignore_ascii_case("origin");
        let mut vary = headers.get_all(header::VARY).iter().filter_map(|line| line.to_str().ok());
        if self.varies && !vary.any(|line| line.split(',').any(is_origin)) {
            headers.append(header::VARY, HeaderValue::from_static("Origin"));
        }
    }
}

const REPLACED: [HeaderName; 3] = [
    header::ACCESS_CONTROL_ALLOW_ORIGIN,
    header::ACCESS_CONTROL_ALLOW_CREDENTIALS,
    header::ACCESS_CONTROL_EXPOSE_HEADERS,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn cors(origins: &[&str]) -> Cors {
        Cors {
            origins: origins.iter().map(|origin| AllowedOrigin::parse(origin).unwrap()).collect(),
            methods: Some(HeaderValue::from_static("GET, PUT")),
            headers: None,
            expose: None,
            credentials: true,
            max_age: Some(600.into()),
        }
    }

    fn from(origin: &str) -> HeaderMap {
        [(header::ORIGIN, origin.parse().unwrap())].into_iter().collect()
    }

    #[test]
    fn only_listed_origins_are_granted() {
        let cors = cors(&["https://app.example", "https://*.shop.example", "http://localhost:3000"]);
        for (origin, is_granted) in [
            ("https://app.example", true),
            ("https://app.example:8443", false),
            ("http://app.example", false),
            ("https://evil.example", false),
            ("https://app.example.evil.example", false),
            ("https://a.shop.example", true),
            ("https://a.b.shop.example", true),
            ("https://shop.example", false),
            ("https://.shop.example", false),
            ("https://evil.example/.shop.example", false),
            ("https://evil.example:80.shop.example", false),
            ("http://localhost:3000", true),
            ("null", false),
            ("", false),
        ] {
            let mut fields = from("https://other.example");
            fields.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, "https://stored.example".parse().unwrap());
            cors.grant(&from(origin)).apply(&mut fields);
            let granted = fields.get(header::ACCESS_CONTROL_ALLOW_ORIGIN);
            assert_eq!(
                granted.map(|value| value.to_str().unwrap()),
                is_granted.then_some(origin),
                "{origin}"
            );
            assert_eq!(fields.contains_key(header::ACCESS_CONTROL_ALLOW_CREDENTIALS), is_granted);
            assert_eq!(fields[header::VARY], "Origin");
        }
        let mut twice = from("https://app.example");
        twice.append(header::ORIGIN, "https://app.example".parse().unwrap());
        assert_eq!(cors.grant(&twice).allowed, None);
    }

    #[test]
    fn preflight_is_an_options_request_with_a_method() {
        let cors = cors(&["https://app.example"]);
        let mut asked = from("https://app.example");
        assert_eq!(cors.preflight(&Method::OPTIONS, &asked), None);
        asked.insert(header::ACCESS_CONTROL_REQUEST_METHOD, "PUT".parse().unwrap());
        assert_eq!(cors.preflight(&Method::GET, &asked), None);
        let fields = cors.preflight(&Method::OPTIONS, &asked).unwrap();
        assert_eq!(fields[header::ACCESS_CONTROL_ALLOW_METHODS], "GET, PUT");
        assert_eq!(fields[header::ACCESS_CONTROL_MAX_AGE], "600");
        asked.insert(header::ORIGIN, "https://evil.example".parse().unwrap());
        let fields = cors.preflight(&Method::OPTIONS, &asked).unwrap();
        assert_eq!(fields.into_iter().collect::<Vec<_>>().len(), 1);
    }

    #[test]
    fn wrong_origins_are_mistakes() {
        for text in
            ["app.example", "https://", "https://a/b", "https://*", "https://*a.example", "", "https://a b"]
        {
            assert!(AllowedOrigin::parse(text).is_err(), "{text}");
        }
    }
}
