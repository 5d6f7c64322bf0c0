//! A message that is written behind the one that is known, and the last message of a subject.

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
    shared::{Ready, Shared},
};

/// What an attempt to write came to.
pub(crate) enum Attempt {
    /// It is stored, with this number.
    Done(u64),
    /// Somebody else wrote before.
    Late,
}

/// Writes what is known of a key behind the message that is known, and waits until the server says that it is stored.
pub(crate) async fn publish(
    shared: &Shared,
    ready: &Ready,
    subject: &str,
    record: &Record,
    after: u64,
    value: Bytes,
) -> Result<Attempt, Error> {
    send(shared, ready, subject, (headers(record), after), value).await
}

/// The same with any headers.
pub(crate) async fn send(
    shared: &Shared,
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
        // Known messages have lower numbers in the same stream.
        Ok(Answer { seq: Some(sequence), .. }) if sequence <= before => {
            shared.doubt();
            Err(Error::NotConfirmed(lacks(&shared.stream)))
        }
        Ok(Answer { seq: Some(sequence), .. }) => {
            shared.acknowledged.reach(sequence);
            Ok(Attempt::Done(sequence))
        }
        Ok(Answer { seq: None, .. }) => Err(Error::NotConfirmed("its answer says neither".to_owned())),
        Err(why) => Err(Error::NotConfirmed(why.to_string())),
    }
}

/// What a server says of a message that was sent.
#[derive(Deserialize)]
struct Answer {
    /// Its number.
    seq: Option<u64>,
    /// Why it has none.
    error: Option<jetstream::Error>,
}

/// A message that was read.
pub(crate) struct Message {
    pub(crate) sequence: u64,
    pub(crate) headers: HeaderMap,
    pub(crate) payload: Bytes,
}

/// The last message of a subject, which is this one or a later one, or is not there any more.
pub(crate) async fn read(
    ready: &Ready,
    (stream, subject): (&str, &str),
    known: u64,
) -> Result<Option<Message>, Error> {
    // Any server of a cluster that has the stream answers, which may be behind the one that takes writes.
    match nearest(ready, stream, subject).await? {
        Some(message) if message.sequence >= known => Ok(Some(message)),
        // In a box, so that it takes no room of those who need it not.
        Some(_) | None => Ok(Box::pin(last(ready, subject)).await?.map(|message| {
            let StreamMessage { sequence, headers, payload, .. } = message;
            Message { sequence, headers, payload }
        })),
    }
}

/// The last message of a subject, from any server that has the stream. What the client has for this reads the message's time as well.
async fn nearest(ready: &Ready, stream: &str, subject: &str) -> Result<Option<Message>, Error> {
    let unclear = |why: &str| Error::NotAnswered(format!("what it says of a message {why}"));
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
    let sequence = sequence.ok_or_else(|| unclear("has no number"))?;
    Ok(Some(Message { sequence, headers, payload: answer.payload }))
}

/// The last message of a subject, from the server that takes writes.
pub(crate) async fn last(ready: &Ready, subject: &str) -> Result<Option<StreamMessage>, Error> {
    match ready.stream.get_last_raw_message_by_subject(subject).await {
        Ok(message) => Ok(Some(message)),
        Err(why) if matches!(why.kind(), LastRawMessageErrorKind::NoMessageFound) => Ok(None),
        Err(why) => Err(Error::NotAnswered(why.to_string())),
    }
}

/// What the server says of a message that it sends.
const SEQUENCE: &str = "Nats-Sequence";
