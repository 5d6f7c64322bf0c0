//! Whether requests of one page are independent, and how that changes what people experience.

use statistics::{Error, Page, consecutive_maxima, independence, rank_autocorrelation, slow_clusters};

use super::{Question, SideInput};
use crate::{
    model::{Independence, NeighbourCheck, PageCheck, SideIndependence},
    text::{count, milliseconds, plural, relative, share},
};

pub(super) fn check(
    inputs: &[SideInput],
    labels: &[String],
    question: &Question,
) -> Result<Independence, Error> {
    let page = question.page;
    let one = |(side, label): (&SideInput, &String)| {
        Ok(SideIndependence {
            label: label.clone(),
            pages: pages(side, page)?,
            neighbours: neighbours(side, page)?,
        })
    };
    let sides = inputs.iter().zip(labels).map(one).collect::<Result<Vec<_>, Error>>()?;
    let off = |check: &PageCheck| check.off.ln_1p().abs();
    let furthest = sides
        .iter()
        .filter_map(|side| Some((side, side.pages.as_ref()?)))
        .max_by(|(_, a), (_, b)| off(a).total_cmp(&off(b)));
    Ok(Independence {
        checked: furthest.is_some(),
        model_ms: furthest.map(|(_, check)| check.model_ms),
        observed_ms: furthest.map(|(_, check)| check.observed_ms),
        sentence: match furthest {
            Some((side, check)) => of_pages(&side.label, check),
            None => of_neighbours(&sides, inputs, page),
        },
        sides,
    })
}

fn pages(side: &SideInput, page: Page) -> Result<Option<PageCheck>, Error> {
    let Some(columns) = &side.columns else { return Ok(None) };
    let Some(pages) = &columns.pages else { return Ok(None) };
    let found = match independence(&columns.values_ms, pages, page.required()) {
        // One view shows no dependence between views, and a million requests are not a page.
        Err(Error::TooFew { .. } | Error::Requests { .. }) => return Ok(None),
        found => found?,
    };
    Ok(Some(PageCheck {
        pages: found.pages as u64,
        unpaged: (columns.values_ms.len() - found.samples) as u64,
        conclusive: found.is_conclusive(),
        requests_min: found.smallest,
        requests_median: found.median,
        requests_max: found.largest,
        model_ms: found.slowest.model_ms,
        observed_ms: found.slowest.observed_ms,
        observed_ci_ms: Some([Some(found.slowest.observed_low_ms), Some(found.slowest.observed_high_ms)]),
        off: found.slowest.off,
        off_ci: [found.slowest.off_low, found.slowest.off_high],
        first_model_ms: found.kth.model_ms,
        first_observed_ms: found.kth.observed_ms,
    }))
}

fn neighbours(side: &SideInput, page: Page) -> Result<Option<NeighbourCheck>, Error> {
    let Some((_, values)) = side.in_time() else { return Ok(None) };
    if values.len() < ENOUGH {
        return Ok(None);
    }
    let slow = slow_clusters(values, SLOW)?;
    let requests = page.effective_requests();
    let windows = values.len() / requests as usize;
    let maxima = if requests > 1 && windows >= ENOUGH_WINDOWS {
        Some(consecutive_maxima(values, requests)?.slowest)
    } else {
        None
    };
    Ok(Some(NeighbourCheck {
        correlation: rank_autocorrelation(values, 1)?.first().copied().unwrap_or(0.0),
        slow_above_ms: slow.threshold_ms,
        slow_share: slow.slow,
        slow_after_slow: slow.slow_after_slow,
        n: values.len() as u64,
        chance: slow.chance,
        observed_ms: maxima.map(|maxima| maxima.observed_ms),
        observed_ci_ms: maxima.map(|maxima| [Some(maxima.observed_low_ms), Some(maxima.observed_high_ms)]),
        model_ms: maxima.map(|maxima| maxima.model_ms),
    }))
}

