//! Parses impairments in the syntax of `tc ... netem`: "delay 40ms 5ms distribution normal loss
//! 0.1% rate 10mbit".
//!
//! Two things differ from netem: a limit applies only to packets that wait for the rate, and a copy
//! is made after transmission, so it uses no capacity.

mod distribution;
mod error;
mod value;
mod words;

use std::time::Duration;

use units::{Bitrate, Probability};

use crate::{Config, Jitter, Limit, Loss, Order, Rate, Shape};
pub use error::NetemError;
use value::{integer, percent, rate, time};
use words::Words;

/// Options that the line does not contain are `None`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Impairment {
    /// The propagation delay.
    pub delay: Option<Duration>,
    /// The delay variation. Packets overtake each other, as in netem.
    pub jitter: Option<Jitter>,
    /// The loss model.
    pub loss: Option<Loss>,
    /// Probability of a duplicate.
    pub duplicate: Option<Probability>,
    /// Probability of a bit error.
    pub corrupt: Option<Probability>,
    /// Probability that a segment skips the delay.
    pub reorder: Option<Probability>,
    /// The transmission rate.
    pub rate: Option<Bitrate>,
    /// Framing bytes of each segment, written after the rate.
    pub overhead: Option<u32>,
    /// The queue limit in segments.
    pub limit: Option<u32>,
}

impl Impairment {
    /// A delay without jitter removes the jitter.
    pub fn apply(&self, config: &mut Config) {
        let Self { delay, jitter, loss, duplicate, corrupt, reorder, rate, overhead, limit } = self.clone();
        if let Some(delay) = delay {
            config.propagation = delay;
            config.jitter = jitter;
        }
        config.duplicate = duplicate.unwrap_or(config.duplicate);
        config.corrupt = corrupt.unwrap_or(config.corrupt);
        config.reorder = reorder.unwrap_or(config.reorder);
        config.overhead = overhead.unwrap_or(config.overhead);
        config.queue = limit.map_or(config.queue, Limit::Packets);
        if let Some(loss) = loss {
            config.loss = loss;
        }
        if let Some(rate) = rate {
            config.rate = Rate::Constant(rate);
        }
    }
}

/// Parses the part of a tc command after the word `netem`.
pub fn parse(text: &str) -> Result<Impairment, NetemError> {
    let mut words = Words::new(text);
    words.skip("netem");
    let mut impairment = Impairment::default();
    let mut seen = Vec::new();
    while let Some(word) = words.next() {
        let Some(option) = OPTIONS.iter().find(|option| option.names.contains(&word)) else {
            let names = OPTIONS.iter().flat_map(|option| option.names).copied();
            return Err(refusal(word).unwrap_or_else(|| NetemError::unknown(word, names)));
        };
        if seen.contains(&option.names[0]) {
            return Err(NetemError::Twice { option: option.names[0] });
        }
        seen.push(option.names[0]);
        (option.read)(&mut impairment, &mut words)?;
    }
    if impairment.reorder.is_some() && impairment.delay.is_none() {
        return Err(NetemError::Needs { option: "reorder", needs: "a delay, which it skips" });
    }
    Ok(impairment)
}

struct NetemOption {
    names: &'static [&'static str],
    read: fn(&mut Impairment, &mut Words<'_>) -> Result<(), NetemError>,
}

/// The first name is netem's; the others are tc's aliases.
const OPTIONS: &[NetemOption] = &[
    NetemOption { names: &["delay", "latency"], read: read_delay },
    NetemOption { names: &["distribution"], read: read_distribution },
    NetemOption { names: &["loss", "drop"], read: read_loss },
    NetemOption {
        names: &["duplicate"],
        read: |to, words| alone("duplicate", words).map(|chance| to.duplicate = Some(chance)),
    },
    NetemOption {
        names: &["corrupt"],
        read: |to, words| alone("corrupt", words).map(|chance| to.corrupt = Some(chance)),
    },
    NetemOption { names: &["reorder"], read: read_reorder },
    NetemOption { names: &["rate"], read: read_rate },
    NetemOption {
        names: &["limit"],
        read: |to, words| words.value("limit", PACKETS, integer).map(|limit| to.limit = Some(limit)),
    },
];

