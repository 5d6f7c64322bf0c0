//! Requests that a handler passes on as the lines that they are, and the lines that it passes back.

use std::pin::Pin;

use bytes::Bytes;
use hyper::{Request, Response};

use super::{interim::Interim, peer::Peer};
use crate::{
    Body, Failure,
    http1::{Framing, head},
};

/// A request that is being passed on.
pub type Relaying<'h, N> = Pin<Box<dyn Future<Output = Result<Relayed<N>, Failure>> + Send + 'h>>;

/// What a request that was passed on is answered with.
pub enum Relayed<N> {
    /// A head that is written already.
    Lines(Lines<N>),
    /// A response like any other.
    Response(Response<Body>),
}

/// A response to a GET whose head is written already.
pub struct Lines<N> {
    /// The status line and all fields but those that say where the body ends and whether the connection is kept; without the empty line
    /// behind them.
    pub head: Vec<u8>,
    /// Where the body ends for its reader: a length, chunks, or there is none, as its length is 0.
    pub framing: Framing,
    /// The body.
    pub body: Body,
    /// What the handler notes of it.
    pub note: Option<N>,
}

/// A request that was passed on, as it came: to be made a whole one if there is more to do about it.
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

    /// Where its interim responses go.
    pub fn interim(&self) -> &Interim {
        &self.interim
    }

    /// The request; `None` if its lines are not one, as they were only looked at.
    pub fn request(&self) -> Option<Request<Body>> {
        let mut request = head::request(&self.head).ok()?.request.map(|()| Body::empty());
        request.extensions_mut().insert(self.peer);
        request.extensions_mut().insert(self.interim.clone());
        Some(request)
    }
}
