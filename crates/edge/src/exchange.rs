//! Exchange of purges between data centres: immediately after a purge, and every few seconds for peers that
//! were unreachable.
//!
//! A request contains the position of the sender and the entries that the receiver lacks; the response
//! contains the same for the other direction. Requests are repeated until both have the same entries. A
//! request for an object carries the position of its sender; a receiver that does not cover this position
//! first catches up.

use std::{
    collections::BTreeSet,
    sync::{Arc, Weak},
    time::Duration,
};

use ::tiers::CentreId;
use http::{Body, HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use tokio::{
    task::spawn_blocking,
    time::{sleep, timeout},
};

use crate::{
    Error,
    bus::Message,
    came::{POSITION, PURGES},
    centre::Edge,
    network::Network,
    others::{Lane, Others, Question},
    purging::Leaving,
};

/// Why a request of a peer is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behind {
    /// Purges that the sender has applied could not be received in time.
    Lacks,
    /// The position of the sender is malformed.
    Unread,
}

impl Edge {
    /// Connects to peers and starts to exchange purges with them. Must be called in a tokio runtime with I/O
    /// and time.
    pub(crate) fn link(self: &Arc<Self>, others: Option<Arc<Others>>) {
        self.put_others(others);
        let Some(others) = self.others() else { return };
        let edge = Arc::downgrade(self);
        others.begin(move || Some(edge.upgrade()?.network()));
        for (centre, _) in others.all() {
            tokio::spawn(watch(Arc::downgrade(self), Arc::downgrade(&others), centre));
        }
        tokio::spawn(look(Arc::downgrade(self), Arc::downgrade(&others)));
    }

    /// Whether this set of peers is current: a request may hold the set of an earlier configuration.
    fn still_has(&self, others: &Arc<Others>) -> bool {
        self.others().is_some_and(|now| Arc::ptr_eq(&now, others))
    }

    pub(crate) fn relink(self: &Arc<Self>, network: &Network) -> Result<(), Error> {
        match self.others().filter(|others| others.are_those_of(&self.network(), network)) {
            Some(others) => {
                others.renew(network)?;
                others.take(network);
            }
            None => {
                let before = self.others();
                self.link(Others::new(network, &self.centre, self.cores(), before.as_deref())?);
            }
        }
        Ok(())
    }

    /// Exchanges purges with a peer until both have the same entries. At most two exchanges per peer run
    /// concurrently. Ends early if `is_needless` returns true after the wait for a turn, because another
    /// exchange has done the work.
    pub(crate) async fn exchange(
        self: &Arc<Self>,
        others: &Others,
        centre: CentreId,
        is_needless: impl Fn() -> bool,
    ) -> Result<(), String> {
        let peer = others.peer(centre);
        let _turn = peer.turns.acquire().await.map_err(|_| "this data centre is shutting down")?;
        for _ in 0..MOST_ROUNDS {
            if is_needless() {
                return Ok(());
            }
            let before = self.bus.progress(&peer.name);
            let message = self.bus.message_to(&peer.name, others.network_name());
            let question = Question { kind: PURGES, body: message.write(), longest: Message::LONGEST };
            let text = others.question(centre, Lane::Small, question).await?;
            let answer = Message::read(&text).ok_or("its response is malformed")?;
            if answer.network != others.network_name() {
                return Err("it belongs to another network".to_owned());
            }
            others.heard(centre);
            let taken = self.take_in(&peer.name, answer).await;
            taken.map_err(|Leaving| "a handover to another process is in progress".to_owned())?;
            if self.bus.is_even_with(&peer.name) {
                return Ok(());
            }
            if self.bus.progress(&peer.name) == before {
                return Err("the exchange made no progress although entries are missing".to_owned());
            }
        }
        Err("the exchange exceeded the maximum number of rounds".to_owned())
    }

    pub(crate) async fn take_in(self: &Arc<Self>, name: &str, message: Message) -> Result<(), Leaving> {
        if self.on_disk.is_none() {
            return self.take(name, message);
        }
        let (edge, name) = (Arc::clone(self), name.to_owned());
        spawn_blocking(move || edge.take(&name, message)).await.unwrap_or(Err(Leaving))
    }

