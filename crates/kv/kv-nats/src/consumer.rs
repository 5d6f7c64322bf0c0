//! The feed: a thread with its own connection that creates the stream if it is missing and keeps
//! the index up to date.
//!
//! A consumer delivers headers without values, in stream order. It is replaced after a lost message
//! or a missing heartbeat.

use std::{
    sync::{Arc, atomic::Ordering::SeqCst},
    time::Duration,
};

use async_nats::{Client, ConnectOptions, HeaderMap, connection::State};
use futures_util::StreamExt as _;
use kv::Millis;
use tokio::time::{Instant, sleep, timeout};

use crate::{
    Address,
    connection::{Credentials, LOST, Since, connect, context, failed},
    guard::{At, Guard, Why},
    index::Entry,
    layout,
    loss::lacks,
    sole_writer::{BETWEEN_LOOKS, FollowMode, SequenceTracker, WriteStreak},
    state::{Ready, SharedState},
    stream::{consumer, said},
};

struct Progress {
    last: u64,
    guard: Guard,
}

pub(crate) async fn run(
    shared: Arc<SharedState>,
    address: Address,
    secrets: Credentials,
    now: fn() -> Millis,
) {
    let mut progress = Progress { last: 0, guard: Guard::new(now) };
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
                let why = follow(&shared, &address, &connected, &mut progress).await;
                client = Some(connected);
                why
            }
            Err(why) => Why::Trouble(why),
        };
        match why {
            Why::Trouble(why) => shared.trouble(why),
            Why::Refused(loss) => shared.refuse(loss),
        }
        let _ = timeout(BEFORE_AGAIN, shared.turn.notified()).await;
    }
}

/// Returns the error that ended it.
async fn follow(shared: &SharedState, address: &Address, client: &Client, progress: &mut Progress) -> Why {
    progress.guard.be_careful();
    loop {
        let followed = async {
            read(shared, address, client, progress).await?;
            Ok(go_alone(shared, address, client, &mut progress.last).await?)
        };
        match followed.await {
            Ok(()) => {}
            Err(Why::Trouble(why)) => return Why::Trouble(failed(address, &why)),
            Err(refused @ Why::Refused(_)) => return refused,
        }
    }
}

async fn read(
    shared: &SharedState,
    address: &Address,
    client: &Client,
    Progress { last, guard }: &mut Progress,
) -> Result<(), Why> {
    is_there(shared, client)?;
    shared.numbers.want(false);
    let context = context(client);
    let (found, since) = guard.admit(shared, At { address, client, context: &context }).await?;
    // The number of pending messages is unreliable; a subject keeps its last message.
    let newest = found.info.state.last_sequence;
    let stream = found.stream;
    let ready = Arc::new(Ready { client: client.clone(), stream: stream.clone() });
    if since != Since::Place {
        *last = 0;
        shared.begin(&ready, newest == 0, since).await.map_err(said)?;
    }
    guard.begun();
    let is_first = *last == 0;
    let consumer = stream.create_consumer(consumer(client, *last));
    let consumer = consumer.await.map_err(said)?;
    let mut messages = consumer.messages().await.map_err(said)?;
    let mut is_current = consumer.cached_info().num_pending == 0 || *last >= newest;
    if is_current {
        shared.is_ready(&ready);
    }
    let mut streak = WriteStreak::default();
    let mut expected = 1;
    loop {
        let message = tokio::select! {
            message = messages.next() => message,
            () = shared.turn.notified() => {
                goes_on(shared, address, client)?;
                continue;
            }
        };
        let message = message.ok_or("the connection has ended")?.map_err(said)?;
        let Ok(info) = message.info() else { continue };
        if info.consumer_sequence != expected {
            return Err("messages were lost in transit, and are read again".into());
        }
        expected += 1;
        let (sequence, pending) = (info.stream_sequence, info.pending);
        let mut is_ours = true;
        if let Some(key) = layout::full_key(&address.stream, &message.subject) {
            if !shared.is_known(&key, sequence) {
                let none = HeaderMap::new();
                let record = layout::record(message.headers.as_ref().unwrap_or(&none), None).ok();
                is_ours = record.as_ref().is_some_and(|record| *record.version.store() == shared.name);
                shared.read(&key, Entry { sequence, record }, is_first && !is_current);
            }
            shared.read_upto.fetch_max(sequence, SeqCst);
        }
        shared.acknowledged.reach(sequence);
        *last = sequence.max(*last);
        if !is_current && (pending == 0 || *last >= newest) {
            is_current = true;
            shared.is_ready(&ready);
        }
        let worth = streak.after(is_current && is_ours && pending < FEW, Instant::now());
        shared.numbers.want(worth != FollowMode::No);
        if worth == FollowMode::Yes {
            let name = consumer.cached_info().name.clone();
            // Otherwise the server removes the consumer after its inactivity threshold.
            tokio::spawn(async move { stream.delete_consumer(&name).await.map(drop) });
            return Ok(());
        }
    }
}

async fn go_alone(
    shared: &SharedState,
    address: &Address,
    client: &Client,
    last: &mut u64,
) -> Result<(), String> {
    tracing::debug!(after = *last, "this process is the only writer of the stream");
    let mut gapless = SequenceTracker::behind(*last);
    let mut is_alone = true;
    while is_alone {
        tokio::select! {
            () = sleep(BETWEEN_LOOKS) => {}
            () = shared.turn.notified() => {
                goes_on(shared, address, client)?;
                continue;
            }
        }
        is_alone = gapless.look(shared.numbers.take());
        *last = gapless.last;
        shared.read_upto.fetch_max(gapless.last, SeqCst);
    }
    tracing::debug!(after = *last, "the stream is read again");
    Ok(())
}

fn goes_on(shared: &SharedState, address: &Address, client: &Client) -> Result<(), String> {
    if shared.acknowledged.is_doubted() {
        return Err(lacks(&address.stream));
    }
    is_there(shared, client)
}

fn is_there(shared: &SharedState, client: &Client) -> Result<(), String> {
    let is_there = !shared.is_closed() && client.connection_state() == State::Connected;
    is_there.then_some(()).ok_or_else(|| LOST.to_owned())
}

const BEFORE_AGAIN: Duration = Duration::from_secs(1);
/// More pending messages mean that the consumer does not keep up.
const FEW: u64 = 250;
