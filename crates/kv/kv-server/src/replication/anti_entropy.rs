//! Anti-entropy: two stores compare the versions of their keys, range by range, and mark the keys
//! that one of them lacks.
//!
//! A round sends a digest per 1000 keys, and pauses between ranges so that reads are not delayed.

use std::{sync::Arc, time::Duration};

use http_stack::{Body, Response};
use kv::{KeyVersion, Span, differences, digest};
use tier_routing::DataCentreId;
use tokio::time::sleep;

use super::{
    Replication,
    hinted_handoff::{ask, json, request_hints},
    record_stream::{DigestQuery, DigestReply, LONGEST_LIST, MOST_BYTES, MOST_KEYS},
    upstream_read::NOT_AGREED,
    wire,
};
use crate::{api_error::ApiError, service::Service, store::Store};

#[derive(Debug, Clone, Copy, Default)]
struct Found {
    /// Keys with a newer version here.
    here: usize,
    /// Keys with a newer version in the other store.
    there: usize,
}

impl Service {
    /// Never returns.
    pub(crate) async fn compare_all(self: &Arc<Self>) {
        let Some(linked) = &self.linked else { return std::future::pending().await };
        let mut since: Option<Duration> = None;
        loop {
            sleep(BETWEEN_LOOKS).await;
            let Some(other) = linked.other_store() else { continue };
            if !linked.links.is_up(other) || self.store_here().is_none() {
                since = None;
                continue;
            }
            let is_due = since.is_none_or(|since| self.elapsed().saturating_sub(since) >= BETWEEN_ROUNDS);
            if !is_due && !self.is_filling() {
                continue;
            }
            match self.compare_with(linked, other).await {
                Ok(found) => {
                    since = Some(self.elapsed());
                    self.counts.compared.add(1);
                    self.counts.differed.add(found.here + found.there);
                    if found.there == 0
                        && let Some(store) = self.store_here().filter(Store::is_filling)
                        && let Err(problem) = store.filled().await
                    {
                        tracing::warn!(
                            error = problem.message,
                            "the end of the initial synchronisation could not be recorded"
                        );
                    }
                }
                Err(why) => {
                    since = None;
                    tracing::debug!(why, "the stores could not be compared");
                }
            }
        }
    }

    async fn compare_with(&self, linked: &Replication, other: DataCentreId) -> Result<Found, String> {
        let (mut found, mut after) = (Found::default(), String::new());
        loop {
            let (known, upto) = self.known_here(Span { after: after.clone(), upto: None }).await?;
            let span = Span { after, upto };
            let question = DigestQuery::new(span.clone(), digest(&known));
            let text =
                ask(linked, other, wire::COMPARE, serde_json::to_vec(&question).unwrap_or_default()).await?;
            let there: DigestReply = serde_json::from_slice(&text).map_err(|_| NOT_AGREED.to_owned())?;
            let mut span = span;
            if !there.is_same {
                span = span.until(there.upto.clone());
                let differing = differences(&span, &known, &there.known().ok_or(NOT_AGREED)?);
                found.here += differing.newer_here.len();
                found.there += differing.newer_there.len();
                if !differing.newer_there.is_empty() {
                    request_hints(linked, other, differing.newer_there).await?;
                }
                if !differing.newer_here.is_empty() {
                    self.note_here(linked, differing.newer_here).await?;
                }
            }
            match span.upto {
                None => return Ok(found),
                // Ranges must be ascending, whatever the other store returns.
                Some(upto) if upto <= span.after => return Err(NOT_AGREED.to_owned()),
                Some(upto) => after = upto,
            }
            sleep(BETWEEN_RANGES).await;
        }
    }

    pub(super) async fn compared(
        &self,
        linked: &Replication,
        body: Body,
    ) -> Result<Response<Body>, ApiError> {
        let text = body.collect(LONGEST_LIST).await;
        let question: Option<DigestQuery> = text.ok().and_then(|text| serde_json::from_slice(&text).ok());
        let question = question.ok_or_else(|| ApiError::bad("invalid request"))?;
        let (span, digest_there) = question.into_span();
        let upto = span.upto.clone();
        let (known, end) = self.one_of_two(linked)?.known(span, (MOST_KEYS, MOST_BYTES)).await?;
        let is_same = end == upto && digest(&known) == digest_there;
        Ok(json(&if is_same { DigestReply::same() } else { DigestReply::of(known, end) }))
    }

    async fn known_here(&self, span: Span) -> Result<(Vec<KeyVersion>, Option<String>), String> {
        let store = self.store_here().ok_or("the store cannot be used")?;
        store.known(span, (MOST_KEYS, MOST_BYTES)).await.map_err(|problem| problem.message)
    }
}

const BETWEEN_LOOKS: Duration = Duration::from_secs(1);
const BETWEEN_ROUNDS: Duration = Duration::from_secs(600);
/// A million keys take a minute.
const BETWEEN_RANGES: Duration = Duration::from_millis(50);
