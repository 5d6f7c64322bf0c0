//! The link: combines queue, transmitter, loss and propagation.

use std::{collections::VecDeque, time::Duration};

use crate::{
    Arrival, Cause, Config, Counters, Ecn, Packet, Treatment, Verdict,
    amount::Amount,
    fate::{Change, Fate, Fates},
    flight::{self, Flight},
    queue::{Grant, Judgement, Queue, Waiting},
    time::{duration, picoseconds},
    transmitter::Transmitter,
};

/// One direction of one path. `T` is caller data that each verdict returns.
#[derive(Debug)]
pub struct Link<T: Clone> {
    config: Config,
    seed: u64,
    queue: Queue<T>,
    waiting_since_ps: u64,
    transmitter: Transmitter,
    fates: Fates,
    flight: Flight,
    untold: VecDeque<(T, Verdict)>,
    counters: Counters,
}

impl<T: Clone> Link<T> {
    /// An idle link at time zero.
    pub fn new(config: Config, seed: u64) -> Self {
        Self {
            seed,
            queue: Queue::new(&config.discipline, seed),
            waiting_since_ps: 0,
            transmitter: Transmitter::new(0, &config),
            fates: Fates::new(&config, seed),
            flight: Flight::new(seed),
            untold: VecDeque::new(),
            counters: Counters::default(),
            config,
        }
    }

    /// The current configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Waiting packets drain at the new rate; later packets do not overtake them unless
    /// [`Order::Free`](crate::Order::Free) permits it.
    pub fn reconfigure(&mut self, now: Duration, config: Config) {
        let mut untold = std::mem::take(&mut self.untold);
        self.advance(now, &mut |tag, verdict| untold.push_back((tag.clone(), verdict)));
        self.untold = untold;

        self.transmitter.change(picoseconds(now), &self.config, &config);
        self.fates.set(&config);
        if config.discipline != self.config.discipline {
            let queue = std::mem::replace(&mut self.queue, Queue::new(&config.discipline, self.seed));
            self.queue = queue.under(&config.discipline, self.seed);
        }
        self.config = config;
    }

    /// The counters so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Waiting packets without a verdict.
    pub fn backlog(&self) -> Amount {
        self.queue.amount()
    }

    /// Adds a packet that arrives at `now`. Calls `each` with the verdicts that are now decided,
    /// also of earlier packets.
    pub fn offer(&mut self, now: Duration, arrival: Arrival<T>, each: &mut impl FnMut(&T, Verdict)) {
        self.advance(now, each);
        let now_ps = picoseconds(now);
        let Arrival { packet, flow, ecn, tag } = arrival;
        let packet = packet.framed(self.config.overhead);
        let all = packet.segments();
        self.counters.offered += packet.amount(&(0..all));

        let capacity = self.capacity(now_ps, &packet);
        let room = capacity.less(self.queue.amount());
        let end = if self.queue.is_fair() { all } else { packet.segments_within(room) };
        if end < all {
            self.counters.overflowed += packet.amount(&(end..all));
            each(&tag, Verdict::Drop { segments: end..all, cause: Cause::Queue });
        }
        if end > 0 {
            if self.queue.is_empty() {
                self.waiting_since_ps = now_ps;
            }
            self.queue.enqueue(Waiting { arrival_ps: now_ps, packet, first: 0, end, flow, ecn, tag });
        }
        if self.queue.is_fair() {
            self.push_out(capacity, each);
        }
        self.decide(now_ps, each);
    }

    /// Decides everything due by `now`.
    pub fn advance(&mut self, now: Duration, each: &mut impl FnMut(&T, Verdict)) {
        for (tag, verdict) in self.untold.drain(..) {
            each(&tag, verdict);
        }
        self.decide(picoseconds(now), each);
    }

    /// When [`Link::advance`] must be called next; `None` if the queue is empty.
    pub fn next_timeout(&self) -> Option<Duration> {
        if !self.untold.is_empty() {
            return Some(Duration::ZERO);
        }
        self.next_start_ps().map(|start_ps| duration(start_ps).saturating_add(flight::least(&self.config)))
    }

