//! Slow start: the weight of an origin grows after its recovery.

use std::time::Duration;

use http_cache::Time;

/// The effective weight in thousandths, at least 1. It grows linearly from a tenth to the full weight
/// within `duration` after `recovered`.
pub(super) fn effective_weight(
    weight: u32,
    recovered: Option<Time>,
    duration: Option<Duration>,
    now: Time,
) -> i64 {
    let full = i64::from(weight) * THOUSANDTHS;
    let (Some(recovered), Some(duration)) = (recovered, duration) else { return full };
    let millis = |duration: Duration| i64::try_from(duration.as_millis()).unwrap_or(i64::MAX).max(1);
    let (elapsed, whole) = (millis(now.since(recovered)), millis(duration));
    if elapsed >= whole {
        return full;
    }
    // In floating point, because the product of weight and milliseconds could overflow.
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "at most 2^42")]
    let part = (full as f64 * (elapsed as f64 / whole as f64).max(LEAST_SHARE)) as i64;
    part.max(1)
}

const THOUSANDTHS: i64 = 1000;

/// With a share of 0, the origin would receive no requests.
const LEAST_SHARE: f64 = 0.1;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEN: Option<Duration> = Some(Duration::from_secs(10));

    fn at(millis: u64) -> i64 {
        effective_weight(3, Some(Time::from_millis(5000)), TEN, Time::from_millis(5000 + millis))
    }

    #[test]
    fn weight_grows_from_a_tenth_to_the_whole() {
        assert_eq!(
            [0, 999, 2000, 5000, 9000, 10_000, 90_000].map(at),
            [300, 300, 600, 1500, 2700, 3000, 3000]
        );
        let now = Time::from_millis(0);
        assert_eq!(effective_weight(3, Some(now), None, now), 3000);
        assert_eq!(effective_weight(3, None, TEN, now), 3000);
    }

    proptest! {
        #[test]
        fn weight_never_falls(weight in 1u32.., a in 0u64..20_000, b in 0u64..20_000) {
            let at = |millis| effective_weight(weight, Some(Time::from_millis(0)), TEN, Time::from_millis(millis));
            prop_assert!(at(a.min(b)) <= at(a.max(b)));
            prop_assert!(at(a) >= 1 && at(a) <= i64::from(weight) * 1000);
        }
    }
}
