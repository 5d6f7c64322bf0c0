//! Tests of namespaces that are created, renamed and removed over the API.

use std::collections::HashSet;

use super::*;
use crate::access::CATALOGUE;

const BASE: &str = "/client/v4/accounts/any/storage/kv/namespaces";

impl Store {
    async fn operator(&self, line: &str, body: &str) -> Came {
        self.ask("root", line, "", body.as_bytes()).await
    }

    async fn make(&self, title: &str) -> String {
        let made = self.operator(&format!("POST {BASE}"), &format!("{{\"title\":\"{title}\"}}")).await;
        assert_eq!(made.status, 200, "{made:?}");
        made.json()["result"]["id"].as_str().unwrap().to_owned()
    }

    async fn titles(&self) -> Vec<String> {
        let listed = self.operator(&format!("GET {BASE}"), "").await.json();
        assert_eq!(listed["messages"], serde_json::json!([]));
        let all = listed["result"].as_array().unwrap();
        all.iter().map(|one| one["title"].as_str().unwrap().to_owned()).collect()
    }

    async fn named(&self, token: &str, namespace: &str, key: &str) -> Came {
        self.ask(token, &format!("GET /{key}"), &format!("KV-Namespace: {namespace}\r\n"), b"").await
    }
}

#[tokio::test]
async fn one_is_made_used_renamed_and_removed_with_its_keys() {
    for store in Store::each().await {
        let id = store.make("staging flags").await;
        assert_eq!(
            (id.len(), store.titles().await.join(", ")),
            (32, "flags, sessions, staging flags".into())
        );
        let put = store.operator(&format!("PUT {BASE}/{id}/values/a"), "1").await;
        assert_eq!(put.status, 200, "{put:?}");
        for name in [id.as_str(), "staging flags"] {
            assert_eq!(store.named("root", name, "a").await.text(), "1");
        }
        // The new namespace does not change the selection for an operator's token.
        assert_eq!(store.named("s", &id, "a").await.status, 403);
        assert_eq!(store.ask("root", "GET /a", "", b"").await.status, 400);
        let renamed = store.operator(&format!("PUT {BASE}/{id}"), r#"{"title":"a \"b\" ü"}"#).await.json();
        assert_eq!(
            (&renamed["result"]["id"], &renamed["result"]["title"]),
            (&id.into(), &"a \"b\" ü".into())
        );
        let id = renamed["result"]["id"].as_str().unwrap();
        assert_eq!(store.titles().await, ["a \"b\" ü", "flags", "sessions"]);
        assert_eq!(store.named("root", id, "a").await.text(), "1");
        let gone = store.operator(&format!("DELETE {BASE}/{id}"), "").await;
        assert_eq!((gone.status, store.titles().await.len()), (200, 2));
        assert_eq!(store.named("root", id, "a").await.status, 404);
        let read = async || store.service.read_only(id, "a").await.unwrap().is_ok();
        let mut removed = HashSet::new();
        for (has_key, has_entry) in [(true, true), (false, true), (false, false)] {
            removed = store.service.clear_removed(removed).await.unwrap();
            let entry = store.service.read_only(&CATALOGUE.id, id).await.unwrap().is_ok();
            assert_eq!((read().await, entry, removed.len()), (has_key, has_entry, usize::from(has_entry)));
        }
    }
}

#[tokio::test]
async fn what_cannot_be_made_or_changed_is_refused_with_a_sentence() {
    for store in Store::each().await {
        let id = store.make("taken").await;
        let file = Namespace::id_of("flags");
        let titled = |title: &str| serde_json::json!({ "title": title }).to_string();
        let long = "x".repeat(481);
        for (token, line, body, status, code, why) in [
            ("s", format!("POST {BASE}"), titled("new"), 403, 10_000, "a token of [admin]"),
            ("s", format!("DELETE {BASE}/{file}"), String::new(), 403, 10_000, "a token of [admin]"),
            ("", format!("POST {BASE}"), titled("new"), 401, 10_000, "no token"),
            ("root", format!("POST {BASE}"), titled("taken"), 400, 10_014, "already exists"),
            ("root", format!("POST {BASE}"), titled("flags"), 400, 10_014, "already exists"),
            ("root", format!("POST {BASE}"), titled(&file), 400, 10_014, "already exists"),
            ("root", format!("PUT {BASE}/{id}"), titled("sessions"), 400, 10_014, "already exists"),
            ("root", format!("POST {BASE}"), titled(""), 400, 10_400, "1 to 480 bytes"),
            ("root", format!("POST {BASE}"), titled(&long), 400, 10_400, "1 to 480 bytes"),
            ("root", format!("POST {BASE}"), titled("a\nb"), 400, 10_400, "control"),
            ("root", format!("POST {BASE}"), "title".into(), 400, 10_400, "expected {\"title\""),
            ("root", format!("PUT {BASE}/{file}"), titled("new"), 405, 10_405, "network's file"),
            ("root", format!("DELETE {BASE}/flags"), String::new(), 405, 10_405, "network's file"),
            ("root", format!("DELETE {BASE}/none"), String::new(), 404, 10_013, "no namespace \"none\""),
            ("root", format!("PATCH {BASE}/{id}"), String::new(), 405, 10_405, "GET, PUT or DELETE"),
            ("root", format!("GET {BASE}/{}/keys", CATALOGUE.id), String::new(), 404, 10_013, "no namespace"),
        ] {
            let came = store.ask(token, &line, "", body.as_bytes()).await;
            let error = &came.json()["errors"][0];
            let is_said = error["message"].as_str().unwrap().contains(why);
            assert_eq!(
                (came.status, &error["code"], is_said),
                (status, &code.into(), true),
                "{line} {came:?}"
            );
        }
        assert_eq!(store.titles().await, ["flags", "sessions", "taken"]);
        store.operator(&format!("PUT {BASE}/{id}"), &titled("taken")).await;
        let long = "\"".repeat(480);
        let renamed = store.operator(&format!("PUT {BASE}/{id}"), &titled(&long)).await;
        assert_eq!((renamed.status, store.titles().await.contains(&long)), (200, true));
    }
}
