//! A measured number, and its range without the emulator's own error.

/// A measured number, and the bounds of its value without the emulator's own error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranged {
    /// The measured value.
    pub value: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

impl Ranged {
    /// A number with the measured `value`, which is `other` at the other end of the emulator's
    /// error.
    pub fn between(value: f64, other: f64) -> Self {
        Self { value, low: value.min(other), high: value.max(other) }
    }

    /// Extends the range to include `other`.
    #[must_use]
    pub fn or(self, other: f64) -> Self {
        Self { low: self.low.min(other), high: self.high.max(other), ..self }
    }

    /// The greatest possible deviation due to the emulator.
    pub fn own_error(self) -> f64 {
        (self.high - self.value).max(self.value - self.low)
    }
}

impl From<f64> for Ranged {
    fn from(value: f64) -> Self {
        Self { value, low: value, high: value }
    }
}

/// The bound of the emulator's error in the numbers of an object. Times may be too long, and rates
/// too low; counts, sizes and shares are exact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OwnError {
    /// The emulator's share of the measured time, in ms.
    pub error_ms: f64,
    /// The measured time, in ms.
    pub took_ms: f64,
}

impl OwnError {
    pub(crate) fn of_time(self, ms: f64) -> f64 {
        (ms - self.error_ms).max(0.0)
    }

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
        // 80 over 100 ms are 80 over the 80 ms that remain without the emulator's error.
        assert_eq!(error.of_rate(80.0), 100.0);
        assert_eq!(OwnError { error_ms: 100.0, took_ms: 100.0 }.of_rate(1.0), f64::INFINITY);
    }
}
