//! Requests and responses that a handler forwards as raw header lines.

use std::pin::Pin;

use bytes::Bytes;
use hyper::{Request, Response};

use super::{interim::Interim, peer::Peer};
use crate::{
    Body, Failure,
    http1::{Framing, head},
};

/// A request that is being relayed.
pub type Relaying<'h, N> = Pin<Box<dyn Future<Output = Result<Relayed<N>, Failure>> + Send + 'h>>;

/// The response to a relayed request.
pub enum Relayed<N> {
    /// A response whose head is already encoded.
    Lines(Lines<N>),
    /// Any other response.
    Response(Response<Body>),
}

/// A response to a GET whose head is already encoded.
pub struct Lines<N> {
    /// The status line and all fields except those for framing and persistence, without the final empty
    /// line.
    pub head: Vec<u8>,
    /// The framing of the body: a length, chunked, or none for length 0.
    pub framing: Framing,
    /// The body.
    pub body: Body,
    /// The handler's note.
    pub note: Option<N>,
}

/// A copy of a relayed request, which can be parsed if it needs further processing.
#[derive(Debug)]
pub struct Original {
    head: Bytes,
    peer: Peer,
    interim: Interim,
}

impl Original {
    pub(super) fn new(head: &[u8], peer: Peer, interim: Interim) -> Self {
        Self { head: Bytes::copy_from_slice(head), peer, interim }
    }

    /// The sender of its interim responses.
    pub fn interim(&self) -> &Interim {
        &self.interim
    }

    /// Parses the request; `None` if it is malformed, because its lines were not fully validated.
    pub fn request(&self) -> Option<Request<Body>> {
        let mut request = head::request(&self.head).ok()?.request.map(|()| Body::empty());
        request.extensions_mut().insert(self.peer);
        request.extensions_mut().insert(self.interim.clone());
        Some(request)
    }
}
