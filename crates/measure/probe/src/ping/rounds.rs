//! Decides which pings are due, answered and lost. Times are nanoseconds since the run began.

use std::collections::VecDeque;

use super::{
    config::{Config, REMEMBERED},
    packet::sequence,
};
use crate::clock::nanos;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ping {
    pub(super) number: u64,
    pub(super) target: usize,
    pub(super) intended: u64,
}

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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    First(Flight),
    Duplicate,
    /// The first reply, after the timeout: the ping counts as lost.
    Late,
}

pub(super) struct Rounds {
    targets: u64,
    delay: u64,
    interval: u64,
    timeout: u64,
    next: u64,
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

    /// Call [`Self::sent`] or [`Self::not_sent`] with the result.
    pub(super) fn due(&self, now: u64) -> Option<Ping> {
        self.upcoming().filter(|ping| ping.intended <= now)
    }

    /// `None` also while the ping would displace one that may still be answered.
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

    pub(super) fn sent(&mut self, ping: Ping, sent: u64) {
        self.begin(Flight { ping, sent, fate: Fate::Waiting });
    }

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

    pub(super) fn find(&mut self, wanted: u16) -> Option<Flight> {
        let youngest = self.next.checked_sub(1)?;
        let before = sequence(youngest).wrapping_sub(wanted);
        self.flight(youngest.checked_sub(before.into())?).copied()
    }

    pub(super) fn begun(&self) -> u64 {
        self.next
    }

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

    /// Returns each ping whose timeout has expired once.
    pub(super) fn lost(&mut self, now: u64) -> Option<Flight> {
        let timeout = self.timeout;
        self.settle(|flight| now.saturating_sub(flight.sent) > timeout)
    }

    /// Returns each ping without a reply once, even before its timeout.
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

    /// When the next ping is due or times out; `None` at the end.
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
