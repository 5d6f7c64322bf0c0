//! HTTP/1.1 and HTTP/2 in cleartext and over TLS, and HTTP/3 over QUIC, for a probe, a load generator
//! and a proxy.
//!
//! Bodies stream in both directions with backpressure: no code in this crate buffers a whole body.
//! A body whose source fails is never ended normally downstream, so a recipient cannot take a
//! partial body as complete.
//!
//! For HTTP/3, this crate also checks frame lengths and the field sections of requests, because h3
//! does not check them completely.

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
