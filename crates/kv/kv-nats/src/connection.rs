//! Connections to NATS, their errors, and the position of a reader in a stream.

use std::{fmt, fs, path::PathBuf, time::Duration};

use async_nats::{
    Client, ConnectOptions, Event, ServerAddr,
    jetstream::{
        self, Context,
        context::{CreateStreamError, CreateStreamErrorKind, PublishError, PublishErrorKind},
    },
};

use tokio::time::Instant;

use crate::{Address, Error, User, loss::StreamState, state_file::Before};

#[derive(Clone)]
pub(crate) struct Credentials {
    credentials: Option<String>,
}

/// The position up to which a stream was read.
#[derive(Debug, Default)]
pub struct Place {
    /// Distinguishes the stream from another one of the same name.
    pub(crate) created: Option<String>,
    pub(crate) last: u64,
    /// The position of the previous process, up to which this one reads again.
    before: u64,
    /// Since when the stream's last sequence number is lower than that.
    behind: Option<Instant>,
    pub(crate) is_anew: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Since {
    Start,
    Place,
    Anew,
    Less,
}

impl Credentials {
    /// Blocks.
    pub(crate) fn read(address: &Address) -> Result<Self, Error> {
        let read = |path: &PathBuf| {
            fs::read_to_string(path).map_err(|why| Error::File { path: path.clone(), why: why.to_string() })
        };
        let credentials = address.credentials.as_ref().map(read).transpose()?;
        address.authority.as_ref().map(read).transpose()?;
        Ok(Self { credentials })
    }
}

impl Place {
    /// Returns false while a lower sequence number may be due to a new leader that has not applied
    /// its log yet.
    pub(crate) fn meet(&mut self, state: &StreamState, before: &Before) -> bool {
        let since = match (&self.created, before) {
            (Some(created), _) if *created != state.created => Since::Anew,
            (Some(_), _) if state.last_sequence < self.reached() => Since::Less,
            (Some(_), _) => Since::Place,
            (None, Before::Unknown) => Since::Start,
            (None, Before::Seen(seen)) if state.follows(seen) => Since::Start,
            (None, Before::Seen(seen)) if state.created == seen.created => Since::Less,
            (None, Before::Seen(_) | Before::Damaged(_)) => Since::Anew,
        };
        if since == Since::Less && self.behind.get_or_insert_with(Instant::now).elapsed() < LONGEST_ANSWER {
            return false;
        }
        self.behind = None;
        if since != Since::Place {
            (self.created, self.last) = (Some(state.created.clone()), 0);
            self.before = match before {
                Before::Seen(seen) if since == Since::Start => seen.last_sequence,
                _ => 0,
            };
        }
        self.is_anew |= matches!(since, Since::Anew | Since::Less);
        true
    }

