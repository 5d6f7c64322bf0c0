//! The requests and origin responses of random scripts, and a small model of RFC 9111 that decides whether a reuse is allowed.

#[derive(Debug)]
pub(super) struct AnswerKind {
    pub(super) name: &'static str,
    pub(super) status: u16,
    pub(super) fields: &'static [&'static str],
    pub(super) reuse: Reuse,
    /// Whether it may be stored for a request with Authorization (RFC 9111 section 3.5).
    pub(super) is_for_authorized: bool,
    /// Whether it is for one `X-User` (RFC 9111 section 4.1).
    pub(super) varies: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reuse {
    Never,
    Validated,
    /// For this number of seconds.
    Fresh(u64),
    /// While it is fresh, and then while it is validated in the background.
    Stale,
    Confirms,
}

#[derive(Debug)]
pub(super) struct RequestKind {
    pub(super) name: &'static str,
    pub(super) method: &'static str,
    pub(super) fields: &'static [&'static str],
    pub(super) body: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Get,
    Head,
    Post,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Given {
    pub(super) kind: &'static AnswerKind,
    pub(super) user: usize,
    pub(super) is_authorized: bool,
    pub(super) method: Method,
    /// The time of its request, in seconds of its script.
    pub(super) at: f64,
}

impl Given {
    fn is_about(&self, earlier: &Self) -> bool {
        let is_same_user = self.user == earlier.user;
        is_same_user || !earlier.kind.varies && !self.kind.varies
    }

    /// As a 304, or as a HEAD with the same validator (RFC 9111 section 4.3.4 and 4.3.5).
    fn confirms(&self) -> bool {
        match self.method {
            Method::Get => self.kind.reuse == Reuse::Confirms,
            Method::Head => self.kind.reuse != Reuse::Never && self.kind.status < 400,
            Method::Post => false,
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Taken {
    pub(super) answer: usize,
    pub(super) user: usize,
    pub(super) before: usize,
    /// The time of the request, in seconds of its script.
    pub(super) at: f64,
}

/// `given` has all origin responses so far, including this request's.
pub(super) fn broken_rule(given: &[Given], taken: Taken) -> Option<&'static str> {
    let own = given.get(taken.answer)?;
    if taken.answer >= taken.before && own.user == taken.user {
        return None;
    }
    let kind = own.kind;
    if kind.reuse == Reuse::Never || own.method != Method::Get {
        return Some("a response that may not be stored is used again (RFC 9111 section 3)");
    }
    if own.is_authorized && !kind.is_for_authorized {
        return Some("a response to Authorization is used for others (RFC 9111 section 3.5)");
    }
    if kind.varies && own.user != taken.user {
        return Some("a response for another value of a field in Vary (RFC 9111 section 4.1)");
    }
    for (at, other) in given.iter().enumerate().take(taken.before).skip(taken.answer + 1) {
        if other.method == Method::Post {
            if other.kind.status < 400 && !is_confirmed_after(given, at) {
                return Some("a response from before a successful POST (RFC 9111 section 4.4)");
            }
        } else if !other.confirms() && other.kind.status < 500 && other.is_about(own) {
            return Some("a response that is older than the most recent one (RFC 9111 section 4)");
        }
    }
    // A validation starts a new lifetime, and that of a 304 is longer than any script.
    let is_allowed = is_confirmed_after(given, taken.answer)
        || match kind.reuse {
            Reuse::Fresh(seconds) => whole_seconds(taken.at - own.at) <= seconds,
            Reuse::Stale => true,
            _ => false,
        };
    (!is_allowed).then_some("a stale response without validation (RFC 9111 section 4.2.4)")
}

fn is_confirmed_after(given: &[Given], answer: usize) -> bool {
    given[answer + 1..].iter().any(Given::confirms)
}

/// Ages have whole seconds (RFC 9111 section 5.1).
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "ages of scripts are a few seconds"
)]
fn whole_seconds(age: f64) -> u64 {
    (age - SLACK).max(0.0) as u64
}

/// Differences of time that come from scheduling.
const SLACK: f64 = 0.3;

macro_rules! answer {
    ($name:literal, $status:literal, $reuse:expr, [$($field:literal),*]) => {
        AnswerKind { name: $name, status: $status, fields: &[$($field),*], reuse: $reuse, is_for_authorized: false, varies: false }
    };
}

