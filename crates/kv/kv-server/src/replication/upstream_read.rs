//! Requests for a key to its upper tiers, with collapsed forwarding, and with a fallback if a tier
//! does not respond.

use std::{sync::Arc, time::Duration};

use http_stack::{Body, Method, Request, Response, StatusCode, Uri};
use kv::{CopyUse, FreshnessPolicy, Placement, ReadOptions, Tier};
use tier_routing::DataCentreId;
use tokio::time::timeout;

use super::{
    Replication,
    local_copy::is_over,
    read_collapse::Turn,
    wire::{self, Said},
};
use crate::{
    access::NAMESPACE,
    api_error::{ApiError, ended},
    service::Service,
    value::{Content, Found, MemoryValue, NotFound, set},
    value_cache::{CachedState, Name},
};

#[derive(Debug, Clone)]
pub(crate) struct ReadQuery {
    pub(crate) namespace: String,
    pub(crate) key: String,
    /// The tier for which this data centre was requested.
    pub(crate) asked_as: Tier,
    pub(crate) wanted: ReadOptions,
    /// A cached value. Its bytes are not sent again if it is the newest.
    had: Option<CachedState>,
}

#[derive(Debug, Clone)]
pub(super) enum ReadOutcome {
    Known(Answer),
    /// Too large to be kept: each follower requests it separately.
    Large,
    Failed(ApiError),
}

#[derive(Debug, Clone)]
pub(crate) struct Answer {
    known: CachedState,
    /// An estimate of the time when the store was read.
    asked: Duration,
    source: Tier,
}

pub(super) enum ReplyBody {
    Known(CachedState),
    Large(Body),
}

pub(super) enum ReadReply {
    Known(Answer),
    Large { said: Said, asked: Duration, body: Body },
    Failed(ApiError),
}

impl ReadQuery {
    pub(crate) fn new(namespace: String, key: String, asked_as: Tier, wanted: ReadOptions) -> Self {
        Self { namespace, key, asked_as, wanted, had: None }
    }

    pub(crate) fn name(&self) -> Name {
        Name::of(&self.namespace, &self.key)
    }

    fn within(&self, is_negative: bool) -> Duration {
        let period = FreshnessPolicy::default().period(is_negative, self.wanted.cache_ttl);
        self.wanted.within.map_or(period, |within| within.min(period))
    }
}

