//! Writes a message if the last message of its subject is the known one, and reads the last message
//! of a subject.

use async_nats::{
    HeaderMap, Request, RequestErrorKind, StatusCode,
    jetstream::{self, ErrorCode, message::StreamMessage, stream::LastRawMessageErrorKind},
};
use bytes::Bytes;
use kv::Record;
use serde::Deserialize;

use crate::{
    Error,
    connection::{NO_STREAM, refusal},
    layout::{EXPECTED, headers, length},
    loss::lacks,
    state::{Ready, SharedState},
};

pub(crate) enum Attempt {
    Done(u64),
    Late,
}

/// Stores the record if `after` is the last message of its subject.
pub(crate) async fn publish(
    shared: &SharedState,
    ready: &Ready,
    subject: &str,
    record: &Record,
    after: u64,
    value: Bytes,
) -> Result<Attempt, Error> {
    send(shared, ready, subject, (headers(record), after), value).await
}

pub(crate) async fn send(
    shared: &SharedState,
    ready: &Ready,
    subject: &str,
    (mut headers, after): (HeaderMap, u64),
    value: Bytes,
) -> Result<Attempt, Error> {
    headers.insert(EXPECTED, after.to_string());
    let (bytes, most) = (value.len() as u64, ready.client.max_payload() as u64);
    if bytes + length(&headers) > most {
        return Err(Error::TooLarge { bytes, most });
    }
    let request = Request::new().headers(headers).payload(value);
    let before = shared.acknowledged.highest();
    let answer = ready.client.send_request(subject.to_owned(), request).await;
    let answer = answer.map_err(|why| match why.kind() {
        RequestErrorKind::NoResponders => Error::NotReady(NO_STREAM.to_owned()),
        _ => Error::NotConfirmed(why.to_string()),
    })?;
    match serde_json::from_slice(&answer.payload) {
        Ok(Answer { error: Some(why), .. }) if why.error_code() == ErrorCode::STREAM_WRONG_LAST_SEQUENCE => {
            Ok(Attempt::Late)
        }
        Ok(Answer { error: Some(why), .. }) => Err(refusal(&why)),
        // The sequence number must be higher than all known ones of the same stream.
        Ok(Answer { seq: Some(sequence), .. }) if sequence <= before => {
            shared.doubt();
            Err(Error::NotConfirmed(lacks(&shared.stream)))
        }
        Ok(Answer { seq: Some(sequence), .. }) => {
            shared.acknowledged.reach(sequence);
            Ok(Attempt::Done(sequence))
        }
        Ok(Answer { seq: None, .. }) => Err(Error::NotConfirmed(
            "the response contains neither a sequence number nor an error".to_owned(),
        )),
        Err(why) => Err(Error::NotConfirmed(why.to_string())),
    }
}

#[derive(Deserialize)]
struct Answer {
    seq: Option<u64>,
    error: Option<jetstream::Error>,
}

pub(crate) struct Message {
    pub(crate) sequence: u64,
    pub(crate) headers: HeaderMap,
    pub(crate) payload: Bytes,
}

/// Returns `known` or a later message; `None` if it was removed.
pub(crate) async fn read(
    ready: &Ready,
    (stream, subject): (&str, &str),
    known: u64,
) -> Result<Option<Message>, Error> {
    // Any server with a replica responds, which may be behind the leader.
    match nearest(ready, stream, subject).await? {
        Some(message) if message.sequence >= known => Ok(Some(message)),
        // Boxed to keep this future small.
        Some(_) | None => Ok(Box::pin(last(ready, subject)).await?.map(|message| {
            let StreamMessage { sequence, headers, payload, .. } = message;
            Message { sequence, headers, payload }
        })),
    }
}

/// From any server with a replica.
async fn nearest(ready: &Ready, stream: &str, subject: &str) -> Result<Option<Message>, Error> {
    let unclear = |why: &str| Error::NotAnswered(format!("the response to a read {why}"));
    let asked = format!("$JS.API.DIRECT.GET.{stream}.{subject}");
    let answer = ready.client.request(asked, Bytes::new()).await;
    let answer = answer.map_err(|why| Error::NotAnswered(why.to_string()))?;
    match answer.status {
        None => {}
        Some(StatusCode::NOT_FOUND) => return Ok(None),
        Some(status) => return Err(unclear(&format!("is {status}"))),
    }
    let headers = answer.headers.ok_or_else(|| unclear("has no headers"))?;
    let sequence = headers.get(SEQUENCE).and_then(|number| number.as_str().parse().ok());
    let sequence = sequence.ok_or_else(|| unclear("has no sequence number"))?;
    Ok(Some(Message { sequence, headers, payload: answer.payload }))
}

/// From the leader of the stream.
pub(crate) async fn last(ready: &Ready, subject: &str) -> Result<Option<StreamMessage>, Error> {
    match ready.stream.get_last_raw_message_by_subject(subject).await {
        Ok(message) => Ok(Some(message)),
        Err(why) if matches!(why.kind(), LastRawMessageErrorKind::NoMessageFound) => Ok(None),
        Err(why) => Err(Error::NotAnswered(why.to_string())),
    }
}

const SEQUENCE: &str = "Nats-Sequence";