pub(super) const ANSWERS: &[AnswerKind] = &[
    answer!("max-age=60", 200, Reuse::Fresh(60), ["Cache-Control: max-age=60", "ETag: \"e\""]),
    answer!("max-age=1", 200, Reuse::Fresh(1), ["Cache-Control: max-age=1", "ETag: \"e\""]),
    AnswerKind {
        name: "s-maxage=60",
        status: 200,
        fields: &["Cache-Control: s-maxage=60, max-age=0", "ETag: \"e\""],
        reuse: Reuse::Fresh(60),
        is_for_authorized: true,
        varies: false,
    },
    AnswerKind {
        name: "vary",
        status: 200,
        fields: &["Cache-Control: max-age=60", "Vary: X-User", "ETag: \"e\""],
        reuse: Reuse::Fresh(60),
        is_for_authorized: false,
        varies: true,
    },
    answer!("swr", 200, Reuse::Stale, ["Cache-Control: max-age=1, stale-while-revalidate=60", "ETag: \"e\""]),
    answer!("no-cache", 200, Reuse::Validated, ["Cache-Control: no-cache", "ETag: \"e\""]),
    answer!("etag", 200, Reuse::Validated, ["ETag: \"e\""]),
    AnswerKind {
        name: "must-revalidate",
        status: 200,
        fields: &["Cache-Control: max-age=0, must-revalidate", "ETag: \"e\""],
        reuse: Reuse::Validated,
        is_for_authorized: true,
        varies: false,
    },
    answer!("no-store", 200, Reuse::Never, ["Cache-Control: no-store"]),
    answer!("private", 200, Reuse::Never, ["Cache-Control: private, max-age=60"]),
    answer!("vary-all", 200, Reuse::Never, ["Cache-Control: max-age=60", "Vary: *"]),
    answer!("cdn-no-store", 200, Reuse::Never, ["Cache-Control: max-age=60", "CDN-Cache-Control: no-store"]),
    answer!("404", 404, Reuse::Fresh(60), ["Cache-Control: max-age=60"]),
    answer!("302", 302, Reuse::Never, ["Location: /login"]),
    answer!("500", 500, Reuse::Never, []),
    answer!("304", 304, Reuse::Confirms, ["Cache-Control: max-age=60", "ETag: \"e\""]),
];

macro_rules! request {
    ($name:literal, $method:literal, $body:expr, [$($field:literal),*]) => {
        RequestKind { name: $name, method: $method, fields: &[$($field),*], body: $body }
    };
}

pub(super) const REQUESTS: &[RequestKind] = &[
    request!("GET", "GET", None, []),
    request!("GET", "GET", None, []),
    request!("GET", "GET", None, []),
    request!("HEAD", "HEAD", None, []),
    request!("GET with Cookie", "GET", None, ["Cookie: sid={i}"]),
    request!("GET with Authorization", "GET", None, ["Authorization: Basic {i}"]),
    request!("GET with If-None-Match", "GET", None, ["If-None-Match: \"e\""]),
    request!("GET with no-cache", "GET", None, ["Cache-Control: no-cache"]),
    request!("POST", "POST", Some("data"), []),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn given(name: &str, user: usize, at: f64) -> Given {
        let kind = ANSWERS.iter().find(|kind| kind.name == name).unwrap();
        Given { kind, user, is_authorized: false, method: Method::Get, at }
    }

    fn is_broken(given: &[Given], answer: usize, user: usize, at: f64) -> bool {
        let before = given.iter().filter(|given| given.at < at).count();
        broken_rule(given, Taken { answer, user, before, at }).is_some()
    }

    #[test]
    fn an_answer_is_used_while_it_is_fresh() {
        assert!(!is_broken(&[given("max-age=1", 0, 0.0)], 0, 1, 1.0));
        assert!(is_broken(&[given("max-age=1", 0, 0.0)], 0, 1, 2.5));
        assert!(!is_broken(&[given("swr", 0, 0.0)], 0, 1, 2.5));
        assert!(is_broken(&[given("no-cache", 0, 0.0)], 0, 1, 1.0));
        assert!(is_broken(&[given("private", 0, 0.0)], 0, 1, 1.0));
        assert!(!is_broken(&[given("private", 0, 0.0)], 0, 0, 0.0));
    }

    #[test]
    fn the_most_recent_answer_counts() {
        let all = [given("swr", 0, 0.0), given("404", 1, 2.0)];
        assert!(is_broken(&all, 0, 1, 3.0));
        let all = [given("swr", 0, 0.0), given("500", 1, 2.0)];
        assert!(!is_broken(&all, 0, 1, 3.0));
    }

    #[test]
    fn a_304_confirms_an_older_answer() {
        let all = [given("no-cache", 0, 0.0), given("304", 1, 2.0)];
        assert!(!is_broken(&all, 0, 1, 2.0));
        assert!(!is_broken(&all, 0, 1, 5.0));
    }

    #[test]
    fn a_post_ends_the_use_of_older_answers() {
        let post = Given { method: Method::Post, ..given("no-store", 1, 1.0) };
        assert!(is_broken(&[given("max-age=60", 0, 0.0), post], 0, 1, 3.0));
    }

    #[test]
    fn a_head_with_the_same_validator_confirms() {
        let head = Given { method: Method::Head, ..given("max-age=60", 0, 1.0) };
        assert!(!is_broken(&[given("etag", 0, 0.0), head], 0, 1, 3.0));
        let head = Given { method: Method::Head, ..given("no-store", 0, 1.0) };
        assert!(is_broken(&[given("max-age=60", 0, 0.0), head], 0, 1, 3.0));
    }

    #[test]
    fn a_response_to_another_variant_does_not_count() {
        assert!(!is_broken(&[given("vary", 0, 0.0), given("private", 1, 1.0)], 0, 0, 2.0));
        assert!(is_broken(&[given("vary", 0, 0.0), given("private", 0, 1.0)], 0, 0, 2.0));
    }

    #[test]
    fn credentials_and_variants_are_not_shared() {
        let own = Given { is_authorized: true, ..given("max-age=60", 0, 0.0) };
        assert!(is_broken(&[own], 0, 1, 1.0));
        let own = Given { is_authorized: true, ..given("s-maxage=60", 0, 0.0) };
        assert!(!is_broken(&[own], 0, 1, 1.0));
        assert!(is_broken(&[given("vary", 0, 0.0)], 0, 1, 1.0));
        assert!(!is_broken(&[given("vary", 0, 0.0)], 0, 0, 1.0));
    }
}
