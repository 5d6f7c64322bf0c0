//! The thread with the connection: it makes the stream if it is not there, and keeps the index as new as the stream is.
//!
//! The index is fed by a consumer that sends headers without values, in order. One that lost a message, or does not beat any more, is
//! given up, and the next one goes on behind the last message that was read. There is none while this process writes much and
//! nobody else writes.

use std::{
    fmt,
    sync::{Arc, atomic::Ordering::SeqCst},
    time::Duration,
};

use async_nats::{
    Client, ConnectOptions, HeaderMap,
    connection::State,
    jetstream::{
        Context,
        consumer::{AckPolicy, DeliverPolicy, push},
        stream::{self, DiscardPolicy, StorageType, Stream},
    },
};
use futures_util::StreamExt as _;
use tokio::time::{Instant, sleep, timeout};

use crate::{
    Address,
    alone::{BETWEEN_LOOKS, Gapless, Streak, Worth},
    connection::{
        BETWEEN_BEATS, LONGEST_SILENCE, LOST, Place, Secrets, Since, connect, context, failed, needs,
        unavailable,
    },
    index::Entry,
    layout,
    shared::{Ready, Shared},
};

/// Connects and follows the stream until the store is closed.
pub(crate) async fn run(shared: Arc<Shared>, address: Address, secrets: Secrets) {
    let mut place = Place::default();
    let mut client = None;
    while !shared.is_closed() {
        let connected = match client.take() {
            Some(client) => Ok(client),
            None => {
                let turn = Arc::clone(&shared);
                connect(&address, &secrets, ConnectOptions::new(), move || turn.turn.notify_one()).await
            }
        };
        let why = match connected {
            Ok(connected) => {
                let why = follow(&shared, &address, &connected, &mut place).await;
                client = Some(connected);
                why
            }
            Err(why) => why,
        };
        shared.trouble(why);
        let _ = timeout(BEFORE_AGAIN, shared.turn.notified()).await;
    }
}

/// Follows the stream from where that ended, and goes on until something fails: why.
async fn follow(shared: &Shared, address: &Address, client: &Client, place: &mut Place) -> String {
    loop {
        let followed = async {
            read(shared, address, client, place).await?;
            go_alone(shared, client, place).await
        };
        if let Err(why) = followed.await {
            return failed(address, &why);
        }
    }
}

/// Reads the stream as long as others may write to it.
async fn read(shared: &Shared, address: &Address, client: &Client, place: &mut Place) -> Result<(), String> {
    is_there(shared, client)?;
    shared.numbers.want(false);
    let context = context(client);
    let stream = stream(&context, address).await?;
    // The last message of all is there, as each subject keeps its last one. How many are pending is not to be relied on alone: a server may
    // count messages that newer ones have replaced, and then never say that there are none.
    let newest = stream.cached_info().state.last_sequence;
    let handle = context.get_stream_no_info(&address.stream).await.map_err(said)?;
    let ready = Arc::new(Ready { client: client.clone(), stream: handle });
    if place.meet(stream.cached_info()) != Since::Place
        && let Err(why) = shared.begin(&ready, newest == 0).await
    {
        *place = Place::default();
        return Err(why.to_string());
    }
    let is_first = place.last == 0;
    let consumer = stream.create_consumer(push::Config {
        deliver_subject: client.new_inbox(),
        deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: place.last + 1 },
        ack_policy: AckPolicy::None,
        max_deliver: 1,
        headers_only: true,
        flow_control: true,
        idle_heartbeat: BETWEEN_BEATS,
        inactive_threshold: LONGEST_SILENCE,
        memory_storage: true,
        num_replicas: 1,
        ..push::Config::default()
    });
    let consumer = consumer.await.map_err(said)?;
    let mut messages = consumer.messages().await.map_err(said)?;
    let mut is_current = consumer.cached_info().num_pending == 0 || place.last >= newest;
    if is_current {
        shared.is_ready(&ready);
    }
    let mut streak = Streak::default();
    let mut expected = 1;
    loop {
        let message = tokio::select! {
            message = messages.next() => message,
            () = shared.turn.notified() => {
                is_there(shared, client)?;
                continue;
            }
        };
        let message = message.ok_or("the connection has ended")?.map_err(said)?;
        let Ok(info) = message.info() else { continue };
        if info.consumer_sequence != expected {
            return Err("messages were lost on the way, and are read again".to_owned());
        }
        expected += 1;
        let (sequence, pending) = (info.stream_sequence, info.pending);
        let mut is_ours = true;
        if let Some(key) = layout::full_key(&address.stream, &message.subject) {
            // Most are what was written here.
            if !shared.is_known(&key, sequence) {
                let none = HeaderMap::new();
                let record = layout::record(message.headers.as_ref().unwrap_or(&none), None).ok();
                is_ours = record.as_ref().is_some_and(|record| *record.version.store() == shared.name);
                shared.read(&key, Entry { sequence, record }, is_first && !is_current);
            }
            shared.read_upto.fetch_max(sequence, SeqCst);
        }
        place.last = place.last.max(sequence);
        if !is_current && (pending == 0 || place.last >= newest) {
            is_current = true;
            shared.is_ready(&ready);
        }
        let worth = streak.after(is_current && is_ours && pending < FEW, Instant::now());
        shared.numbers.want(worth != Worth::No);
        if worth == Worth::Yes {
            let name = consumer.cached_info().name.clone();
            // One that cannot be removed the server forgets by itself.
            tokio::spawn(async move { stream.delete_consumer(&name).await.map(drop) });
            return Ok(());
        }
    }
}

