//! A draw from any finite set of weights with one random number and one look-up (Walker 1977, as
//! built by Vose 1991).
//!
//! Each column of equal height holds at most two outcomes: its own and an alias. The top bits of a
//! random word choose the column, the other bits, at least 40, choose between the two.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Outcomes 0, 1, 2, ... with given weights.
#[derive(Debug)]
pub(crate) struct Alias {
    columns: Vec<Column>,
    shift: u32,
}

#[derive(Debug, Clone, Copy)]
struct Column {
    /// Below this the outcome is the column's own number, in units of 2^-64 of its height.
    own_below: u64,
    alias: usize,
}

impl Alias {
    /// Weights of 0 or more, not all 0.
    pub(crate) fn new(weights: &[f64]) -> Self {
        // At least two: a shift by 64 bits would overflow.
        let size = weights.len().next_power_of_two().max(2);
        let total: f64 = weights.iter().sum();
        let mut heights: Vec<f64> = weights.iter().map(|weight| weight / total * size as f64).collect();
        heights.resize(size, 0.0);
        let mut columns: Vec<Column> = (0..size).map(|alias| Column { own_below: u64::MAX, alias }).collect();
        let (mut low, mut high): (Vec<usize>, Vec<usize>) = (0..size).partition(|&own| heights[own] < 1.0);
        while let (Some(&full), Some(short)) = (high.last(), low.pop()) {
            columns[short] = Column { own_below: scaled(heights[short]), alias: full };
            heights[full] -= 1.0 - heights[short];
            if heights[full] < 1.0 {
                high.pop();
                low.push(full);
            }
        }
        Self { columns, shift: 64 - size.ilog2() }
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "an index into memory")]
    pub(crate) fn draw(&self, random: &mut Xoshiro256PlusPlus) -> usize {
        let word = random.next_u64();
        let own = (word >> self.shift) as usize;
        let Column { own_below, alias } = self.columns[own];
        if word << (64 - self.shift) < own_below { own } else { alias }
    }
}

/// In units of 2^-64 of a column's height.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 2^64, saturating")]
fn scaled(height: f64) -> u64 {
    (height.max(0.0) * 18_446_744_073_709_551_616.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chances(alias: &Alias, outcomes: usize) -> Vec<f64> {
        let mut chances = vec![0.0; outcomes.max(alias.columns.len())];
        for (own, column) in alias.columns.iter().enumerate() {
            let share = column.own_below as f64 / 2_f64.powi(64);
            chances[own] += share / alias.columns.len() as f64;
            chances[column.alias] += (1.0 - share) / alias.columns.len() as f64;
        }
        chances
    }

    #[test]
    fn columns_hold_the_weights() {
        let cases: [&[f64]; 5] =
            [&[1.0], &[1.0, 3.0], &[0.0, 1.0, 0.0, 0.0, 1e-12], &[5.0; 7], &[1e-9, 2.0, 3e5, 0.1, 7.0]];
        for weights in cases {
            let total: f64 = weights.iter().sum();
            let chances = chances(&Alias::new(weights), weights.len());
            for (outcome, chance) in chances.into_iter().enumerate() {
                let expected = weights.get(outcome).map_or(0.0, |weight| weight / total);
                assert!((chance - expected).abs() < 1e-15 * weights.len() as f64, "{weights:?}: {outcome}");
            }
        }
    }
}
