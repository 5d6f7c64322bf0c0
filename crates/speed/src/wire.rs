//! What client and server say to each other: paths, JSON, Server-Timing, and datagrams of the loss test.
//!
//! Everything here reads what others have sent: it takes nothing longer than it expects and never panics.

use std::{net::IpAddr, time::Duration};

use serde::{Deserialize, Serialize};

use crate::limited::Times;

/// Begins a test: POST. The answer is a [`Greeting`].
pub const BEGIN: &str = "/__test";
/// A body of `bytes` bytes: GET.
pub const DOWN: &str = "/__down";
/// Takes a body and says what came when: POST. The answer is a [`Received`].
pub const UP: &str = "/__up";
/// Takes a browser's offer of a data channel for the datagrams of a test: POST. The answer is the other half of it (SDP, as JSON).
pub const CHANNEL: &str = "/__channel";
/// What the server's kernel says of a test's connections: GET. The answer is [`Told`].
pub const LIMITS: &str = "/__limits";
/// Whether and how the server keeps results: GET. Keeps one: POST.
pub const KEEP: &str = "/__keep";
/// A result that was kept, by its `id`: GET.
pub const KEPT: &str = "/__kept";
/// All results that are kept, for the operator: GET.
pub const OVERVIEW: &str = "/operator.json";
/// How many bytes of a test's uploads have arrived: a field of the answer to a request for no bytes that names the test.
pub const RECEIVED_BYTES: &str = "received-bytes";
/// What other clients of the responsiveness draft look for: GET.
pub const NQ: &str = "/.well-known/nq";

/// The name of a [`Greeting`]'s form.
pub const GREETING: &str = "longhaul.speed.test/1";

/// A test has begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Greeting {
    /// By which a client knows that this is a speed server: [`GREETING`].
    pub schema: String,
    /// Names the test in its further requests and datagrams.
    pub test: Token,
    /// Where datagrams are sent back. Null: nowhere.
    pub loss_port: Option<u16>,
    /// The largest body of a download.
    pub largest: u64,
}

/// Whether and how a server keeps results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// For how long, s. Null: it keeps none.
    pub keep_for_s: Option<u64>,
    /// What it keeps of the client's address.
    pub network: Option<String>,
}

/// Where a result that was left at a server is found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Left {
    /// Its page.
    pub link: String,
}

/// When an upload's pieces came, by the server's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Received {
    /// All of the body.
    pub bytes: u64,
    /// Of that, what was there at `first_ns`.
    pub first_bytes: u64,
    /// When the first piece was there, ns.
    pub first_ns: u64,
    /// When the last was, ns.
    pub last_ns: u64,
}

/// What the kernel added up for the connections of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// Since the test's first download on each. Null if nobody can see it.
    pub times: Option<Times>,
}

/// A test's name: who does not know it cannot guess it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(pub [u8; 16]);

/// The value of a parameter in a query. Neither has anything in it that would be escaped.
pub fn parameter<'q>(query: &'q str, name: &str) -> Option<&'q str> {
    query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}

/// How long the server worked on a request, from a Server-Timing field (W3C): the sum of its durations.
pub fn own_time(field: &str) -> Option<Duration> {
    let durations = field.split([',', ';']).filter_map(|part| part.trim().strip_prefix("dur="));
    let each = durations.filter_map(|ms| ms.trim_matches('"').parse::<f64>().ok());
    let sum: f64 = each.filter(|ms| ms.is_finite() && *ms >= 0.0).sum();
    Duration::try_from_secs_f64(sum / 1e3).ok().filter(|time| !time.is_zero())
}

/// The Server-Timing field of a request that was worked on for so long.
pub(crate) fn server_timing(own: Duration) -> String {
    format!("app;dur={:.3}", own.as_secs_f64() * 1e3)
}

/// A datagram of the loss test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Datagram {
    /// On its way there or back.
    pub way: Way,
    /// The test that it belongs to.
    pub test: Token,
    /// Its number.
    pub number: u32,
}

/// On its way there or back. What is on its way back is never answered, so no two servers can be set on each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// From the client.
    There,
    /// From the server.
    Back,
}

impl Datagram {
    /// Every datagram is as long as a packet of a call; so an answer is never larger than what it answers.
    pub const BYTES: usize = 172;

    /// As it is sent.
    pub fn encode(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4] = match self.way {
            Way::There => 1,
            Way::Back => 2,
        };
        bytes[8..24].copy_from_slice(&self.test.0);
        bytes[24..28].copy_from_slice(&self.number.to_be_bytes());
        bytes
    }

    /// What was received; none if it is no such datagram, or of another length.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; Self::BYTES] = bytes.try_into().ok()?;
        let way = match (bytes.starts_with(&MAGIC), bytes[4]) {
            (true, 1) => Way::There,
            (true, 2) => Way::Back,
            _ => return None,
        };
        let test = Token(bytes[8..24].try_into().ok()?);
        Some(Self { way, test, number: u32::from_be_bytes(bytes[24..28].try_into().ok()?) })
    }
}

impl Token {
    /// From 32 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() != 32 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        let mut bytes = [0; 16];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
        }
        Some(Self(bytes))
    }
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Serialize for Token {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Token {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("expected 32 hexadecimal digits"))
    }
}

/// An address as one that came over IPv4 has it, whichever socket it came in by.
pub(crate) fn plain(address: IpAddr) -> IpAddr {
    address.to_canonical()
}

const MAGIC: [u8; 4] = *b"LHsp";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_is_read_as_it_was_written() {
        let datagram = Datagram { way: Way::There, test: Token([7; 16]), number: 70_000 };
        let mut bytes = datagram.encode();
        assert_eq!(Datagram::decode(&bytes), Some(datagram));
        assert_eq!(Datagram::decode(&bytes[1..]), None);
        assert_eq!(Datagram::decode(&[bytes.as_slice(), &[0]].concat()), None);
        bytes[4] = 3;
        assert_eq!(Datagram::decode(&bytes), None);
    }

    #[test]
    fn a_token_is_32_digits() {
        let token = Token([0xa5; 16]);
        assert_eq!(Token::parse(&token.to_string()), Some(token));
        for text in [
            "",
            "a5",
            "+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1",
            "\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}",
        ] {
            assert_eq!(Token::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_servers_own_time_is_the_sum_of_what_it_says() {
        for (field, ms) in [
            ("app;dur=1.5", Some(1.5)),
            ("cache;desc=\"hit\", app;desc=x;dur=2, db;dur=\"0.5\"", Some(2.5)),
            ("app", None),
            ("app;dur=NaN, db;dur=-1", None),
            ("app;dur=1e300", None),
        ] {
            assert_eq!(own_time(field).map(|time| time.as_secs_f64() * 1e3), ms, "{field}");
        }
        assert_eq!(own_time(&server_timing(Duration::from_micros(1234))), Some(Duration::from_micros(1234)));
    }

    #[test]
    fn parameters_are_found_by_their_whole_name() {
        let query = "xbytes=1&bytes=20&test=";
        assert_eq!(parameter(query, "bytes"), Some("20"));
        assert_eq!(parameter(query, "test"), Some(""));
        assert_eq!(parameter(query, "byte"), None);
    }
}
