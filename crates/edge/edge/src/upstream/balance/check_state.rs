//! The state of an origin according to its active health checks.

use super::state::{Change, State};

/// An origin is up until checks fail.
#[derive(Debug, Clone, Default)]
pub(super) struct CheckState {
    is_down: bool,
    /// Consecutive results that contradict the state.
    contrary: u32,
    pub(super) checks: u64,
    pub(super) failures: u64,
    pub(super) reason: Option<String>,
}

/// Numbers of consecutive results that change the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Thresholds {
    pub(crate) healthy: u32,
    pub(crate) unhealthy: u32,
}

impl CheckState {
    pub(super) fn is_down(&self) -> bool {
        self.is_down
    }

    /// `Err` is the reason of the failure.
    pub(super) fn record(&mut self, result: Result<(), String>, thresholds: Thresholds) -> Option<Change> {
        self.checks += 1;
        self.failures += u64::from(result.is_err());
        if result.is_err() == self.is_down {
            self.contrary = 0;
            if let Err(reason) = result {
                self.reason = Some(reason);
            }
            return None;
        }
        self.contrary += 1;
        let needed = if self.is_down { thresholds.healthy } else { thresholds.unhealthy };
        if self.contrary < needed {
            return None;
        }
        (self.is_down, self.contrary) = (result.is_err(), 0);
        self.reason = result.err();
        Some(match &self.reason {
            Some(reason) => Change { state: State::Down, reason: format!("health check: {reason}") },
            None => Change { state: State::Up, reason: format!("{needed} health checks succeeded") },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_changes_after_consecutive_results() {
        let mut state = CheckState::default();
        let thresholds = Thresholds { healthy: 2, unhealthy: 3 };
        let expected = [
            (false, true),
            (false, true),
            (true, true),
            (false, true),
            (false, true),
            (false, false),
            (true, false),
            (false, false),
            (true, false),
            (true, true),
        ];
        for (number, (is_success, is_up)) in expected.into_iter().enumerate() {
            let change = state.record(if is_success { Ok(()) } else { Err("status 500".into()) }, thresholds);
            assert_eq!(!state.is_down(), is_up, "{number}");
            assert_eq!(change.is_some(), number == 5 || number == 9, "{number}");
        }
        assert_eq!((state.checks, state.failures, state.reason), (10, 6, None));
    }
}
