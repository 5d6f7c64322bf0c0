//! Interim responses (1xx) before the final one, such as 103 Early Hints (RFC 8297).

use std::{
    collections::VecDeque,
    future::poll_fn,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use hyper::{HeaderMap, Response, StatusCode};

use super::response_head as framed;
use crate::http1::head;

/// Sends interim responses to one request. It is an extension of all requests except those over
/// HTTP/1.0.
#[derive(Debug, Clone)]
pub struct Interim(Way);

#[derive(Debug, Clone)]
enum Way {
    Http1 { connection: Arc<Waiting>, request: u64 },
    Stream(Arc<Mutex<Ahead>>),
}

impl Interim {
    /// Queues an interim response, unless the final one has started.
    ///
    /// Ignores a status that is not 1xx, and 101, which would end HTTP on a connection.
    pub fn send(&self, status: StatusCode, headers: HeaderMap) {
        if !status.is_informational() || status == StatusCode::SWITCHING_PROTOCOLS {
            return;
        }
        match &self.0 {
            Way::Http1 { connection, request } => connection.add(*request, status, &headers),
            Way::Stream(ahead) => lock(ahead).add(status, headers),
        }
    }

    pub(super) fn of_stream() -> (Self, Interims) {
        let ahead = Arc::default();
        (Self(Way::Stream(Arc::clone(&ahead))), Interims(ahead))
    }
}

#[derive(Debug)]
pub(super) struct Interims(Arc<Mutex<Ahead>>);

impl Interims {
    pub(super) fn poll(&self, cx: &Context<'_>) -> Poll<Response<()>> {
        let mut ahead = lock(&self.0);
        match ahead.heads.pop_front() {
            Some(head) => Poll::Ready(head),
            None => {
                ahead.stream = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    pub(super) async fn coming(&self) -> Response<()> {
        poll_fn(|cx| self.poll(cx)).await
    }

    pub(super) fn next(&self) -> Option<Response<()>> {
        lock(&self.0).heads.pop_front()
    }
}

impl Drop for Interims {
    fn drop(&mut self) {
        let mut ahead = lock(&self.0);
        ahead.is_over = true;
        ahead.heads.clear();
    }
}

#[derive(Debug, Default)]
struct Ahead {
    heads: VecDeque<Response<()>>,
    /// The total size so far, in bytes of HTTP/1.1.
    bytes: usize,
    is_over: bool,
    stream: Option<Waker>,
}

impl Ahead {
    fn add(&mut self, status: StatusCode, mut headers: HeaderMap) {
        if self.is_over || self.bytes >= MOST {
            return;
        }
        framed::clear(&mut headers);
        self.bytes += head::interim_length(&headers);
        let mut response = Response::new(());
        (*response.status_mut(), *response.headers_mut()) = (status, headers);
        self.heads.push_back(response);
        self.stream.take().into_iter().for_each(Waker::wake);
    }
}

#[derive(Debug, Default)]
pub(super) struct Waiting(Mutex<Queue>);

#[derive(Debug, Default)]
struct Queue {
    bytes: Vec<u8>,
    request: u64,
    connection: Option<Waker>,
}

impl Waiting {
    pub(super) fn begin(self: &Arc<Self>) -> Interim {
        Interim(Way::Http1 { connection: Arc::clone(self), request: self.next() })
    }

    pub(super) fn end(&self) {
        self.next();
    }

    pub(super) fn take(&self, cx: &Context<'_>) -> Vec<u8> {
        let mut queue = lock(&self.0);
        queue.connection = Some(cx.waker().clone());
        mem::take(&mut queue.bytes)
    }

    fn add(&self, request: u64, status: StatusCode, headers: &HeaderMap) {
        let mut queue = lock(&self.0);
        if request == queue.request && queue.bytes.len() < MOST {
            head::write_interim(&mut queue.bytes, status, headers);
            queue.connection.take().into_iter().for_each(Waker::wake);
        }
    }

    fn next(&self) -> u64 {
        let mut queue = lock(&self.0);
        queue.request += 1;
        queue.request
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The limit of queued bytes for HTTP/1.1, and of the total per stream for HTTP/2 and HTTP/3, which
/// have no backpressure here.
const MOST: usize = crate::limits::HEADER_BYTES;

#[cfg(test)]
mod tests {
    use super::*;

    fn hints(length: usize) -> HeaderMap {
        HeaderMap::from_iter([("link".parse().unwrap(), "x".repeat(length).parse().unwrap())])
    }

    #[test]
    fn a_stream_has_as_much_of_them_as_one_header_may_be() {
        let (interim, interims) = Interim::of_stream();
        (0..1000).for_each(|_| interim.send(StatusCode::EARLY_HINTS, hints(1000)));
        let sent = std::iter::from_fn(|| interims.next()).count();
        assert_eq!(sent, MOST / (28 + 4 + 1000 + 4) + 1);
        interim.send(StatusCode::EARLY_HINTS, hints(1));
        assert!(interims.next().is_none());
    }

    #[test]
    fn what_is_none_or_comes_too_late_is_not_kept() {
        let (interim, interims) = Interim::of_stream();
        for status in [StatusCode::OK, StatusCode::SWITCHING_PROTOCOLS] {
            interim.send(status, hints(1));
        }
        assert!(interims.next().is_none());
        let ahead = Arc::clone(&interims.0);
        drop(interims);
        interim.send(StatusCode::EARLY_HINTS, hints(1));
        assert!(lock(&ahead).heads.is_empty());
    }
}
