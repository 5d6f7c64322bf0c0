//! How many of n draws fall into each cell.
//!
//! Poisson counts with means in proportion to the cells are multinomial *given their total*. So:
//! draw counts that expect a little less than n; if the total is above n, draw all again; draw the
//! missing ones one by one.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Scheme, alias::Alias, cells::Cells, poisson};
use crate::{Distribution, Error, distribution::as_f64};

#[derive(Debug)]
pub(crate) enum Draw {
    Independent(Independent),
    Blocks(Blocks),
}

impl Draw {
    pub(crate) fn new(side: &Distribution, cells: &Cells, scheme: Scheme<'_>) -> Result<Self, Error> {
        match scheme.blocks() {
            None => Ok(Self::Independent(Independent::new(cells))),
            Some((in_time_ms, length)) => Blocks::new(side, cells, in_time_ms, length).map(Self::Blocks),
        }
    }

    pub(crate) fn cells(&self) -> usize {
        match self {
            Self::Independent(independent) => independent.sizes.len(),
            Self::Blocks(blocks) => blocks.cells,
        }
    }

    /// Samples, or blocks.
    pub(crate) fn independent_draws(&self) -> f64 {
        match self {
            Self::Independent(independent) => as_f64(independent.n),
            Self::Blocks(blocks) => as_f64(blocks.cell_in_time.len()) / as_f64(blocks.length),
        }
    }

    pub(crate) fn draw(&self, random: &mut Xoshiro256PlusPlus, counts: &mut [usize]) {
        match self {
            Self::Independent(independent) => independent.draw(random, counts),
            Self::Blocks(blocks) => blocks.draw(random, counts),
        }
    }

    /// Of the contribution of one independent draw, when each sample of a cell adds `influence`
    /// (which averages 0). 0 without variance.
    pub(crate) fn skewness(&self, influence: &[f64]) -> f64 {
        let (mut squares, mut cubes, mut draws) = (0.0, 0.0, 0.0);
        let mut add = |value: f64, weight: f64| {
            squares += weight * value * value;
            cubes += weight * value * value * value;
            draws += weight;
        };
        match self {
            Self::Independent(independent) => {
                for (&value, &size) in influence.iter().zip(&independent.sizes) {
                    add(value, as_f64(size));
                }
            }
            Self::Blocks(blocks) => blocks.sums(influence, |sum| add(sum, 1.0)),
        }
        if squares > 0.0 { cubes / draws / (squares / draws).powf(1.5) } else { 0.0 }
    }
}

#[derive(Debug)]
pub(crate) struct Independent {
    n: usize,
    sizes: Vec<usize>,
    /// The share of n that the Poisson counts expect.
    share: f64,
    /// A cell whose size is not a power of two has several steps.
    steps: Vec<Step>,
    /// For sizes 1, 2, 4, ...
    tables: Vec<poisson::Table>,
    /// Cells too large for the tables.
    large: Vec<usize>,
    single: Alias,
}

#[derive(Debug, Clone, Copy)]
struct Step {
    cell: u32,
    table: u32,
}

impl Independent {
    fn new(cells: &Cells) -> Self {
        let n = cells.n();
        let share = expected_share(n, n);
        let sizes: Vec<usize> = (0..cells.len()).map(|cell| cells.size(cell)).collect();
        let (mut steps, mut large, mut tables_needed) = (Vec::with_capacity(sizes.len()), Vec::new(), 0);
        for (cell, &size) in sizes.iter().enumerate() {
            match u32::try_from(cell) {
                Ok(cell) if size < 2 << LARGEST_TABLE => {
                    let tables = (0..=LARGEST_TABLE).filter(|table| size >> table & 1 == 1);
                    steps.extend(tables.map(|table| Step { cell, table }));
                    tables_needed = tables_needed.max(size.ilog2() + 1);
                }
                _ => large.push(cell),
            }
        }
        let tables =
            (0..tables_needed).map(|table| poisson::Table::new(share * as_f64(1 << table))).collect();
        let single = Alias::new(&sizes.iter().copied().map(as_f64).collect::<Vec<_>>());
        Self { n, sizes, share, steps, tables, large, single }
    }

