//! The generic cell rate algorithm: a token bucket as one number, the time at which it is full
//! again (ITU-T I.371). Times are nanoseconds of a monotonic clock.

/// A bucket gains a token each `interval` and has room for `burst`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bucket {
    pub(super) interval: u64,
    pub(super) burst: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Decision {
    pub(super) is_allowed: bool,
    /// When the bucket is full again.
    pub(super) full_at: u64,
    /// Tokens after the request.
    pub(super) remaining: u64,
    /// Nanoseconds until the next token, if the request is not allowed.
    pub(super) wait: u64,
}

impl Bucket {
    /// Takes a token if there is one. A time in the past counts as a full bucket.
    pub(super) fn take(self, full_at: u64, now: u64) -> Decision {
        let capacity = self.interval.saturating_mul(self.burst);
        let missing = full_at.saturating_sub(now);
        let after = missing.saturating_add(self.interval);
        if after > capacity {
            return Decision { is_allowed: false, full_at, remaining: 0, wait: after - capacity };
        }
        let remaining = (capacity - after).checked_div(self.interval).unwrap_or(self.burst);
        Decision { is_allowed: true, full_at: now.saturating_add(after), remaining, wait: 0 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn burst_is_followed_by_the_rate() {
        let bucket = Bucket { interval: 100, burst: 3 };
        let mut full_at = 0;
        let mut take = |now| {
            let decision = bucket.take(full_at, now);
            full_at = decision.full_at;
            (decision.is_allowed, decision.remaining, decision.wait)
        };
        assert_eq!(
            [1000, 1000, 1000, 1000].map(&mut take),
            [(true, 2, 0), (true, 1, 0), (true, 0, 0), (false, 0, 100)]
        );
        assert_eq!(
            [1099, 1100, 1100, 1250, 5000].map(&mut take),
            [(false, 0, 1), (true, 0, 0), (false, 0, 100), (true, 0, 0), (true, 2, 0)]
        );
    }

    proptest! {
        #[test]
        fn any_period_has_at_most_burst_and_rate(
            interval in 1u64..1000,
            burst in 1u64..20,
            pauses in prop::collection::vec(0u64..500, 1..200),
        ) {
            let bucket = Bucket { interval, burst };
            let (mut full_at, mut now, mut allowed) = (0, 1_000_000, Vec::new());
            for pause in pauses {
                now += pause;
                let decision = bucket.take(full_at, now);
                full_at = decision.full_at;
                if decision.is_allowed {
                    allowed.push(now);
                } else {
                    prop_assert!(!bucket.take(full_at, now + decision.wait - 1).is_allowed);
                    prop_assert!(bucket.take(full_at, now + decision.wait).is_allowed);
                }
            }
            for (number, start) in allowed.iter().enumerate() {
                for (count, end) in (1..).zip(&allowed[number..]) {
                    prop_assert!(count <= burst + (end - start) / interval);
                }
            }
        }
    }
}
