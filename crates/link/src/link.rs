//! The link itself: queue, wire, loss and propagation put together.

use std::{collections::VecDeque, time::Duration};

use crate::{
    Arrival, Cause, Config, Counters, Order, Packet, Treatment, Verdict,
    counters::Amount,
    fate::{Fate, Fates},
    queue::{Judgement, Queue, Waiting},
    random::Random,
    time::{duration, picoseconds},
    transmitter::Transmitter,
};

/// One direction of one path. See the crate's documentation for the model. `T` is what the caller wants back with each
/// verdict.
#[derive(Debug)]
pub struct Link<T: Clone> {
    config: Config,
    queue: Queue<T>,
    /// When the first packet came into an empty queue.
    waiting_since_ps: u64,
    transmitter: Transmitter,
    fates: Fates,
    jitter: Random,
    last_due: Duration,
    /// Verdicts that fell while there was nobody to tell them to.
    untold: VecDeque<(T, Verdict)>,
    counters: Counters,
}

impl<T: Clone> Link<T> {
    /// A link that is idle at time zero.
    pub fn new(config: Config, seed: u64) -> Self {
        Self {
            queue: Queue::new(&config.discipline),
            waiting_since_ps: 0,
            transmitter: Transmitter::new(config.rate.clone()),
            fates: Fates::new(&config, seed),
            jitter: Random::new(seed, *b"jitter  "),
            last_due: Duration::ZERO,
            untold: VecDeque::new(),
            counters: Counters::default(),
            config,
        }
    }

    /// What the link is now.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Changes the link from `now` on. What waits stays queued as bytes and drains at the new rate; what was decided
    /// before keeps its verdict, and nothing overtakes it unless the order is free.
    pub fn reconfigure(&mut self, now: Duration, config: Config) {
        let mut untold = std::mem::take(&mut self.untold);
        self.advance(now, &mut |tag, verdict| untold.push_back((tag.clone(), verdict)));
        self.untold = untold;

        self.transmitter.change(picoseconds(now), config.rate.clone());
        self.waiting_since_ps = self.waiting_since_ps.max(picoseconds(now));
        self.fates.set(&config);
        self.config = config;
    }

    /// What went through so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// What waits for the wire and is not decided yet.
    pub fn backlog(&self) -> Amount {
        self.queue.amount()
    }

    /// A packet arrives at `now`; `each` is told what can be said now about the segments of this packet and of those
    /// before it, in the order of decision. `now` must not run backwards between calls by more than the caller's own
    /// batching.
    pub fn offer(&mut self, now: Duration, arrival: Arrival<T>, each: &mut impl FnMut(&T, Verdict)) {
        self.advance(now, each);
        let now_ps = picoseconds(now);
        let Arrival { packet, flow, ecn, tag } = arrival;
        let packet = packet.framed(self.config.overhead);
        let all = packet.segments();
        self.counters.offered += packet.amount(&(0..all));

        let end = packet.segments_within(self.room(now_ps, &packet));
        if end < all {
            self.counters.overflowed += packet.amount(&(end..all));
            each(&tag, Verdict::Drop { segments: end..all, cause: Cause::Queue });
        }
        if end > 0 {
            if self.queue.is_empty() {
                self.waiting_since_ps = now_ps;
            }
            self.queue.enqueue(Waiting { arrival_ps: now_ps, packet, first: 0, end, flow, ecn, tag });
            self.decide(now_ps, each);
        }
    }

    /// Decides everything whose time has come by `now`.
    pub fn advance(&mut self, now: Duration, each: &mut impl FnMut(&T, Verdict)) {
        for (tag, verdict) in self.untold.drain(..) {
            each(&tag, verdict);
        }
        self.decide(picoseconds(now), each);
    }

    /// When [`Link::advance`] must be called next so that no delivery is told after it is due; `None` when nothing
    /// waits.
    pub fn next_timeout(&self) -> Option<Duration> {
        if !self.untold.is_empty() {
            return Some(Duration::ZERO);
        }
        let least = match &self.config.jitter {
            Some(jitter) => jitter.least(self.config.propagation),
            None => self.config.propagation,
        };
        self.next_start_ps().map(|start_ps| duration(start_ps).saturating_add(least))
    }

    /// What may still come into the queue.
    fn room(&self, now_ps: u64, packet: &Packet) -> Amount {
        let capacity = self.config.capacity();
        if capacity == Amount::MAX {
            return capacity;
        }
        let mut waiting = self.transmitter.unsent(now_ps);
        waiting += self.queue.amount();
        let room = capacity.less(waiting);
        // A packet that finds the wire idle never waits, so even a queue of 0 bytes lets a segment pass.
        if waiting.bytes == 0 && packet.segments_within(room) == 0 { packet.amount(&(0..1)) } else { room }
    }

    fn next_start_ps(&self) -> Option<u64> {
        (!self.queue.is_empty()).then(|| self.transmitter.start_ps(self.waiting_since_ps))
    }

    /// Decides what begins to leave by `until_ps`.
    fn decide(&mut self, until_ps: u64, each: &mut impl FnMut(&T, Verdict)) {
        while let Some(start_ps) = self.next_start_ps().filter(|start_ps| *start_ps <= until_ps) {
            match self.queue.judge(start_ps) {
                Some(Judgement::Pass { until_ps, most }) => self.send(start_ps, until_ps, most, each),
                None => return,
            }
        }
    }

    /// Sends the next slice of the packet that the queue has chosen.
    fn send(&mut self, start_ps: u64, until_ps: u64, most: u32, each: &mut impl FnMut(&T, Verdict)) {
        let Some(head) = self.queue.head() else { return };
        let packet = head.packet;
        let slice = self.transmitter.slice(start_ps, until_ps, &packet, self.config.receive).min(most);
        let fate = self.fates.next(slice);
        let count = if let Fate::Clear(segments) = fate { segments } else { 1 };
        let segments = head.first..head.first + count;
        let departure = duration(self.transmitter.send(start_ps, &packet, &segments));

        let amount = packet.amount(&segments);
        let (copies, corrupt) = match fate {
            Fate::Clear(_) => (1, None),
            Fate::Changed { copies, corrupt } => (copies, corrupt),
            Fate::Lost => (0, None),
        };
        for copy in 0..copies {
            let due = due(&self.config, departure, &mut self.last_due, &mut self.jitter);
            let treatment = Treatment { mark: false, corrupt };
            each(&head.tag, Verdict::Deliver { segments: segments.clone(), due, treatment });
            self.counters.delivered += amount;
            if copy > 0 {
                self.counters.duplicated += amount;
            }
            if corrupt.is_some() {
                self.counters.corrupted += amount;
            }
        }
        if copies == 0 {
            self.counters.lost += amount;
            each(&head.tag, Verdict::Drop { segments, cause: Cause::Loss });
        }
        self.queue.take(count);
    }
}

/// When what left at `departure` arrives.
fn due(config: &Config, departure: Duration, last_due: &mut Duration, random: &mut Random) -> Duration {
    let (delay, order) = match &config.jitter {
        Some(jitter) => (jitter.draw(config.propagation, random), jitter.order),
        None => (config.propagation, Order::Kept),
    };
    let due = departure.saturating_add(delay);
    let latest = due.max(*last_due);
    *last_due = latest;
    match order {
        Order::Kept => latest,
        Order::Free => due,
    }
}

#[cfg(test)]
mod tests;
