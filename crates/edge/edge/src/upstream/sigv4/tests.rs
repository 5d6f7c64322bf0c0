//! Signatures that AWS has published: the examples of the S3 documentation, and its test suite for other
//! services.

use proptest::prelude::*;

use super::*;

const S3: Signer<'_> = Signer {
    region: "us-east-1",
    service: "s3",
    access_key: "AKIAIOSFODNN7EXAMPLE",
    secret_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
};

const OTHER: Signer<'_> = Signer {
    region: "us-east-1",
    service: "service",
    access_key: "AKIDEXAMPLE",
    secret_key: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
};

fn signature(
    scope: Signer<'_>,
    (method, path, query): (&str, &str, &str),
    headers: &[(&str, &str)],
    (payload, date): (&str, &str),
) -> String {
    let headers: Vec<_> =
        headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let query = canonical_query(query);
    let parts = SignedParts { method, path, query: &query, headers: &headers, payload };
    let written = scope.authorization(&parts, date);
    written.rsplit_once("Signature=").unwrap().1.to_owned()
}

#[test]
fn signatures_equal_the_examples_of_s3() {
    const DATE: &str = "20130524T000000Z";
    const BODY: &str = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072";
    let host = ("host", "examplebucket.s3.amazonaws.com");
    let (empty, body) = (("x-amz-content-sha256", EMPTY_PAYLOAD_SHA256), ("x-amz-content-sha256", BODY));
    let date = ("x-amz-date", DATE);
    for (target, headers, payload, expected) in [
        (
            ("GET", "/test.txt", ""),
            vec![host, ("range", "bytes=0-9"), empty, date],
            EMPTY_PAYLOAD_SHA256,
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
        ),
        (
            ("PUT", "/test$file.text", ""),
            vec![
                ("date", "Fri, 24 May 2013 00:00:00 GMT"),
                host,
                body,
                date,
                ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
            ],
            BODY,
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
        ),
        (
            ("GET", "/", "lifecycle"),
            vec![host, empty, date],
            EMPTY_PAYLOAD_SHA256,
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
        ),
        (
            ("GET", "/", "prefix=J&max-keys=2"),
            vec![host, empty, date],
            EMPTY_PAYLOAD_SHA256,
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
        ),
    ] {
        assert_eq!(signature(S3, target, &headers, (payload, DATE)), expected, "{target:?}");
    }
}

#[test]
fn signatures_equal_the_test_suite_of_aws() {
    const DATE: &str = "20150830T123600Z";
    let usual = [("host", "example.amazonaws.com"), ("x-amz-date", DATE)];
    for (query, expected) in [
        ("", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ("Param2=value2&Param1=value1", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
    ] {
        assert_eq!(
            signature(OTHER, ("GET", "/", query), &usual, (EMPTY_PAYLOAD_SHA256, DATE)),
            expected,
            "{query}"
        );
    }
}

#[test]
fn authorization_names_scope_and_fields() {
    let headers = [("host".to_owned(), "h".to_owned()), ("range".to_owned(), "bytes=0-9".to_owned())];
    let parts =
        SignedParts { method: "GET", path: "/", query: "", headers: &headers, payload: EMPTY_PAYLOAD_SHA256 };
    let written = S3.authorization(&parts, "20130524T000000Z");
    let begin = "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,\
                 SignedHeaders=host;range,Signature=";
    assert!(written.starts_with(begin), "{written}");
    assert_eq!(written.len(), begin.len() + 64);
}

#[test]
fn paths_of_s3_are_encoded_once() {
    let path = |scope: Signer<'_>, path| {
        let parts =
            SignedParts { method: "GET", path, query: "", headers: &[], payload: EMPTY_PAYLOAD_SHA256 };
        scope.canonical_request(&parts, "").lines().nth(1).unwrap().to_owned()
    };
    for (sent, of_s3, of_other) in [
        ("/a%20b", "/a%20b", "/a%2520b"),
        ("/a+b", "/a%2Bb", "/a%2Bb"),
        ("/a%2Fb", "/a/b", "/a%252Fb"),
        ("/%C3%A9", "/%C3%A9", "/%25C3%25A9"),
        ("/a%2", "/a%252", "/a%252"),
        ("/-_.~!", "/-_.~%21", "/-_.~%21"),
    ] {
        assert_eq!((path(S3, sent), path(OTHER, sent)), (of_s3.to_owned(), of_other.to_owned()), "{sent}");
    }
}

#[test]
fn canonical_queries_are_sorted_and_encoded() {
    for (query, expected) in [
        ("", ""),
        ("b=2&a=1", "a=1&b=2"),
        ("a", "a="),
        ("&a=&&", "a="),
        ("a=b=c", "a=b%3Dc"),
        ("a+b=c%20d", "a%20b=c%20d"),
        ("a=%2f%2F*", "a=%2F%2F%2A"),
        ("a=2&a=1", "a=1&a=2"),
    ] {
        assert_eq!(canonical_query(query), expected, "{query}");
    }
}

#[test]
fn dates_follow_the_calendar() {
    for (seconds, expected) in [
        (0, "19700101T000000Z"),
        (951_782_399, "20000228T235959Z"),
        (951_782_400, "20000229T000000Z"),
        (1_369_353_600, "20130524T000000Z"),
        (4_107_542_400, "21000301T000000Z"),
    ] {
        assert_eq!(amz_date(Time::from_millis(seconds * 1000)), expected);
    }
}

proptest! {
    #[test]
    fn canonical_queries_are_stable(query in "[a-c=&%+2Ff* \u{e9}]{0,24}") {
        let canonical = canonical_query(&query);
        prop_assert_eq!(&canonical_query(&canonical), &canonical);
        prop_assert!(canonical.bytes().all(|byte| byte.is_ascii_graphic()));
    }
}
