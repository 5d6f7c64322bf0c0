//! Samples grouped by page, with the order statistics of each page.

use crate::{
    Distribution, Error, Page, distribution::as_f64, expected_maximum::Blocks, inputs::check_values,
    order_statistics::Condensed, sum::sum,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The maximum of k requests that are fixed in advance.
    Slowest,
    /// The k-th fastest of m.
    Kth,
}

pub(super) struct Cohort {
    side: Distribution,
    /// Page after page; ascending within a page.
    by_page: Vec<f64>,
    /// The rank (from 0) among all samples of each entry of `by_page`.
    ranks: Vec<usize>,
    /// Where each page begins in `by_page`, and the end of the last.
    starts: Vec<usize>,
    /// (k, m) of each page.
    needs: Vec<(u32, u32)>,
}

pub(super) struct Model {
    pub(super) expected: Vec<f64>,
    /// The mean of these if the samples were dealt to the pages at random, each to one, ms: the expected
    /// observed mean for independent requests. Draws with replacement contain some samples twice and so the
    /// slowest less often, which lowers the result by about the effect of 1/(2P) fewer requests per page.
    /// Only for maxima and at most [`MANY`] pages; else the mean itself.
    pub(super) dealt_ms: f64,
    /// How much the page's own samples move the mean of `expected`, times the number of pages.
    pub(super) influence: Vec<f64>,
}

impl Cohort {
    pub(super) fn new(values_ms: &[f64], pages: &[u32], required: f64) -> Result<Self, Error> {
        if pages.len() != values_ms.len() {
            return Err(Error::Uneven {
                column: "page numbers",
                found: pages.len(),
                values: values_ms.len(),
            });
        }
        check_values(values_ms)?;
        Page::new(1, required)?;
        let mut all: Vec<(f64, u32)> =
            values_ms.iter().copied().zip(pages.iter().copied()).filter(|sample| sample.1 != NONE).collect();
        // By page too, so that equal samples have one order.
        all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut numbers: Vec<u32> = all.iter().map(|sample| sample.1).collect();
        numbers.sort_unstable();
        numbers.dedup();
        if numbers.len() < 2 {
            return Err(Error::TooFew { what: "pages with samples", found: numbers.len(), least: 2 });
        }
        let indices: Vec<usize> =
            all.iter().map(|sample| numbers.partition_point(|&number| number < sample.1)).collect();
        let mut starts = vec![0; numbers.len() + 1];
        indices.iter().for_each(|&index| starts[index + 1] += 1);
        for page in 1..starts.len() {
            starts[page] += starts[page - 1];
        }
        let mut next = starts.clone();
        let (mut by_page, mut ranks) = (vec![0.0; all.len()], vec![0; all.len()]);
        for (rank, (&(value, _), &index)) in all.iter().zip(&indices).enumerate() {
            by_page[next[index]] = value;
            ranks[next[index]] = rank;
            next[index] += 1;
        }
        let needs =
            starts.windows(2).map(|page| needed(page[1] - page[0], required)).collect::<Result<_, _>>()?;
        let side = Distribution::new(all.into_iter().map(|sample| sample.0).collect())?;
        Ok(Self { side, by_page, ranks, starts, needs })
    }

    pub(super) fn side(&self) -> &Distribution {
        &self.side
    }

    /// At least 2.
    pub(super) fn pages(&self) -> usize {
        self.needs.len()
    }

    pub(super) fn sizes(&self) -> (u32, u32, u32) {
        let mut sizes: Vec<u32> = self.needs.iter().map(|need| need.1).collect();
        sizes.sort_unstable();
        (sizes[0], sizes[(sizes.len() - 1) / 2], sizes[sizes.len() - 1])
    }

    /// The wait of each page, ms.
    pub(super) fn observed(&self, kind: Kind) -> Vec<f64> {
        let wait = |(page, &(k, _)): (usize, &(u32, u32))| match kind {
            Kind::Slowest => {
                let samples = self.samples(page);
                sum(subset_maximum(samples.len(), k).zip(samples.iter().rev()).map(|(weight, x)| weight * x))
            }
            Kind::Kth => self.samples(page)[k as usize - 1],
        };
        self.needs.iter().enumerate().map(wait).collect()
    }

    /// Before it is averaged: ascending waits, each with the share of page views up to it.
    pub(super) fn waits(&self) -> Vec<(f64, f64)> {
        let each = 1.0 / as_f64(self.pages());
        let of_page = |(page, &(k, _)): (usize, &(u32, u32))| {
            let samples = self.samples(page);
            subset_maximum(samples.len(), k)
                .zip(samples.iter().rev())
                .map(move |(weight, &x)| (x, weight * each))
        };
        let mut waits: Vec<(f64, f64)> = self.needs.iter().enumerate().flat_map(of_page).collect();
        waits.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut total = crate::sum::Sum::default();
        for wait in &mut waits {
            total.add(wait.1);
            wait.1 = total.value();
        }
        waits
    }

