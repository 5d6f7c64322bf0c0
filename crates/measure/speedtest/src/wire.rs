//! The protocol between client and server: paths, JSON, Server-Timing, and datagrams of the loss
//! test.
//!
//! Input is untrusted: parsers bound all lengths and never panic.

use std::{net::IpAddr, time::Duration};

use serde::{Deserialize, Serialize};

use crate::bottleneck::Times;

/// Starts a test: POST. The response is a [`Greeting`].
pub const BEGIN: &str = "/__test";
/// A body of `bytes` bytes: GET.
pub const DOWN: &str = "/__down";
/// Receives a body and reports its arrival times: POST. The response is a [`Received`].
pub const UP: &str = "/__up";
/// Takes a browser's offer of a data channel: POST. The response is the SDP answer, as JSON.
pub const CHANNEL: &str = "/__channel";
/// The kernel statistics of a test's connections on the server: GET. The response is [`Told`].
pub const LIMITS: &str = "/__limits";
/// Whether the server stores results: GET. Stores a result: POST.
pub const KEEP: &str = "/__keep";
/// A stored result by its `id`: GET.
pub const KEPT: &str = "/__kept";
/// All stored results, for the operator: GET.
pub const OVERVIEW: &str = "/operator.json";
/// Number of received bytes of a test's uploads: a field in the response to a request for 0 bytes
/// that names the test.
pub const RECEIVED_BYTES: &str = "received-bytes";
/// Configuration for other clients of the responsiveness draft: GET.
pub const NQ: &str = "/.well-known/nq";

/// The schema of a [`Greeting`].
pub const GREETING: &str = "longhaul.speed.test/1";

/// The response to the start of a test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Greeting {
    /// Identifies a speed server: [`GREETING`].
    pub schema: String,
    /// Identifies the test in its further requests and datagrams.
    pub test: Token,
    /// The UDP port of the loss test. Null: no loss test.
    pub loss_port: Option<u16>,
    /// The largest body of a download.
    pub largest: u64,
}

/// The storage of results by a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// Retention time, s. Null: no results are stored.
    pub keep_for_s: Option<u64>,
    /// The part of the client's address that it stores.
    pub network: Option<String>,
}

/// The location of a stored result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Left {
    /// URL of its page.
    pub link: String,
}

/// Arrival times of an upload's pieces, on the server's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Received {
    /// Size of the body.
    pub bytes: u64,
    /// Bytes received at `first_ns`.
    pub first_bytes: u64,
    /// Arrival of the first piece, ns.
    pub first_ns: u64,
    /// Arrival of the last piece, ns.
    pub last_ns: u64,
}

/// Accumulated kernel times of a test's connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// Since the test's first download on each connection. Null if unavailable.
    pub times: Option<Times>,
}

/// An unguessable identifier of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(pub [u8; 16]);

/// The value of a query parameter. Names and values contain no escaped characters.
pub fn parameter<'q>(query: &'q str, name: &str) -> Option<&'q str> {
    query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}

/// The server's processing time from a Server-Timing field (W3C): the sum of its durations.
pub fn own_time(field: &str) -> Option<Duration> {
    let durations = field.split([',', ';']).filter_map(|part| part.trim().strip_prefix("dur="));
    let each = durations.filter_map(|ms| ms.trim_matches('"').parse::<f64>().ok());
    let sum: f64 = each.filter(|ms| ms.is_finite() && *ms >= 0.0).sum();
    Duration::try_from_secs_f64(sum / 1e3).ok().filter(|time| !time.is_zero())
}

pub(crate) fn server_timing(own: Duration) -> String {
    format!("app;dur={:.3}", own.as_secs_f64() * 1e3)
}

/// A datagram of the loss test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Datagram {
    /// Its direction.
    pub way: Way,
    /// The test that it belongs to.
    pub test: Token,
    /// Its sequence number.
    pub number: u32,
}

/// The direction of a datagram. Returning datagrams are never echoed, so two servers cannot be made
/// to loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// From the client.
    There,
    /// From the server.
    Back,
}

impl Datagram {
    /// The length of every datagram, that of a packet of a call: a reply is never larger than its
    /// request.
    pub const BYTES: usize = 172;

    /// Serializes the datagram.
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

    /// Parses a datagram; `None` if it is invalid.
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
    /// Parses 32 hexadecimal digits.
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