    /// The response to an exchange request of a peer, or the reason for a refusal.
    pub(crate) async fn answer_exchange(
        self: &Arc<Self>,
        others: &Others,
        name: &str,
        body: Body,
    ) -> Result<Response<Body>, String> {
        let text = body.collect(Message::LONGEST).await;
        let text = text.map_err(|_| "the message is truncated or longer than 4 MiB".to_owned())?;
        let message = Message::read(&text).ok_or("the message is malformed")?;
        if message.network != others.network_name() {
            return Err(format!("this data centre belongs to the network \"{}\"", others.network_name()));
        }
        if message.log == self.bus.last_own().0 {
            return Err("the message is from this data centre itself".to_owned());
        }
        let (position, over) = (message.position.clone(), message.over.clone());
        if self.take_in(name, message).await == Err(Leaving) {
            return Err("a handover to another process is in progress: retry in a moment".to_owned());
        }
        let answer = self.bus.message_after((&position, &over), others.network_name());
        let mut response = Response::new(Body::whole(answer.write()));
        let kind = HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        Ok(response)
    }

    /// Applies all purges that the sender of a request has applied, so that the response contains no object
    /// that the sender has purged.
    pub(crate) async fn catch_up(
        self: &Arc<Self>,
        others: &Others,
        sender: &str,
        headers: &HeaderMap,
    ) -> Result<(), Behind> {
        let Some(told) = headers.get(POSITION) else { return Ok(()) };
        let covers = || self.bus.covers(told);
        if covers().map_err(|_| Behind::Unread)? {
            return Ok(());
        }
        if let Some(centre) = others.id(sender) {
            let exchange = self.exchange(others, centre, || covers() == Ok(true));
            if let Ok(Err(why)) = timeout(CATCHING_UP, exchange).await {
                tracing::info!(data_centre = sender, why, "missing purges could not be received");
            }
        }
        if covers() == Ok(true) { Ok(()) } else { Err(Behind::Lacks) }
    }

    /// Requests purges from a peer whose response reports a position that is not covered.
    pub(crate) fn look_after(self: &Arc<Self>, others: &Arc<Others>, centre: CentreId, told: &HeaderValue) {
        if self.bus.covers(told) != Ok(false) || others.peer(centre).turns.available_permits() == 0 {
            return;
        }
        let (edge, others, told) = (Arc::clone(self), Arc::clone(others), told.clone());
        tokio::spawn(async move {
            let covers = || edge.bus.covers(&told) != Ok(false);
            let _ = edge.exchange(&others, centre, covers).await;
        });
    }
}

/// Exchanges purges with a peer periodically, until the set of peers is replaced.
async fn watch(edge: Weak<Edge>, others: Weak<Others>, centre: CentreId) {
    while let (Some(now), Some(there)) = (edge.upgrade(), others.upgrade()) {
        if !now.still_has(&there) {
            return;
        }
        let exchanged = now.exchange(&there, centre, || false).await;
        let name = &there.peer(centre).name;
        if let Err(why) = exchanged {
            tracing::debug!(data_centre = name, why, "an exchange of purges failed");
        }
        let count = there.centres().len();
        now.bus.asked(name, count - 1);
        let period = between_exchanges(count);
        drop((now, there));
        sleep(period).await;
    }
}

/// The interval between two exchanges with a data centre.
pub(crate) fn between_exchanges(data_centres: usize) -> Duration {
    EACH + EACH_MORE * u32::try_from(data_centres).unwrap_or(u32::MAX)
}

async fn look(edge: Weak<Edge>, others: Weak<Others>) {
    while let (Some(now), Some(there)) = (edge.upgrade(), others.upgrade()) {
        if !now.still_has(&there) {
            return;
        }
        let names: BTreeSet<_> = there.all().map(|(_, peer)| peer.name.as_str()).collect();
        let over = now.bus.look(&names);
        if let Some(on_disk) = now.on_disk.as_ref().filter(|_| !over.is_empty()) {
            on_disk.forget_logs(&over);
        }
        drop((now, there));
        sleep(TICK).await;
    }
}

pub(crate) fn not_taken(why: &str) -> Response<Body> {
    let mut response = Response::new(Body::whole(format!("{why}\n")));
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    response
}

pub(crate) fn is_exchange(request: &Request<Body>) -> bool {
    request.headers().get(crate::came::KIND).is_some_and(|kind| *kind == PURGES)
}

/// The base interval between exchanges with a data centre. Purges are sent immediately; this is for late
/// joiners.
const EACH: Duration = Duration::from_secs(3);
/// Added per data centre, so that a network of 300 is not busy with exchanges.
const EACH_MORE: Duration = Duration::from_millis(10);
const TICK: Duration = Duration::from_secs(1);
/// How long a request waits for missing purges before it is refused. Longer than one exchange with a data
/// centre that responds.
const CATCHING_UP: Duration = Duration::from_secs(5);
/// Messages of a thousand purges each: enough for 4096 full logs.
const MOST_ROUNDS: usize = 50_000;
