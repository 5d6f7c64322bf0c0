//! Changes to a link while the planet runs, by a fault or by the user.

use std::time::Duration;

use link::{Config, Limit, Loss, Rate};
use serde::{Deserialize, Serialize};
use units::{Bitrate, Probability};

/// A change to the link between two cities, in both directions. Absent values are unchanged.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Change {
    /// Probability of losing a segment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<Probability>,
    /// Round-trip time without queues.
    #[serde(with = "units::duration::option", skip_serializing_if = "Option::is_none")]
    pub rtt: Option<Duration>,
    /// Line rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Bitrate>,
    /// The link is down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub down: Option<LinkDown>,
}

/// Kinds of link failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkDown {
    /// Packets are dropped silently.
    Silent,
    /// A router responds with destination unreachable (ICMP).
    Unreachable,
    /// The device loses its carrier, and the kernel reacts to it.
    Carrier,
}

impl Change {
    /// An empty change is an error in a file, and a repair on the command line.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Absent values are taken from the earlier change.
    pub fn over(&self, earlier: &Self) -> Self {
        Self {
            loss: self.loss.or(earlier.loss),
            rtt: self.rtt.or(earlier.rtt),
            rate: self.rate.or(earlier.rate),
            down: self.down.or(earlier.down),
        }
    }

    /// The configuration after this change.
    pub fn apply(&self, config: Config) -> Config {
        Config {
            propagation: self.rtt.map_or(config.propagation, |rtt| rtt / 2),
            queue: if config.rate == Rate::Unlimited { Limit::default() } else { config.queue },
            rate: self.rate.map_or(config.rate, Rate::Constant),
            loss: match (self.down, self.loss) {
                (Some(_), _) => Loss::Bernoulli(Probability::ONE),
                (None, Some(loss)) => Loss::Bernoulli(loss),
                (None, None) => config.loss,
            },
            ..config
        }
    }
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts = [
            self.down.map(|_| "down".to_owned()),
            self.loss.map(|loss| format!("loss {loss}")),
            self.rtt.map(|rtt| format!("rtt {}", units::duration::show(rtt))),
            self.rate.map(|rate| format!("rate {rate}")),
        ];
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        f.write_str(&if parts.is_empty() { "as the world has it".to_owned() } else { parts.join(", ") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_keeps_what_it_does_not_name() {
        let before = Config { propagation: Duration::from_millis(36), ..Config::default() };
        let lossy = Change { loss: Probability::new(0.05), ..Change::default() };
        let after = lossy.apply(before.clone());
        assert_eq!(
            after,
            Config { loss: Loss::Bernoulli(Probability::new(0.05).unwrap()), ..before.clone() }
        );
        assert_eq!(lossy.to_string(), "loss 5%");
        assert_eq!(Change::default().apply(before.clone()), before);
    }

    #[test]
    fn down_loses_everything() {
        let down = Change { down: Some(LinkDown::Silent), ..Change::default() };
        assert_eq!(down.apply(Config::default()).loss, Loss::Bernoulli(Probability::ONE));
    }
}
