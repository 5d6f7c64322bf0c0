//! The state of a key in each data centre of a network.

use std::{sync::Arc, time::Duration};

use http_stack::{Body, Method, Request, Uri};
use kv::{CopyUse, Key, ReadOptions, Tier};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tier_routing::DataCentreId;
use tokio::{task::JoinSet, time::timeout};

use super::{
    ReadQuery, Replication,
    local_copy::is_over,
    peer_api::said_of,
    upstream_read::answer_of,
    wire::{self, Said},
};
use crate::{access::NAMESPACE, service::Service, value::set, value_cache::Name};

/// The state of a key in all data centres: `edge kv watch --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CopyReport {
    /// The key.
    pub key: String,
    /// The data centres, in the order of the network's file.
    pub data_centres: Vec<WouldAnswer>,
}

/// The state of a key in a data centre.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WouldAnswer {
    /// The data centre.
    pub data_centre: String,
    /// Whether there is a value; absent if that is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<bool>,
    /// The version of the value, or of its deletion if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The age of the copy in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age_ms: Option<u64>,
    /// The tier that serves the value: `lower`, `regional`, `upper` or `store`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Why the key cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl WouldAnswer {
    fn of(data_centre: String, said: Result<Said, String>) -> Self {
        match said {
            Ok(said) => Self {
                data_centre,
                found: Some(said.about.is_some()),
                version: said.version,
                age_ms: Some(u64::try_from(said.age.as_millis()).unwrap_or(u64::MAX)),
                source: Some(said.source.name().to_owned()),
                error: None,
            },
            Err(error) => Self {
                data_centre,
                found: None,
                version: None,
                age_ms: None,
                source: None,
                error: Some(error),
            },
        }
    }
}

impl Service {
    pub(crate) async fn whereabouts(self: &Arc<Self>, namespace: &str, key: &Key) -> CopyReport {
        let Some(linked) = &self.linked else {
            let here = WouldAnswer::of(self.own_name(), self.look(namespace, key).await);
            return CopyReport { key: key.to_string(), data_centres: vec![here] };
        };
        let mut asking = JoinSet::new();
        for (number, centre) in linked.links.all().into_iter().enumerate() {
            let (service, linked) = (Arc::clone(self), Arc::clone(linked));
            let (namespace, key) = (namespace.to_owned(), key.clone());
            asking.spawn(async move {
                let said = if centre == linked.links.local() {
                    service.look(&namespace, &key).await
                } else {
                    let looking = timeout(PATIENCE, look_there(&linked, centre, &namespace, &key)).await;
                    looking.unwrap_or_else(|_| Err("it does not respond in time".to_owned()))
                };
                (number, WouldAnswer::of(linked.links.name(centre), said))
            });
        }
        let mut all = asking.join_all().await;
        all.sort_by_key(|(number, _)| *number);
        let data_centres = all.into_iter().map(|(_, answer)| answer).collect();
        CopyReport { key: key.to_string(), data_centres }
    }

    /// Neither keeps nor uses a copy here.
    pub(super) async fn look(&self, namespace: &str, key: &Key) -> Result<Said, String> {
        let name = Name::of(namespace, key.as_str());
        let seen = self.copies.look(&name, self.elapsed()).filter(|seen| !is_over(&seen.known));
        if let Some(seen) =
            seen.filter(|seen| matches!(seen.usage, CopyUse::AtOnce | CopyUse::AtOnceAndRefresh))
        {
            let about = seen.known.about().cloned();
            let version = seen.known.version().map(str::to_owned);
            return Ok(Said {
                about,
                version,
                age: seen.age,
                source: Tier::Lower,
                is_unsure: false,
                is_had: false,
            });
        }
        match self.store_elsewhere() {
            Some((linked, _)) => {
                let (namespace, key) = (namespace.to_owned(), key.as_str().to_owned());
                let question = ReadQuery::new(namespace, key, Tier::Lower, ReadOptions::default());
                self.look_above(linked, &question).await
            }
            None => {
                let found = self.read_only(namespace, key.as_str()).await;
                let found = found.map_err(|problem| problem.message)?;
                Ok(said_of(&found))
            }
        }
    }
}

async fn look_there(
    linked: &Replication,
    centre: DataCentreId,
    namespace: &str,
    key: &Key,
) -> Result<Said, String> {
    let target: Uri =
        wire::target(key.as_str()).parse().map_err(|_| "the key cannot be encoded in a URL".to_owned())?;
    let request = || {
        let mut request = Request::new(Body::empty());
        *request.method_mut() = Method::HEAD;
        *request.uri_mut() = target.clone();
        set(request.headers_mut(), wire::ASKED_AS, wire::LOOK);
        set(request.headers_mut(), NAMESPACE, namespace);
        Some(request)
    };
    let response = linked.send(centre, request).await.map_err(|unreached| unreached.to_string())?;
    Ok(answer_of(response).await?.0)
}

/// Longer than the receiver's timeouts for requests to its upper tiers.
const PATIENCE: Duration = Duration::from_secs(10);
