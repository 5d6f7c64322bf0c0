//! Summary of the values of several rounds.

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spread {
    pub(super) median: f64,
    pub(super) least: f64,
    pub(super) most: f64,
    pub(super) n: usize,
}

impl Spread {
    pub(super) fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<_> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let n = values.len();
        let (&least, &most) = (values.first()?, values.last()?);
        let median = f64::midpoint(values[(n - 1) / 2], values[n / 2]);
        Some(Self { median, least, most, n })
    }

    pub(super) fn text(&self, digits: usize) -> String {
        let Self { median, least, most, .. } = self;
        format!("{median:.digits$} [{least:.digits$} .. {most:.digits$}]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_lies_between_the_middle_two() {
        let spread = |values: &[f64]| Spread::of(values.iter().copied());
        assert_eq!(spread(&[]), None);
        assert_eq!(spread(&[3.0, 1.0, 2.0]).unwrap().median, 2.0);
        let even = spread(&[4.0, 1.0, 2.0, 3.0]).unwrap();
        assert_eq!((even.median, even.least, even.most, even.n), (2.5, 1.0, 4.0, 4));
        assert_eq!(even.text(1), "2.5 [1.0 .. 4.0]");
    }
}
