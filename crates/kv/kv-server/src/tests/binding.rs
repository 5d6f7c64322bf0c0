//! Tests of the protocol of workerd's binding.

use super::*;

#[tokio::test]
async fn a_value_comes_back_with_all_that_was_said_of_it() {
    for store in Store::each().await {
        let put = store
            .own(
                "PUT /a%2Fb%20%C3%A4?urlencoded=true&expiration_ttl=60",
                "CF-KV-Metadata: {\"z\": 1, \"a\": \"ü\"}\r\n",
                b"value",
            )
            .await;
        assert_eq!((put.status, put.body.len()), (200, 0));
        let version = put.field("kv-version").unwrap().to_owned();
        assert!(version.ends_with("-lhr"), "{version}");
        for (source, status) in [("store", "MISS"), ("lower", "HIT")] {
            let got = store.own("GET /a%2Fb%20%C3%A4?urlencoded=true", "", b"").await;
            assert_eq!((got.status, got.text()), (200, "value"));
            assert_eq!((got.field("kv-source"), got.field("cf-cache-status")), (Some(source), Some(status)));
            assert_eq!((got.field("kv-version"), got.field("kv-age")), (Some(version.as_str()), Some("0")));
            assert_eq!(got.field("cf-kv-metadata"), Some("{\"z\":1,\"a\":\"ü\"}"));
            assert_eq!(
                (got.field("content-length"), got.field("content-type")),
                (Some("5"), Some("application/octet-stream"))
            );
            let expiration: u64 = got.field("cf-expiration").unwrap().parse().unwrap();
            let now = crate::service::now().seconds();
            assert!((now + 50..=now + 60).contains(&expiration));
        }
        assert_eq!((store.service.report().reads, store.service.report().hits), (2, 1));
        let deleted = store.own("DELETE /a%2Fb%20%C3%A4?urlencoded=true", "", b"").await;
        assert!(deleted.status == 200 && deleted.field("kv-version").unwrap() > version.as_str());
        let gone = store.own("GET /a%2Fb%20%C3%A4?urlencoded=true", "", b"").await;
        assert_eq!((gone.status, gone.field("cf-cache-status")), (404, Some("MISS")));
    }
}

#[tokio::test]
async fn a_write_is_seen_by_the_next_read() {
    for store in Store::each().await {
        for number in 0..50 {
            let value = number.to_string();
            store.own("PUT /k?urlencoded=true", "", value.as_bytes()).await;
            assert_eq!(store.own("GET /k?urlencoded=true", "", b"").await.text(), value);
            assert_eq!(store.own("GET /k?urlencoded=true&cache_ttl=3600", "", b"").await.text(), value);
        }
    }
}

#[tokio::test]
async fn what_cannot_be_is_refused_in_the_words_of_the_field() {
    let store = Store::with_largest(10).await;
    let long = "k".repeat(513);
    let metadata = format!("CF-KV-Metadata: \"{}\"\r\n", "x".repeat(1023));
    for (line, fields, body, status, reason) in [
        (
            format!("PUT /{long}?urlencoded=true"),
            "",
            &b"v"[..],
            414,
            "UTF-8 encoded length of 513 exceeds key length limit of 512.",
        ),
        ("GET /%ff?urlencoded=true".into(), "", b"", 400, "Could not URL-decode key name"),
        (
            "PUT /%2E%2E?urlencoded=true".into(),
            "",
            b"v",
            400,
            "Illegal key name \"..\". Please use a different name.",
        ),
        (
            "PUT /k?expiration_ttl=59".into(),
            "",
            b"v",
            400,
            "Invalid expiration_ttl of 59. Expiration TTL must be at least 60.",
        ),
        (
            "PUT /k?expiration=7".into(),
            "",
            b"v",
            400,
            "Invalid expiration of 7. Please specify integer greater than the current number of seconds since the UNIX epoch.",
        ),
        ("PUT /k".into(), &metadata, b"v", 413, "Metadata length of 1025 exceeds limit of 1024."),
        (
            "PUT /k".into(),
            "CF-KV-Metadata: {\r\n",
            b"v",
            400,
            "Metadata is not JSON: EOF while parsing an object at line 1 column 1",
        ),
        ("PUT /k".into(), "", b"12345678901", 413, "Value length of 11 exceeds limit of 10."),
        (
            "PUT /k".into(),
            "Transfer-Encoding: chunked\r\n",
            b"b\r\n12345678901\r\n0\r\n\r\n",
            413,
            "Value length of 11 exceeds limit of 10.",
        ),
        (
            "GET /k?cache_ttl=29".into(),
            "",
            b"",
            400,
            "Invalid cache_ttl of 29. Cache TTL must be at least 30.",
        ),
        (
            "GET /?key_count_limit=1001".into(),
            "",
            b"",
            400,
            "Invalid key_count_limit of 1001. Please specify an integer less than 1000.",
        ),
        ("GET /?cursor=00".into(), "", b"", 400, "the cursor was not returned by a list"),
        ("GET /?prefix=%zz".into(), "", b"", 400, "\"%zz\" in the URL cannot be decoded"),
        ("PATCH /k".into(), "", b"", 405, "expected GET, PUT or DELETE of a key, or POST of /bulk/get"),
        ("POST /bulk/get".into(), "", b"{\"keys\":[]}", 400, "You must request a minimum of 1 key"),
        (
            "POST /bulk/get".into(),
            "",
            b"{\"keys\":[\"a\"],\"type\":\"stream\"}",
            400,
            "\"stream\" is not a valid type. Use \"json\" or \"text\"",
        ),
        (
            "POST /bulk/get".into(),
            "",
            b"[]",
            400,
            "invalid request: invalid length 0, expected struct Asked with 4 elements at line 1 column 2",
        ),
    ] {
        let came = store.own(&line, fields, body).await;
        assert_eq!((came.status, came.reason.as_str()), (status, reason), "{line}");
        assert_eq!(came.text(), reason);
    }
    let listed = store.own("GET /", "", b"").await;
    assert_eq!(listed.text(), "{\"keys\":[],\"list_complete\":true}");
    assert!(store.service.report().refused >= 17);
}