    pub(crate) fn reached(&self) -> u64 {
        self.last.max(self.before)
    }
}

/// `turn` is called when the connection is established or lost.
pub(crate) async fn connect(
    address: &Address,
    secrets: &Credentials,
    options: ConnectOptions,
    turn: impl Fn() + Clone + Send + Sync + 'static,
) -> Result<Client, String> {
    let failed = |why: &dyn fmt::Display| failed(address, why);
    let mut options = options
        .name("longhaul")
        .require_tls(address.needs_tls)
        .request_timeout(Some(LONGEST_ANSWER))
        .event_callback(move |event| {
            let turn = turn.clone();
            async move {
                if matches!(event, Event::Disconnected | Event::Connected) {
                    turn();
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

pub(crate) fn context(client: &Client) -> Context {
    let mut context = jetstream::new(client.clone());
    context.set_timeout(LONGEST_ANSWER);
    context
}

pub(crate) fn failed(address: &Address, why: &dyn fmt::Display) -> String {
    format!("NATS at {address} cannot be used: {why}")
}

pub(crate) fn unavailable(error: &CreateStreamError) -> String {
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

pub(crate) fn refused(error: &PublishError) -> Error {
    let source = std::error::Error::source(error).and_then(|why| why.downcast_ref::<jetstream::Error>());
    match (error.kind(), source) {
        (PublishErrorKind::StreamNotFound, _) => Error::NotReady(NO_STREAM.to_owned()),
        (PublishErrorKind::TimedOut | PublishErrorKind::BrokenPipe, _) => {
            Error::NotConfirmed(error.to_string())
        }
        (_, Some(why)) => refusal(why),
        _ => Error::Refused(error.to_string()),
    }
}

pub(crate) fn refusal(why: &jetstream::Error) -> Error {
    use jetstream::ErrorCode as Code;
    match why.error_code() {
        Code::STREAM_STORE_FAILED
        | Code::ACCOUNT_RESOURCES_EXCEEDED
        | Code::STORAGE_RESOURCES_EXCEEDED
        | Code::INSUFFICIENT_RESOURCES => Error::Full(why.to_string()),
        Code::STREAM_WRONG_LAST_SEQUENCE_CONSTANT => Error::Busy,
        _ => Error::Refused(why.to_string()),
    }
}

pub(crate) fn needs<T>(stream: &str, what: &str) -> Result<T, String> {
    Err(format!("stream {stream} already exists and cannot be used: it needs {what}; use another stream"))
}

pub(crate) const LOST: &str = "the connection is lost, and made again as soon as a server answers";
pub(crate) const NO_STREAM: &str =
    "the stream is not there, or NATS has no leader for it: ask again in a moment";
const NO_JETSTREAM: &str =
    "JetStream is not enabled there: start nats-server with -js, or give the user's account jetstream";
pub(crate) const LONGEST_ANSWER: Duration = Duration::from_secs(5);
pub(crate) const BETWEEN_BEATS: Duration = Duration::from_secs(5);
/// After this time without a heartbeat, the server removes a consumer.
pub(crate) const LONGEST_SILENCE: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    fn state(created: &str, last_sequence: u64) -> StreamState {
        StreamState { created: created.to_owned(), last_sequence, keys: None }
    }

    /// Retries after a new leader had time to apply its log.
    async fn meets(place: &mut Place, state: &StreamState, before: &Before) -> bool {
        if !place.meet(state, before) {
            tokio::time::advance(LONGEST_ANSWER).await;
            assert!(place.meet(state, before));
        }
        std::mem::take(&mut place.is_anew)
    }

    #[tokio::test(start_paused = true)]
    async fn a_place_is_lost_when_the_stream_is_another_one_or_has_gone_back() {
        let mut place = Place::default();
        assert!(!meets(&mut place, &state("a", 5), &Before::Unknown).await);
        place.last = 5;
        assert!(!meets(&mut place, &state("a", 5), &Before::Unknown).await && place.last == 5);
        assert!(!place.meet(&state("a", 4), &Before::Unknown) && place.last == 5, "a leader that is behind");
        assert!(!meets(&mut place, &state("a", 5), &Before::Unknown).await && place.last == 5);
        assert!(meets(&mut place, &state("a", 4), &Before::Unknown).await && place.last == 0);
        place.last = 4;
        assert!(meets(&mut place, &state("b", 9), &Before::Unknown).await && place.last == 0);
    }

    #[tokio::test(start_paused = true)]
    async fn the_place_of_the_process_before_counts_until_it_is_lost() {
        let seen = Before::Seen(state("a", 5));
        let mut place = Place::default();
        assert!(!meets(&mut place, &state("a", 6), &seen).await);
        assert_eq!((place.last, place.reached()), (0, 5));
        assert!(meets(&mut place, &state("a", 4), &seen).await);
        assert_eq!(place.reached(), 0);
        for (found, before) in [
            (state("a", 4), seen.clone()),
            (state("b", 5), seen),
            (state("a", 5), Before::Damaged("x".into())),
        ] {
            assert!(meets(&mut Place::default(), &found, &before).await, "{found:?}");
        }
    }
}
