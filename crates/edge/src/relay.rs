//! Relays requests line by line: those whose fingerprint is in the pass table.
//!
//! Only the forwarded heads of the request and the response are built, without header maps. A message that
//! needs more processing continues on the normal path.

mod head;
mod lines;

use std::sync::Arc;

use cache::{Forward, is_solicited, update};
use http::{
    Body, Failure, Method, Response, StatusCode,
    client::{self, Reply},
    http1::Framing,
    server::{Glance, Interim, Lines, Original, Relayed, Relaying},
};

pub(crate) use self::lines::may_be_relayed;
use crate::{
    asking::UNSOLICITED,
    core::{Core, Visitors},
    counts::Word,
    in_flight::Sent,
    log::{Asked, AtOrigin, Outcome},
    origins::{received, refusal_for},
    sending::Sending,
    trailers,
    visit::{Refusal, Visit},
    ways::{Reason, Way},
};

struct Relay<'h> {
    core: &'h Arc<Core>,
    way: Arc<Way>,
    original: Original,
    asked: Option<Asked<'h>>,
    /// Times of the upstream request, for the access log; `None` without a log.
    at_origin: Option<Arc<AtOrigin>>,
    sent: Sent,
}

struct Back {
    status: StatusCode,
    framing: Framing,
    head: Vec<u8>,
}

impl Visitors {
    /// Relays a request, if its fingerprint is in the pass table and it needs no other processing.
    pub(crate) fn relayed<'h>(
        &'h self,
        request: &Glance<'_>,
        interim: impl FnOnce() -> Interim,
    ) -> Option<Relaying<'h, Sending>> {
        let core = &self.0;
        if core.traces.is_due(core.number(), request) {
            return None;
        }
        let requested = core.now();
        let way = core.own_ways().find(requested, request)?;
        let hop = lines::Hop { network: &way.network().name, centre: &core.centre, peer: request.peer };
        let head = lines::onward(request, &hop)?;
        core.traces.pass(core.number());
        let relay = Relay {
            core,
            way,
            original: request.original(interim()),
            asked: core.log.as_ref().map(|log| log.glanced_at(core.number(), request)),
            at_origin: core.log.as_ref().map(|_| Arc::default()),
            sent: core.in_flight.send_unlisted(requested, core.store.epoch()),
        };
        Some(Box::pin(relay.run(head)))
    }
}

impl Relay<'_> {
    async fn run(self, head: Vec<u8>) -> Result<Relayed<Sending>, Failure> {
        let Self { core, way, .. } = &self;
        let answered = core.origins.relay(
            &core.clients.usual,
            way.zone(),
            (&head, self.original.interim()),
            (self.sent.time, self.at_origin.as_deref()),
            |reply| self.back(reply),
        );
        match answered.await {
            Ok(Some(client::Relayed::Lines(back, body))) => Ok(self.pass_back(back, body)),
            Ok(Some(client::Relayed::Response(response)))
                if core.others().is_some() && way.zone().detour_statuses.contains(&response.status()) =>
            {
                self.start_over().await
            }
            Ok(Some(client::Relayed::Response(response))) => Ok(self.judge(response)),
            Ok(None) => self.start_over().await,
            Err(_) if way.zone().origins.len() > 1 || core.others().is_some() => self.start_over().await,
            Err(failure) => Ok(self.refuse(refusal_for(failure))),
        }
    }

    /// The head of the relayed response, if it can be built line by line.
    fn back(&self, reply: &Reply<'_>) -> Option<Back> {
        let Self { core, way, sent, .. } = self;
        if reply.status != way.status() {
            return None;
        }
        if let Reason::Passed(passed) = way.reason()
            && update::ends_use(&Method::GET, reply.status)
            && !passed.record_response(sent.number(), core.now())
        {
            return None;
        }
        let zone = way.zone();
        let terms = lines::Terms {
            is_bypass: way.forward() == Forward::Bypass,
            targets: &zone.targets,
            compresses: !zone.compress.is_empty(),
        };
        let head = lines::back(reply, &terms, &core.centre, way.told())?;
        Some(Back { status: reply.status, framing: reply.framing, head })
    }

    fn pass_back(self, Back { status, framing, head }: Back, body: Body) -> Relayed<Sending> {
        let word = if self.way.forward() == Forward::Bypass { Word::Bypass } else { Word::Miss };
        self.core.counts.add(word);
        let zone = self.way.zone();
        let line = self.asked.map(|asked| {
            let at_origin = self.at_origin.as_deref().and_then(AtOrigin::times);
            let outcome = Outcome { word, zone: Some(zone.name.clone()), at_origin, tier: None };
            asked.noted(status, Some(&outcome))
        });
        let note = Sending::new(line, None);
        let body = trailers::of_response(body.within(zone.next_byte));
        Relayed::Lines(Lines { head, framing, body, note })
    }

    /// Returns a response that needs the normal path, for example because it may be stored.
    fn judge(self, response: Response<Body>) -> Relayed<Sending> {
        let Self { core, way, sent, .. } = &self;
        let visit = match self.visit() {
            Ok(visit) => visit,
            Err(refusal) => return self.refuse(refusal),
        };
        if response.status() == StatusCode::NOT_MODIFIED
            && !is_solicited(&visit.headers, StatusCode::NOT_MODIFIED)
        {
            return self.refuse(UNSOLICITED);
        }
        let response = received(response, way.zone().next_byte);
        let mut response = core.pass_back(&visit, response, way.forward(), sent.clone());
        if response.status() == way.status() {
            way.give_up();
        } else {
            core.remember_way(&visit, way.reason().clone(), &response);
        }
        core.complete(&mut response, &visit.zone().name, self.at_origin.as_deref());
        self.respond(response)
    }

    /// Handles the request on the normal path: it was not sent, or may be sent to another origin.
    async fn start_over(self) -> Result<Relayed<Sending>, Failure> {
        let request = self.original.request().ok_or(Failure::Garbled)?;
        let response = Box::pin(self.core.serve(request)).await;
        Ok(self.respond(response))
    }

    fn visit(&self) -> Result<Visit, Refusal> {
        let request = self.original.request().ok_or(crate::visit::BAD_HOST)?;
        Visit::admit(&self.core.network(), &self.core.centre, request).map(|(visit, _)| visit)
    }

    fn refuse(self, refusal: Refusal) -> Relayed<Sending> {
        let mut response = self.core.refuse(refusal);
        self.core.complete(&mut response, &self.way.zone().name, self.at_origin.as_deref());
        self.respond(response)
    }

    fn respond(self, mut response: Response<Body>) -> Relayed<Sending> {
        let (status, outcome) = (response.status(), response.extensions_mut().remove::<Outcome>());
        let line = self.asked.map(|asked| asked.noted(status, outcome.as_ref()));
        if let Some(sending) = Sending::new(line, None) {
            response.extensions_mut().insert(sending);
        }
        Relayed::Response(response)
    }
}
