//! Concurrent reads of two stores: the faster response is returned, and the newer value is
//! replicated to the other store if they differ.

use std::{sync::Arc, time::Duration};

use http_stack::Method;
use kv::{Answer, DualRead, Repair, Side, StoreReply, Tier, Version};
use tier_routing::DataCentreId;
use tokio::{sync::oneshot, task::JoinSet, time::sleep};

use super::{
    ReadQuery, Replication,
    hinted_handoff::{filling, request_hints},
    local_copy::given,
    upstream_read::ReplyBody,
    wire::Said,
};
use crate::{
    api_error::ApiError,
    service::Service,
    value::{Found, NotFound},
    value_cache::Name,
};

/// The error is the reason why there is no response.
type Asked = Result<(Said, ReplyBody), String>;

impl Service {
    /// Requests both stores if the tier is a store, or takes longer than usual. Returns whether the
    /// response is from a store.
    pub(super) async fn ask_near_or_stores(
        self: &Arc<Self>,
        linked: &Arc<Replication>,
        stores: [DataCentreId; 2],
        (centre, tier): (DataCentreId, Tier),
        question: &ReadQuery,
        known: Option<Version>,
    ) -> (bool, Asked) {
        if tier == Tier::Store {
            return (true, self.ask_stores(linked, stores, question, known).await);
        }
        let start = self.elapsed();
        let near = self.ask_in_time(linked, (centre, tier), question, Method::GET);
        let late = async {
            sleep(linked.late_after(centre)).await;
            linked.usual().entry(centre).or_default().late(self.elapsed());
            self.counts.asked_both.add(1);
            self.ask_stores(linked, stores, question, known).await
        };
        tokio::pin!(near, late);
        tokio::select! {
            biased;
            said = &mut near => {
                if said.is_ok() {
                    let took = self.elapsed().saturating_sub(start);
                    linked.usual().entry(centre).or_default().hear(took);
                }
                (false, said)
            }
            said = &mut late => match said {
                Ok(said) => (true, Ok(said)),
                Err(_) => (false, near.await),
            },
        }
    }

    async fn ask_stores(
        self: &Arc<Self>,
        linked: &Arc<Replication>,
        stores: [DataCentreId; 2],
        question: &ReadQuery,
        known: Option<Version>,
    ) -> Asked {
        let (answer, answered) = oneshot::channel();
        let (service, linked, question) = (Arc::clone(self), Arc::clone(linked), question.clone());
        // The task also waits for the slower store.
        tokio::spawn(async move { service.race(&linked, stores, question, known, answer).await });
        answered.await.unwrap_or_else(|_| Err("the request was cancelled".to_owned()))
    }

    async fn race(
        self: &Arc<Self>,
        linked: &Arc<Replication>,
        stores: [DataCentreId; 2],
        question: ReadQuery,
        known: Option<Version>,
        answer: oneshot::Sender<Asked>,
    ) {
        let mut asking = JoinSet::new();
        for side in [Side::Left, Side::Right] {
            let (service, linked, question) = (Arc::clone(self), Arc::clone(linked), question.clone());
            let store = (stores[side.place()], Tier::Store);
            let start = self.elapsed();
            asking.spawn(async move {
                let said = service.ask_in_time(&linked, store, &question, Method::GET).await;
                (side, said, service.elapsed().saturating_sub(start))
            });
        }
        let (mut race, mut answer) = (DualRead::knowing(known), Some(answer));
        let mut said = [None, None];
        let mut last = "no data centre is available".to_owned();
        while let Some(Ok((side, asked, took))) = asking.join_next().await {
            let heard = match asked {
                Ok(came) => {
                    linked.usual().entry(stores[side.place()]).or_default().hear(took);
                    let heard = heard(&came.0);
                    said[side.place()] = Some(came);
                    heard
                }
                Err(why) => {
                    last = why;
                    StoreReply::Failed
                }
            };
            let verdict = race.hear(side, heard);
            let answered = match verdict.answer {
                Answer::Of(side) => said[side.place()].take().map(Ok),
                Answer::Nobody => Some(Err(last.clone())),
                Answer::Wait | Answer::Given => None,
            };
            if let Some((answer, answered)) = answered.and_then(|answered| Some((answer.take()?, answered))) {
                let _ = answer.send(answered);
            }
            if let Some(repair) = verdict.repair {
                self.repair(linked, &question.namespace, &question.key, (stores, repair));
            }
        }
    }

    /// If the older record was returned, all tiers of the key are notified of the newer one.
    fn repair(
        self: &Arc<Self>,
        linked: &Arc<Replication>,
        namespace: &str,
        key: &str,
        (stores, repair): ([DataCentreId; 2], Repair),
    ) {
        self.counts.differed.add(1);
        if repair.is_answer_old {
            let (name, version) = (Name::of(namespace, key), repair.newer.to_string());
            self.copies.wrote(&name, &version);
            linked.flights.close(&name);
            self.tell(namespace, [(key, version)]);
        }
        let newer_at = stores[repair.behind.other().place()];
        let (service, linked) = (Arc::clone(self), Arc::clone(linked));
        let full_key = format!("{namespace}\0{key}");
        tokio::spawn(async move {
            let noted = if newer_at == linked.links.local() {
                service.note_here(&linked, vec![full_key]).await
            } else {
                request_hints(&linked, newer_at, vec![full_key]).await
            };
            // If this fails, the next comparison finds the difference.
            if let Err(why) = noted {
                tracing::debug!(why, "a store could not be notified that the other store is behind");
            }
        });
    }

