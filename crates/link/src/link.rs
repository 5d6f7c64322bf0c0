//! The link itself: queue, wire, loss and propagation put together.

use std::{ops::Range, time::Duration};

use crate::{
    Config, Counters, Packet, Receive,
    config::SLICE_TIME,
    counters::Amount,
    loss::Loss,
    transmitter::{Transmitter, departure_ps},
};

/// What becomes of a run of a packet's segments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// They reach the receiver together.
    Deliver {
        /// Which segments of the packet.
        segments: Range<u32>,
        /// When, in the caller's logical time.
        due: Duration,
    },
    /// They do not.
    Drop {
        /// Which segments of the packet.
        segments: Range<u32>,
        /// Why.
        cause: Cause,
    },
}

/// Why segments are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The queue was full.
    Queue,
    /// Lost on the wire.
    Loss,
}

/// One direction of one path. See the crate's documentation for the model.
#[derive(Debug)]
pub struct Link {
    config: Config,
    transmitter: Transmitter,
    loss: Loss,
    last_due: Duration,
    counters: Counters,
}

impl Link {
    /// A link that is idle at time zero.
    pub fn new(config: Config, seed: u64) -> Self {
        Self {
            config,
            transmitter: Transmitter::default(),
            loss: Loss::new(config.loss, seed),
            last_due: Duration::ZERO,
            counters: Counters::default(),
        }
    }

    /// What the link is now.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Changes the link for packets that arrive from `now` on. What is under way keeps its verdict, and nothing that
    /// arrives later overtakes it: a backlog drains at the rate at which it was admitted.
    pub fn reconfigure(&mut self, now: Duration, config: Config) {
        self.transmitter.reprice(now, self.config.rate, config.rate);
        self.loss.set(config.loss);
        self.config = config;
    }

    /// What went through so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// A packet arrives at `now`; `each` is told what becomes of its segments: deliveries in order, then what the queue
    /// had no room for. `now` must not run backwards between calls by more than the caller's own batching.
    pub fn offer(&mut self, now: Duration, packet: Packet, mut each: impl FnMut(Verdict)) {
        let all = packet.segments();
        self.counters.offered += self.amount(&packet, 0..all);
        let admission = self.transmitter.admit(now, &packet, &self.config);

        let mut from = 0;
        while from < admission.segments {
            let survivors = self.loss.next_within(admission.segments - from);
            let lost_at = survivors.map_or(admission.segments, |pass| from + pass);
            self.deliver(admission.start_ps, &packet, from..lost_at, &mut each);
            from = lost_at;
            if survivors.is_some() {
                let segments = lost_at..lost_at + 1;
                self.counters.lost += self.amount(&packet, segments.clone());
                each(Verdict::Drop { segments, cause: Cause::Loss });
                from += 1;
            }
        }
        if admission.segments < all {
            let segments = admission.segments..all;
            self.counters.overflowed += self.amount(&packet, segments.clone());
            each(Verdict::Drop { segments, cause: Cause::Queue });
        }
    }

    /// Delivers `run` in slices, each due when its last bit has arrived.
    fn deliver(&mut self, start_ps: u64, packet: &Packet, run: Range<u32>, each: &mut impl FnMut(Verdict)) {
        let step = self.slice_segments(packet);
        let mut from = run.start;
        while from < run.end {
            let segments = from..from.saturating_add(step).min(run.end);
            from = segments.end;
            let departure_ps = departure_ps(start_ps, packet, segments.end, &self.config);
            let due = Duration::from_nanos(departure_ps / 1000) + self.config.propagation;
            self.last_due = self.last_due.max(due);
            self.counters.delivered += self.amount(packet, segments.clone());
            each(Verdict::Deliver { segments, due: self.last_due });
        }
    }

    /// How many segments of `packet` may reach the receiver at once.
    fn slice_segments(&self, packet: &Packet) -> u32 {
        match (self.config.receive, self.config.rate) {
            (Receive::Segment, _) => 1,
            (Receive::Gso, _) | (Receive::Slice, None) => u32::MAX,
            (Receive::Slice, Some(rate)) => {
                let segment = packet.wire_bytes(1, self.config.overhead).max(1);
                u32::try_from(rate.bytes_in(SLICE_TIME) / segment).unwrap_or(u32::MAX).max(1)
            }
        }
    }

    fn amount(&self, packet: &Packet, segments: Range<u32>) -> Amount {
        let overhead = self.config.overhead;
        Amount {
            segments: u64::from(segments.end - segments.start),
            bytes: packet.wire_bytes(segments.end, overhead) - packet.wire_bytes(segments.start, overhead),
        }
    }
}

#[cfg(test)]
mod tests;