impl Service {
    pub(crate) async fn read_far(
        self: &Arc<Self>,
        linked: &Arc<Replication>,
        question: ReadQuery,
    ) -> Result<Result<Found, NotFound>, ApiError> {
        let find = || {
            let seen = self.copies.find(&question.name(), question.wanted, self.elapsed());
            seen.filter(|seen| !is_over(&seen.known))
        };
        let Some(mut seen) = find() else {
            return self.ask_above(linked, question).await;
        };
        if matches!(seen.usage, CopyUse::UnlessAnswered | CopyUse::Never) {
            let problem = match timeout(IN_TIME, self.ask_above(linked, question.clone())).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(problem)) if problem.status != StatusCode::SERVICE_UNAVAILABLE => {
                    return Err(problem);
                }
                Ok(Err(problem)) => problem,
                Err(_) => unreached(linked, None),
            };
            // A notification of a newer version may have arrived meanwhile.
            seen = find().ok_or(problem)?;
            if seen.usage == CopyUse::UnlessAnswered {
                self.counts.stood_in.add(1);
            }
        }
        if seen.usage == CopyUse::AtOnceAndRefresh {
            self.refresh(linked, question.clone(), seen.known.is_negative());
        }
        let asked = self.elapsed().saturating_sub(seen.age);
        let answer = Answer { known: seen.known, asked, source: question.asked_as };
        self.given(linked, &question, ReadReply::Known(answer)).await
    }

    pub(crate) fn refresh(
        self: &Arc<Self>,
        linked: &Arc<Replication>,
        question: ReadQuery,
        is_negative: bool,
    ) {
        if linked.flights.has(&question.name()) {
            return;
        }
        self.counts.refreshes.add(1);
        let within = FreshnessPolicy::default().worthwhile(is_negative, question.wanted.cache_ttl);
        let wanted = ReadOptions { within: Some(within), ..question.wanted };
        let (service, linked) = (Arc::clone(self), Arc::clone(linked));
        tokio::spawn(async move {
            let asked = service.ask_above(&linked, ReadQuery { wanted, ..question }).await;
            asked.map(drop)
        });
    }

    /// There is one request per key in flight, except for large values.
    async fn ask_above(
        self: &Arc<Self>,
        linked: &Arc<Replication>,
        question: ReadQuery,
    ) -> Result<Result<Found, NotFound>, ApiError> {
        for _ in 0..MOST_TURNS {
            match linked.flights.join(&question.name()) {
                Turn::Follow(mut answer) => {
                    let came = answer.wait_for(Option::is_some).await.ok().and_then(|came| came.clone());
                    match came {
                        Some(ReadOutcome::Known(answer)) if self.is_young(&answer, &question) => {
                            return self.given(linked, &question, ReadReply::Known(answer)).await;
                        }
                        Some(ReadOutcome::Failed(problem)) => return Err(problem),
                        Some(ReadOutcome::Large) => break,
                        // The response is too old for this request, or the leader was dropped.
                        Some(ReadOutcome::Known(_)) | None => {}
                    }
                }
                Turn::Lead(lead) => {
                    let (service, asker, asked) = (Arc::clone(self), Arc::clone(linked), question.clone());
                    // The task continues if the first client disconnects.
                    let asking = async move {
                        let fetched = service.fetch(&asker, &asked).await;
                        lead.land(match &fetched {
                            ReadReply::Known(answer) => ReadOutcome::Known(answer.clone()),
                            ReadReply::Large { .. } => ReadOutcome::Large,
                            ReadReply::Failed(problem) => ReadOutcome::Failed(problem.clone()),
                        });
                        fetched
                    };
                    let fetched = tokio::spawn(asking).await.map_err(|error| ended(&error))?;
                    return self.given(linked, &question, fetched).await;
                }
            }
        }
        let fetched = self.fetch(linked, &question).await;
        self.given(linked, &question, fetched).await
    }

    /// If the value has been evicted from disk meanwhile, it is requested once more.
    async fn given(
        self: &Arc<Self>,
        linked: &Arc<Replication>,
        question: &ReadQuery,
        fetched: ReadReply,
    ) -> Result<Result<Found, NotFound>, ApiError> {
        if let Some(found) = self.given_now(question, fetched).await? {
            return Ok(found);
        }
        self.copies.lost(&question.name());
        let fetched = self.fetch(linked, question).await;
        let found = self.given_now(question, fetched).await?;
        found.ok_or_else(|| ApiError::new(StatusCode::SERVICE_UNAVAILABLE, GIVEN_UP))
    }

    /// `None` if the value has been evicted from disk.
    async fn given_now(
        &self,
        question: &ReadQuery,
        fetched: ReadReply,
    ) -> Result<Option<Result<Found, NotFound>>, ApiError> {
        match fetched {
            ReadReply::Known(answer) => {
                let from = (self.age(&answer), answer.source);
                Ok(self.read_known(&question.name(), &answer.known, from).await)
            }
            ReadReply::Large { said, asked, body } => Ok(Some(Ok(self.passing(said, asked, body)?))),
            ReadReply::Failed(problem) => Err(problem),
        }
    }

    pub(super) fn passing(&self, said: Said, asked: Duration, body: Body) -> Result<Found, ApiError> {
        let Said { about: Some(about), version, source, .. } = said else {
            return Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, NOT_AGREED));
        };
        let (version, age) = (version.unwrap_or_default(), self.elapsed().saturating_sub(asked));
        Ok(Found { about, version, age, source, content: Content::Passing(body) })
    }

    /// Asks the key's tiers in sequence until one responds.
    async fn fetch(self: &Arc<Self>, linked: &Arc<Replication>, question: &ReadQuery) -> ReadReply {
        let (name, key) = (question.name(), Placement::hash(&question.namespace, &question.key));
        let question = &ReadQuery { had: self.had(&name).await, ..question.clone() };
        let (links, mut is_direct, mut last, mut old) = (&linked.links, false, None, None);
        for _ in 0..MOST_TRIES {
            let next = if is_direct {
                links.store().map(|store| (store, Tier::Store))
            } else {
                links.next(key, question.asked_as)
            };
            let Some(next_one) = next else { break };
            let (centre, tier) = next_one;
            let (asked, known) = (self.elapsed(), self.copies.version(&name));
            let (is_store, came) = match linked.pair() {
                None => {
                    (tier == Tier::Store, self.ask_in_time(linked, next_one, question, Method::GET).await)
                }
                Some(stores) => {
                    let known = known.as_ref().and_then(|known| known.parse().ok());
                    self.ask_near_or_stores(linked, stores, next_one, question, known).await
                }
            };
            match came {
                Ok((said, carried)) => {
                    let asked = asked.saturating_sub(said.age);
                    // This version was already known when the store was requested.
                    let but = known.as_deref().filter(|_| is_store);
                    match carried {
                        ReplyBody::Known(known) => {
                            let is_newest = self.copies.keep_newest(&name, &known, asked, but);
                            if let CachedState::Value(held) = &known
                                && is_newest
                                && !said.is_had
                            {
                                self.shelve(&name, held);
                            }
                            let answer = Answer { known, asked, source: said.source };
                            if is_newest && (is_store || self.is_young(&answer, question)) {
                                return ReadReply::Known(answer);
                            }
                            // The tier has served its own copy, and another tier may have a newer
                            // one.
                            old = Some(answer).filter(|_| is_newest).or(old);
                        }
                        ReplyBody::Large(body) => {
                            let (version, newest) = (said.version.as_deref(), self.copies.version(&name));
                            if version >= newest.as_deref() || is_store && newest == known {
                                self.copies.wrote(&name, version.unwrap_or_default());
                                let body = self.pour(&name, &said, asked, body);
                                return ReadReply::Large { said, asked, body };
                            }
                        }
                    }
                    // The tier has missed a write that is known here, or was read before it.
                    last = Some((centre, OVERTAKEN.to_owned()));
                    is_direct = true;
                }
                Err(why) => {
                    last = Some((centre, why));
                    if is_store {
                        break;
                    }
                    // Another tier may be next. If it is the same one, request the store itself.
                    is_direct = links.next(key, question.asked_as) == next;
                }
            }
        }
        // A copy that is older than the period is served only if the request permits it.
        let terms = FreshnessPolicy::default();
        let is_enough = |answer: &Answer| {
            let wanted = question.wanted.cache_ttl;
            let longest = wanted.unwrap_or_else(|| terms.period(answer.known.is_negative(), None));
            self.age(answer) < longest
        };
        let Some(answer) = old.filter(is_enough) else { return ReadReply::Failed(unreached(linked, last)) };
        if self.age(&answer) >= terms.period(answer.known.is_negative(), question.wanted.cache_ttl) {
            self.counts.stood_in.add(1);
        }
        ReadReply::Known(answer)
    }

    /// Without keeping it.
    pub(super) async fn look_above(
        &self,
        linked: &Replication,
        question: &ReadQuery,
    ) -> Result<Said, String> {
        let links = &linked.links;
        let next = links.next(Placement::hash(&question.namespace, &question.key), question.asked_as);
        let store = || links.store().map(|store| (store, Tier::Store));
        let mut why = "no data centre is available".to_owned();
        for next in [next, store()].into_iter().flatten() {
            match self.ask_in_time(linked, next, question, Method::HEAD).await {
                Ok((said, _)) => return Ok(said),
                Err(because) => why = because,
            }
        }
        Err(why)
    }

    pub(super) async fn ask_in_time(
        &self,
        linked: &Replication,
        (centre, tier): (DataCentreId, Tier),
        question: &ReadQuery,
        method: Method,
    ) -> Result<(Said, ReplyBody), String> {
        let asked = timeout(patience(tier), self.ask_one(linked, (centre, tier), question, method)).await;
        asked.unwrap_or_else(|_| Err("it does not respond in time".to_owned()))
    }

    async fn ask_one(
        &self,
        linked: &Replication,
        (centre, tier): (DataCentreId, Tier),
        question: &ReadQuery,
        method: Method,
    ) -> Result<(Said, ReplyBody), String> {
        let target: Uri = wire::target(&question.key).parse().map_err(|_| NOT_AGREED)?;
        let request = || {
            let mut request = Request::new(Body::empty());
            *request.method_mut() = method.clone();
            *request.uri_mut() = target.clone();
            let headers = request.headers_mut();
            set(headers, wire::ASKED_AS, tier.name());
            set(headers, NAMESPACE, &question.namespace);
            wire::write_wanted(
                headers,
                ReadOptions { within: Some(question.within(false)), ..question.wanted },
            );
            if let Some(version) = question.had.as_ref().and_then(CachedState::version) {
                wire::write_had(headers, version);
            }
            Some(request)
        };
        let response = linked.send(centre, request).await.map_err(|unreached| unreached.to_string())?;
        let (said, body) = answer_of(response).await?;
        if said.is_had {
            self.counts.unchanged.add(1);
            let had = question.had.clone().filter(|had| had.version() == said.version.as_deref());
            return Ok((said, ReplyBody::Known(had.ok_or(NOT_AGREED)?)));
        }
        let Some(about) = &said.about else {
            let version = said.version.as_deref().map(Arc::from);
            return Ok((said, ReplyBody::Known(CachedState::Absent(version))));
        };
        if method == Method::HEAD || about.bytes > self.copies.largest() as u64 {
            return Ok((said, ReplyBody::Large(body)));
        }
        let value = body.collect(self.copies.largest()).await;
        let value = value.map_err(|failure| format!("its response was truncated: {failure}"))?;
        if value.len() as u64 != about.bytes {
            return Err(NOT_AGREED.to_owned());
        }
        let version = said.version.clone().unwrap_or_default();
        let held = MemoryValue { value, about: about.clone(), version };
        Ok((said, ReplyBody::Known(CachedState::Value(Arc::new(held)))))
    }

    fn age(&self, answer: &Answer) -> Duration {
        self.elapsed().saturating_sub(answer.asked)
    }

    fn is_young(&self, answer: &Answer, question: &ReadQuery) -> bool {
        self.age(answer) < question.within(answer.known.is_negative())
    }
}

