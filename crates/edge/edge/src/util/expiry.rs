//! When a certificate's expiry deserves a warning.

use http_stack::server::ServerCertificate;

/// The remaining days, rounded down, if the certificate expires soon. That is within 14 days, or within a
/// quarter of its lifetime if that is shorter.
pub(crate) fn days_if_soon(certificate: &ServerCertificate, now_s: u64) -> Option<u64> {
    days_left(certificate.not_before_s(), certificate.not_after_s(), now_s)
}

fn days_left(not_before_s: u64, not_after_s: u64, now_s: u64) -> Option<u64> {
    let soon = (not_after_s.saturating_sub(not_before_s) / 4).min(14 * DAY_S);
    let left = not_after_s.saturating_sub(now_s);
    (left < soon).then_some(left / DAY_S)
}

pub(crate) fn sentence(days: u64) -> String {
    match days {
        0 => "it expires in less than a day".to_owned(),
        1 => "it expires in 1 day".to_owned(),
        days => format!("it expires in {days} days"),
    }
}

pub(crate) const DAY_S: u64 = 86_400;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warning_begins_14_days_before_or_at_a_quarter() {
        let year = 365 * DAY_S;
        assert_eq!(days_left(0, year, year - 14 * DAY_S), None);
        assert_eq!(days_left(0, year, year - 14 * DAY_S + 1), Some(13));
        assert_eq!(days_left(0, year, year + 1), Some(0));
        // A quarter of six days is 36 hours.
        assert_eq!(days_left(0, 6 * DAY_S, 4 * DAY_S), None);
        assert_eq!(days_left(0, 6 * DAY_S, 5 * DAY_S), Some(1));
    }
}
