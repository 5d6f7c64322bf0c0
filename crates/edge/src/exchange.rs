//! Data centres tell one another what was purged: at once, and every few seconds, so that who was away hears of it too.
//!
//! Whoever asks says how far it is and what the other one lacks, and is answered the same; until neither lacks anything. A request for an
//! object says how far its data centre is, and who is behind asks it before it answers.

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

/// Why a data centre does not answer a request of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behind {
    /// It lacks purges, and did not get them in time.
    Lacks,
    /// What the other one says of itself is not as agreed on.
    Unread,
}

impl Edge {
    /// Has links to other data centres from now on, and watches them. To be called in a tokio runtime with I/O and time.
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

    /// Whether these are still the others: a request may hold on to those of an earlier state of the network.
    fn still_has(&self, others: &Arc<Others>) -> bool {
        self.others().is_some_and(|now| Arc::ptr_eq(&now, others))
    }

    /// Has links to the data centres of another network, or of another state of this one. As [`Self::link`].
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

    /// Tells another data centre what it lacks, and takes what is lacking here. Two at a time with each; if `is_needless` says so when it is
    /// this one's turn, another one has done it.
    pub(crate) async fn exchange(
        self: &Arc<Self>,
        others: &Others,
        centre: CentreId,
        is_needless: impl Fn() -> bool,
    ) -> Result<(), String> {
        let peer = others.peer(centre);
        let _turn = peer.turns.acquire().await.map_err(|_| "this data centre ends")?;
        for _ in 0..MOST_ROUNDS {
            if is_needless() {
                return Ok(());
            }
            let before = self.bus.progress(&peer.name);
            let message = self.bus.message_to(&peer.name, others.network_name());
            let question = Question { kind: PURGES, body: message.write(), longest: Message::LONGEST };
            let text = others.question(centre, Lane::Small, question).await?;
            let answer = Message::read(&text).ok_or("its answer is not as agreed on")?;
            if answer.network != others.network_name() {
                return Err("it is of another network".to_owned());
            }
            others.heard(centre);
            let taken = self.take_in(&peer.name, answer).await;
            taken.map_err(|Leaving| "another process is taking this one's place".to_owned())?;
            if self.bus.is_even_with(&peer.name) {
                return Ok(());
            }
            if self.bus.progress(&peer.name) == before {
                return Err(
                    "it does not take what it lacks, or has no more of what is lacking here".to_owned()
                );
            }
        }
        Err("it has more to tell than there can be".to_owned())
    }

    pub(crate) async fn take_in(self: &Arc<Self>, name: &str, message: Message) -> Result<(), Leaving> {
        if self.on_disk.is_none() {
            return self.take(name, message);
        }
        let (edge, name) = (Arc::clone(self), name.to_owned());
        spawn_blocking(move || edge.take(&name, message)).await.unwrap_or(Err(Leaving))
    }

    /// Answers another data centre that tells what was purged; or why not.
    pub(crate) async fn answer_exchange(
        self: &Arc<Self>,
        others: &Others,
        name: &str,
        body: Body,
    ) -> Result<Response<Body>, String> {
        let text = body.collect(Message::LONGEST).await;
        let text = text.map_err(|_| "the message broke off, or is longer than 4 MiB".to_owned())?;
        let message = Message::read(&text).ok_or("the message is not as agreed on")?;
        if message.network != others.network_name() {
            return Err(format!("this data centre is of the network \"{}\"", others.network_name()));
        }
        if message.log == self.bus.last_own().0 {
            return Err("the message is from this data centre itself".to_owned());
        }
        let (position, over) = (message.position.clone(), message.over.clone());
        if self.take_in(name, message).await == Err(Leaving) {
            return Err("another process is taking this one's place: ask again in a moment".to_owned());
        }
        let answer = self.bus.message_after((&position, &over), others.network_name());
        let mut response = Response::new(Body::whole(answer.write()));
        let kind = HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        Ok(response)
    }

    /// Does all that the data centre has done that sent a request with this header, so that it is not answered with what it has purged.
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
                tracing::info!(data_centre = sender, why, "purges could not be asked for");
            }
        }
        if covers() == Ok(true) { Ok(()) } else { Err(Behind::Lacks) }
    }

    /// Asks a data centre what was purged, if its answer says that it is ahead.
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

/// Asks another data centre what was purged, for as long as there are others.
async fn watch(edge: Weak<Edge>, others: Weak<Others>, centre: CentreId) {
    while let (Some(now), Some(there)) = (edge.upgrade(), others.upgrade()) {
        if !now.still_has(&there) {
            return;
        }
        let exchanged = now.exchange(&there, centre, || false).await;
        let name = &there.peer(centre).name;
        if let Err(why) = exchanged {
            tracing::debug!(data_centre = name, why, "another data centre was not asked what was purged");
        }
        let count = there.centres().len();
        now.bus.asked(name, count - 1);
        let period = between_exchanges(count);
        drop((now, there));
        sleep(period).await;
    }
}

/// How long it is from one exchange with a data centre to the next, in a network of so many.
pub(crate) fn between_exchanges(data_centres: usize) -> Duration {
    EACH + EACH_MORE * u32::try_from(data_centres).unwrap_or(u32::MAX)
}

/// Looks at what is known of all others, for as long as there are any.
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

/// A response to a message that is not taken.
pub(crate) fn not_taken(why: &str) -> Response<Body> {
    let mut response = Response::new(Body::whole(format!("{why}\n")));
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    response
}

/// Whether a request tells what was purged.
pub(crate) fn is_exchange(request: &Request<Body>) -> bool {
    request.headers().get(crate::came::KIND).is_some_and(|kind| *kind == PURGES)
}

/// Between two exchanges with one data centre; the engine's promise needs none of them, and late joiners no more than one.
const EACH: Duration = Duration::from_secs(3);
/// And for each data centre so much more, so that a network of 300 does not spend its time on questions.
const EACH_MORE: Duration = Duration::from_millis(10);
const TICK: Duration = Duration::from_secs(1);
/// How long a request waits for what its data centre lacks, before it is sent elsewhere. Longer than one exchange with a data centre
/// that responds.
const CATCHING_UP: Duration = Duration::from_secs(5);
/// Messages with a thousand purges each: as many as 4096 full logs.
const MOST_ROUNDS: usize = 50_000;
