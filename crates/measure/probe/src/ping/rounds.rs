//! The engine: decides which pings are due, answered and lost. The caller passes the time, in nanoseconds
//! since the run began.

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
    /// The scheduled time.
    pub(super) intended: u64,
}

/// A sent ping, and the state of its reply.
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

/// The classification of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// The first reply, in time.
    First(Flight),
    /// An additional reply.
    Duplicate,
    /// The first reply, after the timeout: the ping counts as lost.
    Late,
}

/// The schedule, and the pings that can still be answered.
pub(super) struct Rounds {
    targets: u64,
    delay: u64,
    interval: u64,
    timeout: u64,
    /// The number of the next ping.
    next: u64,
    /// The number of pings to send.
    end: u64,
    /// The last [`REMEMBERED`] pings.
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

    /// The next ping, if it is due. Call [`Self::sent`] or [`Self::not_sent`] with it.
    pub(super) fn due(&self, now: u64) -> Option<Ping> {
        self.upcoming().filter(|ping| ping.intended <= now)
    }

    /// The next ping. `None` at the end, and while it would displace a ping that may still be answered: after
    /// a stall of this program, many pings are due.
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

    /// Registers a ping that was sent.
    pub(super) fn sent(&mut self, ping: Ping, sent: u64) {
        self.begin(Flight { ping, sent, fate: Fate::Waiting });
    }

    /// Registers a ping that could not be sent.
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

    /// The latest ping with this sequence number, if it is still stored.
    pub(super) fn find(&mut self, wanted: u16) -> Option<Flight> {
        let youngest = self.next.checked_sub(1)?;
        let before = sequence(youngest).wrapping_sub(wanted);
        self.flight(youngest.checked_sub(before.into())?).copied()
    }

    /// Pings started so far.
    pub(super) fn begun(&self) -> u64 {
        self.next
    }

    /// Registers a reply to a ping. `None` if the ping is no longer stored.
    pub(super) fn answer(&mut self, number: u64, now: u64) -> Option<Answer> {
        let timeout = self.timeout;
        let flight = self.flight(number)?;
        Some(match flight.fate {
            Fate::Answered => Answer::Duplicate,
            Fate::Lost => {
                flight.fate = Fate::Answered;
                Answer::Late
            }
            // Keeps waiting: `lost` will return it.
            Fate::Waiting if now.saturating_sub(flight.sent) > timeout => Answer::Late,
            Fate::Waiting => {
                flight.fate = Fate::Answered;
                Answer::First(*flight)
            }
        })
    }

    /// Returns a ping whose timeout has expired, each of them once.
    pub(super) fn lost(&mut self, now: u64) -> Option<Flight> {
        let timeout = self.timeout;
        self.settle(|flight| now.saturating_sub(flight.sent) > timeout)
    }

    /// Returns a ping without a reply, each of them once, even before its timeout.
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

    /// The time when the next ping is due or times out; `None` at the end.
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

    /// Ends sending. Returns whether pings were left.
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
