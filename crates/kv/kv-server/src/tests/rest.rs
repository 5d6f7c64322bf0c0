//! Tests of the REST API, with requests as wrangler and the SDKs send them.

use super::*;

const BASE: &str = "/client/v4/accounts/any/storage/kv/namespaces";

fn path(method: &str, below: &str) -> String {
    format!("{method} {BASE}/{}{below}", Namespace::id_of("sessions"))
}

#[tokio::test]
async fn a_value_is_written_as_it_is_or_in_a_form() {
    for store in Store::each().await {
        let put = store.own(&path("PUT", "/values/a%2Fb?expiration_ttl=100"), "", b"raw").await;
        assert_eq!(put.text(), "{\"success\":true,\"errors\":[],\"messages\":[],\"result\":{}}");
        let got = store.own(&path("GET", "/values/a%2Fb"), "", b"").await;
        assert_eq!(got.text(), "raw");
        assert!(got.field("expiration").is_some());
        assert_eq!(store.own(&path("GET", "/values/a/b"), "", b"").await.text(), "raw");
        let form = b"--x\r\nContent-Disposition: form-data; name=\"metadata\"\r\n\r\n{\"m\": 1}\r\n\
        --x\r\nContent-Disposition: form-data; name=\"value\"; filename=\"f\"\r\nContent-Type: a/b\r\n\r\nin a\r\n--form\r\n--x--\r\n";
        let kind = "Content-Type: multipart/form-data; boundary=x\r\n";
        assert_eq!(store.own(&path("PUT", "/values/form"), kind, form).await.status, 200);
        assert_eq!(store.own(&path("GET", "/values/form"), "", b"").await.text(), "in a\r\n--form");
        assert_eq!(
            store.own(&path("GET", "/metadata/form"), "", b"").await.json()["result"],
            serde_json::json!({"m": 1})
        );
        assert_eq!(
            store.own(&path("GET", "/metadata/a%2Fb"), "", b"").await.json()["result"],
            serde_json::Value::Null
        );
        assert_eq!(store.own(&path("DELETE", "/values/form"), "", b"").await.status, 200);
        let gone = store.own(&path("GET", "/values/form"), "", b"").await;
        assert_eq!((gone.status, &gone.json()["errors"][0]["code"]), (404, &10_009.into()));
        for (form, why) in [
            (
                &b"--x\r\nContent-Disposition: form-data; name=\"value\"\r\n\r\nhalf"[..],
                "ends before its last boundary",
            ),
            (b"--x--\r\n", "the form has no field"),
            (
                b"--x\r\nContent-Disposition: form-data; name=\"metadata[a]\"\r\n\r\n1\r\n--x--",
                "JSON in one field",
            ),
            (b"--x\r\nX: y\r\n\r\n", "a part of the form has no name"),
        ] {
            let came = store.own(&path("PUT", "/values/form"), kind, form).await;
            assert!(came.status == 400 && came.text().contains(why), "{came:?}");
        }
        assert_eq!(store.own(&path("GET", "/values/form"), "", b"").await.status, 404);
    }
}

#[tokio::test]
async fn many_pairs_are_written_read_and_deleted_at_once_or_none() {
    for store in Store::each().await {
        let pairs = br#"[{"key":"a","value":"1","metadata":{"z":1,"a":2}},{"key":"b","value":"AP8=","base64":true,"expiration_ttl":60}]"#;
        let put = store.own(&path("PUT", "/bulk"), "", pairs).await.json();
        assert_eq!((&put["result"]["successful_key_count"], &put["success"]), (&2.into(), &true.into()));
        let got =
            store.own(&path("POST", "/bulk/get"), "", br#"{"keys":["a","c"],"withMetadata":true}"#).await;
        assert!(
            got.text()
                .contains(r#""result":{"values":{"a":{"value":"1","metadata":{"z":1,"a":2}},"c":null}}"#),
            "{got:?}"
        );
        assert_eq!(store.own(&path("GET", "/values/b"), "", b"").await.body, [0, 255]);
        let wrong = br#"[{"key":"c","value":"1"},{"key":"d","value":"1","expiration_ttl":1}]"#;
        let wrong = store.own(&path("PUT", "/bulk"), "", wrong).await;
        assert!(wrong.status == 400 && wrong.text().contains("pair 2"), "{wrong:?}");
        let listed = store.own(&path("GET", "/keys?limit=1"), "", b"").await.json();
        assert_eq!(listed["result"], serde_json::json!([{"name": "a", "metadata": {"z": 1, "a": 2}}]));
        let cursor = listed["result_info"]["cursor"].as_str().unwrap();
        let listed =
            store.own(&path("GET", &format!("/keys?limit=10&cursor={cursor}")), "", b"").await.json();
        assert_eq!(
            (&listed["result"][0]["name"], &listed["result_info"]["cursor"]),
            (&"b".into(), &"".into())
        );
        assert_eq!(listed["result_info"]["count"], 1);
        store.own(&path("DELETE", "/bulk"), "", br#"["a"]"#).await;
        store.own(&path("POST", "/bulk/delete"), "", br#"["b"]"#).await;
        assert_eq!(store.own(&path("GET", "/keys"), "", b"").await.json()["result"], serde_json::json!([]));
        let limit = store.own(&path("GET", "/keys?limit=0"), "", b"").await;
        assert!(limit.text().contains("Invalid limit of 0"), "{limit:?}");
    }
}

#[tokio::test]
async fn namespaces_are_those_of_the_token() {
    for store in Store::each().await {
        let titles = async |token: &str, query: &str| {
            let came = store.ask(token, &format!("GET {BASE}{query}"), "", b"").await.json();
            let all: Vec<_> =
                came["result"].as_array().unwrap().iter().map(|one| one["title"].to_string()).collect();
            (all.join(" "), came["result_info"]["total_count"].as_u64().unwrap())
        };
        assert_eq!(titles("s", "").await, ("\"sessions\"".into(), 1));
        assert_eq!(titles("root", "?per_page=100&order=title").await, ("\"flags\" \"sessions\"".into(), 2));
        assert_eq!(titles("root", "?per_page=1&page=2").await, ("\"sessions\"".into(), 2));
        let one = store.own(&path("GET", ""), "", b"").await.json();
        assert_eq!(
            (&one["result"]["title"], &one["result"]["supports_url_encoding"]),
            (&"sessions".into(), &true.into())
        );
        for (token, line, status, code) in [
            ("", path("GET", "/keys"), 401, 10_000),
            ("f", path("GET", "/keys"), 403, 10_000),
            ("s", format!("GET {BASE}/none/keys"), 404, 10_013),
            ("root", format!("PATCH {BASE}"), 405, 10_405),
            ("s", path("GET", "/other"), 404, 10_404),
            ("s", "GET /client/v4/user".into(), 404, 10_404),
            ("s", path("GET", "/values/%ff"), 400, 10_400),
            ("s", path("POST", "/bulk/other"), 405, 10_405),
        ] {
            let came = store.ask(token, &line, "", b"").await;
            let json = came.json();
            let challenge = Some("Bearer").filter(|_| status == 401);
            assert_eq!(came.field("www-authenticate"), challenge, "{line}");
            assert_eq!(
                (came.status, &json["errors"][0]["code"], &json["success"]),
                (status, &code.into(), &false.into()),
                "{line}"
            );
        }
    }
}
