//! Requests of the client that list and change namespaces.

use http_stack::{Body, Method};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::IgnoredAny};

use super::KvClient;
use crate::{Error, encoding::encoded};

/// Namespaces: `edge kv namespace list --json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NamespaceList {
    /// Sorted by name.
    pub namespaces: Vec<NamespaceLine>,
    /// Why the list may be incomplete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// A namespace: `edge kv namespace create --json`, `rename --json` and `delete --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamespaceLine {
    /// The name.
    #[serde(rename(deserialize = "title"))]
    pub name: String,
    /// The id in URLs: 32 hexadecimal digits.
    pub id: String,
}

impl KvClient {
    /// Lists the namespaces of the token.
    ///
    /// # Errors
    /// Fails if the store does not respond or refuses the request.
    pub fn namespaces(&self) -> Result<NamespaceList, Error> {
        let mut all = NamespaceList::default();
        for page in 1.. {
            let target = format!("?per_page={PER_PAGE}&page={page}");
            let called = self.exchange.call::<Vec<NamespaceLine>>(Method::GET, &target, Body::empty())?;
            let is_last = called.result.len() < PER_PAGE;
            all.namespaces.extend(called.result);
            all.missing = called.messages.into_iter().next().map(|said| said.message);
            if is_last {
                break;
            }
        }
        Ok(all)
    }

    /// Returns the name of the token's only namespace.
    ///
    /// # Errors
    /// Fails if the store does not respond or refuses the request, or if there are several
    /// namespaces.
    pub fn only_namespace(&self) -> Result<String, Error> {
        let mut names: Vec<_> = self.namespaces()?.namespaces.into_iter().map(|one| one.name).collect();
        match names.len() {
            1 => Ok(names.remove(0)),
            _ => Err(Error::Namespace(names.join(", "))),
        }
    }

    /// Creates a namespace.
    ///
    /// # Errors
    /// Fails if the store does not respond or refuses the request: the name exists, or the token is
    /// not an operator's.
    pub fn make_namespace(&self, name: &str) -> Result<NamespaceLine, Error> {
        Ok(self.exchange.call(Method::POST, "", titled(name))?.result)
    }

    /// Renames a namespace, which is given by name or id.
    ///
    /// # Errors
    /// Fails if the store does not respond or refuses the request: the namespace is in the
    /// network's file, or unknown.
    pub fn rename_namespace(&self, namespace: &str, name: &str) -> Result<NamespaceLine, Error> {
        let target = format!("/{}", encoded(namespace));
        Ok(self.exchange.call(Method::PUT, &target, titled(name))?.result)
    }

    /// Removes a namespace with its keys. Returns the removed namespace.
    ///
    /// # Errors
    /// Fails as [`Self::rename_namespace`] does.
    pub fn remove_namespace(&self, namespace: &str) -> Result<NamespaceLine, Error> {
        let was: NamespaceLine =
            self.exchange.call(Method::GET, &format!("/{}", encoded(namespace)), Body::empty())?.result;
        self.exchange.call::<IgnoredAny>(Method::DELETE, &format!("/{}", was.id), Body::empty())?;
        Ok(was)
    }
}

fn titled(name: &str) -> Body {
    Body::whole(serde_json::json!({ "title": name }).to_string())
}

const PER_PAGE: usize = 1000;
