//! Decides which pings are due, answered and lost: the engine. The caller passes the time, in nanoseconds since the
//! run began.

use std::collections::VecDeque;

use super::{
    config::{Config, REMEMBERED},
    packet::sequence,
};
use crate::clock::nanos;

/// A ping, numbered from 0 in the order of the schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ping {
    pub(super) number: u64,
    /// Index of the target.
    pub(super) target: usize,
    /// When it is scheduled.
    pub(super) intended: u64,
}

/// A ping that was sent, and its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Flight {
    pub(super) ping: Ping,
    pub(super) sent: u64,
    fate: Fate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Waiting,
    Answered,
    Lost,
}

/// What a reply is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// The first to this ping, in time.
    First(Flight),
    /// A further one.
    Duplicate,
    /// The first, but after the timeout: the ping counts as lost.
    Late,
}

/// The schedule, and the pings that can still be answered.
pub(super) struct Rounds {
    targets: u64,
    delay: u64,
    interval: u64,
    timeout: u64,
    /// Pings begun so far: the number of the next.
    next: u64,
    /// How many pings to send.
    end: u64,
    /// The last [`REMEMBERED`] that were begun.
    flights: VecDeque<Flight>,
    /// Every ping before this number has been answered or is lost.
    settled: u64,
}

impl Rounds {
    pub(super) fn new(config: &Config, targets: usize) -> Self {
        let targets = targets as u64;
        Self {
            targets,
            delay: nanos(config.delay),
            interval: nanos(config.interval),
            timeout: nanos(config.timeout),
            next: 0,
            end: targets.saturating_mul(config.count.into()),
            flights: VecDeque::new(),
            settled: 0,
        }
    }

    /// The next ping, if it is due. It is begun by [`Self::sent`] or [`Self::not_sent`].
    pub(super) fn due(&self, now: u64) -> Option<Ping> {
        self.upcoming().filter(|ping| ping.intended <= now)
    }

    /// The next ping. `None` at the end, and while it would make us forget one that may still be answered: after this
    /// program got no processor for a while, many are due at once.
    fn upcoming(&self) -> Option<Ping> {
        if self.next >= self.end || self.next - self.settled >= REMEMBERED as u64 {
            return None;
        }
        let (round, place) = (self.next / self.targets, self.next % self.targets);
        let within = u128::from(self.interval) * u128::from(place) / u128::from(self.targets);
        let begun = self.delay.saturating_add(round.saturating_mul(self.interval));
        let intended = begun.saturating_add(u64::try_from(within).ok()?);
        Some(Ping { number: self.next, target: usize::try_from(place).ok()?, intended })
    }

    /// The ping that was due is on its way.
    pub(super) fn sent(&mut self, ping: Ping, sent: u64) {
        self.begin(Flight { ping, sent, fate: Fate::Waiting });
    }

    /// The ping that was due could not be sent.
    pub(super) fn not_sent(&mut self, ping: Ping, now: u64) -> Flight {
        let flight = Flight { ping, sent: now, fate: Fate::Lost };
        self.begin(flight);
        flight
    }

    fn begin(&mut self, flight: Flight) {
        if self.flights.len() == REMEMBERED {
            self.flights.pop_front();
        }
        self.flights.push_back(flight);
        self.next += 1;
    }

    /// The youngest ping with this sequence, if it is remembered.
    pub(super) fn find(&mut self, wanted: u16) -> Option<Flight> {
        let youngest = self.next.checked_sub(1)?;
        let before = sequence(youngest).wrapping_sub(wanted);
        self.flight(youngest.checked_sub(before.into())?).copied()
    }

    /// Pings begun so far.
    pub(super) fn begun(&self) -> u64 {
        self.next
    }

    /// The ping has a reply. `None` if it is not remembered.
    pub(super) fn answer(&mut self, number: u64, now: u64) -> Option<Answer> {
        let timeout = self.timeout;
        let flight = self.flight(number)?;
        Some(match flight.fate {
            Fate::Answered => Answer::Duplicate,
            Fate::Lost => {
                flight.fate = Fate::Answered;
                Answer::Late
            }
            // Left to wait: it is lost when it is asked for.
            Fate::Waiting if now.saturating_sub(flight.sent) > timeout => Answer::Late,
            Fate::Waiting => {
                flight.fate = Fate::Answered;
                Answer::First(*flight)
            }
        })
    }

    /// A ping that has waited for longer than it may, each of them once.
    pub(super) fn lost(&mut self, now: u64) -> Option<Flight> {
        let timeout = self.timeout;
        self.settle(|flight| now.saturating_sub(flight.sent) > timeout)
    }

    /// A ping that has no reply, each of them once, however short it has waited.
    pub(super) fn abandoned(&mut self) -> Option<Flight> {
        self.settle(|_| true)
    }

    fn settle(&mut self, is_lost: impl Fn(&Flight) -> bool) -> Option<Flight> {
        while self.settled < self.next {
            if let Some(flight) = self.flight(self.settled)
                && flight.fate == Fate::Waiting
            {
                if !is_lost(flight) {
                    return None;
                }
                flight.fate = Fate::Lost;
                let lost = *flight;
                self.settled += 1;
                return Some(lost);
            }
            self.settled += 1;
        }
        None
    }

    /// When something is due or lost next; `None` when all is over.
    pub(super) fn next_timeout(&mut self) -> Option<u64> {
        let (due, timeout) = (self.upcoming().map(|ping| ping.intended), self.timeout);
        let waiting =
            self.oldest_waiting().map(|flight| flight.sent.saturating_add(timeout).saturating_add(1));
        due.into_iter().chain(waiting).min()
    }

    fn oldest_waiting(&self) -> Option<&Flight> {
        let forgotten = self.next - self.flights.len() as u64;
        let settled = usize::try_from(self.settled.saturating_sub(forgotten)).ok()?;
        self.flights.range(settled.min(self.flights.len())..).find(|flight| flight.fate == Fate::Waiting)
    }

    /// Nothing more is sent. Whether something would have been.
    pub(super) fn stop(&mut self) -> bool {
        let left = self.next < self.end;
        self.end = self.next;
        left
    }

    fn flight(&mut self, number: u64) -> Option<&mut Flight> {
        let forgotten = self.next - self.flights.len() as u64;
        self.flights.get_mut(usize::try_from(number.checked_sub(forgotten)?).ok()?)
    }
}
