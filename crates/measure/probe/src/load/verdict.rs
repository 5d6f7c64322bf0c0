//! Detects runs whose results the generator itself may have shaped.

use std::time::Duration;

use claim::Doubt;

use super::{
    config::{Config, Pace},
    generator::SelfReport,
};
use crate::{client::Failure, summary::Tally};

pub(crate) fn doubts(config: &Config, tally: &Tally, report: &SelfReport) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    if report.left_over > 0 {
        let due = report.left_over.saturating_add(tally.requests());
        doubts.push(Doubt::RequestsLeftOver { left: report.left_over, due });
    }
    let percentile = judged_percentile(tally.requests());
    if tally.requests() > 1
        && let Some(late) = tally.lateness(percentile).map(Duration::from_nanos)
        && late > config.lateness_limit
    {
        let late = Duration::from_micros(u64::try_from(late.as_micros()).unwrap_or(u64::MAX));
        doubts.push(Doubt::LateRequests { percent: 100.0 - percentile, late, limit: config.lateness_limit });
    }
    if report.cpu_share > config.cpu_limit && report.cpu >= START {
        let effect = match config.pace {
            Pace::Open { .. } | Pace::Replay(_) => "requests may have waited for it",
            Pace::Closed { .. } => "the rate is its limit, not the server's, and requests waited for it",
        };
        doubts.push(Doubt::BusyGenerator { share: report.cpu_share, limit: config.cpu_limit, effect });
    }
    let requests = tally.failed_because(|reason| reason == Failure::NOT_SENT);
    if requests > 0 {
        doubts.push(Doubt::TooManyInFlight { requests });
    }
    let requests = tally.failed_because(Failure::is_own_shortage);
    if requests > 0 {
        doubts.push(Doubt::OutOfSockets { requests });
    }
    doubts
}

/// CPU time of the first request, which takes some ms. Below it, a CPU share shows no contention.
const START: Duration = Duration::from_millis(20);

/// The 99.9th, or in a short run one with ten requests beyond it: a single stall must not dominate.
#[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
fn judged_percentile(requests: u64) -> f64 {
    (100.0 * (1.0 - 10.0 / requests.max(1) as f64)).clamp(50.0, 99.9)
}

#[cfg(test)]
mod tests {
    use recording::Sample;

    use super::*;

    fn reasons(config: &Config, tally: &Tally, report: &SelfReport) -> Vec<String> {
        doubts(config, tally, report).iter().map(Doubt::to_string).collect()
    }

    fn busy(cpu_share: f64) -> SelfReport {
        SelfReport {
            duration: Duration::from_secs(1),
            cpu_share,
            cpu: Duration::from_secs_f64(cpu_share),
            left_over: 0,
            interrupted: false,
            started_monotonic_ns: None,
        }
    }

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
        assert_eq!(
            reasons(&Config::default(), &tally(&[late(4_900_000)]), &busy(0.89)),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_single_stall_does_not_speak_for_a_short_run() {
        for (requests, percentile) in
            [(1, 50.0), (20, 50.0), (100, 90.0), (1000, 99.0), (10_000, 99.9), (1_000_000, 99.9)]
        {
            assert_eq!(judged_percentile(requests), percentile, "{requests} requests");
        }
        let with_stalls = |stalls| {
            let samples: Vec<_> =
                (0..1000).map(|i| late(if i < stalls { 40_000_000 } else { 100_000 })).collect();
            reasons(&Config::default(), &tally(&samples), &busy(0.1))
        };
        assert_eq!(with_stalls(9), Vec::<String>::new());
        assert!(with_stalls(11)[0].starts_with("1 % of the requests started 40"), "{:?}", with_stalls(11));
    }

    #[test]
    fn one_request_waits_for_no_other() {
        // It started 8 ms late, and starting it took 2.9 of 3 ms.
        let report = SelfReport { cpu: Duration::from_micros(2900), ..busy(0.97) };
        assert_eq!(reasons(&Config::default(), &tally(&[late(8_000_000)]), &report), Vec::<String>::new());
        let many: Vec<_> = (0..1000).map(|_| late(8_000_000)).collect();
        let report = SelfReport { cpu: START, ..report };
        assert_eq!(reasons(&Config::default(), &tally(&many), &report).len(), 2);
    }

    #[test]
    fn a_rate_that_was_not_kept_is_said_with_its_figures() {
        let report = SelfReport { left_over: 60_000, ..busy(0.1) };
        let samples: Vec<_> = (0..40_000).map(|_| late(0)).collect();
        assert_eq!(
            reasons(&Config::default(), &tally(&samples), &report),
            [
                "about 60000 of 100000 requests were due but not sent when the time was up: the generator could not keep the \
              rate"
            ]
        );
    }

    #[test]
    fn each_limit_has_its_sentence() {
        let failed = |error: &str| Sample { error: Some(error.to_owned()), ..Sample::default() };
        let samples =
            [late(6_000_000), failed(Failure::NOT_SENT), failed("out of local ports"), failed("timeout")];
        let reasons = reasons(&Config::default(), &tally(&samples), &busy(0.97));
        assert_eq!(reasons.len(), 4);
        assert!(reasons[0].contains("started 6ms late or more (limit 5ms)"), "{}", reasons[0]);
        assert!(reasons[1].contains("97 % of its core (limit 90 %)"), "{}", reasons[1]);
        assert!(reasons[2].starts_with("1 requests were due but not sent"), "{}", reasons[2]);
        assert!(reasons[3].starts_with("1 requests failed because this machine ran out"), "{}", reasons[3]);
    }
}
