//! Namespaces that are created over the API.
//!
//! Each data centre caches the list, and reads it every 30 seconds or when an unknown namespace is
//! requested.

use std::{collections::HashSet, sync::Arc, time::Duration};

use http_stack::{Body, Method, Request, StatusCode, token};
use kv::{Key, Page};
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use crate::{
    access::{Access, CATALOGUE, Namespace},
    api_error::{ApiError, Kind},
    client::{Listed, ListedKey},
    service::Service,
    value::{METADATA, set},
    workerd_binding,
};

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Entry {
    title: String,
    /// The keys are being removed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    removed: bool,
}

impl Service {
    /// If an operator requests an unknown namespace, the list of namespaces is read from the store
    /// first.
    pub(crate) async fn access_to(
        self: &Arc<Self>,
        authorization: Option<&[u8]>,
        named: Option<&[u8]>,
    ) -> Arc<Access> {
        let access = self.access();
        match named {
            Some(name) if access.named(name).is_none() && access.is_operator(authorization) => {
                self.access_after_look().await
            }
            _ => access,
        }
    }

    /// Or the cached rules if reading the list fails.
    pub(crate) async fn access_after_look(self: &Arc<Self>) -> Arc<Access> {
        // The cached rules record whether the list has ever been read.
        let _ = self.look_for_namespaces().await;
        self.access()
    }

    pub(crate) async fn look_for_namespaces(self: &Arc<Self>) -> Result<(), ApiError> {
        let look = async {
            let made = self.entries().await?.into_iter().filter(|(_, entry)| !entry.removed);
            self.set_api_namespaces(made.map(|(id, entry)| Namespace::made(id, entry.title)).collect());
            Ok(())
        };
        self.looks.look(look).await
    }

