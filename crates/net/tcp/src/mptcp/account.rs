//! Relates the namespace's counters to one connection: since when they are counted, and over how many
//! connections.
//!
//! Counters over a single connection describe it. Counters over several connections apply to each
//! of them only if the number of events is at least the number of connections.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::counters::Counters;

/// The scope of the counters in a connection's evidence: since when, and over how many connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Counted {
    /// The start of the counting.
    pub since: Since,
    /// Number of MPTCP connections that have begun since then, including this one. Both ends of a local
    /// connection count.
    pub connections: u64,
}

/// The start of the counting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Since {
    /// The creation of the network namespace: events may be older than the connection.
    Namespace,
    /// The last read before the connection began: events are not older.
    LookBefore,
}

#[derive(Debug, Clone)]
pub(super) struct Account {
    grown: Counters,
    pub counted: Counted,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bearing {
    None,
    /// Some connections are affected, but not all.
    Some,
    /// There are as many events as connections, so this one is probably affected.
    Likely,
    /// This connection is affected: there was no other.
    Certain,
}

impl Account {
    /// `before` has the counters of the last read before the connection began, if any.
    pub(super) fn new(now: &Counters, before: Option<&Counters>) -> Self {
        let earlier = |name: &str| before.and_then(|before| before.get(name)).copied().unwrap_or(0);
        let grown = |(name, now): (&String, &u64)| (name.clone(), now.saturating_sub(earlier(name)));
        let grown: BTreeMap<_, _> = now.iter().map(grown).collect();
        let begun = BEGUN.iter().map(|name| grown.get(*name).copied().unwrap_or(0)).sum::<u64>();
        let since = if before.is_some() { Since::LookBefore } else { Since::Namespace };
        Self { grown, counted: Counted { since, connections: begun.max(1) } }
    }

    pub(super) fn sum(&self, names: &[&str]) -> u64 {
        names.iter().filter_map(|name| self.grown.get(*name)).sum()
    }

    pub(super) fn bearing(&self, events: u64) -> Bearing {
        match (events, self.counted.connections) {
            (0, _) => Bearing::None,
            (_, 1) => Bearing::Certain,
            (events, connections) if events >= connections => Bearing::Likely,
            _ => Bearing::Some,
        }
    }

    pub(super) fn evidence(&self, names: &[&str]) -> Vec<String> {
        let counted = names.iter().filter(|name| self.sum(&[**name]) > 0);
        counted.map(|name| format!("{name} is {}", self.sum(&[*name]))).collect()
    }

    pub(super) fn scope(&self) -> String {
        let since = match self.counted.since {
            Since::Namespace => "since this network namespace was made",
            Since::LookBefore => "since the last look before this connection began",
        };
        match (self.counted.connections, self.counted.since) {
            (1, _) => format!("counted {since}, of this connection alone"),
            (all, Since::Namespace) => {
                format!(
                    "counted {since}, of all its {all} connections; some events may be older than this connection"
                )
            }
            (all, Since::LookBefore) => {
                format!("counted {since}, of {all} connections that began since then")
            }
        }
    }
}

/// A connection that this end opened, and one that it accepted, each counted once.
const BEGUN: [&str; 2] = ["MPCapableSYNTX", "MPCapableACKRX"];

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(all: &[(&str, u64)]) -> Counters {
        all.iter().map(|&(name, number)| (name.to_owned(), number)).collect()
    }

    #[test]
    fn what_is_counted_of_one_connection_is_about_it() {
        let alone = Account::new(&counters(&[("MPCapableSYNTX", 1), ("Blackhole", 2)]), None);
        assert_eq!(alone.bearing(alone.sum(&["Blackhole"])), Bearing::Certain);
        assert_eq!(alone.scope(), "counted since this network namespace was made, of this connection alone");
        assert_eq!(alone.bearing(alone.sum(&["MPJoinSynTx"])), Bearing::None);
    }

    #[test]
    fn what_is_counted_of_several_is_about_all_or_nobody_knows_which() {
        let now = counters(&[("MPCapableSYNTX", 3), ("MPCapableACKRX", 1), ("Rare", 3), ("Frequent", 4)]);
        let shared = Account::new(&now, None);
        assert_eq!(shared.counted, Counted { since: Since::Namespace, connections: 4 });
        assert_eq!((shared.bearing(3), shared.bearing(4)), (Bearing::Some, Bearing::Likely));
        assert_eq!(shared.evidence(&["Rare", "Absent"]), ["Rare is 3"]);
        assert!(
            shared
                .scope()
                .ends_with("of all its 4 connections; some events may be older than this connection")
        );
    }

    #[test]
    fn a_look_before_the_connection_takes_away_what_is_older() {
        let before = counters(&[("MPCapableSYNTX", 7), ("Blackhole", 5)]);
        let now = counters(&[("MPCapableSYNTX", 8), ("Blackhole", 5), ("MPJoinSynTx", 1)]);
        let account = Account::new(&now, Some(&before));
        assert_eq!(account.counted, Counted { since: Since::LookBefore, connections: 1 });
        assert_eq!((account.sum(&["Blackhole"]), account.sum(&["MPJoinSynTx"])), (0, 1));
        assert_eq!(account.bearing(1), Bearing::Certain);
        assert_eq!(Account::new(&before, Some(&now)).sum(&["MPCapableSYNTX"]), 0);
    }
}
