//! A number, and what it may be without the emulator's own error. Pure.

/// A number that was measured, and the ends between which it lies if nothing of it is the emulator's doing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranged {
    /// What was measured.
    pub value: f64,
    /// At least this.
    pub low: f64,
    /// At most this.
    pub high: f64,
}

impl Ranged {
    /// A number that was measured as `value` and is `other` at the other end of the emulator's error.
    pub fn between(value: f64, other: f64) -> Self {
        Self { value, low: value.min(other), high: value.max(other) }
    }

    /// A number that may lie anywhere between those that are given.
    #[must_use]
    pub fn or(self, other: f64) -> Self {
        Self { low: self.low.min(other), high: self.high.max(other), ..self }
    }

    /// How far the number is at most from what it is without the emulator's error.
    pub fn own_error(self) -> f64 {
        (self.high - self.value).max(self.value - self.low)
    }
}

impl From<f64> for Ranged {
    /// One without an error of the emulator, or none that is known.
    fn from(value: f64) -> Self {
        Self { value, low: value, high: value }
    }
}

/// By how much an object's numbers may be off: times in it may be too long, and rates, which are amounts by such times, too
/// low. Counts, sizes and shares are taken as they are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OwnError {
    /// The emulator's part of the time that was measured, in ms.
    pub error_ms: f64,
    /// The time that was measured, in ms.
    pub took_ms: f64,
}

impl OwnError {
    /// A time without the error.
    pub(crate) fn of_time(self, ms: f64) -> f64 {
        (ms - self.error_ms).max(0.0)
    }

    /// A rate without the error.
    pub(crate) fn of_rate(self, rate: f64) -> f64 {
        let left = self.took_ms - self.error_ms;
        if left > 0.0 { rate * self.took_ms / left } else { f64::INFINITY }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_a_number() {
        let time = Ranged::between(10.0, 7.0);
        assert_eq!((time.low, time.high, time.own_error()), (7.0, 10.0, 3.0));
        assert_eq!(time.or(14.0).own_error(), 4.0);
        assert_eq!(Ranged::from(5.0).own_error(), 0.0);
    }

    #[test]
    fn a_time_is_shorter_and_a_rate_higher_without_the_error() {
        let error = OwnError { error_ms: 20.0, took_ms: 100.0 };
        assert_eq!((error.of_time(50.0), error.of_time(5.0)), (30.0, 0.0));
        // 80 in 100 ms are 80 in the 80 ms that are not the emulator's.
        assert_eq!(error.of_rate(80.0), 100.0);
        assert_eq!(OwnError { error_ms: 100.0, took_ms: 100.0 }.of_rate(1.0), f64::INFINITY);
    }
}