fn read_delay(to: &mut Impairment, words: &mut Words<'_>) -> Result<(), NetemError> {
    to.delay = Some(words.value("delay", TIME, time)?);
    if let Some(spread) = words.optional("delay", TIME, time)? {
        words.no_correlation("delay")?;
        let jitter = Jitter { spread, shape: Shape::Uniform, order: Order::Free };
        to.jitter = (!spread.is_zero()).then_some(jitter);
    }
    Ok(())
}

fn read_distribution(to: &mut Impairment, words: &mut Words<'_>) -> Result<(), NetemError> {
    let name = words.next().ok_or(NetemError::Missing { option: "distribution", expected: SHAPES })?;
    let Some(jitter) = &mut to.jitter else {
        return Err(NetemError::Needs {
            option: "distribution",
            needs: "a delay and its jitter before it: delay 40ms 5ms",
        });
    };
    let unknown = || NetemError::Value { option: "distribution", value: name.to_owned(), expected: SHAPES };
    jitter.shape = distribution::named(name).ok_or_else(unknown)?;
    Ok(())
}

fn read_loss(to: &mut Impairment, words: &mut Words<'_>) -> Result<(), NetemError> {
    to.loss = Some(if words.skip("gemodel") {
        gilbert_elliott(words)?
    } else if words.skip("state") {
        return Err(NetemError::Unsupported {
            what: "loss state, netem's chain of four states,",
            instead: "write loss gemodel p r 1-h 1-k",
        });
    } else {
        words.skip("random");
        Loss::Bernoulli(alone("loss", words)?)
    });
    if words.skip("ecn") {
        return Err(NetemError::Unsupported {
            what: "loss ... ecn, which marks what would be lost at random,",
            instead: "leave it out and let the queue's discipline mark",
        });
    }
    Ok(())
}

fn gilbert_elliott(words: &mut Words<'_>) -> Result<Loss, NetemError> {
    let mut shares = vec![words.value("loss gemodel", PERCENT, percent)?];
    while let Some(share) = words.optional("loss gemodel", PERCENT, percent)? {
        shares.push(share);
    }
    Loss::gilbert_elliott(&shares).ok_or(NetemError::Unsupported {
        what: "loss gemodel with more than four shares",
        instead: "write p, r, 1-h and 1-k",
    })
}

fn read_reorder(to: &mut Impairment, words: &mut Words<'_>) -> Result<(), NetemError> {
    to.reorder = Some(alone("reorder", words)?);
    if words.skip("gap") {
        let gap: u32 = words.value("reorder gap", "a number of packets", integer)?;
        if gap != 1 {
            return Err(NetemError::Unsupported {
                what: "a gap of more than 1 between reordered packets",
                instead: "write reorder with a percentage only",
            });
        }
    }
    Ok(())
}

fn read_rate(to: &mut Impairment, words: &mut Words<'_>) -> Result<(), NetemError> {
    to.rate = Some(words.value("rate", RATE, rate)?);
    to.overhead = words.optional("rate", "an overhead in bytes, not negative", integer)?;
    match words.optional("rate", "a cell size in bytes", integer::<u32>)? {
        None | Some(0) => Ok(()),
        Some(_) => Err(NetemError::Unsupported {
            what: "rate with a cell size",
            instead: "write the rate and the overhead of a packet only",
        }),
    }
}

fn alone(option: &'static str, words: &mut Words<'_>) -> Result<Probability, NetemError> {
    let chance = words.value(option, PERCENT, percent)?;
    words.no_correlation(option)?;
    Ok(chance)
}

fn refusal(word: &str) -> Option<NetemError> {
    let (what, instead) = match word {
        "slot" => (
            "slot, which holds packets back and sends them in bursts,",
            "leave it out: a link sends each packet when it is its turn",
        ),
        "seed" => ("seed", "leave it out: the link has its own seed"),
        _ => return None,
    };
    Some(NetemError::Unsupported { what, instead })
}

const TIME: &str = "a time such as 40ms (without a unit: microseconds)";
const PERCENT: &str = "a percentage from 0% to 100%";
const RATE: &str = "a rate such as 10mbit (without a unit: bits a second), at most 1000gbit";
const PACKETS: &str = "a number of packets";
const SHAPES: &str =
    "normal, pareto, paretonormal or uniform (another of tc's files is the jitter_table of a link)";

#[cfg(test)]
mod tests;
