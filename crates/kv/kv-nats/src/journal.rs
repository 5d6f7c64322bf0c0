//! A stream that many data centres write and all of them read in the same order, and transient
//! messages that are not stored.
//!
//! Each message belongs to a part. The stream keeps the last 10 000 messages of each part, so a
//! reader that was disconnected for long detects missing messages by their numbers. A full stream
//! rejects new messages.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_nats::{
    Client, ConnectOptions, HeaderMap, Message, Subscriber,
    connection::State,
    jetstream::{
        Context,
        consumer::{AckPolicy, DeliverPolicy, pull},
        stream::{self, DiscardPolicy, RetentionPolicy, StorageType, Stream},
    },
};
use bytes::Bytes;
use futures_util::StreamExt as _;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

use crate::{
    Address, Error,
    connection::{
        BETWEEN_BEATS, Credentials, LONGEST_SILENCE, LOST, Place, connect, context, failed, needs, refused,
        unavailable,
    },
    loss::{StreamState, lacks},
    state_file::{Before, StateFile},
};

/// A journal at an address, with its owner.
pub struct Journal {
    address: Address,
    secrets: Credentials,
    owner: String,
    file: StateFile,
    before: Before,
    reached: Mutex<Option<StreamState>>,
}

/// Writes to an open journal.
pub struct Writer {
    client: Client,
    context: Context,
    stream: Stream<()>,
    subject: String,
}

/// Reads an open journal.
pub struct Reader {
    client: Client,
    turn: Arc<Notify>,
    kept: pull::Stream,
    said: [Subscriber; 2],
    subject: String,
    /// The expected consumer sequence number of the next message.
    expected: u64,
    behind: Behind,
}

struct Behind {
    left: u64,
    /// The last of them. A server that was just started may report a higher number of pending
    /// messages.
    newest: u64,
    /// The deadline for the next of them, which may have been removed from the stream.
    until: Instant,
}

impl Behind {
    fn by(left: u64, newest: u64) -> Self {
        Self { left, newest, until: Instant::now() + BETWEEN_BEATS }
    }

    fn came(&mut self, number: u64, pending: u64) {
        if self.left > 0 {
            *self = Self::by(if number < self.newest { pending } else { 0 }, self.newest);
        }
    }

    /// Waits for the deadline, even if other messages are received meanwhile.
    async fn given_up(&mut self) {
        sleep_until(self.until).await;
        self.left = 0;
    }
}

/// An event of a journal.
#[derive(Debug)]
pub enum Came {
    /// A stored message.
    Kept {
        /// The part to which it belongs.
        part: String,
        /// The message body.
        text: Bytes,
        /// Its sequence number in the stream.
        sequence: u64,
    },
    /// A transient message.
    Said {
        /// Its sender, as stated in the message.
        by: String,
        /// The message body.
        text: Bytes,
    },
    /// All messages that were in the stream when it was opened have been received.
    Nothing,
}

impl Journal {
    /// Prepares the journal of an owner, such as a network, at an address. Blocks, because it reads
    /// the files that the address names.
    ///
    /// # Errors
    /// When one of the files cannot be read.
    pub fn new(address: Address, owner: &str, records: Option<&Path>) -> Result<Self, Error> {
        let secrets = Credentials::read(&address)?;
        let (file, before) = StateFile::open(records, &address.stream);
        if let Before::Damaged(why) = &before {
            tracing::error!(error = why, "the file is ignored: the stream counts as recreated");
        }
        Ok(Self { address, secrets, owner: owner.to_owned(), file, before, reached: Mutex::default() })
    }

    /// All messages up to this place were handled. Ignored until [`Place::begin`] if the stream was
    /// recreated.
    pub fn reached(&self, place: &Place) {
        if place.is_anew {
            return;
        }
        let created = place.created.clone();
        let state =
            created.map(|created| StreamState { created, last_sequence: place.reached(), keys: None });
        *self.reached.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }

    /// Writes the position to the file. Blocks.
    pub fn keep(&self) {
        let reached = self.reached.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(state) = reached
            && let Err(why) = self.file.write(&state, Duration::ZERO)
        {
            tracing::warn!(error = %why, "the stream's state cannot be written to the data centre's disk");
        }
    }

