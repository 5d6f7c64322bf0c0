//! Tests of the forms of a path.

use proptest::prelude::*;

use super::*;

#[test]
fn a_path_has_one_normal_form() {
    for (path, expected) in [
        ("/", "/"),
        ("/a/b.css", "/a/b.css"),
        ("/static/../account", "/account"),
        ("/static/%2e%2E/account", "/account"),
        ("/static/.%2e/account", "/account"),
        ("/./admin/x", "/admin/x"),
        ("/%61dmin/x", "/admin/x"),
        ("/a/b/..", "/a/"),
        ("/a/.", "/a/"),
        ("/../../x", "/x"),
        ("/a/...", "/a/..."),
        ("/.hidden/..x/x..", "/.hidden/..x/x.."),
        ("/%7Euser", "/~user"),
        ("/a%2fb%2Fc", "/a%2Fb%2Fc"),
        ("/a%5cb", "/a%5Cb"),
        ("/%", "/%"),
        ("/%zz%4", "/%zz%4"),
        ("//x//y", "//x//y"),
        ("/a//../b", "/a/b"),
        ("/.//evil.test", "//evil.test"),
        ("/caf\u{e9}", "/caf%C3%A9"),
        ("/caf%c3%a9", "/caf%C3%A9"),
        ("/%252e%252e/x", "/%252e%252e/x"),
        ("/%2%65%2e/x", "/x"),
    ] {
        assert_eq!(normal(path), expected, "{path}");
    }
}

#[test]
fn a_normal_path_is_borrowed() {
    for path in ["/", "/a/b.css", "/a.b/..c/d..", "//x", "/a%2Fb", "/%zz", "/a;b=c/d"] {
        assert!(matches!(normal(path), Cow::Borrowed(_)), "{path}");
    }
}

#[test]
fn a_path_has_the_readings_of_origins() {
    for (path, reading) in [
        ("/static/..%2Faccount", "/account"),
        ("/static/..%5Caccount", "/account"),
        ("/static/..\\account", "/account"),
        ("/static%2F..%2Faccount", "/account"),
        ("/static/%2F../account", "/static/account"),
        ("/static/..%252Faccount", "/account"),
        ("/static/%252e%252e/account", "/account"),
        ("/static/..;/account", "/account"),
        ("/account;x.css", "/account"),
        ("/account%3Fx.css", "/account"),
        ("/account%00.css", "/account"),
        ("/account%23/../static/x", "/account"),
        ("/%2Fadmin/x", "/admin/x"),
        ("/admin%2Fx", "/admin/x"),
        ("/static/..%3B/account", "/account"),
        ("/static/..%253Bx=1/account", "/account"),
        ("/account%3Bx.css", "/account"),
        ("/static/..%20/account", "/account"),
        ("/static/..%20%09;x/account", "/account"),
        ("/static/..%20", "/"),
        ("/static/%C0%AE%C0%AE/account", "/account"),
        ("/static/..%C0%AFaccount", "/account"),
        ("/static/..%E0%80%AFaccount", "/account"),
        ("/static/..%F0%80%80%AFaccount", "/account"),
        ("/static/..%C1%9Caccount", "/account"),
        ("/static/..%u002faccount", "/account"),
        ("/static/%u002E%u002E/account", "/account"),
        ("/%C1%A1dmin/x", "/admin/x"),
    ] {
        let readings = readings(path);
        assert!(readings.iter().any(|other| other == reading), "{path}: {readings:?}");
    }
    for path in [
        "/",
        "/a/b",
        "//a",
        "/a%20b",
        "/..a%20",
        "/%20..",
        "/caf%C3%A9",
        "/%E2%82%AC",
        "/%E0%A4%85",
        "/%C0",
        "/%u00e9",
    ] {
        assert!(readings(path).is_empty(), "{path}: {:?}", readings(path));
    }
}

#[test]
fn a_field_of_a_query_is_decoded() {
    assert_eq!(&*decoded_field("%76"), b"v");
    assert_eq!(&*decoded_field("a+b%2"), b"a b%2");
    assert!(matches!(decoded_field("plain"), Cow::Borrowed(_)));
}

proptest! {
    #[test]
    fn the_normal_form_is_idempotent_and_bounded(path in "/[/.%2eEfF5cC41;a~\u{e9}\\\\]{0,24}") {
        let once = normal(&path).into_owned();
        prop_assert_eq!(&normal(&once), &once);
        prop_assert!(matches!(normal(&once), Cow::Borrowed(_)));
        prop_assert!(once.starts_with('/') && once.len() <= 3 * path.len());
        prop_assert!(!once.split('/').any(|segment| matches!(segment, "." | "..")));
        let merged = merged(&once);
        prop_assert_eq!(&normal(&merged), &merged);
        for reading in readings(&once) {
            prop_assert!(!reading.contains("//") && !reading.split('/').any(|segment| matches!(segment, "." | "..")));
        }
    }

    #[test]
    fn no_path_panics(path in ".{0,40}") {
        let path = format!("/{path}");
        let once = normal(&path).into_owned();
        prop_assert_eq!(&normal(&once), &once);
        readings(&path);
        merged(&path);
        decoded_field(&path);
    }

    #[test]
    fn encoding_unreserved_characters_changes_nothing(path in "/[a-z~._/-]{0,16}") {
        let encoded: String = path.bytes().map(|byte| if byte == b'/' { "/".into() } else { format!("%{byte:02x}") }).collect();
        prop_assert_eq!(normal(&encoded), normal(&path));
    }
}
