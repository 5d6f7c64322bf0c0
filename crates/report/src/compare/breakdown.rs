//! The first two sides by the value of a label: where is the first one worse, and for how many people?

use std::collections::BTreeMap;

use experience::{Distribution, Error, Page, Scheme, Settings, experienced_thin_above, resample};
use recording::NO_GROUP;

use super::{Question, SideInput, verdict};
use crate::model::{Breakdown, Group, GroupSide};

/// The breakdown that was asked for, if any sample has the label.
pub(super) fn breakdown(sides: &[SideInput], question: &Question) -> Result<Option<Breakdown>, Error> {
    let (Some(label), [first, second, ..]) = (&question.by, sides) else { return Ok(None) };
    let (mut groups, mut unlabelled) = (BTreeMap::<&str, [Vec<f64>; 2]>::new(), 0);
    for (place, side) in [first, second].into_iter().enumerate() {
        let labelled = side.columns.as_ref().and_then(|columns| Some((columns, columns.groups.as_ref()?)));
        let Some((columns, of)) = labelled else {
            unlabelled += side.distribution.n() as u64;
            continue;
        };
        for (&value, &group) in columns.values_ms.iter().zip(&of.of) {
            match of.names.get(group as usize) {
                Some(name) if group != NO_GROUP => groups.entry(name).or_default()[place].push(value),
                _ => unlabelled += 1,
            }
        }
    }
    if groups.is_empty() {
        return Ok(None);
    }
    let all: usize = groups.values().flatten().map(Vec::len).sum();
    let size = |values: &[Vec<f64>; 2]| values.iter().map(Vec::len).sum::<usize>();
    let mut groups: Vec<(&str, [Vec<f64>; 2])> = groups.into_iter().collect();
    // The largest first; names tell apart those of one size.
    groups.sort_by(|(a, first), (b, second)| size(second).cmp(&size(first)).then(a.cmp(b)));
    let omitted = groups.len().saturating_sub(MOST_GROUPS);
    groups.truncate(MOST_GROUPS);
    let labels = [first.label.clone(), second.label.clone()];
    let describe = |(place, (name, values)): (usize, (&str, [Vec<f64>; 2]))| {
        let share = size(&values) as f64 / all as f64;
        let settings = question.intervals.filter(|_| place < MOST_INTERVALS);
        let settings = settings.map(|settings| Settings { resamples: RESAMPLES, ..settings });
        group(name, share, values, &labels, question.page, settings)
    };
    let mut described = groups.into_iter().enumerate().map(describe).collect::<Result<Vec<_>, Error>>()?;
    sort(&mut described, &first.label);
    Ok(Some(Breakdown { label: label.clone(), groups: described, omitted: omitted as u64, unlabelled }))
}

fn group(
    name: &str,
    share: f64,
    values: [Vec<f64>; 2],
    labels: &[String; 2],
    page: Page,
    settings: Option<Settings>,
) -> Result<Group, Error> {
    let side = |values: Vec<f64>| match Distribution::new(values) {
        Ok(side) => Ok(Some(side)),
        Err(Error::Empty) => Ok(None),
        Err(error) => Err(error),
    };
    let [first, second] = values;
    let (first, second) = (side(first)?, side(second)?);
    let described = |side: &Option<Distribution>| side.as_ref().map(|side| group_side(side, page));
    let (first_side, second_side) = (described(&first), described(&second));
    let experienced = match (first, second) {
        (Some(first), Some(second)) => {
            let pair = [SideInput::bare(&labels[0], first), SideInput::bare(&labels[1], second)];
            let schemes = pair.each_ref().map(|side| (&side.distribution, Scheme::Independent));
            let requests = page.effective_requests();
            let resamples = settings.map(|settings| resample(&schemes, requests, &settings)).transpose()?;
            Some(verdict::between(&pair, labels, page, resamples.as_ref()))
        }
        _ => None,
    };
    Ok(Group { name: name.to_owned(), share, first: first_side, second: second_side, experienced })
}

fn group_side(side: &Distribution, page: Page) -> GroupSide {
    let requests = page.effective_requests();
    GroupSide {
        n: side.n() as u64,
        median_ms: side.quantile(0.5),
        expected_request_ms: side.mean(),
        expected_experienced_ms: side.expected_experienced(requests),
        thin: experienced_thin_above(side.n(), requests) <= 0.5,
    }
}

/// First where `first` is worse, then where it is not, then where there is nothing to compare; by people in each.
fn sort(groups: &mut [Group], first: &str) {
    let rank = |group: &Group| match &group.experienced {
        Some(verdict) if verdict.better.as_deref().is_some_and(|better| better != first) => 0,
        Some(_) => 1,
        None => 2,
    };
    groups.sort_by(|a, b| rank(a).cmp(&rank(b)).then(b.share.total_cmp(&a.share)));
}

/// Groups that are described, the largest: nobody reads more, and a label such as an id has a million.
const MOST_GROUPS: usize = 1000;

/// Groups that get intervals, the largest: each takes some milliseconds.
const MOST_INTERVALS: usize = 50;

/// Resamples for each group: enough to tell sure from unsure.
const RESAMPLES: u32 = 300;
