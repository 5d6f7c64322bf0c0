//! Sentences on what the numbers themselves give reason to doubt.

use experience::{Page, experienced_thin_above};

use super::{Question, SideInput, observed::Observed};
use crate::text::{count, plural};

pub(super) fn warnings(
    question: &Question,
    sides: &[SideInput],
    labels: &[String],
    observed: Option<&Observed<'_>>,
    identical: &[[usize; 2]],
) -> Vec<String> {
    let (metric, page) = (question.metric, question.page);
    let mut warnings = Vec::new();
    for &[first, second] in identical {
        let (first, second) = (&labels[first], &labels[second]);
        warnings.push(format!("{first} and {second} hold the same samples: is one of them the wrong file?"));
    }
    warnings.extend(observed.and_then(|observed| other_page(page, observed)));
    for (side, label) in sides.iter().zip(labels) {
        let all = side.read;
        if side.failed > 0 {
            let (failed, all) = (count(side.failed), count(all));
            warnings.push(format!("{label}: {failed} of {all} events failed; they are in no percentile."));
        }
        if side.without_metric > 0 {
            let (without, all) = (count(side.without_metric), count(all));
            warnings
                .push(format!("{label}: {without} of {all} samples carry no {metric}; they are left out."));
        }
        warnings.extend(thinness(side, label, page));
    }
    if sides.len() > 1 && sides.iter().take(2).any(|side| side.distribution.n() < ENOUGH_TO_CROSS) {
        warnings.push(format!(
            "Fewer than {ENOUGH_TO_CROSS} samples on a side: too few to say where they cross."
        ));
    }
    warnings
}

/// A sentence if the page that was asked for is not among those of the recordings.
fn other_page(page: Page, observed: &Observed<'_>) -> Option<String> {
    let ([least, most], asked) = (observed.requests(), page.requests());
    let is_other = asked > 1 && !(least..=most).contains(&asked);
    is_other.then(|| {
        let made = if least == most { count(least.into()) } else { format!("{least} to {most}") };
        format!(
            "A page of {asked} requests was asked for, and the recorded pages make {made}: the verdict is about recorded \
             pages, the model is about the page that was asked for."
        )
    })
}

/// A sentence if the tail that people on the page meet has too few samples behind it.
fn thinness(side: &SideInput, label: &str, page: Page) -> Option<String> {
    let (n, requests) = (side.distribution.n(), page.effective_requests());
    let thin = experienced_thin_above(n, requests);
    let samples = plural(n as u64, "sample");
    let are = if n == 1 { "is" } else { "are" };
    if thin <= 0.5 {
        let why = match requests {
            1 => ": even the median".to_owned(),
            _ => format!(" for {requests} effective requests: what even the median person waits for"),
        };
        return Some(format!("{label}: {samples} {are} too few{why} is decided by fewer than 10 of them."));
    }
    (thin <= 0.99).then(|| {
        format!(
            "{label}: with {samples}, what people above the {:.1}th percentile experience is decided by fewer than \
             10 of them.",
            // Rounded down: the mark must not lie above the first thin percentile.
            (thin * 1000.0).floor() / 10.0
        )
    })
}

/// The least number of samples with which [`experience::crossovers`] can find one: ten on either side of the median.
const ENOUGH_TO_CROSS: usize = 20;
