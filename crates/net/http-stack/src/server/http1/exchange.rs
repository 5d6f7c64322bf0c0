//! One exchange on a connection, from the complete request head to the sent response.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Buf;
use hyper::{
    Method, Response, Version,
    header::{self, HeaderValue},
};

use super::{Http1, Next, Shared, answer, sentence, status_for};
use crate::{
    Body,
    http1::{Framing, Malformed, Outgoing, Persistence, RequestHead, Trailers, chunked, head},
    server::{
        delivery::Delivery,
        fast_path::RequestView,
        handler::{Handler, handled},
        relay::{Relayed, Relaying},
        wire::Wire,
    },
    tunnel::Downstream,
};

#[expect(
    clippy::large_enum_variant,
    reason = "it is taken apart at once, and a box for each request would cost more"
)]
enum HandledBy<'h, N> {
    Answered(Option<N>),
    Relayed(Relaying<'h, N>),
    Request(RequestHead),
}

impl<S: Wire> Http1<S> {
    pub(super) async fn exchange<H: Handler>(&mut self, context: &Shared<H>, length: usize) -> Next {
        let before = self.outgoing.written();
        let taken = self.take_head(context, length);
        let RequestHead { mut request, framing, persistence } = match taken {
            Ok(HandledBy::Answered(note)) => {
                let sent = self.deliver(context, note, before).await;
                return sent.map_or(Next::Cut, |()| Next::Request);
            }
            Ok(HandledBy::Relayed(relaying)) => return self.pass_back(context, relaying, before).await,
            Ok(HandledBy::Request(head)) => head,
            Err(why) => return self.refuse(status_for(why), &sentence(why)).await,
        };
        if framing == Framing::Chunked && !chunked::Decoder::can_begin(&self.input) {
            return self.refuse(status_for(Malformed::Framing), &sentence(Malformed::Framing)).await;
        }
        let (method, version) = (request.method().clone(), request.version());
        let trailers = answer::trailers(request.headers());
        let body = self.arrives(framing, version, request.headers(), context.config.read_timeout);
        request.extensions_mut().insert(self.peer);
        if let Some(caller) = &self.caller {
            request.extensions_mut().insert(caller.clone());
        }
        if let Some(waited) = self.waited.take() {
            request.extensions_mut().insert(waited);
        }
        if version == Version::HTTP_11 {
            request.extensions_mut().insert(self.interim.begin());
        }
        let answered = {
            let mut handling = Box::pin(handled(&*context.handler, request.map(|()| body)));
            std::future::poll_fn(|cx| self.poll_answered(cx, handling.as_mut())).await
        };
        self.interim.end();
        let Some(Ok(response)) = answered else { return Next::Cut };
        self.respond(context, response, (&method, version), (persistence, trailers), before).await
    }

    async fn respond<H: Handler>(
        &mut self,
        context: &Shared<H>,
        mut response: Response<Body>,
        asked: (&Method, Version),
        (persistence, trailers): (Persistence, Trailers),
        before: u64,
    ) -> Next {
        if let Some(alternative) = &self.alternative {
            response.headers_mut().entry(header::ALT_SVC).or_insert_with(|| alternative.clone());
        }
        let tunnel = response.extensions().get::<Downstream>().cloned();
        let note = response.extensions_mut().remove::<H::Observer>();
        let persistence = self.persistence(context, persistence);
        let persistence = answer::write(&mut self.outgoing, response, asked, persistence, trailers);
        match (self.deliver(context, note, before).await, tunnel) {
            (None, _) => Next::Cut,
            (Some(()), Some(tunnel)) => Next::Tunnel(tunnel),
            (Some(()), None) => self.next(persistence).await,
        }
    }

    async fn pass_back<H: Handler>(
        &mut self,
        context: &Shared<H>,
        mut relaying: Relaying<'_, H::Observer>,
        before: u64,
    ) -> Next {
        let relayed = std::future::poll_fn(|cx| self.poll_answered(cx, relaying.as_mut())).await;
        drop(relaying);
        self.interim.end();
        match relayed {
            Some(Ok(Relayed::Lines(lines))) => {
                let persistence = self.persistence(context, Persistence::Kept);
                let note =
                    answer::write_lines(&mut self.outgoing, lines, persistence, self.alternative.as_ref());
                match self.deliver(context, note, before).await {
                    Some(()) => self.next(persistence).await,
                    None => Next::Cut,
                }
            }
            Some(Ok(Relayed::Response(response))) => {
                let asked = (&Method::GET, Version::HTTP_11);
                let how = (Persistence::Kept, Trailers::LeftOut);
                self.respond(context, response, asked, how, before).await
            }
            Some(Err(_)) | None => Next::Cut,
        }
    }