pub(super) fn unreached(linked: &Replication, last: Option<(DataCentreId, String)>) -> ApiError {
    let links = &linked.links;
    if let Some([one, other]) = linked.pair() {
        let why =
            last.map_or_else(String::new, |(centre, why)| format!(" (\"{}\": {why})", links.name(centre)));
        let message = format!(
            "the stores are in data centres \"{}\" and \"{}\", and neither has responded{why}",
            links.name(one),
            links.name(other)
        );
        return ApiError::new(StatusCode::SERVICE_UNAVAILABLE, message);
    }
    let store = links.store().map(|store| links.name(store)).unwrap_or_default();
    let why = last.map_or_else(String::new, |(centre, why)| {
        let name = links.name(centre);
        if name == store { format!(": {why}") } else { format!(", nor has \"{name}\": {why}") }
    });
    let message = format!("the store is in data centre \"{store}\", which has not responded{why}");
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, message)
}

pub(super) async fn answer_of(response: Response<Body>) -> Result<(Said, Body), String> {
    let (parts, body) = response.into_parts();
    let has_value = match parts.status {
        StatusCode::OK => true,
        StatusCode::NOT_FOUND | StatusCode::NOT_MODIFIED => false,
        _ => {
            let text = body.collect(LONGEST_REFUSAL).await.unwrap_or_default();
            return Err(String::from_utf8_lossy(&text).trim_end().to_owned());
        }
    };
    let said = Said::read(&parts.headers, has_value).ok_or(NOT_AGREED)?;
    Ok((Said { is_had: parts.status == StatusCode::NOT_MODIFIED, ..said }, body))
}

/// Exceeds the timeout of the next tier, and the time to detect a failed data centre.
fn patience(asked: Tier) -> Duration {
    match asked {
        Tier::Lower | Tier::Store => Duration::from_secs(5),
        Tier::Upper => Duration::from_secs(6),
        Tier::Regional => Duration::from_secs(7),
    }
}

pub(super) const NOT_AGREED: &str = "its response is invalid";
const GIVEN_UP: &str = "the value was evicted from disk: try again";
const OVERTAKEN: &str = "its response is older than the last write";
/// How long a request waits for a newer value before it falls back to an expired copy.
const IN_TIME: Duration = Duration::from_secs(2);
/// Regional tier, its fallback, upper tier, store.
const MOST_TRIES: usize = 4;
/// Requests of other leaders to wait for, before a separate request is sent.
const MOST_TURNS: usize = 3;
const LONGEST_REFUSAL: usize = 4096;
