//! Groups neighbouring samples, so that the cost of a resample does not depend on n.
//!
//! # The loss of precision
//! A statistic of the kind used here responds to a small change of the samples through the gaps between them:
//! its variance under resampling is a sum over pairs of gaps i <= j of w_i w_j F_i (1 - F_j), where F is the
//! share of samples below the gap and the weights w >= 0 belong to the statistic (the gap itself for a mean,
//! gap N F^(N-1) for E[max of N], a single gap for the share below a latency). Drawing whole cells keeps all
//! of it except pairs of gaps within one cell: of those it loses s u (1 - v), where s is the cell's share of
//! the samples and u <= v are the positions of the two gaps within the cell, so at most s/4. A cell at a
//! distance of at least [`WIDTH`] of its own sizes from both ends has F_i (1 - F_j) >= s WIDTH/2 (except for
//! a factor 1 - s). No term is negative, so at most about 1/(2 WIDTH) = 0.1 % of the variance is lost,
//! whatever the samples are.

use crate::{Distribution, distribution::as_f64};

#[derive(Debug)]
pub(crate) struct Cells {
    /// And then n.
    pub(crate) starts: Vec<usize>,
    /// In ms.
    pub(crate) means: Vec<f64>,
}

impl Cells {
    /// For counts, the distinct values; for up to [`SINGLE`] exact samples, each sample; else sizes
    /// that are powers of two, with every sample of the tails on its own.
    pub(crate) fn new(side: &Distribution) -> Self {
        let values = side.values();
        if side.relative_error().is_some() {
            return Self {
                starts: (0..=values.len()).map(|index| side.up_to(index)).collect(),
                means: values.to_vec(),
            };
        }
        let (mut starts, mut means) = (vec![0], Vec::new());
        let mut start = 0;
        while start < values.len() {
            let size = cell_size(start, values.len());
            let cell = &values[start..start + size];
            means.push(if size == 1 { cell[0] } else { cell.iter().sum::<f64>() / as_f64(size) });
            start += size;
            starts.push(start);
        }
        Self { starts, means }
    }

    pub(crate) fn len(&self) -> usize {
        self.means.len()
    }

    pub(crate) fn n(&self) -> usize {
        self.starts[self.len()]
    }

    pub(crate) fn size(&self, cell: usize) -> usize {
        self.starts[cell + 1] - self.starts[cell]
    }

    /// `rank` may lie between samples (0 is before the first, n after the last). Returns the cell
    /// and the share of it before the rank.
    pub(crate) fn place(&self, rank: f64) -> (usize, f64) {
        let cell = self.starts[1..self.len()].partition_point(|&end| as_f64(end) <= rank);
        (cell, ((rank - as_f64(self.starts[cell])) / as_f64(self.size(cell))).clamp(0.0, 1.0))
    }
}

pub(crate) fn cell_size(start: usize, n: usize) -> usize {
    if n <= SINGLE {
        return 1;
    }
    let most = (start / WIDTH).min((n - start) / (WIDTH + 1));
    if most == 0 { 1 } else { 1 << most.ilog2() }
}

/// The textbook bootstrap up to this number of samples.
const SINGLE: usize = 20_000;

const WIDTH: usize = 500;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bucket;

    fn ramp(n: usize) -> Distribution {
        Distribution::new((0..n).map(as_f64).collect()).unwrap()
    }

    #[test]
    fn small_sides_are_single_samples_and_histograms_their_buckets() {
        let cells = Cells::new(&ramp(20_000));
        assert_eq!((cells.len(), cells.n(), cells.means[77]), (20_000, 20_000, 77.0));
        let buckets = [(3.0, 7), (1.0, 2)].map(|(value_ms, count)| Bucket::exact(value_ms, count));
        let cells = Cells::new(&Distribution::from_counts(buckets.to_vec(), 0.01).unwrap());
        assert_eq!((cells.starts, cells.means), (vec![0, 2, 9], vec![1.0, 3.0]));
    }

    #[test]
    fn cells_keep_their_distance_and_grow_in_number_with_the_logarithm() {
        for n in [20_001, 200_000, 10_000_000] {
            let cells = Cells::new(&ramp(n));
            assert_eq!((cells.n(), cells.starts[0]), (n, 0));
            for cell in 0..cells.len() {
                let (size, after) = (cells.size(cell), n - cells.starts[cell + 1]);
                assert!(size == 1 || size * WIDTH <= cells.starts[cell].min(after), "{n}: {cell}");
                assert_eq!(cells.means[cell], as_f64(cells.starts[cell]) + as_f64(size - 1) / 2.0);
            }
            let doublings = (as_f64(n) / 2.0 / 1000.0).log2();
            let expected = 2.0 * (1000.0 + 500.0 * doublings);
            assert!((as_f64(cells.len()) / expected - 1.0).abs() < 0.05, "{n}: {}", cells.len());
        }
    }

    #[test]
    fn places_of_ranks() {
        let cells = Cells { starts: vec![0, 1, 5, 6], means: vec![0.0; 3] };
        let found = [0.0, 0.5, 1.0, 2.0, 5.0, 6.0].map(|rank| cells.place(rank));
        assert_eq!(found, [(0, 0.0), (0, 0.5), (1, 0.0), (1, 0.25), (2, 0.0), (2, 1.0)]);
    }

    #[test]
    fn the_variance_within_cells_is_small_for_any_samples() {
        let n = 200_000;
        let at = |share: &dyn Fn(f64) -> f64| {
            Distribution::new((0..n).map(|i| share((as_f64(i) + 0.5) / as_f64(n))).collect()).unwrap()
        };
        let step = |edge: f64| move |share: f64| if share > edge { 1.0 } else { 0.0 };
        let shapes: [&dyn Fn(f64) -> f64; 6] = [
            &|share| -(1.0 - share).ln(),
            &|share| (1.0 - share).powf(-0.7),
            &step(0.5001),
            &step(0.010_015),
            &step(0.97),
            &|share| (share * 37.0).floor().exp(),
        ];
        for (number, shape) in shapes.into_iter().enumerate() {
            let side = at(shape);
            let cells = Cells::new(&side);
            let between = |cell: usize| as_f64(cells.size(cell)) * (cells.means[cell] - side.mean()).powi(2);
            let kept =
                (0..cells.len()).map(between).sum::<f64>() / as_f64(n) / side.standard_deviation().powi(2);
            assert!((0.999..1.0 + 1e-9).contains(&kept), "shape {number}: {kept}");
        }
    }
}
