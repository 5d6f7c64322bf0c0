//! The thread with the connection: it makes the stream if it is not there, and keeps the index as new as the stream is.
//!
//! The index is fed by a consumer that sends headers without values, in order. One that lost a message, or does not beat any more, is
//! given up, and the next one goes on behind the last message that was read.

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
use tokio::time::timeout;

use crate::{
    Address,
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

/// Reads the stream from where that ended, and goes on until something fails: why.
async fn follow(shared: &Shared, address: &Address, client: &Client, place: &mut Place) -> String {
    let failed = |why: &dyn fmt::Display| failed(address, why);
    if client.connection_state() != State::Connected {
        return failed(&LOST);
    }
    let context = context(client);
    let stream = match stream(&context, address).await {
        Ok(stream) => stream,
        Err(why) => return failed(&why),
    };
    // The last message of all is there, as each subject keeps its last one. How many are pending is not to be relied on alone: a server may
    // count messages that newer ones have replaced, and then never say that there are none.
    let newest = stream.cached_info().state.last_sequence;
    let handle = match context.get_stream_no_info(&address.stream).await {
        Ok(handle) => handle,
        Err(why) => return failed(&why),
    };
    let ready = Arc::new(Ready { client: client.clone(), stream: handle });
    if place.meet(stream.cached_info()) != Since::Place
        && let Err(why) = shared.begin(&ready, newest == 0).await
    {
        *place = Place::default();
        return failed(&why);
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
    let consumer = match consumer.await {
        Ok(consumer) => consumer,
        Err(why) => return failed(&why),
    };
    let mut messages = match consumer.messages().await {
        Ok(messages) => messages,
        Err(why) => return failed(&why),
    };
    let mut is_current = consumer.cached_info().num_pending == 0 || place.last >= newest;
    if is_current {
        shared.is_ready(&ready);
    }
    let mut expected = 1;
    loop {
        let message = tokio::select! {
            message = messages.next() => message,
            () = shared.turn.notified() => {
                if shared.is_closed() || client.connection_state() != State::Connected {
                    return failed(&LOST);
                }
                continue;
            }
        };
        let message = match message {
            Some(Ok(message)) => message,
            Some(Err(why)) => return failed(&why),
            None => return failed(&"the connection has ended"),
        };
        let Ok(info) = message.info() else { continue };
        if info.consumer_sequence != expected {
            return failed(&"messages were lost on the way, and are read again");
        }
        expected += 1;
        let (sequence, pending) = (info.stream_sequence, info.pending);
        if let Some(key) = layout::full_key(&address.stream, &message.subject) {
            // Most are what was written here.
            if !shared.is_known(&key, sequence) {
                let none = HeaderMap::new();
                let record = layout::record(message.headers.as_ref().unwrap_or(&none), None).ok();
                shared.read(&key, Entry { sequence, record }, is_first && !is_current);
            }
            shared.read_upto.fetch_max(sequence, SeqCst);
        }
        place.last = place.last.max(sequence);
        if !is_current && (pending == 0 || place.last >= newest) {
            is_current = true;
            shared.is_ready(&ready);
        }
    }
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
