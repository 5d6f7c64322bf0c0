//! Uploads: counts bodies and discards them.

use std::{
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use http_stack::{Body, StatusCode, request::Parts, server::Peer};

use super::{
    super::{
        answer::{Answer, Refusal, json},
        counts::Counts,
    },
    Responder, peer, test,
};
use crate::{chunk_timing, wire::Received};

impl Responder {
    pub(super) fn received(&self, head: &Parts, peer: &Peer) -> Option<Arc<AtomicU64>> {
        self.book().received(test(head).ok()?, peer.address.ip())
    }

    pub(super) async fn upload(&self, head: &Parts, mut body: Body) -> Answer {
        let peer = peer(head)?;
        let leave = self.enter(&self.admission, &peer)?;
        Counts::add(&self.counts.uploads, 1);
        let received = self.received(head, &peer);
        let connection = test(head).ok().and_then(|test| {
            self.see(test, &peer, head.version);
            self.book().connection(test, peer.address)
        });
        let mut bytes = 0;
        let mut taken = |more: u64| {
            bytes += more;
            Counts::add(&self.counts.bytes_up, more);
            received.iter().for_each(|received| Counts::add(received, more));
        };
        body.only_count();
        let read = async {
            let first_bytes = chunk_timing::first(&mut body, &mut taken).await?;
            let first_ns = self.clock.now();
            // If the server read late, more bytes had already arrived at this time.
            let unread = connection.and_then(|connection| self.kernel.unread(&connection)).unwrap_or(0);
            if first_bytes > 0 {
                self.rest(&mut body, &mut taken, first_bytes).await?;
            }
            Ok::<_, Objection>((first_bytes.saturating_add(unread), first_ns))
        };
        let (first_bytes, first_ns) = match read.await {
            Ok(read) => read,
            Err(Objection::BrokenOff) => {
                return Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, "the body ended early\n"));
            }
            Err(Objection::TooLarge) => {
                let why = format!("a body has at most {} bytes here\n", self.limits.largest.0);
                return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, why));
            }
        };
        let last_ns = self.clock.now();
        drop(leave);
        let first_bytes = first_bytes.min(bytes);
        let mut response = json(&Received { bytes, first_bytes, first_ns, last_ns });
        self.say_own_time(&mut response, Duration::from_nanos(last_ns));
        Ok(response)
    }

    async fn rest(&self, body: &mut Body, mut taken: impl FnMut(u64), so_far: u64) -> Result<(), Objection> {
        let mut bytes = so_far;
        while let Some(piece) = body.data().await? {
            bytes += piece.len() as u64;
            taken(piece.len() as u64);
            if bytes > self.limits.largest.0 {
                return Err(Objection::TooLarge);
            }
        }
        Ok(())
    }
}

enum Objection {
    BrokenOff,
    TooLarge,
}

impl From<http_stack::Failure> for Objection {
    fn from(_: http_stack::Failure) -> Self {
        Self::BrokenOff
    }
}