#[tokio::test]
async fn nobody_reads_or_writes_without_a_token_of_the_namespace() {
    for store in Store::each().await {
        for (token, named, status) in [
            ("", "", 401),
            ("x", "", 401),
            ("s", "KV-Namespace: flags\r\n", 403),
            ("s", "KV-Namespace: other\r\n", 404),
            ("root", "", 400),
        ] {
            for line in ["PUT /k", "GET /k", "GET /", "DELETE /k"] {
                let came = store.ask(token, line, named, if line == "PUT /k" { b"v" } else { b"" }).await;
                assert_eq!(came.status, status, "{token} {named} {line}");
                let challenge = Some("Bearer").filter(|_| status == 401);
                assert_eq!(came.field("www-authenticate"), challenge, "{token} {named} {line}");
            }
        }
        store.ask("root", "PUT /k", "KV-Namespace: flags\r\n", b"v").await;
        assert_eq!(store.ask("f", "GET /k", "", b"").await.text(), "v");
        assert_eq!(store.own("GET /k", "", b"").await.status, 404);
        assert_eq!(store.ask("f", "GET /k", "", b"").await.field("kv-source"), Some("lower"));
        assert_eq!(store.ask("x", "GET /k", "", b"").await.status, 401);
        store.service.allow(Access::default());
        assert_eq!(store.ask("f", "GET /k", "", b"").await.status, 401);
    }
}

#[tokio::test]
async fn a_list_has_pages_whose_cursors_are_for_it_alone() {
    for store in Store::each().await {
        for key in ["b", "a1", "a3", "a2"] {
            store.own(&format!("PUT /{key}"), "CF-KV-Metadata: {\"k\":1}\r\n", b"v").await;
        }
        let page = store.own("GET /?key_count_limit=2&prefix=a", "", b"").await.json();
        assert_eq!(
            page["keys"],
            serde_json::json!([
                { "name": "a1", "metadata": "{\"k\":1}" },
                { "name": "a2", "metadata": "{\"k\":1}" },
            ])
        );
        assert_eq!(page["list_complete"], false);
        let cursor = page["cursor"].as_str().unwrap();
        let next =
            store.own(&format!("GET /?key_count_limit=2&prefix=a&cursor={cursor}"), "", b"").await.json();
        assert_eq!((&next["keys"][0]["name"], &next["list_complete"]), (&"a3".into(), &true.into()));
        let other = store.own(&format!("GET /?prefix=b&cursor={cursor}"), "", b"").await;
        assert_eq!((other.status, other.reason.starts_with("the cursor is of another list")), (400, true));
    }
}

#[tokio::test]
async fn several_values_come_at_once() {
    for store in Store::each().await {
        store.own("PUT /text", "CF-KV-Metadata: [1]\r\n", "ü\"".as_bytes()).await;
        store.own("PUT /json", "", b"{\"b\": 1, \"a\": [2]}").await;
        let ask = async |body: &str| store.own("POST /bulk/get", "", body.as_bytes()).await;
        assert_eq!(ask("{\"keys\":[\"text\",\"none\"]}").await.text(), "{\"text\":\"ü\\\"\",\"none\":null}");
        assert_eq!(
            ask("{\"keys\":[\"text\",\"json\"],\"withMetadata\":true,\"cacheTtl\":\"60\"}").await.text(),
            "{\"text\":{\"value\":\"ü\\\"\",\"metadata\":[1]},\"json\":{\"value\":\"{\\\"b\\\": 1, \\\"a\\\": [2]}\",\"metadata\":null}}"
        );
        assert_eq!(
            ask("{\"keys\":[\"json\"],\"type\":\"json\"}").await.text(),
            "{\"json\":{\"b\": 1, \"a\": [2]}}"
        );
        let wrong = ask("{\"keys\":[\"text\"],\"type\":\"json\"}").await;
        assert_eq!(wrong.reason, "At least one of the requested keys corresponds to a non-json value");
        let many: Vec<_> = (0..101).map(|number| number.to_string()).collect();
        let many = ask(&serde_json::json!({ "keys": many }).to_string()).await;
        assert_eq!((many.status, many.reason.as_str()), (400, "You can request a maximum of 100 keys"));
    }
}
