//! An HTTP/2 request that is not served immediately, and its response.

use std::{future::poll_fn, pin::pin, sync::Arc, task::Poll};

use bytes::Bytes;
use h2::{Reason, SendStream, server::SendResponse};
use hyper::{
    Request, Response,
    body::Body as _,
    header::{ALT_SVC, HeaderValue},
};

use super::{
    super::{
        delivery::Delivery,
        handler::{Handler, handled},
        interim::Interims,
        response_head::{self, Content},
    },
    abuse_guard, download,
};
use crate::{Body, Failure};

pub(super) struct Exchange<H: Handler> {
    pub(super) handler: Arc<H>,
    pub(super) conduct: abuse_guard::Exchange,
    pub(super) alternative: Option<HeaderValue>,
    pub(super) note: Option<H::Observer>,
    pub(super) is_whole: bool,
}

impl<H: Handler> Exchange<H> {
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
        let (mut head, body) = response.into_parts();
        self.note = head.extensions.remove();
        response_head::clear(&mut head.headers);
        if head.status.is_informational() {
            return respond.send_reset(Reason::INTERNAL_ERROR);
        }
        if let Some(alternative) = self.alternative.take() {
            head.headers.entry(ALT_SVC).or_insert(alternative);
        }
        let content = response_head::prepare(&mut head, &method, body.size_hint().exact());
        let body = if content == Content::Sent { body } else { Body::empty() };
        let is_over = body.is_end_stream();
        match respond.send_response(Response::from_parts(head, ()), is_over) {
            Ok(_) if is_over => self.is_whole = true,
            Ok(stream) => self.finish(stream, body).await,
            Err(_) => respond.send_reset(Reason::INTERNAL_ERROR),
        }
    }

    pub(super) async fn finish(mut self, stream: SendStream<Bytes>, body: Body) {
        self.is_whole = download::send(stream, body, &mut self.conduct).await.is_some();
    }

    async fn answered(
        &self,
        request: Request<Body>,
        respond: &mut SendResponse<Bytes>,
        interims: &Interims,
    ) -> Option<Result<Response<Body>, Failure>> {
        let mut handling = pin!(handled(&*self.handler, request));
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
}

impl<H: Handler> Drop for Exchange<H> {
    fn drop(&mut self) {
        if let Some(note) = self.note.take() {
            let body_bytes = self.conduct.body_bytes();
            self.handler.on_delivered(note, Delivery { is_whole: self.is_whole, body_bytes, bytes: None });
        }
    }
}
