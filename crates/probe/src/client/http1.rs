//! One request at a time on an HTTP/1.1 connection.

use std::{net::SocketAddr, sync::Arc};

use bytes::Bytes;
use http::{HeaderValue, Request, header};
use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, client::conn::http1};
use hyper_util::rt::TokioIo;

use super::{
    failure::{Failure, Stage},
    target::Target,
    trace::{Sending, Trace},
    wire::{Connection, Tap, Wire},
};
use crate::{clock::Clock, limits};

/// A connection that is idle or carries one request.
pub(crate) struct Http1 {
    sender: http1::SendRequest<Full<Bytes>>,
    wire: Arc<Wire>,
    remote: SocketAddr,
    used: bool,
}

impl Http1 {
    /// Speaks HTTP/1.1 over a connection to `remote`; nothing is sent yet.
    pub(crate) async fn start(
        stream: Box<dyn Connection>,
        remote: SocketAddr,
        clock: Clock,
    ) -> Result<Self, Failure> {
        let wire = Arc::new(Wire::new(clock));
        let (sender, connection) = http1::Builder::new()
            .max_headers(limits::HEADERS)
            .max_buf_size(limits::HEADER_BYTES)
            .handshake(TokioIo::new(Tap::new(stream, Arc::clone(&wire))))
            .await
            .map_err(|error| Failure::from_hyper(&error, Stage::Head))?;
        // What ends a connection is told to the request that is on it; without one, the next finds it closed.
        tokio::spawn(async move { connection.await.ok() });
        Ok(Self { sender, wire, remote, used: false })
    }

    /// Whether it is known that no further request can be made.
    pub(crate) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    /// Makes a request and reads the response to its end, discarding the body.
    pub(crate) async fn exchange(&mut self, target: &Target, trace: &mut Trace) -> Result<(), Failure> {
        trace.protocol = Some("http/1.1");
        trace.reused = Some(self.used);
        trace.remote = Some(self.remote);
        if self.sender.ready().await.is_err() {
            trace.unsent = true;
            return Err(Failure::Closed(Stage::Head));
        }
        self.used = true;
        self.wire.begin();
        trace.sending = Sending::Alone(Arc::clone(&self.wire));
        let response = self.sender.try_send_request(self.request(target)).await.map_err(|mut refused| {
            trace.unsent = refused.take_message().is_some();
            Failure::from_hyper(refused.error(), Stage::Head)
        })?;
        // If the final header came in the same read as the end of an interim response, that read is its first.
        trace.final_headers = self.wire.first_read().or(self.wire.last_read());
        trace.answered(response.status(), response.headers());
        self.discard(response.into_body(), trace).await
    }

    fn request(&self, target: &Target) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(target.body.clone()));
        *request.method_mut() = target.method.clone();
        *request.uri_mut() = target.path.clone().into();
        *request.headers_mut() = target.headers.clone();
        if !request.headers().contains_key(header::HOST)
            && let Ok(host) = HeaderValue::try_from(target.origin.authority())
        {
            request.headers_mut().insert(header::HOST, host);
        }
        let wire = Arc::clone(&self.wire);
        hyper::ext::on_informational(&mut request, move |_| wire.interim());
        request
    }

    async fn discard(&self, mut body: Incoming, trace: &mut Trace) -> Result<(), Failure> {
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| Failure::from_hyper(&error, Stage::Body))?;
            if let Some(data) = frame.data_ref().filter(|data| !data.is_empty()) {
                // hyper reads on only after a frame was taken: the last read is the one that brought it.
                trace.first_body_byte = trace.first_body_byte.or(self.wire.last_read());
                trace.body_bytes += data.len() as u64;
            }
        }
        trace.last_byte = self.wire.last_read();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
