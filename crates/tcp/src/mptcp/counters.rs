//! The kernel's MPTCP counters (`/proc/net/netstat`). Which there are depends on its version, so they go by name.

use std::{collections::BTreeMap, fs};

use crate::error::{Doing, Error};

/// Those of the calling thread's network namespace that are not 0.
pub(super) fn read() -> Result<BTreeMap<String, u64>, Error> {
    let path = "/proc/thread-self/net/netstat";
    Ok(parse(&fs::read_to_string(path).doing(|| format!("read {path}"))?))
}

/// Two lines begin with the table's name: one of names, one of numbers.
fn parse(text: &str) -> BTreeMap<String, u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("MPTcpExt:"));
    let (Some(names), Some(numbers)) = (lines.next(), lines.next()) else { return BTreeMap::new() };
    let pairs = std::iter::zip(names.split_whitespace(), numbers.split_whitespace());
    let counter = |(name, number): (&str, &str)| Some((name.to_owned(), number.parse().ok()?));
    pairs.filter_map(counter).filter(|&(_, number)| number != 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_go_by_name() {
        let text = "TcpExt: A B\nTcpExt: 7 8\nMPTcpExt: MPJoinSynTx AddAddr RmAddr\nMPTcpExt: 3 0 x\n";
        assert_eq!(parse(text), BTreeMap::from([("MPJoinSynTx".to_owned(), 3)]));
        assert_eq!(parse("TcpExt: A\nTcpExt: 1\nMPTcpExt: A\n"), BTreeMap::new());
    }
}