    fn draw(&self, random: &mut Xoshiro256PlusPlus, counts: &mut [usize]) {
        let mut missing = loop {
            counts.fill(0);
            if let Some(missing) = self.n.checked_sub(self.draw_most(random, counts)) {
                break missing;
            }
        };
        // Only for histograms of very many samples; each round leaves about twice the root.
        let mut round = vec![0; if missing > MANY * counts.len() { counts.len() } else { 0 }];
        while missing > MANY * counts.len() {
            let share = expected_share(missing, self.n);
            for (count, &size) in round.iter_mut().zip(&self.sizes) {
                *count = poisson::draw(as_f64(size) * share, random);
            }
            if let Some(still) = missing.checked_sub(round.iter().sum()) {
                counts.iter_mut().zip(&round).for_each(|(count, more)| *count += more);
                missing = still;
            }
        }
        for _ in 0..missing {
            counts[self.single.draw(random)] += 1;
        }
    }

    fn draw_most(&self, random: &mut Xoshiro256PlusPlus, counts: &mut [usize]) -> usize {
        let mut total = 0;
        for step in &self.steps {
            let count = self.tables[step.table as usize].draw(random);
            counts[step.cell as usize] += count;
            total += count;
        }
        for &cell in &self.large {
            let count = poisson::draw(as_f64(self.sizes[cell]) * self.share, random);
            counts[cell] += count;
            total += count;
        }
        total
    }
}

/// Two standard deviations below `wanted`: one draw in 44 is rejected.
fn expected_share(wanted: usize, n: usize) -> f64 {
    let wanted = as_f64(wanted);
    (wanted - 2.0 * wanted.sqrt()).max(0.0) / as_f64(n)
}

#[derive(Debug)]
pub(crate) struct Blocks {
    cells: usize,
    length: usize,
    cell_in_time: Vec<u32>,
}

impl Blocks {
    fn new(side: &Distribution, cells: &Cells, in_time_ms: &[f64], length: usize) -> Result<Self, Error> {
        let refused = || Error::Blocks { length, values: in_time_ms.len(), samples: side.n() };
        let n = side.n();
        if side.relative_error().is_some() || in_time_ms.len() != n || !(1..=n).contains(&length) {
            return Err(refused());
        }
        let mut cell_of_rank = Vec::with_capacity(n);
        for cell in 0..cells.len() {
            let number = u32::try_from(cell).map_err(|_| refused())?;
            cell_of_rank.extend(std::iter::repeat_n(number, cells.size(cell)));
        }
        // Equal samples take the ranks that they share one after the other.
        let mut taken = vec![0_u32; n];
        let cell = |&value: &f64| {
            let first = side.values().partition_point(|&sample| sample < value);
            let taken = taken.get_mut(first)?;
            let rank = first + *taken as usize;
            *taken += 1;
            (side.values().get(rank) == Some(&value)).then(|| cell_of_rank[rank])
        };
        let cell_in_time = in_time_ms.iter().map(cell).collect::<Option<Vec<_>>>().ok_or_else(refused)?;
        Ok(Self { cells: cells.len(), length, cell_in_time })
    }

    fn draw(&self, random: &mut Xoshiro256PlusPlus, counts: &mut [usize]) {
        counts.fill(0);
        let n = self.cell_in_time.len();
        let mut missing = n;
        while missing > 0 {
            let (start, length) = (below(n, random), self.length.min(missing));
            let first = &self.cell_in_time[start..n.min(start + length)];
            let wrapped = &self.cell_in_time[..length - first.len()];
            for &cell in first.iter().chain(wrapped) {
                counts[cell as usize] += 1;
            }
            missing -= length;
        }
    }

    fn sums(&self, influence: &[f64], mut each: impl FnMut(f64)) {
        let n = self.cell_in_time.len();
        let at = |time: usize| influence[self.cell_in_time[time % n] as usize];
        let mut sum: f64 = (0..self.length).map(at).sum();
        for start in 0..n {
            each(sum);
            sum += at(start + self.length) - at(start);
        }
    }
}

/// The chances differ by less than n 2^-64.
pub(crate) fn below(n: usize, random: &mut Xoshiro256PlusPlus) -> usize {
    let product = u128::from(random.next_u64()) * n as u128;
    usize::try_from(product >> 64).unwrap_or(0)
}

/// Sizes up to 2^13 have tables; of larger ones there are few.
const LARGEST_TABLE: u32 = 13;

const MANY: usize = 16;

#[cfg(test)]
mod tests;
