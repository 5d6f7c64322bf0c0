//! HTTP/1.1 and HTTP/2 in cleartext and over TLS, and HTTP/3 over QUIC, for a probe, a load generator
//! and a proxy.
//!
//! | topic | module |
//! | --- | --- |
//! | sending a request: pool, connection, retry | [`client`] |
//! | name resolution, and the race between addresses | `client/resolve.rs`, `client/race.rs` |
//! | the TLS handshake with its time stamp; trusted certificates | `client/tls.rs`, `client/trust.rs` |
//! | the QUIC handshake, and a socket with stamped datagrams | `client/quic.rs` |
//! | an exchange and its time stamps | `client/http1.rs`, `client/http2.rs`, `client/http3.rs`; `client/io.rs` for the bytes |
//! | the connection pool | `client/pool.rs` |
//! | listening, accepting, graceful shutdown | [`server`] |
//! | a server's connection | `server/http1.rs`, `server/http2.rs`, `server/http3.rs` |
//! | interim responses | `server/interim.rs` |
//! | requests and responses that are forwarded line by line | `server/relay.rs`; `client/relay.rs`, `client/reply.rs` |
//! | the interface of a request handler | `server/handler.rs`, [`Body`] |
//! | certificates of a server; mutual TLS in a closed group | `server/certificate.rs`; `membership.rs`; `shown.rs`, `pem.rs` |
//! | validation of request heads, for all versions | [`request_head`] |
//! | HTTP/1.1 as bytes: heads, framing, chunks | [`http1`] |
//! | HTTP/3 field sections as bytes | [`qpack`] |
//! | tunnels after a 101 | [`tunnel`] |
//! | alternative services of an origin | [`alt_svc`], `client/alternatives.rs` |
//! | the phrase for a failed request | [`Failure`] |
//! | limits on the resources of a peer | [`limits`] |
//! | how long a request was in the kernel before it was read | [`Waited`] |
//! | bearer tokens and their hashes | [`token`] |
//! | bodies sent by the kernel without copying | [`pages`], [`Whole`] |
//!
//! Bodies stream in both directions with backpressure: no code in this crate buffers a whole body. A
//! body whose source fails is never ended normally downstream, so a recipient cannot take a partial body
//! as complete.
//!
//! HTTP/1.1 is parsed in this crate (with httparse for the lines of a head), everything else by h2, h3,
//! quinn and rustls. For HTTP/3, this crate also checks frame lengths and the field sections of
//! requests, because h3 does not check them completely. Time is read only in [`clock`]; waiting uses
//! [`timer`] and tokio's timer. The crate prints nothing; it logs with `tracing`.

pub mod alt_svc;
pub mod body;
pub mod client;
pub mod clock;
mod complete_body;
mod error;
mod failure;
mod family;
mod grammar;
mod h1_over_h2;
pub mod http1;
mod http2;
mod http3;
mod kernel_timestamp;
pub mod limits;
pub mod memfd_buffer;
mod mtls;
mod origin;
mod pem;
pub mod qpack;
mod reloadable_cert;
pub mod request_head;
pub mod server;
mod shutdown;
mod stall_timeout;
mod sys;
pub mod timer;
pub mod token;
pub mod tunnel;

pub use bytes::Bytes;
pub use hyper::{
    HeaderMap, Method, Request, Response, StatusCode, Uri, Version,
    header::{self, HeaderName, HeaderValue},
    http::{request, response, uri},
};

pub use self::{
    body::{Body, ReceiverDropped, Sender},
    client::Client,
    complete_body::{CompleteBody, FileRange},
    error::Error,
    failure::{Failure, Stage},
    family::Family,
    kernel_timestamp::TimeInKernel,
    mtls::{Credentials, MeshIdentity, NoSerial, PeerIdentity, Replaced, Revoked, Serial},
    origin::{Origin, OriginError, Scheme},
    server::Server,
    shutdown::ShutdownSignal,
    sys::open_files,
};