    fn persistence<H>(&self, context: &Shared<H>, asked: Persistence) -> Persistence {
        if self.is_over || context.stop.is_requested() { Persistence::Closed } else { asked }
    }

    async fn deliver<H: Handler>(
        &mut self,
        context: &Shared<H>,
        note: Option<H::Observer>,
        before: u64,
    ) -> Option<()> {
        let sent = self.sent().await;
        self.tell(&*context.handler, note, before, sent);
        sent
    }

    async fn next(&mut self, persistence: Persistence) -> Next {
        match persistence {
            Persistence::Kept if self.rest().await => Next::Request,
            _ if self.arrival.is_some() || !self.input.is_empty() => Next::Linger,
            _ => Next::End,
        }
    }

    fn tell<H: Handler>(&self, handler: &H, note: Option<H::Observer>, before: u64, sent: Option<()>) {
        if let Some(note) = note {
            let bytes = Some(self.outgoing.written() - before);
            let body_bytes = self.outgoing.body_bytes();
            handler.on_delivered(note, Delivery { is_whole: sent.is_some(), body_bytes, bytes });
        }
    }

    fn take_head<'h, H: Handler>(
        &mut self,
        context: &'h Shared<H>,
        length: usize,
    ) -> Result<HandledBy<'h, H::Observer>, Malformed> {
        let may_answer = H::HAS_FAST_PATH && !context.stop.is_requested();
        let (input, outgoing) = (&self.input[..length], &mut self.outgoing);
        let (peer, caller) = (self.peer, self.caller.as_ref());
        let (alternative, interim) = (self.alternative.as_ref(), &self.interim);
        let taken = head::with_lines(input, |lines| {
            if let Some(glance) = may_answer.then(|| RequestView::of(lines, (peer, caller))).flatten() {
                if let Some(note) = answer_at_once(&*context.handler, &glance, alternative, outgoing) {
                    return Ok(HandledBy::Answered(note));
                }
                if let Some(relaying) = context.handler.relay(&glance, || interim.begin()) {
                    return Ok(HandledBy::Relayed(relaying));
                }
            }
            head::copied(lines).map(HandledBy::Request)
        });
        if length == self.input.len() {
            self.input.clear();
        } else {
            self.input.advance(length);
        }
        taken?
    }

    fn poll_answered<F: Future + ?Sized>(
        &mut self,
        cx: &mut Context<'_>,
        handling: Pin<&mut F>,
    ) -> Poll<Option<F::Output>> {
        let answered = handling.poll(cx);
        let interim = self.interim.take(cx);
        if !interim.is_empty() {
            self.outgoing.lines().extend_from_slice(&interim);
        }
        if let Poll::Ready(answered) = answered {
            return Poll::Ready(Some(answered));
        }
        if !self.poll_arrival(cx) || self.outgoing.poll(cx, &mut self.stream).is_err() {
            return Poll::Ready(None);
        }
        if self.outgoing.broken().is_some() { Poll::Ready(None) } else { Poll::Pending }
    }
}

fn answer_at_once<H: Handler>(
    handler: &H,
    request: &RequestView<'_>,
    alternative: Option<&HeaderValue>,
    outgoing: &mut Outgoing,
) -> Option<Option<H::Observer>> {
    let to = outgoing.lines();
    let begin = to.len();
    let Some((body, note)) = handler.try_respond_h1(request, to) else {
        to.truncate(begin);
        return None;
    };
    if let Some(alternative) = alternative {
        to.extend_from_slice(b"alt-svc: ");
        to.extend_from_slice(alternative.as_bytes());
        to.extend_from_slice(b"\r\n");
    }
    to.extend_from_slice(b"\r\n");
    outgoing.begin_with(body);
    Some(note)
}
