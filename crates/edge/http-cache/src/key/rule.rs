//! Which parts of a request are in its key.

use http_types::{HeaderMap, HeaderName, header::COOKIE, header::USER_AGENT};

/// Parts of a request in its key, in addition to the URL without query.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeyRule {
    /// Query parameters, in any order; `None` is the unchanged query.
    pub query: Option<Vec<String>>,
    /// Query parameters that are left out; a name may end with `*`.
    pub query_exclude: Vec<String>,
    /// Whether the order of the query's parameters does not count.
    pub sort_query: bool,
    /// The host in the key, instead of the host of the URL.
    pub host: Option<String>,
    /// Cookies.
    pub cookies: Vec<String>,
    /// Header fields.
    pub headers: Vec<HeaderName>,
    /// Whether mobile devices, tablets and other devices have separate keys.
    pub device: bool,
}

impl KeyRule {
    /// The request fields on which keys depend.
    pub fn fields(&self) -> impl Iterator<Item = &HeaderName> {
        let cookie = (!self.cookies.is_empty()).then_some(&COOKIE);
        let device = self.device.then_some([&USER_AGENT, &CLIENT_HINT_MOBILE]);
        self.headers.iter().chain(cookie).chain(device.into_iter().flatten())
    }
}

/// `mobile`, `tablet` or `desktop`.
pub(super) fn device(request: &HeaderMap) -> &'static str {
    let agent = request.get(USER_AGENT).map_or(&b""[..], |value| value.as_bytes());
    let has = |word: &[u8]| agent.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word));
    if has(b"ipad") || has(b"tablet") || has(b"android") && !has(b"mobi") {
        return "tablet";
    }
    let hint = request.get(&CLIENT_HINT_MOBILE).is_some_and(|value| value == "?1");
    if hint || has(b"mobi") { "mobile" } else { "desktop" }
}

static CLIENT_HINT_MOBILE: HeaderName = HeaderName::from_static("sec-ch-ua-mobile");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_follow_client_hints_and_user_agents() {
        let of = |fields: &[(&'static str, &str)]| {
            device(
                &fields
                    .iter()
                    .map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()))
                    .collect(),
            )
        };
        for (agent, class) in [
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/142.0 Safari/537.36",
                "desktop",
            ),
            ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Mobile/15E148 Safari/604.1", "mobile"),
            (
                "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 Chrome/142.0 Mobile Safari/537.36",
                "mobile",
            ),
            ("Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 Chrome/142.0 Safari/537.36", "tablet"),
            ("Mozilla/5.0 (iPad; CPU OS 12_2 like Mac OS X) Mobile/15E148 Safari/604.1", "tablet"),
            ("curl/8.5.0", "desktop"),
            ("", "desktop"),
        ] {
            assert_eq!(of(&[("user-agent", agent)]), class, "{agent}");
        }
        assert_eq!(of(&[("sec-ch-ua-mobile", "?1")]), "mobile");
        assert_eq!(of(&[]), "desktop");
    }
}
