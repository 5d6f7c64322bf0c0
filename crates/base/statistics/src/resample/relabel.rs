//! Permutes the samples of two sides, ignoring their labels: the sizes of the sides are unchanged.
//!
//! A cell gets a binomial number of the smaller side's samples, with a share a little below its
//! share of all; the missing ones are drawn singly. A uniform subset of random size, filled up
//! uniformly, is a uniform subset.

use rand_xoshiro::Xoshiro256PlusPlus;

use super::{alias::Alias, binomial, draw::below, pooled::Pooled, windows::Windows};
use crate::distribution::as_f64;

#[derive(Debug)]
pub(crate) enum Relabel {
    Single(Single),
    Stretches(Stretches),
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Deal {
    pub(crate) counts: Vec<usize>,
    pub(crate) stretches: Vec<bool>,
}

impl Relabel {
    pub(crate) fn totals(&self) -> &[usize] {
        match self {
            Self::Single(single) => &single.sizes,
            Self::Stretches(stretches) => &stretches.totals,
        }
    }

    pub(crate) fn measured(&self, pooled: &Pooled) -> Deal {
        match self {
            Self::Single(_) => Deal { counts: pooled.of_first.clone(), stretches: Vec::new() },
            Self::Stretches(stretches) => {
                let counts = vec![0; stretches.totals.len()];
                let mut deal = Deal { counts, stretches: stretches.measured() };
                stretches.count(&mut deal);
                deal
            }
        }
    }

    pub(crate) fn deal(&self, random: &mut Xoshiro256PlusPlus, deal: &mut Deal) {
        match self {
            Self::Single(single) => single.deal(random, deal),
            Self::Stretches(stretches) => stretches.deal(random, deal),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Single {
    sizes: Vec<usize>,
    smaller: usize,
    is_first: bool,
    share: f64,
    /// For sizes 1, 2, 4, ...
    tables: Vec<Alias>,
    cell: Alias,
}

impl Single {
    pub(crate) fn new(pooled: &Pooled) -> Self {
        let all: usize = pooled.sizes.iter().sum();
        let first: usize = pooled.of_first.iter().sum();
        let smaller = first.min(all - first);
        let (n, wanted) = (as_f64(all), as_f64(smaller));
        // One pass in 44 assigns too many and is repeated.
        let spread = (wanted * (1.0 - wanted / n)).sqrt();
        let share = (wanted - 2.0 * spread).max(0.0) / n;
        let largest = pooled.sizes.iter().copied().max().unwrap_or(1).ilog2().min(binomial::LARGEST_TABLE);
        Self {
            smaller,
            is_first: first == smaller,
            share,
            tables: (0..=largest).map(|power| binomial::table(1 << power, share)).collect(),
            cell: Alias::new(&pooled.sizes.iter().copied().map(as_f64).collect::<Vec<_>>()),
            sizes: pooled.sizes.clone(),
        }
    }

    fn deal(&self, random: &mut Xoshiro256PlusPlus, deal: &mut Deal) {
        deal.counts.resize(self.sizes.len(), 0);
        if self.tables.len() == 1 {
            self.deal_each(random, deal);
        } else {
            self.deal_cells(random, deal);
        }
        if !self.is_first {
            deal.counts.iter_mut().zip(&self.sizes).for_each(|(count, size)| *count = size - *count);
        }
    }

    /// For cells of one sample each.
    fn deal_each(&self, random: &mut Xoshiro256PlusPlus, deal: &mut Deal) {
        let (mut wanted, mut left) = (self.smaller, self.sizes.len());
        for count in &mut deal.counts {
            *count = usize::from(below(left, random) < wanted);
            wanted -= *count;
            left -= 1;
        }
    }

    fn deal_cells(&self, random: &mut Xoshiro256PlusPlus, deal: &mut Deal) {
        let mut missing = loop {
            let mut dealt = 0;
            for (count, &size) in deal.counts.iter_mut().zip(&self.sizes) {
                *count = binomial::draw(size, self.share, &self.tables, random);
                dealt += *count;
            }
            if let Some(missing) = self.smaller.checked_sub(dealt) {
                break missing;
            }
        };
        while missing > 0 {
            let cell = self.cell.draw(random);
            if below(self.sizes[cell], random) >= deal.counts[cell] {
                deal.counts[cell] += 1;
                missing -= 1;
            }
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Stretches {
    /// The cell of each sample, in time, first side first.
    cells: Vec<u32>,
    /// Where each stretch begins, and the end.
    starts: Vec<usize>,
    labels: Labels,
    totals: Vec<usize>,
}

#[derive(Debug, Clone)]
pub(crate) struct Labels {
    /// Stretches of the first side; they come first.
    pub(crate) first: usize,
    pub(crate) is_paired: bool,
}

impl Labels {
    pub(crate) fn deal(&self, random: &mut Xoshiro256PlusPlus, is_first: &mut [bool]) {
        if self.is_paired {
            let (first, second) = is_first.split_at_mut(self.first);
            for (first, second) in first.iter_mut().zip(second) {
                *first = below(2, random) == 0;
                *second = !*first;
            }
            return;
        }
        let (mut wanted, all) = (self.first, is_first.len());
        for (taken, label) in is_first.iter_mut().enumerate() {
            *label = below(all - taken, random) < wanted;
            wanted -= usize::from(*label);
        }
    }
}

impl Stretches {
    pub(crate) fn new(pooled: &Pooled, series: [&[f64]; 2], length: usize) -> Self {
        let ends = series.map(|series| {
            let number = (series.len() / length).max(1);
            (1..=number).map(|end| end * series.len() / number).collect()
        });
        Self::ending(pooled, series, &ends, false)
    }

    pub(crate) fn paired(pooled: &Pooled, series: [&[f64]; 2], windows: &Windows) -> Self {
        Self::ending(pooled, series, &windows.0.each_ref().map(|starts| starts[1..].to_vec()), true)
    }

    fn ending(pooled: &Pooled, series: [&[f64]; 2], ends: &[Vec<usize>; 2], is_paired: bool) -> Self {
        let [first, second] = series.map(|series| pooled.cells_of(series));
        let mut totals = vec![0; pooled.len()];
        first.iter().chain(&second).for_each(|&cell| totals[cell as usize] += 1);
        let later = ends[1].iter().map(|end| first.len() + end);
        let starts = std::iter::once(0).chain(ends[0].iter().copied()).chain(later).collect();
        let labels = Labels { first: ends[0].len(), is_paired };
        Self { starts, labels, totals, cells: [first, second].concat() }
    }

    pub(crate) fn samples(&self) -> usize {
        self.cells.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn of_sides(&self) -> [usize; 2] {
        [self.labels.first, self.len() - self.labels.first]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        self.starts.windows(2).map(|ends| &self.cells[ends[0]..ends[1]])
    }

    fn deal(&self, random: &mut Xoshiro256PlusPlus, deal: &mut Deal) {
        deal.counts.resize(self.totals.len(), 0);
        deal.stretches.resize(self.len(), false);
        self.labels.deal(random, &mut deal.stretches);
        self.count(deal);
    }

    fn measured(&self) -> Vec<bool> {
        (0..self.len()).map(|number| number < self.labels.first).collect()
    }

    pub(crate) fn labels(&self) -> &Labels {
        &self.labels
    }

    fn count(&self, deal: &mut Deal) {
        deal.counts.fill(0);
        for (cells, &label) in self.iter().zip(&deal.stretches) {
            if label {
                cells.iter().for_each(|&cell| deal.counts[cell as usize] += 1);
            }
        }
    }
}
