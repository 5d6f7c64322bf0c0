//! An outgoing body on an HTTP/3 stream.

use std::time::Duration;

use bytes::Bytes;
use h3::{
    client,
    error::{Code, StreamError},
    quic::SendStream,
    server,
};
use hyper::{HeaderMap, body::Body as _};

use crate::{Body, Failure};

pub(crate) trait Transmit {
    fn data(&mut self, data: Bytes) -> impl Future<Output = Result<(), StreamError>> + Send;
    fn trailers(&mut self, trailers: HeaderMap) -> impl Future<Output = Result<(), StreamError>> + Send;
    fn finish(&mut self) -> impl Future<Output = Result<(), StreamError>> + Send;
    fn reset(&mut self, code: Code);
}

macro_rules! transmit {
    ($stream:ty) => {
        impl<S: SendStream<Bytes> + Send> Transmit for $stream {
            fn data(&mut self, data: Bytes) -> impl Future<Output = Result<(), StreamError>> + Send {
                self.send_data(data)
            }

            fn trailers(
                &mut self,
                trailers: HeaderMap,
            ) -> impl Future<Output = Result<(), StreamError>> + Send {
                self.send_trailers(trailers)
            }

            fn finish(&mut self) -> impl Future<Output = Result<(), StreamError>> + Send {
                self.finish()
            }

            fn reset(&mut self, code: Code) {
                self.stop_stream(code);
            }
        }
    };
}

transmit!(client::RequestStream<S, Bytes>);
transmit!(server::RequestStream<S, Bytes>);

/// A drop before the end of the body resets the stream with `code`.
pub(crate) struct Outgoing<T: Transmit> {
    stream: T,
    is_whole: bool,
    code: Code,
    patience: Duration,
}

impl<T: Transmit> Outgoing<T> {
    pub(crate) fn new(stream: T, code: Code, patience: Duration) -> Self {
        Self { stream, is_whole: false, code, patience }
    }

    pub(crate) fn stream(&mut self) -> &mut T {
        &mut self.stream
    }

    pub(crate) fn would_end_with(&mut self, code: Code) {
        self.code = code;
    }

    /// Fails with [`Failure::Source`] if the source fails; if the peer stops reading or accepts
    /// nothing for too long, the rest is dropped without an error.
    pub(crate) async fn send(&mut self, mut body: Body) -> Result<(), Failure> {
        while let Some(frame) = body.frame().await {
            let sent = match frame.map_err(|_| Failure::Source)?.into_data() {
                Ok(data) if data.is_empty() => Ok(()),
                Ok(data) => match tokio::time::timeout(self.patience, self.stream.data(data)).await {
                    Ok(sent) => sent,
                    Err(_) => return Ok(()),
                },
                Err(frame) => match frame.into_trailers() {
                    Ok(trailers) => self.stream.trailers(trailers).await,
                    Err(_) => Ok(()),
                },
            };
            if sent.is_err() {
                return Ok(());
            }
            if body.is_end_stream() {
                break;
            }
        }
        self.is_whole = self.stream.finish().await.is_ok();
        Ok(())
    }
}

impl<T: Transmit> Drop for Outgoing<T> {
    fn drop(&mut self) {
        if !self.is_whole {
            self.stream.reset(self.code);
        }
    }
}
