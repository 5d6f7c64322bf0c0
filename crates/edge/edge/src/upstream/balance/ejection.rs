//! Outlier ejection: an origin whose requests fail consecutively is not used for a time.

use std::time::Duration;

use http_cache::Time;

/// When an origin is ejected, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EjectionRule {
    /// Consecutive failures.
    pub(crate) after: u32,
    /// The duration of the first ejection. Each further ejection is longer by this duration.
    pub(crate) duration: Duration,
    /// Whether the rule is from `eject_after`: a 5xx status is a failure, durations grow, and at most
    /// half of the origins are ejected together.
    pub(crate) is_outlier_rule: bool,
}

impl EjectionRule {
    /// The rule of a zone without `eject_after`: one request without a response.
    pub(crate) const DEFAULT: Self =
        Self { after: 1, duration: Duration::from_secs(10), is_outlier_rule: false };
}

#[derive(Debug, Clone, Default)]
pub(super) struct Ejection {
    consecutive: u32,
    until: Option<Time>,
    /// The multiple of the duration that was used last.
    multiple: u32,
    ended: Option<Time>,
    pub(super) ejections: u64,
    pub(super) reason: Option<String>,
}

impl Ejection {
    pub(super) fn is_ejected(&self) -> bool {
        self.until.is_some()
    }

    pub(super) fn until(&self) -> Option<Time> {
        self.until
    }

    /// Returns the end of an expired ejection.
    pub(super) fn end(&mut self, now: Time) -> Option<Time> {
        let until = self.until.filter(|until| now >= *until)?;
        (self.until, self.ended, self.reason) = (None, Some(until), None);
        Some(until)
    }

    /// Returns whether it ended an ejection. An outlier stays ejected: responses to
    /// earlier requests may still arrive.
    pub(super) fn succeeded(&mut self, rule: &EjectionRule, now: Time) -> bool {
        self.consecutive = 0;
        if rule.is_outlier_rule || self.until.is_none() {
            return false;
        }
        (self.until, self.ended, self.reason) = (None, Some(now), None);
        true
    }

    /// Returns the duration if the origin is ejected now.
    pub(super) fn failed(
        &mut self,
        rule: &EjectionRule,
        (reason, is_allowed): (&str, bool),
        now: Time,
    ) -> Option<Duration> {
        self.consecutive = self.consecutive.saturating_add(1);
        if self.until.is_some() || self.consecutive < rule.after || !is_allowed {
            return None;
        }
        self.consecutive = 0;
        self.multiple = if rule.is_outlier_rule { self.next_multiple(rule.duration, now) } else { 1 };
        let duration = rule.duration.saturating_mul(self.multiple);
        self.until = Some(now.after(duration));
        self.ejections += u64::from(rule.is_outlier_rule);
        self.reason = Some(reason.to_owned());
        Some(duration)
    }

    /// Each duration without an ejection takes one repetition back.
    fn next_multiple(&self, duration: Duration, now: Time) -> u32 {
        let calm = self.ended.map_or(0, |ended| {
            now.since(ended).as_millis().checked_div(duration.as_millis()).unwrap_or(u128::MAX)
        });
        let calm = u32::try_from(calm).unwrap_or(u32::MAX);
        (self.multiple.saturating_sub(calm) + 1).min(MAX_MULTIPLE)
    }
}

/// With the default duration, the longest ejection is 5 min, like `max_ejection_time` of Envoy.
const MAX_MULTIPLE: u32 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: EjectionRule =
        EjectionRule { after: 3, duration: Duration::from_secs(30), is_outlier_rule: true };

    fn seconds(seconds: u64) -> Time {
        Time::from_millis(seconds * 1000)
    }

    fn eject(ejection: &mut Ejection, now: u64) -> Option<u64> {
        let fail = |_| ejection.failed(&RULE, ("status 503", true), seconds(now));
        (0..3).filter_map(fail).last().map(|duration| duration.as_secs())
    }

    #[test]
    fn only_consecutive_failures_eject() {
        let mut ejection = Ejection::default();
        for _ in 0..10 {
            ejection.failed(&RULE, ("status 503", true), seconds(0));
            ejection.failed(&RULE, ("status 503", true), seconds(0));
            ejection.succeeded(&RULE, seconds(0));
        }
        assert!(!ejection.is_ejected());
        assert_eq!(eject(&mut ejection, 1), Some(30));
        ejection.succeeded(&RULE, seconds(2));
        assert!(ejection.is_ejected());
        assert_eq!((ejection.end(seconds(30)), ejection.end(seconds(31))), (None, Some(seconds(31))));
    }

    #[test]
    fn durations_grow_with_repetitions_and_are_bounded() {
        let (mut ejection, mut now) = (Ejection::default(), 0);
        let durations = (0..12).map(|_| {
            let duration = eject(&mut ejection, now).unwrap();
            now += duration;
            assert!(ejection.end(seconds(now)).is_some());
            duration
        });
        let expected = [30, 60, 90, 120, 150, 180, 210, 240, 270, 300, 300, 300];
        assert_eq!(durations.collect::<Vec<_>>(), expected);
        // Four durations without an ejection take four repetitions back: 10 - 4 + 1.
        assert_eq!(eject(&mut ejection, now + 120), Some(210));
    }

    #[test]
    fn default_rule_ends_with_a_response() {
        let mut ejection = Ejection::default();
        let failed = ejection.failed(&EjectionRule::DEFAULT, ("refused", true), seconds(0));
        assert_eq!(failed, Some(Duration::from_secs(10)));
        assert!(ejection.succeeded(&EjectionRule::DEFAULT, seconds(1)) && !ejection.is_ejected());
    }
}
