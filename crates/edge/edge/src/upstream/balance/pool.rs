//! The origins of a zone: which one receives a request, and which ones are not used.

use std::{collections::HashMap, time::Duration};

use http_cache::Time;
use tier_routing::{DataCentreId, KeyHash, Rendezvous};

use super::{
    check_state::{CheckState, Thresholds},
    ejection::{Ejection, EjectionRule},
    round_robin::RoundRobin,
    slow_start::effective_weight,
    state::{Change, State},
};
use crate::config::Balance;

/// Members are known by their position.
#[derive(Debug)]
pub(super) struct Pool {
    settings: PoolSettings,
    members: Vec<Member>,
    rotation: RoundRobin,
    ring: Rendezvous,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct PoolSettings {
    pub(super) balance: Balance,
    pub(super) slow_start: Option<Duration>,
    pub(super) ejection: EjectionRule,
    pub(super) checks: Option<Thresholds>,
}

#[derive(Debug, Clone)]
pub(super) struct MemberSettings {
    pub(super) name: String,
    pub(super) weight: u32,
    pub(super) max_in_flight: Option<u32>,
}

#[derive(Debug)]
struct Member {
    settings: MemberSettings,
    health: MemberHealth,
}

/// Survives a reload.
#[derive(Debug, Clone, Default)]
pub(super) struct MemberHealth {
    check: CheckState,
    ejection: Ejection,
    recovered: Option<Time>,
    picks: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pick {
    Member(usize),
    /// All members that may be used have their maximum of requests in flight.
    Full,
    /// All members were tried.
    None,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct PickInput<'a> {
    pub(super) tried: &'a [usize],
    /// Of each member.
    pub(super) in_flight: &'a [u32],
    pub(super) key: KeyHash,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome<'r> {
    Response { status: u16 },
    NoResponse { reason: &'r str },
}

#[derive(Debug, Clone)]
pub(super) struct MemberReport {
    pub(super) state: State,
    pub(super) reason: Option<String>,
    pub(super) weight: f64,
    pub(super) picks: u64,
    pub(super) ejections: u64,
    pub(super) ejected_for: Option<Duration>,
    pub(super) checks: u64,
    pub(super) check_failures: u64,
}

impl Pool {
    /// `known` has the states of an earlier pool by name.
    pub(super) fn new(
        settings: PoolSettings,
        members: Vec<MemberSettings>,
        known: &HashMap<String, MemberHealth>,
    ) -> Self {
        let ids = members.iter().enumerate().filter_map(|(number, member)| {
            Some((DataCentreId(u16::try_from(number).ok()?), member.name.as_str(), member.weight))
        });
        let ring = Rendezvous::new(ids);
        let rotation = RoundRobin::new(members.len());
        let member = |member: MemberSettings| {
            let mut health = known.get(&member.name).cloned().unwrap_or_default();
            if settings.checks.is_none() {
                health.check = CheckState::default();
            }
            Member { settings: member, health }
        };
        let members = members.into_iter().map(member).collect();
        Self { settings, members, rotation, ring }
    }

    pub(super) fn health(&self) -> HashMap<String, MemberHealth> {
        self.members.iter().map(|member| (member.settings.name.clone(), member.health.clone())).collect()
    }

    /// Members that are down or ejected are used only if all others were tried.
    pub(super) fn pick(&mut self, input: PickInput<'_>, now: Time) -> Pick {
        let untried = (0..self.members.len()).filter(|number| !input.tried.contains(number));
        let (up, others): (Vec<_>, Vec<_>) = untried.partition(|&number| self.is_up(number));
        let mut free = if up.is_empty() { others } else { up };
        if free.is_empty() {
            return Pick::None;
        }
        free.retain(|&number| !self.is_full(number, input.in_flight));
        let picked = match self.settings.balance {
            Balance::First => free.first().copied(),
            Balance::RoundRobin => self.next_in_rotation(&free, now),
            Balance::LeastConnections => {
                self.keep_least_loaded(&mut free, input.in_flight, now);
                self.next_in_rotation(&free, now)
            }
            Balance::Hash => {
                let first = self.ring.first(input.key, |id| free.contains(&usize::from(id.0)));
                first.map(|id| usize::from(id.0))
            }
        };
        let Some(number) = picked else { return Pick::Full };
        if let Some(member) = self.members.get_mut(number) {
            member.health.picks += 1;
        }
        Pick::Member(number)
    }

    fn next_in_rotation(&mut self, members: &[usize], now: Time) -> Option<usize> {
        let weighted: Vec<_> = members.iter().map(|&number| (number, self.weight(number, now))).collect();
        self.rotation.next(&weighted)
    }

    /// Keeps the members with the fewest requests in flight per weight.
    fn keep_least_loaded(&self, members: &mut Vec<usize>, in_flight: &[u32], now: Time) {
        let load = |number: usize| {
            let requests = u128::from(in_flight.get(number).copied().unwrap_or_default());
            (requests, u128::try_from(self.weight(number, now)).unwrap_or(1))
        };
        // Fractions a/b and c/d are compared as a*d and c*b.
        let less = |(a, b): (u128, u128), (c, d): (u128, u128)| a * d < c * b;
        let loads = members.iter().map(|&number| load(number));
        let Some(least) = loads.reduce(|best, other| if less(other, best) { other } else { best }) else {
            return;
        };
        members.retain(|&number| !less(least, load(number)));
    }

    fn weight(&self, number: usize, now: Time) -> i64 {
        let weight = |member: &Member| {
            let Member { settings, health } = member;
            effective_weight(settings.weight, health.recovered, self.settings.slow_start, now)
        };
        self.members.get(number).map_or(1, weight)
    }

    pub(super) fn is_up(&self, number: usize) -> bool {
        self.members.get(number).is_some_and(|member| member.state() == State::Up)
    }

    fn is_full(&self, number: usize, in_flight: &[u32]) -> bool {
        let limit = self.members.get(number).and_then(|member| member.settings.max_in_flight);
        limit.is_some_and(|limit| in_flight.get(number).is_some_and(|in_flight| *in_flight >= limit))
    }

    /// Ends expired ejections. Without `eject_after` they are no changes: the health of an
    /// origin over all zones has a log line for them.
    pub(super) fn advance(&mut self, now: Time) -> Vec<(usize, Change)> {
        let mut changes = Vec::new();
        let is_outlier_rule = self.settings.ejection.is_outlier_rule;
        for (number, member) in self.members.iter_mut().enumerate() {
            if let Some(ended) = member.health.ejection.end(now) {
                member.health.recovered = Some(ended);
                if is_outlier_rule {
                    changes
                        .push((number, Change { state: State::Up, reason: "its ejection ended".to_owned() }));
                }
            }
        }
        changes
    }

    pub(super) fn record(&mut self, number: usize, outcome: Outcome<'_>, now: Time) -> Option<Change> {
        let rule = self.settings.ejection;
        let ejected = self.members.iter().filter(|member| member.health.ejection.is_ejected()).count();
        let is_allowed = !rule.is_outlier_rule || 2 * (ejected + 1) <= self.members.len();
        let member = self.members.get_mut(number)?;
        let status;
        let reason = match outcome {
            Outcome::Response { status: code } if rule.is_outlier_rule && code >= 500 => {
                status = format!("status {code}");
                &status
            }
            Outcome::Response { .. } => {
                if member.health.ejection.succeeded(&rule, now) {
                    member.health.recovered = Some(now);
                }
                return None;
            }
            Outcome::NoResponse { reason } => reason,
        };
        let duration = member.health.ejection.failed(&rule, (reason, is_allowed), now)?;
        let (after, seconds) = (rule.after, duration.as_secs_f64());
        rule.is_outlier_rule.then(|| Change {
            state: State::Ejected,
            reason: format!("{after} consecutive failures, the last one: {reason}; not used for {seconds} s"),
        })
    }

    pub(super) fn record_check(
        &mut self,
        number: usize,
        result: Result<(), String>,
        now: Time,
    ) -> Option<Change> {
        let thresholds = self.settings.checks?;
        let member = self.members.get_mut(number)?;
        let change = member.health.check.record(result, thresholds)?;
        if change.state == State::Up {
            member.health.recovered = Some(now);
        }
        Some(change)
    }

    pub(super) fn report(&self, number: usize, now: Time) -> Option<MemberReport> {
        let member = self.members.get(number)?;
        let MemberHealth { check, ejection, picks, .. } = &member.health;
        let (state, reason) = match member.state() {
            State::Up => (State::Up, None),
            State::Down => (State::Down, check.reason.clone()),
            State::Ejected if self.settings.ejection.is_outlier_rule => {
                (State::Ejected, ejection.reason.clone())
            }
            State::Ejected => (State::Down, ejection.reason.clone()),
        };
        #[expect(clippy::cast_precision_loss, reason = "a weight for a person")]
        let weight = self.weight(number, now) as f64 / 1000.0;
        Some(MemberReport {
            state,
            reason,
            weight,
            picks: *picks,
            ejections: ejection.ejections,
            ejected_for: ejection.until().map(|until| until.since(now)),
            checks: check.checks,
            check_failures: check.failures,
        })
    }
}

impl Member {
    fn state(&self) -> State {
        match &self.health {
            health if health.check.is_down() => State::Down,
            health if health.ejection.is_ejected() => State::Ejected,
            _ => State::Up,
        }
    }
}

#[cfg(test)]
mod tests;