    pub(crate) async fn make_namespace(self: &Arc<Self>, title: &str) -> Result<Namespace, ApiError> {
        self.look_for_namespaces().await?;
        self.check_title(title, None)?;
        if self.access().made().is_some_and(|made| made.len() >= MOST) {
            let message = format!("{MOST} namespaces were made over the API, which is the limit");
            return Err(ApiError::bad(message));
        }
        let random =
            token::make().map_err(|why| ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, why.to_string()))?;
        let made = Namespace::made(random[..ID_DIGITS].to_owned(), title.to_owned());
        self.write_entry(&made, false).await?;
        Ok(made)
    }

    pub(crate) async fn rename_namespace(
        self: &Arc<Self>,
        name: &str,
        title: &str,
    ) -> Result<Namespace, ApiError> {
        let made = self.made(name).await?;
        self.check_title(title, Some(&made))?;
        let renamed = Namespace { name: title.to_owned(), ..made };
        self.write_entry(&renamed, false).await?;
        Ok(renamed)
    }

    pub(crate) async fn remove_namespace(self: &Arc<Self>, name: &str) -> Result<(), ApiError> {
        let made = self.made(name).await?;
        self.write_entry(&made, true).await
    }

    /// In the store's current list.
    async fn made(self: &Arc<Self>, name: &str) -> Result<Namespace, ApiError> {
        self.look_for_namespaces().await?;
        let access = self.access();
        let found = access.named(name.as_bytes());
        let found = found
            .ok_or_else(|| ApiError::of(Kind::NoNamespace, format!("there is no namespace \"{name}\"")))?;
        if access.made().is_some_and(|made| made.contains(found)) {
            return Ok(found.clone());
        }
        let message = format!(
            "namespace \"{}\" is in the network's file: rename or remove its [[kv.namespace]] there, and send SIGHUP",
            found.name
        );
        Err(ApiError::method_not_allowed(message))
    }

    fn check_title(&self, title: &str, own: Option<&Namespace>) -> Result<(), ApiError> {
        if title.is_empty() || title.len() > LONGEST_TITLE || title.chars().any(char::is_control) {
            let message =
                format!("a namespace's title has 1 to {LONGEST_TITLE} bytes, and no control characters");
            return Err(ApiError::bad(message));
        }
        let access = self.access();
        match access.named(title.as_bytes()) {
            Some(other) if own.is_none_or(|own| own.id != other.id) => {
                let message = format!("a namespace with the title \"{title}\" already exists");
                Err(ApiError::of(Kind::TitleTaken, message))
            }
            _ => Ok(()),
        }
    }

    async fn write_entry(self: &Arc<Self>, namespace: &Namespace, removed: bool) -> Result<(), ApiError> {
        let entry = Entry { title: namespace.name.clone(), removed };
        let metadata = serde_json::to_string(&entry).unwrap_or_default();
        self.ask_catalogue(Method::PUT, &format!("/{}", namespace.id), Some(&metadata)).await?;
        // If reading fails, the next request for the namespace reads the list again.
        let _ = self.look_for_namespaces().await;
        Ok(())
    }

    async fn entries(self: &Arc<Self>) -> Result<Vec<(String, Entry)>, ApiError> {
        let (mut entries, mut cursor) = (Vec::new(), String::new());
        for _ in 0..MOST_PAGES {
            let target = format!("/?key_count_limit=1000&cursor={cursor}");
            let text = self.ask_catalogue(Method::GET, &target, None).await?;
            let listed: Listed = serde_json::from_slice(&text)
                .map_err(|why| not_told(format!("invalid list of namespaces: {why}")))?;
            for ListedKey { name, metadata, .. } in listed.keys {
                let entry = metadata.and_then(|metadata| serde_json::from_value(metadata).ok());
                entries.extend(entry.map(|entry| (name, entry)));
            }
            match listed.cursor {
                Some(next) => cursor = next,
                None => break,
            }
        }
        Ok(entries)
    }

    async fn ask_catalogue(
        self: &Arc<Self>,
        method: Method,
        target: &str,
        metadata: Option<&str>,
    ) -> Result<http_stack::Bytes, ApiError> {
        let mut request = Request::new(());
        *request.method_mut() = method;
        *request.uri_mut() =
            target.parse().map_err(|_| not_told("invalid cursor in the list of namespaces"))?;
        if let Some(metadata) = metadata {
            set(request.headers_mut(), METADATA, metadata);
        }
        let (parts, ()) = request.into_parts();
        let response = workerd_binding::inside(self, &CATALOGUE, &parts, Body::empty(), None).await?;
        let status = response.status();
        let text = response.into_body().collect(LONGEST_PAGE).await;
        let text = text.map_err(|why| not_told(format!("cannot read the list of namespaces: {why}")))?;
        if !status.is_success() {
            return Err(ApiError::new(status, String::from_utf8_lossy(&text)));
        }
        Ok(text)
    }

    /// Never returns.
    pub(crate) async fn keep_namespaces(self: &Arc<Self>) {
        let mut removed = HashSet::new();
        loop {
            let known = self.look_for_namespaces().await;
            if self.far_store().is_none() && known.is_ok() {
                removed = self.clear_removed(removed).await.unwrap_or_else(|problem| {
                    tracing::warn!(why = problem.message, "keys of removed namespaces could not be removed");
                    HashSet::new()
                });
            }
            sleep(if known.is_ok() { BETWEEN_LOOKS } else { AFTER_FAILURE }).await;
        }
    }

    /// Only those marked in the previous run, so that all data centres have seen the removal.
    /// Returns those still marked.
    pub(crate) async fn clear_removed(
        self: &Arc<Self>,
        before: HashSet<String>,
    ) -> Result<HashSet<String>, ApiError> {
        let mut removed = HashSet::new();
        for (id, _) in self.entries().await?.into_iter().filter(|(_, entry)| entry.removed) {
            if before.contains(&id) && self.clear(&id).await? == 0 {
                self.delete(&CATALOGUE.id, vec![Key::new(&id)?], None).await?;
            } else {
                removed.insert(id);
            }
        }
        Ok(removed)
    }

    /// Returns the number of deleted keys.
    async fn clear(self: &Arc<Self>, namespace: &str) -> Result<usize, ApiError> {
        let mut cleared = 0;
        loop {
            let page = Page::asked(namespace, ("limit", None), None, None)?;
            let keys = self.page(namespace, page).await?.keys;
            if keys.is_empty() {
                return Ok(cleared);
            }
            cleared += keys.len();
            let keys = keys.iter().map(|key| Key::new(&key.name)).collect::<Result<_, _>>()?;
            self.delete(namespace, keys, None).await?;
        }
    }
}

fn not_told(message: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::BAD_GATEWAY, message)
}

const BETWEEN_LOOKS: Duration = Duration::from_secs(30);
const AFTER_FAILURE: Duration = Duration::from_secs(5);
const ID_DIGITS: usize = 32;
/// JSON escaping may double each byte, and the metadata limit must leave room for the rest of the
/// entry.
const LONGEST_TITLE: usize = 480;
/// The same limit as Workers KV has for an account.
const MOST: usize = 1000;
/// Leaves room for entries of removed namespaces in addition to [`MOST`].
const MOST_PAGES: usize = 10;
const LONGEST_PAGE: usize = 4 << 20;
