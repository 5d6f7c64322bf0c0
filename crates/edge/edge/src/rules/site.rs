//! Zone settings for whole sites: HTTPS only, one canonical host, and HSTS (RFC 6797).

use std::time::Duration;

use http_stack::{HeaderValue, Uri};

use super::{conditions::bare_host, target::encoded};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct SiteSettings {
    pub(crate) https_only: bool,
    pub(crate) canonical_host: Option<String>,
    pub(crate) hsts: Option<HeaderValue>,
}

impl SiteSettings {
    /// Returns the Location of the redirect to the canonical URL. `None` if the URL is canonical.
    pub(super) fn location(&self, url: &Uri) -> Option<HeaderValue> {
        // Certificate authorities accept no other host or scheme (RFC 8555 section 8.3).
        if url.path().starts_with(ACME) {
            return None;
        }
        let is_upgrade = self.https_only && is_http(url);
        let host =
            self.canonical_host.as_deref().filter(|own| bare_host(url.host().unwrap_or_default()) != *own);
        if !is_upgrade && host.is_none() {
            return None;
        }
        let scheme = if is_upgrade { "https" } else { url.scheme_str()? };
        // The port of the other scheme is unknown.
        let port = url.port_u16().filter(|_| !is_upgrade).map_or_else(String::new, |port| format!(":{port}"));
        let target = encoded(url.path_and_query().map_or("/", |target| target.as_str()));
        let host = host.unwrap_or(url.host().unwrap_or_default());
        HeaderValue::try_from(format!("{scheme}://{host}{port}{target}")).ok()
    }

    /// RFC 6797 section 7.2: not over HTTP.
    pub(super) fn hsts_for(&self, url: &Uri) -> Option<HeaderValue> {
        self.hsts.clone().filter(|_| !is_http(url))
    }
}

/// Returns the value of Strict-Transport-Security.
pub(crate) fn hsts(
    max_age: Duration,
    include_subdomains: bool,
    preload: bool,
) -> Result<HeaderValue, String> {
    if preload && !(include_subdomains && max_age >= YEAR) {
        return Err("preload needs include_subdomains = true and a duration of at least 365d".to_owned());
    }
    let mut value = format!("max-age={}", max_age.as_secs());
    if include_subdomains {
        value += "; includeSubDomains";
    }
    if preload {
        value += "; preload";
    }
    HeaderValue::try_from(value).map_err(|error| error.to_string())
}

fn is_http(url: &Uri) -> bool {
    url.scheme_str() == Some("http")
}

const ACME: &str = "/.well-known/acme-challenge/";
/// The least of the preload list.
const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_hosts_and_http_are_redirected_once() {
        let settings =
            SiteSettings { https_only: true, canonical_host: Some("www.shop.example".into()), hsts: None };
        for (url, expected) in [
            ("http://shop.example/a?b", Some("https://www.shop.example/a?b")),
            ("http://www.shop.example:8080/a", Some("https://www.shop.example/a")),
            ("https://shop.example:8443/a", Some("https://www.shop.example:8443/a")),
            ("https://www.shop.example/a", None),
            ("http://shop.example//evil.example", Some("https://www.shop.example//evil.example")),
            ("http://shop.example/.well-known/acme-challenge/x", None),
            (
                "http://shop.example/.well-known/acme-challenge",
                Some("https://www.shop.example/.well-known/acme-challenge"),
            ),
        ] {
            let location = settings.location(&url.parse().unwrap());
            assert_eq!(location.as_ref().map(|location| location.to_str().unwrap()), expected, "{url}");
            if let Some(location) = location {
                assert_eq!(settings.location(&location.to_str().unwrap().parse().unwrap()), None, "{url}");
            }
        }
    }

    #[test]
    fn hsts_is_sent_over_https_only() {
        let hsts = hsts(YEAR, true, true).unwrap();
        assert_eq!(hsts, "max-age=31536000; includeSubDomains; preload");
        let settings = SiteSettings { hsts: Some(hsts), ..SiteSettings::default() };
        assert!(settings.hsts_for(&"https://a.example/".parse().unwrap()).is_some());
        assert!(settings.hsts_for(&"http://a.example/".parse().unwrap()).is_none());
        assert!(super::hsts(YEAR, false, true).is_err());
    }
}
