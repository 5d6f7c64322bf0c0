//! The bucket's stream on the server: finding, creating and reading it.

use std::{fmt, time::Duration};

use async_nats::{
    Client,
    jetstream::{
        Context, ErrorCode,
        consumer::{AckPolicy, DeliverPolicy, push},
        response::Response,
        stream::{Config, DiscardPolicy, Info, StorageType, Stream},
    },
};

use crate::{
    Address,
    connection::{BETWEEN_BEATS, LONGEST_SILENCE, needs, unavailable},
    layout,
};

fn wanted(address: &Address) -> Config {
    Config {
        name: address.stream.clone(),
        subjects: vec![layout::all(&address.stream)],
        description: Some("keys and values of Longhaul".to_owned()),
        max_messages_per_subject: 1,
        // With discard old, a full stream would drop keys that were not deleted.
        discard: DiscardPolicy::New,
        storage: StorageType::File,
        num_replicas: address.replicas,
        allow_direct: true,
        ..Config::default()
    }
}

pub(crate) struct Found {
    pub(crate) info: Info,
    pub(crate) stream: Stream<()>,
}

/// Fails if its settings are unsuitable.
pub(crate) async fn find(context: &Context, address: &Address) -> Result<Option<Found>, String> {
    let name = &address.stream;
    let answer = context.request(format!("STREAM.INFO.{name}"), &()).await;
    match answer.map_err(|why| unavailable(&why.into()))? {
        Response::Ok(info) => found(context, address, info).await.map(Some),
        Response::Err { error } if error.error_code() == ErrorCode::STREAM_NOT_FOUND => Ok(None),
        Response::Err { error } => Err(unavailable(&error.into())),
    }
}

pub(crate) async fn make(context: &Context, address: &Address) -> Result<Found, String> {
    let stream = context.get_or_create_stream(wanted(address)).await.map_err(|why| unavailable(&why))?;
    found(context, address, stream.cached_info().clone()).await
}

async fn found(context: &Context, address: &Address, info: Info) -> Result<Found, String> {
    fit(&info.config, address)?;
    let stream = context.get_stream_no_info(&address.stream).await.map_err(said)?;
    Ok(Found { info, stream })
}

fn fit(config: &Config, address: &Address) -> Result<(), String> {
    let needs = |what: &str| needs(&address.stream, what);
    let subjects = wanted(address).subjects;
    if config.max_messages_per_subject != 1 {
        return needs("max_msgs_per_subject 1");
    }
    if config.subjects != subjects {
        return needs(&format!("the subjects {}", subjects[0]));
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
    Ok(())
}

/// Sends the headers of all messages after this one, in stream order.
pub(crate) fn consumer(client: &Client, after: u64) -> push::Config {
    push::Config {
        deliver_subject: client.new_inbox(),
        deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: after + 1 },
        ack_policy: AckPolicy::None,
        max_deliver: 1,
        headers_only: true,
        flow_control: true,
        idle_heartbeat: BETWEEN_BEATS,
        inactive_threshold: LONGEST_SILENCE,
        memory_storage: true,
        num_replicas: 1,
        ..push::Config::default()
    }
}

pub(crate) fn said(why: impl fmt::Display) -> String {
    why.to_string()
}