/// Follows the stream by the numbers of what is written here alone, as long as that is all of it.
async fn go_alone(shared: &Shared, client: &Client, place: &mut Place) -> Result<(), String> {
    tracing::debug!(after = place.last, "nobody else writes to the stream");
    let mut gapless = Gapless::behind(place.last);
    let mut is_alone = true;
    while is_alone {
        tokio::select! {
            () = sleep(BETWEEN_LOOKS) => {}
            () = shared.turn.notified() => {
                is_there(shared, client)?;
                continue;
            }
        }
        is_alone = gapless.look(shared.numbers.take());
        place.last = gapless.last;
        shared.read_upto.fetch_max(gapless.last, SeqCst);
    }
    tracing::debug!(after = place.last, "the stream is read again");
    Ok(())
}

/// Whether the store is open, and connected.
fn is_there(shared: &Shared, client: &Client) -> Result<(), String> {
    let is_there = !shared.is_closed() && client.connection_state() == State::Connected;
    is_there.then_some(()).ok_or_else(|| LOST.to_owned())
}

fn said(why: impl fmt::Display) -> String {
    why.to_string()
}

/// The stream, made if it is not there.
async fn stream(context: &Context, address: &Address) -> Result<Stream, String> {
    let name = &address.stream;
    let wanted = stream::Config {
        name: name.clone(),
        subjects: vec![layout::all(name)],
        description: Some("keys and values of Longhaul".to_owned()),
        max_messages_per_subject: 1,
        // A full stream refuses what is new: else it would give up keys that nobody deleted.
        discard: DiscardPolicy::New,
        storage: StorageType::File,
        num_replicas: address.replicas,
        allow_direct: true,
        ..stream::Config::default()
    };
    let stream = context.get_or_create_stream(wanted.clone()).await.map_err(|why| unavailable(&why))?;
    let config = &stream.cached_info().config;
    let needs = |what: &str| needs(name, what);
    if config.max_messages_per_subject != 1 {
        return needs("max_msgs_per_subject 1");
    }
    if config.subjects != wanted.subjects {
        return needs(&format!("the subjects {}", wanted.subjects[0]));
    }
    if config.discard != DiscardPolicy::New {
        return needs("discard new");
    }
    if config.max_age != Duration::ZERO {
        return needs("no max_age");
    }
    if !config.allow_direct {
        return needs("allow_direct");
    }
    Ok(stream)
}

const BEFORE_AGAIN: Duration = Duration::from_secs(1);
/// Messages that a consumer which keeps up has not sent yet.
const FEW: u64 = 250;
