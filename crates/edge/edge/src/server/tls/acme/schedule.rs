//! When to renew a certificate, and when to try again after a failure.

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    time::Duration,
};

/// The time of renewal: after two thirds of the lifetime, and up to a thirtieth of it later. `spread` is in
/// 0..1.
pub(super) fn renewal_s(not_before_s: u64, not_after_s: u64, spread: f64) -> u64 {
    let lifetime = not_after_s.saturating_sub(not_before_s);
    not_before_s + lifetime / 3 * 2 + fraction(lifetime / 30, spread)
}

/// The pause after a number of consecutive failures, at least 1: 5 minutes, doubled up to 6 hours, and up to
/// a tenth more. Let's Encrypt allows five failed validations of a name per hour; this makes four.
pub(super) fn pause_s(failures: u32, server: Option<Duration>, spread: f64) -> u64 {
    let doubled = FIRST_PAUSE_S.saturating_mul(1 << failures.saturating_sub(1).min(16));
    let own = doubled.min(LONGEST_PAUSE_S);
    let own = own + fraction(own / 10, spread);
    own.max(server.map_or(0, |server| server.as_secs().min(LONGEST_RETRY_AFTER_S)))
}

/// A number in 0..1 that differs between hosts and data centres, so that they do not order simultaneously.
pub(super) fn spread(data_centre: &str, host: &str, round: u64) -> f64 {
    let mut hasher = DefaultHasher::new();
    (data_centre, host, round).hash(&mut hasher);
    f64::from(u32::try_from(hasher.finish() >> 32).unwrap_or(0)) / (f64::from(u32::MAX) + 1.0)
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a delay in seconds is small and not negative"
)]
fn fraction(of: u64, spread: f64) -> u64 {
    (of as f64 * spread) as u64
}

const FIRST_PAUSE_S: u64 = 5 * 60;
const LONGEST_PAUSE_S: u64 = 6 * 60 * 60;
/// Limits per week are the longest of public servers.
const LONGEST_RETRY_AFTER_S: u64 = 7 * 24 * 60 * 60;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn renewal_is_between_two_thirds_and_seven_tenths() {
        let day = 86_400;
        assert_eq!(renewal_s(100, 100 + 90 * day, 0.0), 100 + 60 * day);
        // A thirtieth of 90 days is 3 days.
        assert_eq!(renewal_s(100, 100 + 90 * day, 0.5), 100 + 61 * day + day / 2);
        assert_eq!(renewal_s(100, 100, 0.9), 100);
    }

    #[test]
    fn pauses_double_up_to_six_hours() {
        let pauses: Vec<_> = (1..=9).map(|failures| pause_s(failures, None, 0.0) / 60).collect();
        assert_eq!(pauses, [5, 10, 20, 40, 80, 160, 320, 360, 360]);
        assert_eq!(pause_s(u32::MAX, None, 0.0), LONGEST_PAUSE_S);
    }

    #[test]
    fn server_can_only_lengthen_a_pause() {
        assert_eq!(pause_s(1, Some(Duration::from_secs(1)), 0.0), 300);
        assert_eq!(pause_s(1, Some(Duration::from_secs(4_000)), 0.0), 4_000);
        assert_eq!(pause_s(1, Some(Duration::MAX), 0.0), LONGEST_RETRY_AFTER_S);
    }

    #[test]
    fn attempts_stay_below_five_per_hour() {
        let mut at = 0;
        let attempts = (1..).map(|failures| {
            at += pause_s(failures, None, 0.0);
            at
        });
        // The first attempt has no pause.
        assert_eq!(1 + attempts.take_while(|&at| at < 3_600).count(), 4);
    }

    proptest! {
        #[test]
        fn renewal_precedes_the_expiry(from in 0..u64::from(u32::MAX), lifetime in 60..100_000_000_u64, data_centre in "[a-z]{3}") {
            let spread = spread(&data_centre, "a.example", from);
            prop_assert!((0.0..1.0).contains(&spread));
            let at = renewal_s(from, from + lifetime, spread);
            prop_assert!(at >= from + lifetime / 3 * 2 && at <= from + lifetime * 7 / 10, "{}", at);
        }
    }
}
