//! Differences between the other sides and the first, in means and percentiles, absolute and
//! relative.

use statistics::Difference as Found;

use super::{PERCENTILES, certainty::word, inference, verdict::Judge};
use crate::model::{Basis, Difference, Differences};

impl Judge<'_> {
    pub(super) fn differences(&self) -> Vec<Differences> {
        (1..self.sides.len())
            .map(|second| Differences {
                first: self.labels[0].clone(),
                second: self.labels[second].clone(),
                request: named(|name| self.of_requests(second, name)),
                experienced: named(|name| self.of_people_at(second, name)),
                basis: if self.observed.is_some() { Basis::ObservedPages } else { Basis::Model },
            })
            .collect()
    }

    fn of_requests(&self, second: usize, name: Name) -> Difference {
        let side = |side: usize| &self.sides[side].distribution;
        let pair = self.resamples.and_then(|resamples| resamples.pair(0, second));
        match name {
            Name::Mean => {
                Self::entry(side(0).mean(), side(second).mean(), pair.map(|pair| pair.mean()), false)
            }
            Name::Percentile(share) => {
                let is_thin =
                    [0, second].into_iter().any(|place| share >= statistics::thin_above(side(place).n()));
                let found = pair.map(|pair| pair.quantile(share));
                Self::entry(side(0).quantile(share), side(second).quantile(share), found, is_thin)
            }
        }
    }

    fn of_people_at(&self, second: usize, name: Name) -> Difference {
        if let Some(observed) = self.observed {
            return match name {
                Name::Mean => {
                    let found = observed.mean_difference(0, second);
                    Self::entry(observed.mean(0), observed.mean(second), found, false)
                }
                Name::Percentile(share) => {
                    let is_thin = observed.is_thin(0, share) || observed.is_thin(second, share);
                    let found = observed.quantile_difference(0, second, share);
                    Self::entry(observed.quantile(0, share), observed.quantile(second, share), found, is_thin)
                }
            };
        }
        let requests = self.page.effective_requests();
        let side = |side: usize| &self.sides[side].distribution;
        let pair = self.resamples.and_then(|resamples| resamples.pair(0, second));
        match name {
            Name::Mean => {
                let of = |place| side(place).expected_experienced(requests);
                Self::entry(of(0), of(second), pair.map(|pair| pair.expected_experienced()), false)
            }
            Name::Percentile(share) => {
                let of = |place| side(place).experienced_quantile(requests, share);
                let thin =
                    |place: usize| share >= statistics::experienced_thin_above(side(place).n(), requests);
                let found = pair.map(|pair| pair.experienced_quantile(share));
                Self::entry(of(0), of(second), found, thin(0) || thin(second))
            }
        }
    }

    fn entry(first: f64, second: f64, found: Option<Found>, thin: bool) -> Difference {
        let relative = |ms: f64| (first > 0.0).then(|| ms / first);
        let ci_ms = found.map(|found| inference::ci(found.interval));
        let apart = found.filter(|found| found.difference_ms != 0.0);
        Difference {
            difference_ms: second - first,
            relative: relative(second - first),
            ci_ms,
            relative_ci: ci_ms.filter(|_| first > 0.0).map(|ends| ends.map(|end| relative(end?))),
            sure: apart.map(|found| found.sure),
            certainty: apart.map(|found| word(found.certainty)),
            thin,
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Name {
    Mean,
    Percentile(f64),
}

fn named(value: impl Fn(Name) -> Difference) -> std::collections::BTreeMap<String, Difference> {
    let mut all: std::collections::BTreeMap<String, Difference> =
        PERCENTILES.iter().map(|&(name, share)| (name.to_owned(), value(Name::Percentile(share)))).collect();
    all.insert("mean".to_owned(), value(Name::Mean));
    all
}
