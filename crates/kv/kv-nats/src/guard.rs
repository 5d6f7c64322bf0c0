//! Compares a stream with the acknowledged state. A stream that lacks messages is refused until it
//! is complete or accepted.

use std::time::Duration;

use async_nats::{Client, HeaderMap, jetstream::Context};
use futures_util::StreamExt as _;
use kv::Millis;
use tokio::time::Instant;

use crate::{
    Address,
    connection::{LONGEST_ANSWER, Since},
    index::Short,
    layout::{full_key, record},
    loss::{Loss, StreamState, lacks},
    state::{Ready, SharedState},
    stream::{Found, consumer, find, make, said},
};

pub(crate) enum Why {
    Trouble(String),
    Refused(Loss),
}

#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) address: &'a Address,
    pub(crate) client: &'a Client,
    pub(crate) context: &'a Context,
}

pub(crate) struct Guard {
    now: fn() -> Millis,
    following: Option<String>,
    next: Option<(String, Since)>,
    since: Option<Instant>,
    loss: Option<Loss>,
    /// Since the last check, the connection was lost or a response did not match.
    is_careful: bool,
}

impl Guard {
    pub(crate) fn new(now: fn() -> Millis) -> Self {
        Self { now, following: None, next: None, since: None, loss: None, is_careful: true }
    }

    pub(crate) fn be_careful(&mut self) {
        self.is_careful = true;
    }

    pub(crate) fn begun(&mut self) {
        self.following = self.next.take().map(|(created, _)| created);
    }

    pub(crate) async fn admit(&mut self, shared: &SharedState, at: At<'_>) -> Result<(Found, Since), Why> {
        let acknowledged = &shared.acknowledged;
        self.is_careful |= acknowledged.take_doubt();
        // Read before the request: other writes may be acknowledged meanwhile.
        let expected = acknowledged.expected(shared.index().held().0);
        let found = find(at.context, at.address).await?;
        let Some(expected) = expected else {
            return self.begin(shared, at, found, Since::Start).await;
        };
        match found {
            Some(found) if self.is_whole(shared, at, &found, &expected).await? => {
                let state = StreamState::of(&found.info);
                (self.since, self.loss, self.is_careful) = (None, None, false);
                let since = match &self.next {
                    Some((created, since)) if *created == state.created => *since,
                    _ if self.following.as_ref() == Some(&state.created) => Since::Place,
                    _ => Since::Start,
                };
                self.next = Some((state.created.clone(), since));
                acknowledged.follow(state);
                Ok((found, since))
            }
            found => self.admit_less(shared, at, found, expected).await,
        }
    }

    /// Without reading all of it.
    async fn is_whole(
        &self,
        shared: &SharedState,
        at: At<'_>,
        found: &Found,
        expected: &StreamState,
    ) -> Result<bool, Why> {
        if !StreamState::of(&found.info).follows(expected) {
            return Ok(false);
        }
        // A stream that has gone back may have grown since.
        if !self.is_careful {
            return Ok(true);
        }
        let ready = Ready { client: at.client.clone(), stream: found.stream.clone() };
        Ok(shared.has_newest(&ready, (self.now)(), None).await.map_err(said)?)
    }

    /// An incomplete stream is used if the operator accepted it, or if nothing is missing.
    async fn admit_less(
        &mut self,
        shared: &SharedState,
        at: At<'_>,
        found: Option<Found>,
        expected: StreamState,
    ) -> Result<(Found, Since), Why> {
        let state = found.as_ref().map(|found| StreamState::of(&found.info));
        let name = &at.address.stream;
        if shared.acknowledged.take_accepted(state.as_ref()) {
            tracing::warn!(
                stream = name,
                "the operator accepted the stream, which lacks acknowledged messages"
            );
            return self.begin(shared, at, found, Since::Less).await;
        }
        if self.since.get_or_insert_with(Instant::now).elapsed() < PATIENCE {
            return Err(Why::Trouble(lacks(name)));
        }
        let is_empty = found.as_ref().is_none_or(|found| found.info.state.messages == 0);
        if is_empty && shared.has_given_all() {
            tracing::warn!(stream = name, "the stream is empty, and is filled from the other store");
            return self.begin(shared, at, found, Since::Less).await;
        }
        let loss = match self.loss.take().filter(|loss| loss.is_of(state.as_ref())) {
            Some(loss) => loss,
            None => self.loss(shared, at, found.as_ref(), expected).await?,
        };
        if loss.missing_keys == Some(0) {
            tracing::info!(stream = name, "the stream was replaced and has all acknowledged keys");
            return self.begin(shared, at, found, Since::Anew).await;
        }
        self.loss = Some(loss.clone());
        Err(Why::Refused(loss))
    }

    async fn begin(
        &mut self,
        shared: &SharedState,
        at: At<'_>,
        found: Option<Found>,
        since: Since,
    ) -> Result<(Found, Since), Why> {
        let found = match found {
            Some(found) => found,
            None => make(at.context, at.address).await?,
        };
        let state = StreamState::of(&found.info);
        (self.since, self.loss, self.is_careful) = (None, None, false);
        self.next = Some((state.created.clone(), since));
        shared.acknowledged.begin_anew(state);
        Ok((found, since))
    }

    /// Reads the whole stream if the index is complete.
    async fn loss(
        &self,
        shared: &SharedState,
        at: At<'_>,
        found: Option<&Found>,
        expected: StreamState,
    ) -> Result<Loss, Why> {
        let mut state = found.map(|found| StreamState::of(&found.info));
        let mut missing_keys = None;
        if shared.acknowledged.is_read() {
            let mut short = Short::of(&shared.index(), (self.now)());
            if let Some(found) = found.filter(|found| found.info.state.messages > 0) {
                read_all(shared, at, found, &mut short).await?;
            }
            let (missing, keys) = short.total();
            missing_keys = Some(missing);
            if let Some(state) = &mut state {
                state.keys = Some(keys);
            }
        }
        Ok(Loss { stream: at.address.stream.clone(), expected, found: state, missing_keys })
    }
}

async fn read_all(shared: &SharedState, at: At<'_>, found: &Found, short: &mut Short) -> Result<(), Why> {
    let newest = found.info.state.last_sequence;
    let consumer = found.stream.create_consumer(consumer(at.client, 0)).await.map_err(said)?;
    if consumer.cached_info().num_pending == 0 {
        return Ok(());
    }
    let mut messages = consumer.messages().await.map_err(said)?;
    let mut expected = 1;
    while !shared.is_closed() {
        let message = messages.next().await.ok_or("the connection has ended")?.map_err(said)?;
        let Ok(info) = message.info() else { continue };
        if info.consumer_sequence != expected {
            return Err("messages were lost in transit, and are read again".into());
        }
        expected += 1;
        let none = HeaderMap::new();
        let record = record(message.headers.as_ref().unwrap_or(&none), None);
        if let (Some(key), Ok(record)) = (full_key(&at.address.stream, &message.subject), record) {
            short.see(&key, &record);
        }
        if info.pending == 0 || info.stream_sequence >= newest {
            break;
        }
    }
    Ok(())
}

impl From<String> for Why {
    fn from(why: String) -> Self {
        Self::Trouble(why)
    }
}

impl From<&str> for Why {
    fn from(why: &str) -> Self {
        Self::Trouble(why.to_owned())
    }
}

/// A new leader may need this long to apply its log, and a response about the previous stream may
/// arrive this late.
const PATIENCE: Duration = LONGEST_ANSWER;
