//! Follows the acknowledgements of a page's downloads, until each is delivered or its connection is gone.

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use http::{Version, clock::Clock, request::Parts, server::Peer};

use super::{
    super::{book::Seen, kernel::Kernel},
    Responder,
};
use crate::{
    delivery::{Delivery, Point, Tracker},
    wire::Token,
};

impl Responder {
    /// Follows a download, by its number in a test, unless the connection is a proxy's or too many are followed.
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

/// Looks at the connection until the body is delivered. None if that does not happen.
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

/// Downloads that are followed at the same time: 64 long ones take 1300 looks a second.
pub(super) const MOST: usize = 64;
/// The kernel answers in some us. A look that took longer has a time that does not belong to its bytes.
const INTERRUPTED: Duration = Duration::from_millis(1);
/// A body without progress for this time was given up.
const PATIENCE: Duration = Duration::from_secs(30);
/// A proxy's request names its client in one of these.
const FORWARDED: [&str; 4] = ["via", "forwarded", "x-forwarded-for", "x-real-ip"];