    fn capacity(&self, now_ps: u64, packet: &Packet) -> Amount {
        let capacity = self.config.capacity();
        if capacity == Amount::MAX {
            return capacity;
        }
        let unsent = self.transmitter.unsent(now_ps);
        if unsent.bytes > 0 || !self.queue.is_empty() {
            return capacity.less(unsent);
        }
        // A segment that finds the link idle passes even a queue without room: it does not count as
        // waiting.
        let first = packet.amount(&(0..1));
        let begins = self.transmitter.start_ps(now_ps) == now_ps;
        Amount {
            segments: if begins { capacity.segments.saturating_add(1) } else { capacity.segments.max(1) },
            bytes: capacity.bytes.max(first.bytes),
        }
    }

    fn push_out(&mut self, capacity: Amount, each: &mut impl FnMut(&T, Verdict)) {
        while !self.queue.amount().is_within(capacity) {
            self.queue.choose_longest();
            self.drop_one(Cause::Queue, each);
        }
    }

    fn next_start_ps(&self) -> Option<u64> {
        (!self.queue.is_empty()).then(|| self.transmitter.start_ps(self.waiting_since_ps))
    }

    /// Decides all segments that start to leave by `until_ps`.
    fn decide(&mut self, until_ps: u64, each: &mut impl FnMut(&T, Verdict)) {
        while let Some(start_ps) = self.next_start_ps().filter(|start_ps| *start_ps <= until_ps) {
            match self.queue.judge(start_ps) {
                Some(Judgement::Pass(grant)) => self.send(start_ps, grant, each),
                Some(Judgement::Signal) if self.may_mark() => self.send(start_ps, Grant::MARKED, each),
                Some(Judgement::Signal) => self.drop_one(Cause::Aqm, each),
                None => return,
            }
        }
    }

    fn may_mark(&self) -> bool {
        self.config.ecn && self.queue.head().is_some_and(|head| head.ecn == Ecn::Capable)
    }

    fn drop_one(&mut self, cause: Cause, each: &mut impl FnMut(&T, Verdict)) {
        let Some(head) = self.queue.head() else { return };
        let segments = head.first..head.first + 1;
        let amount = head.packet.amount(&segments);
        match cause {
            Cause::Queue => self.counters.overflowed += amount,
            Cause::Aqm => self.counters.managed += amount,
            Cause::Loss => self.counters.lost += amount,
        }
        each(&head.tag, Verdict::Drop { segments, cause });
        self.queue.drop_one();
    }

    fn send(&mut self, start_ps: u64, grant: Grant, each: &mut impl FnMut(&T, Verdict)) {
        let Some(head) = self.queue.head() else { return };
        let (packet, first) = (head.packet, head.first);
        let slice = self.transmitter.slice(start_ps, grant.until_ps, &packet, self.config.receive);
        let fate = self.fates.next(slice.min(grant.most).min(head.end - first));
        let segments = first..first + fate.segments();
        let departure = duration(self.transmitter.send(start_ps, &packet, &segments));

        let amount = packet.amount(&segments);
        let mut deliver = |change: Change| {
            let due = self.flight.due(&self.config, departure, change.early);
            let treatment = Treatment { mark: grant.mark, corrupt: change.corrupt };
            self.counters.deliver(amount, treatment);
            each(&head.tag, Verdict::Deliver { segments: segments.clone(), due, treatment });
        };
        match fate {
            Fate::Clear(_) => deliver(Change::default()),
            Fate::Changed(change) => {
                deliver(change);
                if change.copied {
                    deliver(change);
                    self.counters.duplicated += amount;
                }
            }
            Fate::Lost => {
                self.counters.lost += amount;
                each(&head.tag, Verdict::Drop { segments: segments.clone(), cause: Cause::Loss });
            }
        }
        self.queue.send(fate.segments());
    }
}

#[cfg(test)]
mod tests;
