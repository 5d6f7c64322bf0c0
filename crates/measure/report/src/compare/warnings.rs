//! Reasons in the numbers themselves to doubt them.

use claim::Doubt;
use statistics::{Page, experienced_thin_above};

use super::{Question, SideInput, observed::Observed};

pub(super) fn warnings(
    question: &Question,
    sides: &[SideInput],
    labels: &[String],
    observed: Option<&Observed<'_>>,
    identical: &[[usize; 2]],
) -> Vec<Doubt> {
    let (metric, page) = (question.metric, question.page);
    let same = identical.iter().map(|&[first, second]| Doubt::SameSamples {
        first: labels[first].clone(),
        second: labels[second].clone(),
    });
    let mut doubts: Vec<Doubt> = same.collect();
    doubts.extend(observed.and_then(|observed| other_page(page, observed)));
    for (side, label) in sides.iter().zip(labels) {
        let all = side.read;
        let of_side = [
            (side.failed > 0).then_some(Doubt::FailedEvents { failed: side.failed, all }),
            (side.without_metric > 0).then(|| Doubt::WithoutMetric {
                without: side.without_metric,
                all,
                metric: metric.to_string(),
            }),
            thinness(side, page),
        ];
        doubts.extend(of_side.into_iter().flatten().map(|doubt| doubt.of(label.as_str())));
    }
    if sides.len() > 1 && sides.iter().take(2).any(|side| side.distribution.n() < ENOUGH_TO_CROSS) {
        doubts.push(Doubt::FewToCross { least: ENOUGH_TO_CROSS as u64 });
    }
    doubts
}

fn other_page(page: Page, observed: &Observed<'_>) -> Option<Doubt> {
    let ([least, most], asked) = (observed.requests(), page.requests());
    let is_other = asked > 1 && !(least..=most).contains(&asked);
    is_other.then_some(Doubt::OtherPage { asked, made: [least, most] })
}

fn thinness(side: &SideInput, page: Page) -> Option<Doubt> {
    let (n, requests) = (side.distribution.n(), page.effective_requests());
    let (thin, samples) = (experienced_thin_above(n, requests), n as u64);
    if thin <= 0.5 {
        return Some(Doubt::FewSamples { samples, requests });
    }
    // Rounded down: the mark must not lie above the first thin percentile.
    (thin <= 0.99).then(|| Doubt::ThinTail { samples, percentile: (thin * 1000.0).floor() / 10.0 })
}

/// [`statistics::crossovers`] needs ten samples on either side of the median.
const ENOUGH_TO_CROSS: usize = 20;
