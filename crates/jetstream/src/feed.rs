//! The thread with the connection: it makes the stream if it is not there, and keeps the index as new as the stream is.
//!
//! The index is fed by a consumer that sends headers without values, in order. One that lost a message, or does not beat any more, is
//! given up, and the next one goes on behind the last message that was read. There is none while this process writes much and
//! nobody else writes.

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
    alone::{BETWEEN_LOOKS, Gapless, Streak, Worth},
    connection::{LOST, Secrets, Since, connect, context, failed},
    guard::{At, Guard, Why},
    index::Entry,
    layout,
    loss::lacks,
    shared::{Ready, Shared},
    stream::{consumer, said},
};

/// How far the stream was read.
struct Progress {
    last: u64,
    guard: Guard,
}

/// Connects and follows the stream until the store is closed.
pub(crate) async fn run(shared: Arc<Shared>, address: Address, secrets: Secrets, now: fn() -> Millis) {
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

/// Follows the stream from where that ended, and goes on until something fails: why.
async fn follow(shared: &Shared, address: &Address, client: &Client, progress: &mut Progress) -> Why {
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

/// Reads the stream as long as others may write to it.
async fn read(
    shared: &Shared,
    address: &Address,
    client: &Client,
    Progress { last, guard }: &mut Progress,
) -> Result<(), Why> {
    is_there(shared, client)?;
    shared.numbers.want(false);
    let context = context(client);
    let (found, since) = guard.admit(shared, At { address, client, context: &context }).await?;
    // The last message of all is there, as each subject keeps its last one. How many are pending is not to be relied on alone: a server may
    // count messages that newer ones have replaced, and then never say that there are none.
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
    let mut streak = Streak::default();
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
            return Err("messages were lost on the way, and are read again".into());
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
        shared.acknowledged.reach(sequence);
        *last = sequence.max(*last);
        if !is_current && (pending == 0 || *last >= newest) {
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
async fn go_alone(shared: &Shared, address: &Address, client: &Client, last: &mut u64) -> Result<(), String> {
    tracing::debug!(after = *last, "nobody else writes to the stream");
    let mut gapless = Gapless::behind(*last);
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

/// Whether the stream can be followed.
fn goes_on(shared: &Shared, address: &Address, client: &Client) -> Result<(), String> {
    if shared.acknowledged.is_doubted() {
        return Err(lacks(&address.stream));
    }
    is_there(shared, client)
}

/// Whether the store is open, and connected.
fn is_there(shared: &Shared, client: &Client) -> Result<(), String> {
    let is_there = !shared.is_closed() && client.connection_state() == State::Connected;
    is_there.then_some(()).ok_or_else(|| LOST.to_owned())
}

const BEFORE_AGAIN: Duration = Duration::from_secs(1);
/// Messages that a consumer which keeps up has not sent yet.
const FEW: u64 = 250;
