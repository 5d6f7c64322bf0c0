//! The thread with the connection: it makes the stream if it is not there, and keeps the index as new as the stream is.
//!
//! The index is fed by a consumer that sends headers without values, in order. One that lost a message, or does not beat any more, is
//! given up, and the next one goes on behind the last message that was read.

use std::{sync::Arc, time::Duration};

use async_nats::{
    Client, ConnectOptions, Event, HeaderMap, ServerAddr,
    connection::State,
    jetstream::{
        self, Context,
        consumer::{AckPolicy, DeliverPolicy, push},
        context::{CreateStreamError, CreateStreamErrorKind},
        stream::{self, DiscardPolicy, StorageType, Stream},
    },
};
use futures_util::StreamExt as _;
use tokio::time::timeout;

use crate::{
    Address, User,
    index::Entry,
    layout,
    shared::{Ready, Shared},
};

/// What has been read of a stream.
#[derive(Default)]
struct Position {
    /// When the stream was made, which tells it from another one of its name.
    made: Option<String>,
    /// The number of the last message.
    last: u64,
}

/// Files that the address names, read.
pub(crate) struct Secrets {
    pub(crate) credentials: Option<String>,
}

/// Connects and follows the stream until the store is closed.
pub(crate) async fn run(shared: Arc<Shared>, address: Address, secrets: Secrets) {
    let mut position = Position::default();
    let mut client = None;
    while !shared.is_closed() {
        let connected = match client.take() {
            Some(client) => Ok(client),
            None => connect(&shared, &address, &secrets).await,
        };
        let why = match connected {
            Ok(connected) => {
                let why = follow(&shared, &address, &connected, &mut position).await;
                client = Some(connected);
                why
            }
            Err(why) => why,
        };
        shared.trouble(why);
        let _ = timeout(BEFORE_AGAIN, shared.turn.notified()).await;
    }
}

async fn connect(shared: &Arc<Shared>, address: &Address, secrets: &Secrets) -> Result<Client, String> {
    let failed = |why: &dyn std::fmt::Display| format!("NATS at {address} cannot be used: {why}");
    let turn = Arc::clone(shared);
    let mut options = ConnectOptions::new()
        .name("longhaul")
        .require_tls(address.needs_tls)
        .request_timeout(Some(LONGEST_ANSWER))
        .event_callback(move |event| {
            let turn = Arc::clone(&turn);
            async move {
                if matches!(event, Event::Disconnected | Event::Connected) {
                    turn.turn.notify_one();
                }
            }
        });
    options = match &address.user {
        Some(User::Named(name, password)) => options.user_and_password(name.clone(), password.clone()),
        Some(User::Token(token)) => options.token(token.clone()),
        None => options,
    };
    if let Some(credentials) = &secrets.credentials {
        options = options.credentials(credentials).map_err(|why| failed(&why))?;
    }
    if let Some(authority) = &address.authority {
        options = options.add_root_certificates(authority.clone());
    }
    let scheme = if address.needs_tls { "tls" } else { "nats" };
    let servers = address.servers.iter().map(|server| format!("{scheme}://{server}").parse::<ServerAddr>());
    let servers = servers.collect::<Result<Vec<_>, _>>().map_err(|why| failed(&why))?;
    let client = options.connect(servers).await.map_err(|why| failed(&why))?;
    let version = client.server_info().version;
    if !client.is_server_compatible(2, 9, 0) {
        return Err(failed(&format!("its version is {version}, and 2.9 is the oldest that can be used")));
    }
    Ok(client)
}

/// Reads the stream from where that ended, and goes on until something fails: why.
async fn follow(shared: &Shared, address: &Address, client: &Client, position: &mut Position) -> String {
    let failed = |why: &dyn std::fmt::Display| format!("NATS at {address} cannot be used: {why}");
    if client.connection_state() != State::Connected {
        return failed(&"the connection is lost, and made again as soon as a server answers");
    }
    let mut context = jetstream::new(client.clone());
    context.set_timeout(LONGEST_ANSWER);
    let stream = match stream(&context, address).await {
        Ok(stream) => stream,
        Err(why) => return failed(&why),
    };
    let info = stream.cached_info();
    let made = Some(info.created.to_string());
    if position.made != made || info.state.last_sequence < position.last {
        // Another stream of this name: nothing of what is known is worth anything, nor are copies of it.
        if position.made.is_some() {
            shared.start_anew();
        }
        *position = Position { made, last: 0 };
    }
    // The last message of all is there, as each subject keeps its last one. How many are pending is not to be relied on alone: a server may
    // count messages that newer ones have replaced, and then never say that there are none.
    let newest = info.state.last_sequence;
    let is_first = position.last == 0;
    let consumer = stream.create_consumer(push::Config {
        deliver_subject: client.new_inbox(),
        deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: position.last + 1 },
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
    let handle = match context.get_stream_no_info(&address.stream).await {
        Ok(handle) => handle,
        Err(why) => return failed(&why),
    };
    let ready = Ready { client: client.clone(), context, stream: handle };
    let mut is_current = consumer.cached_info().num_pending == 0 || position.last >= newest;
    if is_current {
        shared.is_ready(ready.clone());
    }
    let mut expected = 1;
    loop {
        let message = tokio::select! {
            message = messages.next() => message,
            () = shared.turn.notified() => {
                if shared.is_closed() || client.connection_state() != State::Connected {
                    return failed(&"the connection is lost, and made again as soon as a server answers");
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
            let none = HeaderMap::new();
            let record = layout::record(message.headers.as_ref().unwrap_or(&none), None).ok();
            shared.read(&key, Entry { sequence, record }, is_first && !is_current);
        }
        position.last = position.last.max(sequence);
        if !is_current && (pending == 0 || position.last >= newest) {
            is_current = true;
            shared.is_ready(ready.clone());
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
    let needs = |what: &str| {
        Err(format!("stream {name} is there already and cannot be used: it needs {what}; name another one"))
    };
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

fn unavailable(error: &CreateStreamError) -> String {
    match error.kind() {
        CreateStreamErrorKind::JetStreamUnavailable => NO_JETSTREAM.to_owned(),
        CreateStreamErrorKind::JetStream(why) => match why.error_code() {
            jetstream::ErrorCode::JETSTREAM_NOT_ENABLED
            | jetstream::ErrorCode::JETSTREAM_NOT_ENABLED_FOR_ACCOUNT => NO_JETSTREAM.to_owned(),
            _ => why.to_string(),
        },
        kind => kind.to_string(),
    }
}

const NO_JETSTREAM: &str =
    "JetStream is not enabled there: start nats-server with -js, or give the user's account jetstream";
/// Of a server that is there.
const LONGEST_ANSWER: Duration = Duration::from_secs(5);
const BETWEEN_BEATS: Duration = Duration::from_secs(5);
/// After which a server forgets a consumer.
const LONGEST_SILENCE: Duration = Duration::from_secs(60);
const BEFORE_AGAIN: Duration = Duration::from_secs(1);