    /// The address without credentials.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// Connects, creates the stream if it is missing, and reads from a place. Subscribes to
    /// transient messages to either of `ears`.
    ///
    /// # Errors
    /// When NATS cannot be used, or the stream's settings could lose messages. The text is the
    /// reason.
    pub async fn open(&self, place: &mut Place, ears: [&str; 2]) -> Result<(Writer, Reader), String> {
        let failed = |why: &dyn std::fmt::Display| failed(&self.address, why);
        let turn = Arc::new(Notify::new());
        let options = ConnectOptions::new().subscription_capacity(WAITING);
        let turning = Arc::clone(&turn);
        let client = connect(&self.address, &self.secrets, options, move || turning.notify_one()).await?;
        let most = client.max_payload();
        if most < LONGEST_MESSAGE {
            return Err(failed(&format!(
                "its max_payload is {most} bytes, and {LONGEST_MESSAGE} are needed: raise it in the server's configuration"
            )));
        }
        let context = context(&client);
        let stream = self.stream(&context).await.map_err(|why| failed(&why))?;
        if !place.meet(&StreamState::of(stream.cached_info()), &self.before) {
            return Err(failed(&lacks(&self.address.stream)));
        }
        let subject = self.subject();
        let [first, second] = ears.map(|ear| client.subscribe(format!("{subject}.{}.*", token(ear))));
        let said = [first.await.map_err(|why| failed(&why))?, second.await.map_err(|why| failed(&why))?];
        let consumer = stream.create_consumer(pull::Config {
            deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: place.last + 1 },
            ack_policy: AckPolicy::None,
            max_deliver: 1,
            inactive_threshold: LONGEST_SILENCE,
            memory_storage: true,
            num_replicas: 1,
            ..pull::Config::default()
        });
        let consumer = consumer.await.map_err(|why| failed(&why))?;
        let newest = stream.cached_info().state.last_sequence;
        let left = if place.last < newest { consumer.cached_info().num_pending } else { 0 };
        let behind = Behind::by(left, newest);
        let kept = consumer.stream().max_messages_per_batch(AT_ONCE).heartbeat(BETWEEN_BEATS).messages();
        let kept = kept.await.map_err(|why| failed(&why))?;
        let stream = context.get_stream_no_info(&self.address.stream).await.map_err(|why| failed(&why))?;
        let writer = Writer { client: client.clone(), context, stream, subject: subject.clone() };
        Ok((writer, Reader { client, turn, kept, said, subject, expected: 1, behind }))
    }

    fn subject(&self) -> String {
        format!("{}.{}", self.address.stream, token(&self.owner))
    }

    async fn stream(&self, context: &Context) -> Result<Stream, String> {
        let name = &self.address.stream;
        let wanted = stream::Config {
            name: name.clone(),
            subjects: vec![format!("{}.*", self.subject())],
            description: Some(format!("purges of Longhaul's network {}", self.owner)),
            max_messages_per_subject: KEPT,
            max_bytes: MOST_BYTES,
            max_message_size: i32::try_from(LONGEST_MESSAGE).unwrap_or(i32::MAX),
            discard: DiscardPolicy::New,
            storage: StorageType::File,
            num_replicas: self.address.replicas,
            ..stream::Config::default()
        };
        let subjects = wanted.subjects.clone();
        let stream = context.get_or_create_stream(wanted).await.map_err(|why| unavailable(&why))?;
        let config = &stream.cached_info().config;
        if config.subjects != subjects {
            return Err(not_ours(name, &self.owner, &config.subjects));
        }
        is_safe(name, config)?;
        Ok(stream)
    }
}

impl Writer {
    /// Appends to a part and waits for the server's acknowledgement. A message with the same `id`
    /// as a recent one is stored once.
    ///
    /// # Errors
    /// When the message is not stored, or not acknowledged.
    pub async fn keep(&self, part: &str, id: &str, text: Vec<u8>) -> Result<(), Error> {
        let mut headers = HeaderMap::new();
        headers.insert("Nats-Msg-Id", id);
        let subject = format!("{}.{}", self.subject, token(part));
        let sent = self.context.publish_with_headers(subject, headers, text.into()).await;
        let acknowledged = match sent {
            Ok(acknowledged) => acknowledged.await,
            Err(why) => Err(why),
        };
        acknowledged.map(drop).map_err(|why| refused(&why))
    }

