//! The upload of a request body on an HTTP/2 stream, concurrent with the response.

use std::{future::poll_fn, sync::Arc};

use bytes::Bytes;
use h2::{Reason, SendStream};
use hyper::body::Body as _;
use tokio::task::AbortHandle;

use super::super::{io::Recorder, timestamps::Stamps};
use crate::Body;

pub(super) struct Upload(AbortHandle);

impl Upload {
    pub(super) fn start(
        body: Body,
        stream: SendStream<Bytes>,
        stamps: Arc<Stamps>,
        recorder: Arc<Recorder>,
    ) -> Self {
        Self(tokio::spawn(run(body, stream, stamps, recorder)).abort_handle())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A stream failure is reported with the response.
async fn run(mut body: Body, mut stream: SendStream<Bytes>, stamps: Arc<Stamps>, recorder: Arc<Recorder>) {
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else {
            // The reset prevents the server from taking the incomplete upload as complete.
            stamps.set_broken_off();
            stream.send_reset(Reason::CANCEL);
            return;
        };
        let is_last = body.is_end_stream();
        match frame.into_data() {
            Ok(data) => {
                if send(&mut stream, data, is_last, &stamps, &recorder).await.is_none() || is_last {
                    return;
                }
            }
            Err(frame) => {
                if let Ok(trailers) = frame.into_trailers() {
                    recorder.when_flushed(stamps);
                    let _ = stream.send_trailers(trailers);
                    return;
                }
            }
        }
    }
    recorder.when_flushed(stamps);
    let _ = stream.send_data(Bytes::new(), true);
}

async fn send(
    stream: &mut SendStream<Bytes>,
    mut data: Bytes,
    is_last: bool,
    stamps: &Arc<Stamps>,
    recorder: &Recorder,
) -> Option<()> {
    while !data.is_empty() {
        stream.reserve_capacity(data.len());
        let capacity = poll_fn(|cx| stream.poll_capacity(cx)).await?.ok()?;
        let part = data.split_to(capacity.min(data.len()));
        let ends = is_last && data.is_empty();
        if ends {
            recorder.when_flushed(Arc::clone(stamps));
        }
        stream.send_data(part, ends).ok()?;
        if ends {
            return Some(());
        }
    }
    if is_last {
        recorder.when_flushed(Arc::clone(stamps));
        stream.send_data(Bytes::new(), true).ok()?;
    }
    Some(())
}