fn of_pages(label: &str, check: &PageCheck) -> String {
    let requests = if check.requests_min == check.requests_max {
        format!("{} requests each", check.requests_min)
    } else {
        format!("{} to {} requests", check.requests_min, check.requests_max)
    };
    let views = plural(check.pages, "real page view");
    let model = milliseconds(check.model_ms);
    let unpaged = match check.unpaged {
        0 => String::new(),
        unpaged => format!("; {} of no page", plural(unpaged, "sample")),
    };
    let found = format!(
        "On the {views} of {label} ({requests}{unpaged}) the independent model expects {model} and people waited {}",
        milliseconds(check.observed_ms)
    );
    if !check.conclusive {
        return format!(
            "{found}: too few page views to determine whether requests of a page depend on each other."
        );
    }
    let [low, high] = check.off_ci;
    if low <= 0.0 && 0.0 <= high {
        return format!("{found}: no sign that requests of a page depend on each other.");
    }
    let off = relative(check.off.abs());
    if check.off.abs() < CLOSE {
        return format!("{found}: it is off by {off}, which is close enough.");
    }
    let verdict = if check.off > 0.0 { "pessimistic" } else { "optimistic" };
    let [low, high] = [low.abs().min(high.abs()), low.abs().max(high.abs())].map(relative);
    format!(
        "{found}: requests of a page depend on each other, and the model is {verdict} by {off} ({low} to {high})."
    )
}

fn of_neighbours(sides: &[SideIndependence], inputs: &[SideInput], page: Page) -> String {
    let has_pages =
        inputs.iter().any(|side| side.columns.as_ref().is_some_and(|columns| columns.pages.is_some()));
    let why = if has_pages { "there are not several page views" } else { "samples carry no page ids" };
    let unchecked = format!("Independence is assumed, not checked: {why}");
    if sides.iter().all(|side| side.neighbours.is_none()) {
        return if inputs.iter().any(|side| side.in_time().is_some()) {
            format!("{unchecked}, and fewer than {ENOUGH} samples are too few to judge their order in time.")
        } else {
            format!("{unchecked} and no times.")
        };
    }
    let checks = sides.iter().filter_map(|side| Some((&side.label, side.neighbours.as_ref()?)));
    let Some((label, check)) = checks.clone().min_by(|(_, a), (_, b)| a.chance.total_cmp(&b.chance)) else {
        return format!("{unchecked}.");
    };
    // The level is divided by the number of sides; the first clustered side is shown.
    let tests = checks.count();
    if check.chance * tests as f64 > CLUSTERED {
        let n = sides.iter().filter_map(|side| Some(side.neighbours.as_ref()?.n)).min().unwrap_or_default();
        return format!(
            "{unchecked}; in time, slow requests follow slow ones no more often than by chance (n = {}).",
            count(n)
        );
    }
    let mut sentence = format!(
        "{unchecked}; but slow requests cluster in time: of {label}'s {} requests {} are slow, and \
         {} of those after a slow one, which happens by chance {}.",
        count(check.n),
        share(check.slow_share),
        share(check.slow_after_slow),
        if check.chance < 0.001 {
            "in less than one recording in a thousand".to_owned()
        } else {
            format!("in {} of recordings", share(check.chance))
        }
    );
    if let (Some(observed), Some(model)) = (check.observed_ms, check.model_ms) {
        sentence += &format!(
            " If a page's {} requests were neighbours, people would wait {} instead of the model's {}.",
            page.effective_requests(),
            milliseconds(observed),
            milliseconds(model)
        );
    }
    sentence
}

/// A smaller error changes no decision.
const CLOSE: f64 = 0.03;

const SLOW: f64 = 0.95;

/// The highest probability of chance at which slow requests count as clustered.
const CLUSTERED: f64 = 0.05;

/// With fewer samples, the order is not significant.
const ENOUGH: usize = 200;

const ENOUGH_WINDOWS: usize = 10;
