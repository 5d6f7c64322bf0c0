//! The samples of two sides together: the input of a permutation.
//!
//! Cells are those of [`super::cells`], for the ranks among both sides.

use super::cells::cell_size;
use crate::Distribution;

#[derive(Debug, Clone)]
pub(crate) struct Pooled {
    pub(crate) sizes: Vec<usize>,
    /// In ms; ascending.
    pub(crate) means: Vec<f64>,
    pub(crate) of_first: Vec<usize>,
    /// The largest value of each cell.
    pub(crate) tops: Vec<f64>,
}

impl Pooled {
    pub(crate) fn new(first: &Distribution, second: &Distribution) -> Self {
        let all = first.n() + second.n();
        let mut pooled =
            Self { sizes: Vec::new(), means: Vec::new(), of_first: Vec::new(), tops: Vec::new() };
        let (mut i, mut j, mut start) = (0, 0, 0);
        let (ours, theirs) = (first.values(), second.values());
        while start < all {
            let wanted = cell_size(start, all);
            let (mut size, mut of_first, mut sum, mut top) = (0, 0, 0.0, 0.0);
            while size < wanted && (i < ours.len() || j < theirs.len()) {
                let is_first = j == theirs.len() || (i < ours.len() && ours[i] <= theirs[j]);
                let (value, count) = if is_first {
                    i += 1;
                    (ours[i - 1], first.up_to(i) - first.up_to(i - 1))
                } else {
                    j += 1;
                    (theirs[j - 1], second.up_to(j) - second.up_to(j - 1))
                };
                size += count;
                of_first += if is_first { count } else { 0 };
                sum += value * count as f64;
                top = value;
            }
            pooled.sizes.push(size);
            pooled.means.push(sum / size as f64);
            pooled.of_first.push(of_first);
            pooled.tops.push(top);
            start += size;
        }
        pooled
    }

    pub(crate) fn len(&self) -> usize {
        self.sizes.len()
    }

    pub(crate) fn cells_of(&self, series: &[f64]) -> Vec<u32> {
        let last = self.len() - 1;
        let cell = |value: &f64| self.tops.partition_point(|top| top < value).min(last);
        series.iter().map(|value| u32::try_from(cell(value)).unwrap_or(u32::MAX)).collect()
    }
}
