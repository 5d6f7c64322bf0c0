//! Tests of the model with cases that RFC 9111 decides: permitted and forbidden responses.

use super::rfc9111::{Fields, History, Ns, Purge, Received, Request, Response, SECOND, Source};

#[derive(Default)]
struct Case {
    history: History,
    next: u64,
}

impl Case {
    fn exchange(
        &mut self,
        at: Ns,
        (method, asked): (&'static str, &str),
        (status, told): (u16, &str),
    ) -> u64 {
        let serial = self.request(at, method, asked);
        let mut fields = fields(told);
        fields.insert("x-serial".into(), serial.to_string());
        self.history.response(Response {
            serial,
            request: serial,
            method,
            asked: self::fields(asked),
            status,
            fields,
            representation: Some(if status == 304 { 1 } else { serial }),
            blocks: u64::from(status == 200),
            requested: at + 1,
            sent: at + 2,
            is_complete: true,
            phase: 0,
            passed: 1,
        });
        self.history.request_ended(serial, (at + 3, Some(serial)));
        serial
    }

    fn request(&mut self, at: Ns, method: &'static str, asked: &str) -> u64 {
        self.next += 1;
        let (id, fields) = (self.next, fields(asked));
        let request = Request { id, method, fields, has_body: false, centre: 1, began: at, ended: None };
        self.history.request(request);
        id
    }

    fn permits(&mut self, asked: &str, serial: u64) -> bool {
        let id = self.request(10 * SECOND, "GET", asked);
        let received = Received {
            status: 200,
            serial: Some(serial),
            representation: Some(1),
            blocks: 1,
            ..Received::default()
        };
        self.history.judge(id, &received) == Ok(Source::Cache)
    }
}

fn fields(text: &str) -> Fields {
    let lines = text.split("; ").filter_map(|line| line.split_once(": "));
    lines.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[test]
fn response_reuse_cases() {
    for (asked, told, later, is_permitted) in [
        ("", "cache-control: max-age=60", "", true),
        ("", "cache-control: max-age=5", "", false),
        ("", "cache-control: max-age=60; age: 55", "", false),
        ("", "cache-control: s-maxage=60, max-age=5", "", true),
        ("", "cache-control: s-maxage=5, max-age=60", "", false),
        ("", "cache-control: no-store, max-age=60", "", false),
        ("", "cache-control: private, max-age=60", "", false),
        ("", "cache-control: no-cache, max-age=60", "", false),
        ("", "cache-control: max-age=60, no-cache=\"set-cookie\"", "", true),
        ("", "cache-control: max-age=60; cdn-cache-control: private", "", false),
        ("", "cache-control: private; cdn-cache-control: max-age=60", "", true),
        ("", "etag: \"a\"", "", false),
        ("", "last-modified: Wed, 01 Jan 2020 00:00:00 GMT", "", true),
        ("", "expires: 0", "", false),
        ("", "cache-control: max-age=5, stale-while-revalidate=60", "", true),
        ("", "cache-control: max-age=5, stale-while-revalidate=3", "", false),
        ("", "cache-control: max-age=5, stale-while-revalidate=60, must-revalidate", "", false),
        ("", "cache-control: max-age=5, stale-if-error=60", "", false),
        ("authorization: a", "cache-control: max-age=60", "", false),
        ("authorization: a", "cache-control: public, max-age=60", "", true),
        ("", "cache-control: max-age=60", "authorization: a", true),
        ("x-dev: a", "cache-control: max-age=60; vary: X-Dev", "x-dev: a", true),
        ("x-dev: a", "cache-control: max-age=60; vary: X-Dev", "x-dev: b", false),
        ("x-dev: a", "cache-control: max-age=60; vary: X-Dev", "", false),
        ("", "cache-control: max-age=60; vary: *", "", false),
        ("", "cache-control: max-age=60; set-cookie: sid=1", "", false),
        ("", "cache-control: max-age=60, private=\"set-cookie\"; set-cookie: sid=1", "", true),
        ("", "cache-control: max-age=60", "cache-control: no-cache", false),
        ("cache-control: no-store", "cache-control: max-age=60", "", false),
    ] {
        let mut case = Case { history: History::new(true), next: 0 };
        let first = case.exchange(0, ("GET", asked), (200, told));
        assert_eq!(case.permits(later, first), is_permitted, "{asked:?} {told:?} {later:?}");
    }
}

#[test]
fn superseding_response_cases() {
    let tagged = "cache-control: max-age=60; etag: \"r1\"";
    for (method, asked, (status, told), first_is_permitted, second_is_permitted) in [
        ("GET", "", (404, ""), false, false),
        ("GET", "", (200, "cache-control: no-store"), false, false),
        ("GET", "", (503, ""), true, false),
        ("GET", "", (429, ""), true, false),
        ("GET", "", (304, "cache-control: max-age=60"), false, true),
        ("GET", "", (304, "cache-control: private"), false, false),
        ("GET", "", (304, "cache-control: max-age=60; vary: *"), false, false),
        ("GET", "authorization: a", (304, "cache-control: max-age=60"), true, false),
        ("GET", "authorization: a", (304, "cache-control: public, max-age=60"), true, true),
        ("HEAD", "", (200, "cache-control: max-age=60; etag: \"r1\""), false, true),
        ("HEAD", "", (200, "cache-control: private; etag: \"r1\""), false, false),
        ("HEAD", "", (200, "cache-control: max-age=60; etag: \"r2\""), false, false),
        ("POST", "", (200, ""), false, false),
        ("POST", "", (500, ""), true, false),
    ] {
        for (later, may_be_late) in [(5 * SECOND, false), (11 * SECOND, true)] {
            let mut case = Case::default();
            let first = case.exchange(0, ("GET", ""), (200, tagged));
            let second = case.exchange(later, (method, asked), (status, told));
            let is_permitted = may_be_late || first_is_permitted;
            assert_eq!(case.permits("", first), is_permitted, "{method} {asked} {status} {told} {later}");
            if !may_be_late {
                assert_eq!(case.permits("", second), second_is_permitted, "{method} {asked} {status} {told}");
            }
        }
    }
}

#[test]
fn purge_cases() {
    for (is_hard, told, failure, is_permitted) in [
        (true, "cache-control: max-age=60", None, false),
        (false, "cache-control: max-age=60", None, false),
        (true, "cache-control: max-age=60, stale-while-revalidate=60", None, false),
        (false, "cache-control: max-age=60, stale-while-revalidate=60", None, false),
        (false, "cache-control: max-age=60, stale-if-error=60", Some(503), true),
        (true, "cache-control: max-age=60, stale-if-error=60", Some(503), false),
        (false, "cache-control: max-age=60, stale-if-error=60, must-revalidate", Some(503), false),
    ] {
        let mut case = Case::default();
        let first = case.exchange(0, ("GET", ""), (200, told));
        case.history.purges.push(Purge { is_hard, began: SECOND, ended: 2 * SECOND });
        if let Some(status) = failure {
            case.exchange(10 * SECOND, ("GET", ""), (status, ""));
        }
        assert_eq!(case.permits("", first), is_permitted, "{is_hard} {told} {failure:?}");
    }
}

#[test]
fn mixed_response_cases() {
    let mut case = Case::default();
    let first = case.exchange(0, ("GET", ""), (200, "cache-control: max-age=60"));
    let second = case.exchange(SECOND, ("GET", ""), (200, "cache-control: max-age=60"));
    let id = case.request(10 * SECOND, "GET", "");
    let received = Received {
        status: 200,
        serial: Some(second),
        representation: Some(first),
        blocks: 1,
        ..Received::default()
    };
    assert!(case.history.judge(id, &received).is_err());
    let right = Received { representation: Some(second), ..received.clone() };
    assert_eq!(case.history.judge(id, &right), Ok(Source::Cache));
    let too_much = Received { blocks: 3, ..right.clone() };
    assert!(case.history.judge(id, &too_much).is_err());
    let with_cookie = Received { cookie: Some(second), ..right };
    assert!(case.history.judge(id, &with_cookie).is_err());
}
