//! Connections kept for the next request.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use super::{http1::Http1, http2::Http2, target::Origin};
use crate::limits;

/// The connections of each origin.
#[derive(Default)]
pub(crate) struct Pool {
    origins: Mutex<HashMap<Origin, Arc<Kept>>>,
}

/// The connections of one origin: either kind, as the server has agreed to.
#[derive(Default)]
pub(crate) struct Kept {
    /// The last one used is the last: it is the likeliest to be alive still.
    idle: Mutex<Vec<Http1>>,
    shared: Mutex<Option<Http2>>,
    /// Held by the request that opens a connection which others might share.
    pub(crate) opening: tokio::sync::Mutex<Speaks>,
}

/// What is known of a server that had a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Speaks {
    /// Nothing, or HTTP/2: whoever needs a connection had better wait for the one being opened.
    #[default]
    PerhapsHttp2,
    /// HTTP/1.1: each opens its own.
    Http1,
}

impl Pool {
    /// The connections of `origin`; `None` if there are more origins than are kept.
    pub(crate) fn of(&self, origin: &Origin) -> Option<Arc<Kept>> {
        let mut origins = self.origins.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = origins.get(origin) {
            return Some(Arc::clone(kept));
        }
        if origins.len() >= limits::ORIGINS {
            return None;
        }
        Some(Arc::clone(origins.entry(origin.clone()).or_default()))
    }
}

impl Kept {
    /// An idle connection, as far as is known.
    pub(crate) fn take_idle(&self) -> Option<Http1> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(connection) = idle.pop() {
            if !connection.is_closed() {
                return Some(connection);
            }
        }
        None
    }

    /// Keeps a connection whose request is done.
    pub(crate) fn keep_idle(&self, connection: Http1) {
        if !connection.is_closed() {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        }
    }

    /// The shared connection, if it lives as far as is known.
    pub(crate) fn shared(&self) -> Option<Http2> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if shared.as_ref().is_some_and(Http2::is_closed) {
            *shared = None;
        }
        shared.clone()
    }

    /// Shares a connection.
    pub(crate) fn share(&self, connection: Http2) {
        *self.shared.lock().unwrap_or_else(PoisonError::into_inner) = Some(connection);
    }

    /// A request was refused on this connection: nobody shall use it any more.
    pub(crate) fn unshare(&self, refused: &Http2) {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        // Another request may have replaced it already.
        if shared.as_ref().is_some_and(|shared| shared.is_same(refused)) {
            *shared = None;
        }
    }
}