    pub(super) async fn note_here(&self, linked: &Replication, full_keys: Vec<String>) -> Result<(), String> {
        let store = self.store_here().ok_or("the store cannot be used")?;
        store.note(full_keys).await.map_err(|problem| problem.message)?;
        linked.noted.notify_one();
        Ok(())
    }

    /// Waits for the other store only if this one may lack the key or has an older record.
    pub(crate) async fn read_beside_other(
        self: &Arc<Self>,
        namespace: &str,
        key: &str,
        found: Result<Found, NotFound>,
    ) -> Result<Result<Found, NotFound>, ApiError> {
        let Some((linked, other)) =
            self.linked.as_ref().and_then(|linked| Some((linked, linked.other_store()?)))
        else {
            return Ok(found);
        };
        let version: Option<Version> = version_of(&found).and_then(|version| version.parse().ok());
        let alone = |found| if version.is_none() && self.is_filling() { Err(filling()) } else { Ok(found) };
        if !linked.links.is_up(other) {
            return alone(found);
        }
        let question = of_store(namespace, key);
        let name = Name::of(namespace, key);
        let heard_of = self.copies.version(&name);
        let lacks = heard_of.is_some_and(|heard_of| Some(&*heard_of) > version_of(&found));
        if lacks || (version.is_none() && self.is_filling()) {
            let asking = Box::pin(self.ask_other(linked, other, &question));
            let Some(given) = asking.await else { return alone(found) };
            if version_of(&given) <= version_of(&found) {
                return Ok(found);
            }
            self.heard_of(&name, &given);
            return Ok(given);
        }
        if let Ok(place) = Arc::clone(&linked.checks).try_acquire_owned() {
            let (service, linked) = (Arc::clone(self), Arc::clone(linked));
            tokio::spawn(async move {
                let _place = place;
                service.check(&linked, other, &question, version).await;
            });
        }
        Ok(found)
    }

    /// While the store here is not available.
    pub(crate) async fn read_from_other(
        &self,
        namespace: &str,
        key: &str,
    ) -> Option<Result<Found, NotFound>> {
        let linked = self.linked.as_ref()?;
        let other = linked.other_store().filter(|&other| linked.links.is_up(other))?;
        let given = Box::pin(self.ask_other(linked, other, &of_store(namespace, key))).await?;
        self.heard_of(&Name::of(namespace, key), &given);
        Some(given)
    }

    /// Later reads return nothing older until the store here has it.
    fn heard_of(&self, name: &Name, given: &Result<Found, NotFound>) {
        if let Some(version) = version_of(given) {
            self.copies.wrote(name, version);
        }
    }

    async fn ask_other(
        &self,
        linked: &Replication,
        other: DataCentreId,
        question: &ReadQuery,
    ) -> Option<Result<Found, NotFound>> {
        let asked = self.elapsed();
        let said = self.ask_in_time(linked, (other, Tier::Store), question, Method::GET).await;
        said.ok().and_then(|(said, carried)| self.given_by_other(said, carried, asked))
    }

    fn given_by_other(
        &self,
        said: Said,
        carried: ReplyBody,
        asked: Duration,
    ) -> Option<Result<Found, NotFound>> {
        let asked = asked.saturating_sub(said.age);
        match carried {
            ReplyBody::Known(known) => given(&known, self.elapsed().saturating_sub(asked), said.source),
            ReplyBody::Large(body) => self.passing(said, asked, body).ok().map(Ok),
        }
    }

    async fn check(
        self: &Arc<Self>,
        linked: &Arc<Replication>,
        other: DataCentreId,
        question: &ReadQuery,
        version: Option<Version>,
    ) {
        let Ok((said, _)) = self.ask_in_time(linked, (other, Tier::Store), question, Method::HEAD).await
        else {
            return;
        };
        let mut race = DualRead::default();
        race.hear(Side::Left, StoreReply::Version(version));
        if let Some(repair) = race.hear(Side::Right, heard(&said)).repair {
            let stores = [linked.links.local(), other];
            self.repair(linked, &question.namespace, &question.key, (stores, repair));
        }
    }
}

fn of_store(namespace: &str, key: &str) -> ReadQuery {
    ReadQuery::new(namespace.to_owned(), key.to_owned(), Tier::Upper, kv::ReadOptions::default())
}

fn version_of(found: &Result<Found, NotFound>) -> Option<&str> {
    match found {
        Ok(found) => Some(&found.version),
        Err(absent) => absent.version.as_deref(),
    }
}

fn heard(said: &Said) -> StoreReply {
    if said.is_unsure {
        return StoreReply::Unsure;
    }
    StoreReply::Version(said.version.as_ref().and_then(|version| version.parse().ok()))
}
