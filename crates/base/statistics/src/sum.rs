//! Sums that lose nothing to their length.

/// Knuth's TwoSum (The Art of Computer Programming, vol. 2, 4.2.2, theorem B). For non-negative
/// terms the result is right to about two roundings.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sum {
    high: f64,
    low: f64,
}

impl Sum {
    pub(crate) fn add(&mut self, term: f64) {
        let high = self.high + term;
        let added = high - self.high;
        self.low += (self.high - (high - added)) + (term - added);
        self.high = high;
    }

    pub(crate) fn value(self) -> f64 {
        self.high + self.low
    }
}

impl Extend<f64> for Sum {
    fn extend<T: IntoIterator<Item = f64>>(&mut self, terms: T) {
        for term in terms {
            self.add(term);
        }
    }
}

pub(crate) fn sum(terms: impl IntoIterator<Item = f64>) -> f64 {
    let mut sum = Sum::default();
    sum.extend(terms);
    sum.value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_a_plain_sum_loses() {
        // 1e16 + 1 rounds to 1e16 in f64, ten times over; the exact sum is representable.
        let terms = || std::iter::once(1e16).chain(std::iter::repeat_n(1.0, 10));
        assert_eq!(terms().sum::<f64>(), 1e16);
        assert_eq!(sum(terms()), 1e16 + 10.0);
    }

    #[test]
    fn a_million_tenths() {
        // 0.1 as f64 is 0.1 + 5.55e-18, so the exact sum is 100000 + 5.55e-12: nearest f64 100000.
        assert_eq!(sum(std::iter::repeat_n(0.1, 1_000_000)), 100_000.0);
    }
}
