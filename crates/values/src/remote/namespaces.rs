//! Which namespaces there are, and those that are made, renamed and removed over the API.

use http::{Body, Method};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::IgnoredAny};

use super::Remote;
use crate::{Error, encoding::encoded};

/// Namespaces: `edge kv namespace list --json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NamespaceList {
    /// By their names.
    pub namespaces: Vec<NamespaceLine>,
    /// Why there may be others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// One of them: `edge kv namespace create --json`, `rename --json` and `delete --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamespaceLine {
    /// As people call it.
    #[serde(rename(deserialize = "title"))]
    pub name: String,
    /// As URLs have it: 32 hexadecimal digits.
    pub id: String,
}

impl Remote {
    /// Those that the token is for.
    ///
    /// # Errors
    /// When the store does not answer, or refuses.
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

    /// The name of the only namespace that the token is for.
    ///
    /// # Errors
    /// When the store does not answer, or refuses, or there are several.
    pub fn only_namespace(&self) -> Result<String, Error> {
        let mut names: Vec<_> = self.namespaces()?.namespaces.into_iter().map(|one| one.name).collect();
        match names.len() {
            1 => Ok(names.remove(0)),
            _ => Err(Error::Namespace(names.join(", "))),
        }
    }

    /// Makes one.
    ///
    /// # Errors
    /// When the store does not answer, or refuses: there is one of this name, or the token is not an operator's.
    pub fn make_namespace(&self, name: &str) -> Result<NamespaceLine, Error> {
        Ok(self.exchange.call(Method::POST, "", titled(name))?.result)
    }

    /// Gives one, by its name or id, another name.
    ///
    /// # Errors
    /// When the store does not answer, or refuses: it is in the network's file, or not there.
    pub fn rename_namespace(&self, namespace: &str, name: &str) -> Result<NamespaceLine, Error> {
        let target = format!("/{}", encoded(namespace));
        Ok(self.exchange.call(Method::PUT, &target, titled(name))?.result)
    }

    /// Removes one with its keys. Returns what it was.
    ///
    /// # Errors
    /// As [`Self::rename_namespace`].
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
