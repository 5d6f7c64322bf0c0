//! The SDP offer of a browser for a test's data channel, and the answer.

use http_stack::{Body, StatusCode, request::Parts};

use super::{
    super::{
        answer::{Answer, Refusal, json},
        loss::{instant, is_for_browsers},
        webrtc::{
            Refused,
            offer::{self, Offer},
        },
    },
    Responder, peer, test,
};

impl Responder {
    pub(super) async fn channel(&self, head: &Parts, body: Body) -> Answer {
        let peer = peer(head)?;
        let _leave = self.enter(&self.documents, &peer)?;
        let address = peer.address.ip();
        let test = test(head)?;
        let refused = |why: String| Refusal::new(StatusCode::BAD_REQUEST, format!("{why}\n"));
        let offer = body.collect(offer::MOST).await.map_err(|failure| refused(failure.to_string()))?;
        let offer = Offer::read(&offer).map_err(|error| refused(error.to_string()))?;
        if !self.book().is_of(self.now(), test, address) {
            let why = "there is no such test of yours within the last hour\n";
            return Err(Refusal::new(StatusCode::CONFLICT, why));
        }
        if let Some(port) = self.loss_port.filter(|port| !is_for_browsers(*port)) {
            let why = format!("browsers send nothing to its UDP port {port}; --loss-port names another\n");
            return Err(Refusal::new(StatusCode::NOT_FOUND, why));
        }
        let none = || Refusal::new(StatusCode::NOT_FOUND, "no datagrams can be sent back to your address\n");
        let channels = self.channels.iter().find(|channels| channels.reaches(address)).ok_or_else(none)?;
        let answer = channels.begin(offer, test, address, instant()).map_err(|why| match why {
            Refused::Full => Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "too many active loss tests\n"),
            Refused::Offer(why) => refused(format!("the offer cannot be taken: {why}")),
        })?;
        Ok(json(&answer))
    }
}