    /// Sends a transient message to all subscribers of `to`.
    ///
    /// # Errors
    /// When the connection has ended.
    pub async fn say(&self, to: &str, by: &str, text: Vec<u8>) -> Result<(), Error> {
        let subject = format!("{}.{}.{}", self.subject, token(to), token(by));
        let said = self.client.publish(subject, text.into()).await;
        said.map_err(|why| Error::NotAnswered(why.to_string()))
    }

    /// Deletes a part from the stream.
    ///
    /// # Errors
    /// When the server does not confirm it.
    pub async fn forget(&self, part: &str) -> Result<(), Error> {
        let purged = self.stream.purge().filter(format!("{}.{}", self.subject, token(part))).await;
        purged.map(drop).map_err(|why| Error::NotAnswered(why.to_string()))
    }
}

impl Reader {
    /// Whether all messages that were in the stream when it was opened have been received.
    pub fn is_current(&self) -> bool {
        self.behind.left == 0
    }

    /// Waits for the next event.
    ///
    /// # Errors
    /// When the connection is lost, or messages were lost in transit. The text is the reason.
    pub async fn next(&mut self) -> Result<Came, String> {
        loop {
            let [all, own] = &mut self.said;
            let said = tokio::select! {
                message = self.kept.next() => {
                    let message = message.ok_or("the connection has ended")?.map_err(|why| why.to_string())?;
                    if let Some(came) = self.kept(&message)? {
                        return Ok(came);
                    }
                    continue;
                }
                said = all.next() => said,
                said = own.next() => said,
                () = self.behind.given_up(), if self.behind.left > 0 => return Ok(Came::Nothing),
                () = self.turn.notified() => {
                    if self.client.connection_state() == State::Connected {
                        continue;
                    }
                    return Err(LOST.to_owned());
                }
            };
            let said = said.ok_or("the connection has ended")?;
            if let Some(by) = self.after_subject(&said).and_then(|rest| Some(rest.split_once('.')?.1)) {
                return Ok(Came::Said { by: decoded(by), text: said.payload });
            }
        }
    }

    fn kept(&mut self, message: &async_nats::jetstream::Message) -> Result<Option<Came>, String> {
        let Ok(info) = message.info() else { return Ok(None) };
        if info.consumer_sequence != self.expected {
            return Err("messages were lost in transit, and are read again".to_owned());
        }
        self.expected += 1;
        self.behind.came(info.stream_sequence, info.pending);
        let part = self.after_subject(&message.message).map(decoded).unwrap_or_default();
        let (text, sequence) = (message.payload.clone(), info.stream_sequence);
        Ok(Some(Came::Kept { part, text, sequence }))
    }

    fn after_subject<'m>(&self, message: &'m Message) -> Option<&'m str> {
        message.subject.as_str().strip_prefix(&self.subject)?.strip_prefix('.')
    }
}

impl Place {
    /// Whether the stream was recreated or has gone back, so that messages may be lost. It is read
    /// from its start.
    pub fn is_anew(&self) -> bool {
        self.is_anew
    }

    /// The loss was handled.
    pub fn begin(&mut self) {
        self.is_anew = false;
    }

    /// All messages up to this number were handled.
    pub fn reach(&mut self, sequence: u64) {
        self.last = self.last.max(sequence);
    }
}

fn not_ours(name: &str, owner: &str, subjects: &[String]) -> String {
    let of_other = || {
        let [subject] = subjects else { return None };
        let other = subject.strip_prefix(name)?.strip_prefix('.')?.strip_suffix(".*")?;
        // Dots in a name are encoded.
        Some(other).filter(|other| !other.contains(['.', '*', '>'])).map(decoded)
    };
    match of_other() {
        Some(other) => format!(
            "stream {name} belongs to the network \"{other}\", but this network is \"{owner}\": use another stream, as in nats://HOST/{name}_2"
        ),
        None => format!(
            "stream {name} already exists and holds something else ({}): use another stream, as in nats://HOST/{name}_2",
            subjects.join(", ")
        ),
    }
}

