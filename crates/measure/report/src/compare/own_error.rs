//! How much of a side's figures may be the emulator's own doing, and which are worth nothing
//! because of it.

use claim::Doubt;
use statistics::{Distribution, Page};

use super::{SideInput, by_percentile};
use crate::{
    model::{OwnError, Side},
    text::milliseconds,
};

/// `None` if the errors are unknown.
pub(super) fn described(side: &SideInput, page: Page) -> Option<OwnError> {
    let (with, without) = (&*side.distribution, side.without_error.as_deref()?);
    let requests = page.effective_requests();
    // Every figure increases with every sample: only rounding makes a difference negative.
    let error = |figure: &dyn Fn(&Distribution) -> f64| (figure(with) - figure(without)).max(0.0);
    Some(OwnError {
        expected_request: error(&Distribution::mean),
        expected_experienced: error(&|samples| samples.expected_experienced(requests)),
        request_percentiles: by_percentile(|share| error(&|samples| samples.quantile(share))),
        experienced_percentiles: by_percentile(|people| {
            error(&|samples| samples.experienced_quantile(requests, people))
        }),
        max: error(&Distribution::max),
    })
}

pub(super) fn doubts(sides: &[Side]) -> Vec<Doubt> {
    sides.iter().flat_map(mostly).collect()
}

/// Main figures only; a figure that depends on few samples is marked as such anyway.
fn mostly(side: &Side) -> Vec<Doubt> {
    let (Some(error), Some(figures)) = (&side.own_error_ms, &side.figures) else { return Vec::new() };
    let percentile = |name: &str| {
        let is_thin = name.parse::<f64>().is_ok_and(|percentile| percentile >= figures.thin_above);
        let [value, error] =
            [&figures.request_percentiles_ms, &error.request_percentiles].map(|all| all.get(name));
        value
            .zip(error)
            .filter(|_| !is_thin)
            .map(|(&value, &error)| (format!("p{name} of requests"), value, error))
    };
    let mean = ("the mean of requests".to_owned(), figures.expected_request_ms, error.expected_request);
    std::iter::once(mean)
        .chain(["50", "99"].into_iter().filter_map(percentile))
        .filter(|(_, value, error)| *error > value * MOST)
        .map(|(figure, value, error)| {
            let [value, error] = [value, error].map(milliseconds);
            Doubt::MostlyOwnError { figure, value, error }.of(side.label.as_str())
        })
        .collect()
}

const MOST: f64 = 0.5;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::compare::{Question, compare};

    fn side(label: &str, values: &[f64], errors: &[f64]) -> SideInput {
        let distribution = |values: Vec<f64>| Distribution::new(values).unwrap();
        let without = values.iter().zip(errors.iter().cycle()).map(|(value, error)| value - error).collect();
        let bare = SideInput::bare(label, distribution(values.to_vec()));
        SideInput { without_error: Some(Arc::new(distribution(without))), ..bare }
    }

    fn question() -> Question {
        Question { intervals: None, ..Question::new(recording::Metric::Total, Page::new(1, 1.0).unwrap()) }
    }

    #[test]
    fn each_figure_has_its_own_error() {
        let sides = [side("swift", &[10.0, 20.0, 30.0, 40.0], &[1.0, 2.0, 3.0, 10.0])];
        let analysis = compare(&question(), &sides).unwrap();
        let error = analysis.comparison.sides[0].own_error_ms.as_ref().unwrap();
        // The means are 25 and 21; the medians 25, and that of 9, 18, 27 and 30, which is 22.5.
        assert_eq!((error.expected_request, error.request_percentiles["50"], error.max), (4.0, 2.5, 10.0));
        assert!(analysis.comparison.valid);
    }

    #[test]
    fn a_figure_that_is_mostly_error_invalidates() {
        let sides = [side("swift", &[10.0, 20.0, 30.0], &[6.0, 11.0, 17.0])];
        let comparison = compare(&question(), &sides).unwrap().comparison;
        assert!(!comparison.valid);
        let doubt = &comparison.doubts[0];
        assert_eq!(doubt.kind, "mostly_own_error");
        assert!(
            doubt.sentence.starts_with("swift: the mean of requests, 20.0 ms, is mostly"),
            "{}",
            doubt.sentence
        );
    }

    #[test]
    fn a_lead_within_the_error_of_the_other_is_none() {
        let values: Vec<f64> = (0..100).map(f64::from).map(|n| 50.0 + n / 10.0).collect();
        let slower: Vec<f64> = values.iter().map(|value| value + 3.0).collect();
        let verdict = |error: f64| {
            let sides = [side("swift", &values, &[0.0]), side("slow", &slower, &[error])];
            let comparison = compare(&question(), &sides).unwrap().comparison;
            assert!(comparison.valid, "that there is none is an answer");
            let verdict = comparison.verdict.unwrap();
            (verdict.speed.unwrap().request, verdict.sentence)
        };
        let (beyond, _) = verdict(2.9);
        assert_eq!(beyond.better.as_deref(), Some("swift"));
        let (within, sentence) = verdict(3.1);
        assert!(within.better.is_none() && within.within_own_error);
        let said =
            "There is no difference beyond the emulator's own error at the median request and on average.";
        assert_eq!(sentence, said);
    }

    #[test]
    fn what_is_surely_worse_is_so_without_the_error_too() {
        let values: Vec<f64> = (0..200).map(f64::from).map(|n| 50.0 + n / 100.0).collect();
        let slower: Vec<f64> = values.iter().map(|value| value + 20.0).collect();
        let holds = |error: f64| {
            let sides = [side("swift", &values, &[0.0]), side("slow", &slower, &[error])];
            let thresholds = vec!["mean surely worse by 10ms".parse().unwrap()];
            let page = Page::new(1, 1.0).unwrap();
            let question = Question { thresholds, ..Question::new(recording::Metric::Total, page) };
            compare(&question, &sides).unwrap().comparison.thresholds[0].holds
        };
        assert!(!holds(8.0) && holds(12.0));
    }
}
