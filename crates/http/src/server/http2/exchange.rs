//! One request over HTTP/2 whose answer takes more than a look, and its response.

use std::{future::poll_fn, pin::pin, sync::Arc, task::Poll};

use bytes::Bytes;
use h2::{Reason, server::SendResponse};
use hyper::{
    Request, Response,
    body::Body as _,
    header::{ALT_SVC, HeaderValue},
};

use super::{
    super::{
        conduct,
        handler::Handler,
        head::{self, Content},
        interim::Interims,
        watched::watched,
    },
    download,
};
use crate::{Body, Failure};

/// What one exchange needs of its connection.
pub(super) struct Exchange<H> {
    pub(super) handler: Arc<H>,
    pub(super) conduct: conduct::Exchange,
    /// Tells of another protocol.
    pub(super) alternative: Option<HeaderValue>,
}

impl<H: Handler> Exchange<H> {
    /// Has a request handled, and sends what comes of it: interim responses, and the final one.
    pub(super) async fn run(
        mut self,
        request: Request<Body>,
        mut respond: SendResponse<Bytes>,
        interims: Interims,
    ) {
        let method = request.method().clone();
        let Some(answered) = self.answered(request, &mut respond, &interims).await else { return };
        drop(interims);
        self.conduct.answered();
        let Ok(response) = answered else { return respond.send_reset(Reason::INTERNAL_ERROR) };
        let (mut head, body) = watched(response, &self.handler).into_parts();
        // One that says that another follows.
        if head.status.is_informational() {
            return respond.send_reset(Reason::INTERNAL_ERROR);
        }
        if let Some(alternative) = self.alternative.take() {
            head.headers.entry(ALT_SVC).or_insert(alternative);
        }
        let content = head::prepare(&mut head, &method, body.size_hint().exact());
        let body = if content == Content::Sent { body } else { Body::empty() };
        let is_over = body.is_end_stream();
        match respond.send_response(Response::from_parts(head, ()), is_over) {
            Ok(stream) if !is_over => drop(download::send(stream, body, &mut self.conduct).await),
            Ok(_) => {}
            Err(_) => respond.send_reset(Reason::INTERNAL_ERROR),
        }
    }

    /// What the handler answers; interim responses go out meanwhile. `None` if the client takes its request back.
    async fn answered(
        &self,
        request: Request<Body>,
        respond: &mut SendResponse<Bytes>,
        interims: &Interims,
    ) -> Option<Result<Response<Body>, Failure>> {
        let mut handling = pin!(self.handler.handle(request));
        poll_fn(|cx| {
            let answered = handling.as_mut().poll(cx);
            if respond.poll_reset(cx).is_ready() {
                return match answered {
                    Poll::Ready(answered) => Poll::Ready(Some(answered)),
                    Poll::Pending => Poll::Ready(None),
                };
            }
            while let Poll::Ready(interim) = interims.poll(cx) {
                let _ = respond.send_informational(interim);
            }
            answered.map(Some)
        })
        .await
    }

    /// Sends the rest of a response that was begun: all of its body.
    pub(super) async fn finish(mut self, stream: h2::SendStream<Bytes>, body: Body) {
        let _ = download::send(stream, body, &mut self.conduct).await;
    }
}
