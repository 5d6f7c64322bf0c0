//! A message that is written behind the one that is known, and the last message of a subject.

use async_nats::{
    HeaderMap,
    jetstream::{context::PublishErrorKind, message::StreamMessage, stream::LastRawMessageErrorKind},
};
use bytes::Bytes;
use kv::Record;

use crate::{
    Error,
    connection::refused,
    layout::{EXPECTED, headers, length},
    shared::Ready,
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
    ready: &Ready,
    subject: &str,
    record: &Record,
    after: u64,
    value: Bytes,
) -> Result<Attempt, Error> {
    send(ready, subject, (headers(record), after), value).await
}

/// The same with any headers.
pub(crate) async fn send(
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
    let sent = ready.context.publish_with_headers(subject.to_owned(), headers, value).await;
    let acknowledged = match sent {
        Ok(acknowledged) => acknowledged.await,
        Err(why) => Err(why),
    };
    match acknowledged {
        Ok(done) => Ok(Attempt::Done(done.sequence)),
        Err(why) if why.kind() == PublishErrorKind::WrongLastSequence => Ok(Attempt::Late),
        Err(why) => Err(refused(&why)),
    }
}

/// The last message of a subject, from the server that takes writes.
pub(crate) async fn last(ready: &Ready, subject: &str) -> Result<Option<StreamMessage>, Error> {
    match ready.stream.get_last_raw_message_by_subject(subject).await {
        Ok(message) => Ok(Some(message)),
        Err(why) if matches!(why.kind(), LastRawMessageErrorKind::NoMessageFound) => Ok(None),
        Err(why) => Err(Error::NotAnswered(why.to_string())),
    }
}
