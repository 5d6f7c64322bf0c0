//! Whether the generator itself may have shaped what it measured: each reason is a sentence.

use std::time::Duration;

use super::config::{Config, Pace};
use crate::{client::Failure, summary::Tally};

/// The reasons why a run is invalid; none when all is well.
pub(crate) fn reasons(config: &Config, tally: &Tally, cpu_share: f64) -> Vec<String> {
    let mut reasons = Vec::new();
    if let Some(late) = tally.lateness_p999().map(Duration::from_nanos)
        && late > config.lateness_limit
    {
        let limit = units::duration::show(config.lateness_limit);
        let late =
            units::duration::show(Duration::from_micros(u64::try_from(late.as_micros()).unwrap_or(u64::MAX)));
        reasons.push(format!(
            "one request in a thousand started {late} late or more (limit {limit}): the generator could not keep the schedule"
        ));
    }
    if cpu_share > config.cpu_limit {
        let (share, limit) = (cpu_share * 100.0, config.cpu_limit * 100.0);
        let bottleneck = match config.pace {
            Pace::Open { .. } => "requests may have waited for it",
            Pace::Closed { .. } => "the rate is its limit, not the server's, and requests waited for it",
        };
        reasons.push(format!("the generator used {share:.0}% of its core (limit {limit:.0}%): {bottleneck}"));
    }
    let unsent = tally.failed_because(|reason| reason == NOT_SENT);
    if unsent > 0 {
        reasons.push(format!(
            "{unsent} requests were due but not sent, because too many were in flight: the latencies lack theirs"
        ));
    }
    let short = tally.failed_because(Failure::is_own_shortage);
    if short > 0 {
        reasons.push(format!(
            "{short} requests failed because this machine ran out of sockets: reuse connections, or raise `ulimit -n` and \
             net.ipv4.ip_local_port_range"
        ));
    }
    reasons
}

/// Why a request that was due was not sent.
pub(crate) const NOT_SENT: &str = "not sent: too many in flight";

#[cfg(test)]
mod tests {
    use recording::Sample;

    use super::*;

    fn tally(samples: &[Sample]) -> Tally {
        let mut tally = Tally::new();
        samples.iter().for_each(|sample| tally.add(sample));
        tally
    }

    fn late(by: u64) -> Sample {
        Sample { intended_ns: Some(0), started_ns: Some(by), ..Sample::default() }
    }

    #[test]
    fn a_run_within_its_limits_is_valid() {
        assert_eq!(reasons(&Config::default(), &tally(&[late(4_900_000)]), 0.89), Vec::<String>::new());
    }

    #[test]
    fn each_limit_has_its_sentence() {
        let failed = |error: &str| Sample { error: Some(error.to_owned()), ..Sample::default() };
        let samples = [late(6_000_000), failed(NOT_SENT), failed("out of local ports"), failed("timeout")];
        let reasons = reasons(&Config::default(), &tally(&samples), 0.97);
        assert_eq!(reasons.len(), 4);
        assert!(reasons[0].contains("started 6ms late or more (limit 5ms)"), "{}", reasons[0]);
        assert!(reasons[1].contains("97% of its core (limit 90%)"), "{}", reasons[1]);
        assert!(reasons[2].starts_with("1 requests were due but not sent"), "{}", reasons[2]);
        assert!(reasons[3].starts_with("1 requests failed because this machine ran out"), "{}", reasons[3]);
    }
}