/// Whether the settings of an existing stream lose no messages without notice.
fn is_safe(name: &str, config: &stream::Config) -> Result<(), String> {
    let needs = |what: &str| needs(name, what);
    if config.retention != RetentionPolicy::Limits {
        return needs("retention limits, as each data centre reads all of it");
    }
    if config.storage != StorageType::File {
        return needs("file storage, as memory is lost when the server ends");
    }
    if config.discard != DiscardPolicy::New || config.discard_new_per_subject {
        return needs("discard new, and not per subject: a full stream would drop unread messages");
    }
    if !config.max_age.is_zero() {
        return needs("no max_age: a reader that was disconnected for longer would not notice the loss");
    }
    if (1..LEAST_KEPT).contains(&config.max_messages_per_subject) {
        return needs(&format!("max_msgs_per_subject of {LEAST_KEPT} at least, or none"));
    }
    let most = usize::try_from(config.max_message_size).unwrap_or(0);
    if most > 0 && most < LONGEST_MESSAGE {
        return needs(&format!("max_msg_size of {LONGEST_MESSAGE} at least, or none"));
    }
    if config.no_ack {
        return needs("acknowledgements (no_ack false)");
    }
    if config.sealed {
        return needs("to be open, and is sealed");
    }
    Ok(())
}

/// Without dots, spaces and wildcards.
fn token(name: &str) -> String {
    utf8_percent_encode(name, OUTSIDE).to_string()
}

fn decoded(token: &str) -> String {
    percent_decode_str(token).decode_utf8_lossy().into_owned()
}

const OUTSIDE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_');

/// The largest message in bytes, including headers: a quarter of the default max_payload of a
/// server.
pub const LONGEST_MESSAGE: usize = 256 << 10;
const KEPT: i64 = 10_000;
/// Otherwise a reader that was briefly disconnected might miss some.
const LEAST_KEPT: i64 = 1000;
/// For 10 000 messages of 300 bytes of 300 data centres, which are 900 MB.
const MOST_BYTES: i64 = 1 << 30;
/// 16 MiB in flight to this reader with [`LONGEST_MESSAGE`].
const AT_ONCE: usize = 64;
/// Queued messages per subscription. Further transient messages are dropped; their senders repeat
/// them.
const WAITING: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_of_something_else_is_named() {
        let told = |subject: &str| not_ours("S", "shop", &[subject.to_owned()]);
        assert!(
            told("S.other%2Eexample.*")
                .starts_with("stream S belongs to the network \"other.example\", but this")
        );
        for subject in ["S.*.*", "orders.>", "S.*", "S"] {
            let expected = format!("stream S already exists and holds something else ({subject})");
            assert!(told(subject).starts_with(&expected), "{}", told(subject));
        }
    }

    #[test]
    fn a_stream_that_loses_messages_is_not_used() {
        let good = stream::Config { discard: DiscardPolicy::New, ..stream::Config::default() };
        assert_eq!(is_safe("S", &good), Ok(()));
        type Spoil = fn(&mut stream::Config);
        let wrong: [(&str, Spoil); 9] = [
            ("retention limits", |config| config.retention = RetentionPolicy::WorkQueue),
            ("file storage", |config| config.storage = StorageType::Memory),
            ("discard new", |config| config.discard = DiscardPolicy::Old),
            ("discard new, and not per subject", |config| config.discard_new_per_subject = true),
            ("no max_age", |config| config.max_age = BETWEEN_BEATS),
            ("max_msgs_per_subject of 1000", |config| config.max_messages_per_subject = 999),
            ("max_msg_size of 262144", |config| config.max_message_size = 1000),
            ("acknowledgements", |config| config.no_ack = true),
            ("to be open", |config| config.sealed = true),
        ];
        for (expected, spoil) in wrong {
            let mut config = good.clone();
            spoil(&mut config);
            let why = is_safe("S", &config).unwrap_err();
            assert!(why.contains(expected) && why.starts_with("stream S already exists"), "{why}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_has_gone_from_the_stream_is_not_waited_for_while_words_come() {
        let mut behind = Behind::by(3, 9);
        behind.came(7, 1);
        let began = Instant::now();
        // Each transient message ends one wait, and the next one begins.
        while tokio::time::timeout(BETWEEN_BEATS / 2, behind.given_up()).await.is_err() {}
        assert_eq!((behind.left, began.elapsed()), (0, BETWEEN_BEATS));
        behind.came(8, 5);
        assert_eq!(behind.left, 0, "nothing is waited for any more");
        let mut behind = Behind::by(3, 9);
        behind.came(9, 2);
        assert_eq!(behind.left, 0, "that was the last one");
    }

    #[test]
    fn a_name_is_one_part_of_a_subject() {
        assert_eq!(token("a.b-c_d"), "a%2Eb-c_d");
        assert_eq!(decoded(&token("a. *>ü")), "a. *>ü");
    }
}
