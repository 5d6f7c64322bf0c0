//! Tracks the acknowledgements of downloads until each is delivered or its connection has closed.

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use http_stack::{Version, clock::Clock, request::Parts, server::Peer};

use super::{
    super::{tcp_info::Kernel, test_registry::Seen},
    Responder,
};
use crate::{
    delivery::{Delivery, Point, Tracker},
    wire::Token,
};

impl Responder {
    pub(super) fn track(&self, head: &Parts, peer: &Peer, (test, number): (Token, u32), size: u64) {
        if head.version == Version::HTTP_10 || FORWARDED.iter().any(|name| head.headers.contains_key(*name)) {
            return;
        }
        let Some(seen) = self.book().connection(test, peer.address) else { return };
        let Ok(permit) = Arc::clone(&self.trackers).try_acquire_owned() else { return };
        let Some((bytes, _)) = self.kernel.delivered(&seen) else { return };
        let tracker = Tracker::new(size, Point { at: self.now(), bytes });
        let (kernel, book) = (Arc::clone(&self.kernel), Arc::clone(&self.book));
        let clock = self.clock;
        tokio::spawn(async move {
            if let Some(delivery) = follow(tracker, &kernel, clock, &seen).await {
                book.lock().unwrap_or_else(PoisonError::into_inner).delivered(test, number, delivery);
            }
            drop(permit);
        });
    }
}

async fn follow(mut tracker: Tracker, kernel: &Kernel, clock: Clock, seen: &Seen) -> Option<Delivery> {
    let now = || Duration::from_nanos(clock.now());
    loop {
        tokio::time::sleep(tracker.pause(now())).await;
        let began = now();
        let (bytes, round_trip) = kernel.delivered(seen)?;
        let look = Point { at: now(), bytes };
        if look.at.saturating_sub(began) > INTERRUPTED {
            continue;
        }
        if let Some(delivery) = tracker.look(look, round_trip) {
            return Some(delivery);
        }
        if look.at.saturating_sub(tracker.progressed()) > PATIENCE {
            return None;
        }
    }
}

/// 64 long downloads take 1300 samples per second.
pub(super) const MOST: usize = 64;
/// A slower sample has an inexact time and is dropped: the kernel responds within some us.
const INTERRUPTED: Duration = Duration::from_millis(1);
const PATIENCE: Duration = Duration::from_secs(30);
/// Header fields of requests that passed a proxy.
const FORWARDED: [&str; 4] = ["via", "forwarded", "x-forwarded-for", "x-real-ip"];
