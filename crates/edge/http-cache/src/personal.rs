//! Fields of a response that are sent to the requesting client only.

use http_types::{HeaderMap, header::SET_COOKIE};

use crate::Control;

/// How `Set-Cookie` affects storage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SetCookie {
    /// The field prevents storage, unless a rule sets the lifetime or `no-cache` withholds it.
    #[default]
    Personal,
    /// The field is stored and sent to all clients.
    Shared,
}

impl SetCookie {
    pub(crate) fn forbids(self, response: &HeaderMap, control: &Control) -> bool {
        self == Self::Personal && response.contains_key(SET_COOKIE) && !control.withheld.contains(&SET_COOKIE)
    }
}

/// Removes and returns fields that must not be reused: those in `private="…"` and `no-cache="…"`,
/// and `Set-Cookie`.
pub fn take_personal(headers: &mut HeaderMap, control: &Control, cookies: SetCookie) -> HeaderMap {
    let mut personal = HeaderMap::new();
    let cookie = (cookies == SetCookie::Personal).then_some(&SET_COOKIE);
    for name in control.withheld.iter().chain(cookie) {
        let values: Vec<_> = headers.get_all(name).iter().cloned().collect();
        headers.remove(name);
        for value in values {
            personal.append(name, value);
        }
    }
    personal
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(fields: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn cookies_and_withheld_fields_are_taken_out_with_all_their_lines() {
        let all = [
            ("cache-control", "max-age=60, no-cache=\"x-user\""),
            ("set-cookie", "a=1"),
            ("set-cookie", "b=2"),
            ("x-user", "u"),
            ("etag", "\"e\""),
        ];
        let control = Control::read(&map(&all), &[]);
        for (policy, personal) in [
            (SetCookie::Personal, &[("x-user", "u"), ("set-cookie", "a=1"), ("set-cookie", "b=2")][..]),
            (SetCookie::Shared, &[("x-user", "u")]),
        ] {
            let mut headers = map(&all);
            assert_eq!(take_personal(&mut headers, &control, policy), map(personal));
            let is_left = |field: &&(&'static str, &str)| !personal.contains(field);
            assert_eq!(headers, map(&all.iter().filter(is_left).copied().collect::<Vec<_>>()));
        }
    }

    #[test]
    fn a_cookie_forbids_storing_unless_it_is_withheld_or_shared() {
        for (policy, control, forbids) in [
            (SetCookie::Personal, "max-age=60, public", true),
            (SetCookie::Personal, "max-age=60, no-cache=\"Set-Cookie\"", false),
            (SetCookie::Personal, "max-age=60, private=\"set-cookie\"", false),
            (SetCookie::Shared, "max-age=60", false),
        ] {
            let headers = map(&[("cache-control", control), ("set-cookie", "a=1")]);
            assert_eq!(policy.forbids(&headers, &Control::read(&headers, &[])), forbids, "{control}");
        }
    }
}
