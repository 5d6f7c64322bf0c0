//! Interim responses (1xx) ahead of the final one, such as 103 Early Hints (RFC 8297). Not over HTTP/2: hyper, which drives it here, has no
//! way to send one, though h2 below it has.

use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Waker},
};

use hyper::{HeaderMap, Response, StatusCode};
use tokio::sync::mpsc;

use crate::http1::head;

/// Sends interim responses to one request. It is among the extensions of requests that can have them: of HTTP/1.1 and
/// HTTP/3, not of HTTP/1.0 and HTTP/2.
#[derive(Debug, Clone)]
pub struct Interim(Way);

#[derive(Debug, Clone)]
enum Way {
    Http1 { connection: Arc<Waiting>, request: u64 },
    Http3(mpsc::UnboundedSender<Response<()>>),
}

impl Interim {
    /// Has an interim response sent, unless the final one is on its way. It goes out when the handler waits for something next.
    ///
    /// A status that is not 1xx, or 101, which ends HTTP on a connection, is not sent.
    pub fn send(&self, status: StatusCode, headers: HeaderMap) {
        if !status.is_informational() || status == StatusCode::SWITCHING_PROTOCOLS {
            return;
        }
        match &self.0 {
            Way::Http1 { connection, request } => connection.add(*request, status, &headers),
            Way::Http3(stream) => {
                let mut response = Response::new(());
                (*response.status_mut(), *response.headers_mut()) = (status, headers);
                // Whoever has answered finally takes no more.
                let _ = stream.send(response);
            }
        }
    }

    /// For a request on an HTTP/3 stream, and where its interim responses come out.
    pub(super) fn http3() -> (Self, mpsc::UnboundedReceiver<Response<()>>) {
        let (stream, interim) = mpsc::unbounded_channel();
        (Self(Way::Http3(stream)), interim)
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
        let mut queue = self.queue();
        queue.connection = Some(cx.waker().clone());
        mem::take(&mut queue.bytes)
    }

    fn add(&self, request: u64, status: StatusCode, headers: &HeaderMap) {
        let mut queue = self.queue();
        if request == queue.request && queue.bytes.len() < MOST {
            head::write_interim(&mut queue.bytes, status, headers);
            queue.connection.take().into_iter().for_each(Waker::wake);
        }
    }

    fn next(&self) -> u64 {
        let mut queue = self.queue();
        queue.request += 1;
        queue.request
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes that wait for a client that does not read. What comes then is not sent.
const MOST: usize = crate::limits::HEADER_BYTES;
