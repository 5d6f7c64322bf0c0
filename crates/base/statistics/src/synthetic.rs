//! Seeded series for tests: a generator so plain that any language repeats it, to the bit.

/// Knuth's MMIX generator: state = state x 6364136223846793005 + 1442695040888963407; the 53
/// highest bits of the new state.
pub(crate) struct Synthetic(u64);

impl Synthetic {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn exponential(&mut self) -> f64 {
        -(1.0 - self.uniform()).ln()
    }

    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    /// y = phi y + u - 1/2 with uniform u, from y = 0.
    pub(crate) fn autoregression(&mut self, n: usize, phi: f64) -> Vec<f64> {
        let mut y = 0.0;
        (0..n)
            .map(|_| {
                y = phi * y + (self.uniform() - 0.5);
                y
            })
            .collect()
    }
}
