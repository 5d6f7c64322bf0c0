//! HTTP/1.1 and HTTP/2 in clear text and under TLS, and HTTP/3 over QUIC: what a probe, a load generator and a proxy have in common.
//!
//! | to see | look into |
//! | --- | --- |
//! | a request on its way to a server: pool, connection, retry | [`client`] |
//! | from a name to addresses; which of them answers first | `client/resolve.rs`, `client/race.rs` |
//! | the TLS handshake and its time stamp; whose certificates count | `client/tls.rs`, `client/trust.rs` |
//! | QUIC: its handshake, and a socket whose datagrams are stamped | `client/quic.rs` |
//! | one exchange, and where its stamps are taken | `client/http1.rs`, `client/http2.rs`, `client/http3.rs`; `client/io.rs` for the bytes |
//! | connections that are kept, and how many | `client/pool.rs` |
//! | listening, accepting, ending in order | [`server`] |
//! | one connection of a server | `server/http1.rs`, `server/http2.rs`, `server/http3.rs` |
//! | interim responses ahead of the final one | `server/interim.rs` |
//! | requests and responses that are passed on line by line | `server/relay.rs`; `client/relay.rs`, `client/reply.rs` |
//! | what a handler is given and gives back | `server/handler.rs`, [`Body`] |
//! | certificates of a server; of a closed circle of servers and clients | `server/certificate.rs`; `membership.rs`; `shown.rs`, `pem.rs` |
//! | which heads of requests are well-formed, over all versions | [`request_head`] |
//! | HTTP/1.1 as bytes: heads, framing, chunks | [`http1`] |
//! | field sections of HTTP/3 as bytes | [`qpack`] |
//! | what goes on after a 101 | [`tunnel`] |
//! | where else an origin is served | [`alt_svc`], `client/alternatives.rs` |
//! | why a request failed, in a phrase | [`Failure`] |
//! | what a peer may cost | [`limits`] |
//! | how long a request was in the kernel before it was read | [`Waited`] |
//! | tokens that requests bring along, and their hashes | [`token`] |
//! | bodies that the kernel sends from where they are | [`pages`], [`Whole`] |
//!
//! Bodies stream in both directions and at the pace of the slower end: no code in this crate holds a whole body. A body
//! that breaks off at its source is never ended cleanly on its way on, so that nobody takes a part for the whole.
//!
//! HTTP/1.1 from outside is parsed here (with httparse for the lines of a head), and all else by h2, h3, quinn and
//! rustls. Of HTTP/3, lengths of frames and field sections of requests are read here too, as h3 does not check all of them. Time is read in [`clock`] and waited for in [`timer`] and by
//! tokio's timer, nowhere else. Nothing is printed or logged.

pub mod alt_svc;
pub mod body;
pub mod client;
pub mod clock;
mod error;
mod failure;
mod family;
mod grammar;
pub mod http1;
mod http2;
mod http3;
pub mod limits;
mod membership;
mod nested;
mod origin;
pub mod pages;
mod patience;
mod pem;
pub mod qpack;
pub mod request_head;
pub mod server;
mod shown;
mod stop;
mod sys;
pub mod timer;
pub mod token;
pub mod tunnel;
mod waited;
mod whole;

pub use bytes::Bytes;
pub use hyper::{
    HeaderMap, Method, Request, Response, StatusCode, Uri, Version,
    header::{self, HeaderName, HeaderValue},
    http::{request, response, uri},
};

pub use self::{
    body::{Body, Gone, Sender},
    client::Client,
    error::Error,
    failure::{Failure, Stage},
    family::Family,
    membership::{Caller, Credentials, Membership, NoSerial, Replaced, Revoked, Serial},
    origin::{Origin, OriginError, Scheme},
    server::Server,
    stop::Stop,
    sys::open_files,
    waited::Waited,
    whole::{FilePart, Whole},
};