    /// The shares of pages that need k requests, with k.
    pub(super) fn needs(&self) -> Vec<(f64, u32)> {
        self.mixture(Kind::Slowest).into_iter().map(|(weight, k, _)| (weight, k)).collect()
    }

    pub(super) fn model(&self, kind: Kind) -> Model {
        let condensed = Condensed::new(self.side.values());
        let mixture = self.mixture(kind);
        let expected = self.expected(kind, &condensed, &mixture);
        let of_samples = condensed.influence(&mixture);
        let mut influence = vec![0.0; self.pages()];
        // Ranks ascend within a page, but pages interleave.
        for (page, bounds) in self.starts.windows(2).enumerate() {
            let step = |rank: &usize| of_samples[of_samples.partition_point(|step| step.0 <= *rank)].1;
            influence[page] = sum(self.ranks[bounds[0]..bounds[1]].iter().map(step));
        }
        // Known up to a constant for each sample: over all of them the influence is 0.
        let samples = as_f64(self.side.n());
        let mean = sum(influence.iter().copied()) / samples;
        let scale = as_f64(self.pages()) / samples;
        for (moved, need) in influence.iter_mut().zip(&self.needs) {
            *moved = (*moved - mean * f64::from(need.1)) * scale;
        }
        let dealt_ms = self.dealt(&mixture, sum(expected.iter().copied()) / as_f64(self.pages()));
        Model { expected, dealt_ms, influence }
    }

    fn dealt(&self, mixture: &[(f64, u32, u32)], drawn_ms: f64) -> f64 {
        if self.pages() > MANY || mixture.iter().any(|&(_, k, m)| k < m) {
            return drawn_ms;
        }
        let values = self.side.values();
        let of = |k: u32| {
            // The remainder beyond 46 n/k terms is exp(-46).
            let terms = 1 + 46 * (values.len() / k as usize + 1);
            let weights = subset_maximum(values.len(), k).take(terms);
            sum(weights.zip(values.iter().rev()).map(|(weight, x)| weight * x))
        };
        sum(mixture.iter().map(|&(weight, k, _)| weight * of(k)))
    }

    fn expected(&self, kind: Kind, condensed: &Condensed, mixture: &[(f64, u32, u32)]) -> Vec<f64> {
        let blocks = Blocks::new(&self.side, mixture[0].1..=mixture[mixture.len() - 1].1);
        let of: Vec<f64> = mixture
            .iter()
            .map(|&(_, k, m)| if k == m { blocks.expected_maximum(k) } else { condensed.expected(k, m) })
            .collect();
        let lookup = |&need: &(u32, u32)| {
            let key = draws(need, kind);
            of[mixture.partition_point(|&(_, k, m)| (k, m) < key)]
        };
        self.needs.iter().map(lookup).collect()
    }

    /// Distinct (k, m) of the model with the share of pages that have it, ascending.
    fn mixture(&self, kind: Kind) -> Vec<(f64, u32, u32)> {
        let mut all: Vec<(u32, u32)> = self.needs.iter().map(|&need| draws(need, kind)).collect();
        all.sort_unstable();
        let share = |same: &[(u32, u32)]| (as_f64(same.len()) / as_f64(all.len()), same[0].0, same[0].1);
        all.chunk_by(|a, b| a == b).map(share).collect()
    }

    fn samples(&self, page: usize) -> &[f64] {
        &self.by_page[self.starts[page]..self.starts[page + 1]]
    }
}

/// (k, m) of the order statistic of the model: the maximum of k is the k-th of k.
fn draws((k, m): (u32, u32), kind: Kind) -> (u32, u32) {
    match kind {
        Kind::Slowest => (k, k),
        Kind::Kth => (k, m),
    }
}

fn needed(samples: usize, required: f64) -> Result<(u32, u32), Error> {
    let page = Page::new(u32::try_from(samples).unwrap_or(u32::MAX), required)?;
    Ok((page.effective_requests(), page.requests()))
}

/// From the largest sample down: C(j - 1, k - 1)/C(m, k) for j = m, m - 1, ..., k.
pub(crate) fn subset_maximum(m: usize, k: u32) -> impl Iterator<Item = f64> {
    let k = k as usize;
    let mut weight = as_f64(k) / as_f64(m);
    (k..=m).rev().map(move |j| {
        let this = weight;
        weight *= as_f64(j - k) / as_f64((j - 1).max(1));
        this
    })
}

/// Pages beyond which it does not matter that draws are with replacement: 1/(2P) of the requests of a page
/// are then less than 1/(2 sqrt(P)), a sixtieth, of what chance does to the mean over pages.
const MANY: usize = 1000;

const NONE: u32 = u32::MAX;
