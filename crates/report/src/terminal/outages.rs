//! How long the hosts of each side went without an answer.

use scenario::{FaultMark, Outages};

use super::table::table;
use crate::text::{count, label};

/// The table of outages. Where nothing went wrong, the longest time between two answers says nothing.
pub(super) fn outages(sides: &[Outages], faults: &[FaultMark]) -> String {
    if sides.is_empty() || faults.is_empty() {
        return String::new();
    }
    let row = |side: &Outages| {
        let worst = side.hosts.iter().find(|host| host.longest_s >= side.max_s);
        let worst = worst.map(|host| format!("{} from {:.1} s", label(&host.host, LABEL), host.at_s));
        [
            label(&side.side, LABEL),
            count(side.hosts.len() as u64),
            format!("{:.2}", side.p50_s),
            format!("{:.2}", side.max_s),
            worst.unwrap_or_default(),
        ]
    };
    let header = ["", "hosts", "median host", "worst host", ""].map(str::to_owned);
    format!("longest time without an answer, s\n{}", table(header, sides.iter().map(row)))
}

const LABEL: usize = 20;
