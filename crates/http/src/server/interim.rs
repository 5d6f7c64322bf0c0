//! Interim responses (1xx) ahead of the final one, such as 103 Early Hints (RFC 8297).

use std::{
    collections::VecDeque,
    future::poll_fn,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use hyper::{HeaderMap, Response, StatusCode};

use super::head as framed;
use crate::http1::head;

/// Sends interim responses to one request. It is among the extensions of requests that can have them: of all but HTTP/1.0.
#[derive(Debug, Clone)]
pub struct Interim(Way);

#[derive(Debug, Clone)]
enum Way {
    /// The whole connection is its.
    Http1 { connection: Arc<Waiting>, request: u64 },
    /// A stream of HTTP/2 or HTTP/3.
    Stream(Arc<Mutex<Ahead>>),
}

impl Interim {
    /// Has an interim response sent, unless the final one is on its way. It goes out when the handler waits for something next.
    ///
    /// A status that is not 1xx, or 101, which ends HTTP on a connection, is not sent. Nor is what comes when those of this request are as
    /// long as one header may be.
    pub fn send(&self, status: StatusCode, headers: HeaderMap) {
        if !status.is_informational() || status == StatusCode::SWITCHING_PROTOCOLS {
            return;
        }
        match &self.0 {
            Way::Http1 { connection, request } => connection.add(*request, status, &headers),
            Way::Stream(ahead) => lock(ahead).add(status, headers),
        }
    }

    /// For a request on a stream of its own, and where its interim responses come out.
    pub(super) fn of_stream() -> (Self, Interims) {
        let ahead = Arc::default();
        (Self(Way::Stream(Arc::clone(&ahead))), Interims(ahead))
    }
}

/// Where the interim responses of a stream come out. Without it, nothing more goes in.
#[derive(Debug)]
pub(super) struct Interims(Arc<Mutex<Ahead>>);

impl Interims {
    /// The next one. There may always be another.
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

    /// Waits for the next one.
    pub(super) async fn coming(&self) -> Response<()> {
        poll_fn(|cx| self.poll(cx)).await
    }

    /// The next one, if it is there.
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

/// Interim responses of a stream that are not sent yet.
#[derive(Debug, Default)]
struct Ahead {
    heads: VecDeque<Response<()>>,
    /// How much has come for the stream so far, in bytes as HTTP/1.1 would have them.
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

/// Interim responses of an HTTP/1.1 connection that are not written yet.
#[derive(Debug, Default)]
pub(super) struct Waiting(Mutex<Queue>);

#[derive(Debug, Default)]
struct Queue {
    bytes: Vec<u8>,
    /// Which of the connection's requests may have them.
    request: u64,
    connection: Option<Waker>,
}

impl Waiting {
    /// For the connection's next request.
    pub(super) fn begin(self: &Arc<Self>) -> Interim {
        Interim(Way::Http1 { connection: Arc::clone(self), request: self.next() })
    }

    /// The final response follows: what comes now is too late.
    pub(super) fn end(&self) {
        self.next();
    }

    /// Takes what is there, and has the task of `cx` woken when there is more.
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

/// Bytes that wait for a client of HTTP/1.1 that does not read, or that a stream has at all, as nobody waits for its client. What comes
/// then is not sent.
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
        // The last one begins below the limit.
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
