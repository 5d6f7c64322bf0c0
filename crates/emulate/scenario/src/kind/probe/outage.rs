//! Outages: the longest time that a host received no response. Pure.

use claim::Statistic;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statistics::Distribution;

/// The longest outages of the hosts of a side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outages {
    /// The side.
    pub side: String,
    /// The median over the hosts.
    pub p50_s: f64,
    /// The maximum over the hosts.
    pub max_s: f64,
    /// The longest outage of each host, in the order of the file.
    pub hosts: Vec<Outage>,
}

/// The longest time that a host received no response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outage {
    /// The host.
    pub host: String,
    /// Length in seconds.
    pub longest_s: f64,
    /// Start, in seconds since this host's measurement started.
    pub at_s: f64,
}

impl Outage {
    /// Includes the time before the first response and after the last one. `answers_s` are
    /// completion times.
    pub(crate) fn longest(host: &str, mut answers_s: Vec<f64>, end_s: f64) -> Self {
        answers_s.sort_unstable_by(f64::total_cmp);
        let mut longest = Self { host: host.to_owned(), longest_s: 0.0, at_s: 0.0 };
        let mut last_s = 0.0;
        for answer_s in answers_s.into_iter().chain([end_s]) {
            if answer_s - last_s > longest.longest_s {
                (longest.longest_s, longest.at_s) = (answer_s - last_s, last_s);
            }
            last_s = answer_s;
        }
        longest
    }
}

impl Outages {
    pub(crate) fn new(side: &str, hosts: Vec<Outage>) -> Option<Self> {
        let all = Distribution::new(hosts.iter().map(|host| host.longest_s).collect()).ok()?;
        let of = |statistic: Statistic| statistic.value_of_all(&all);
        Some(Self {
            side: side.to_owned(),
            p50_s: of(Statistic::Percentile(50.0)),
            max_s: of(Statistic::Max),
            hosts,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_lies_between_answers() {
        let between = Outage::longest("a", vec![1.0, 2.0, 9.0, 10.0], 11.0);
        assert_eq!((between.longest_s, between.at_s), (7.0, 2.0));
        let unordered = Outage::longest("a", vec![1.0, 9.0, 2.0, 10.0], 11.0);
        assert_eq!(unordered, between);
    }

    #[test]
    fn the_start_and_the_end_count_as_answers() {
        let late = Outage::longest("a", vec![6.0, 8.0], 10.0);
        assert_eq!((late.longest_s, late.at_s), (6.0, 0.0));
        let early = Outage::longest("a", vec![1.0, 2.0], 10.0);
        assert_eq!((early.longest_s, early.at_s), (8.0, 2.0));
        let never = Outage::longest("a", Vec::new(), 10.0);
        assert_eq!((never.longest_s, never.at_s), (10.0, 0.0));
        let after = Outage::longest("a", vec![3.0, 6.0, 10.5], 10.0);
        assert_eq!((after.longest_s, after.at_s), (4.5, 6.0));
    }

    #[test]
    fn a_side_has_the_distribution_of_its_hosts() {
        let host = |longest_s| Outage { host: "a".to_owned(), longest_s, at_s: 0.0 };
        let side = Outages::new("x", vec![host(1.0), host(9.0), host(3.0)]).unwrap();
        assert_eq!((side.p50_s, side.max_s), (3.0, 9.0));
        assert_eq!(Outages::new("x", Vec::new()), None);
    }
}
