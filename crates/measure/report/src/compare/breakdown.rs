//! Compares the first two sides by the value of a label.

use std::collections::BTreeMap;

use recording::{Groups, NO_GROUP};
use statistics::{Difference, Distribution, Error, Page, Settings, experienced_thin_above, together};

use super::{
    Blocks, Columns, Question, SideInput,
    certainty::claim,
    inference::infer,
    observed::{Observed, observe},
    verdict::Judge,
};
use crate::model::{Breakdown, Group, GroupSide};

#[derive(Debug, Default)]
struct Samples<'s> {
    values_ms: Vec<f64>,
    /// Used instead of samples if the group is a tag of a histogram.
    counted: Option<&'s Distribution>,
    /// Ascending; empty without times.
    started_s: Vec<f64>,
    start_unix_s: Option<f64>,
    pages: Vec<u32>,
}

impl Samples<'_> {
    fn n(&self) -> usize {
        self.counted.map_or(self.values_ms.len(), Distribution::n)
    }
}

pub(super) fn breakdown(sides: &[SideInput], question: &Question) -> Result<Option<Breakdown>, Error> {
    let (Some(label), [first, second, ..]) = (&question.by, sides) else { return Ok(None) };
    let (mut groups, mut unlabelled) = (BTreeMap::<&str, [Samples<'_>; 2]>::new(), 0);
    for (place, side) in [first, second].into_iter().enumerate() {
        if let Some(tagged) = &side.tagged {
            for (tag, counted) in tagged {
                match tag {
                    Some(tag) => groups.entry(tag).or_default()[place].counted = Some(counted),
                    None => unlabelled += counted.n() as u64,
                }
            }
            continue;
        }
        let labelled = side.columns.as_ref().and_then(|columns| Some((columns, columns.groups.as_ref()?)));
        let Some((columns, of)) = labelled else {
            unlabelled += side.distribution.n() as u64;
            continue;
        };
        let pages = columns.pages.as_ref().filter(|pages| is_within_groups(pages, of));
        for (sample, (&value, &group)) in columns.values_ms.iter().zip(&of.of).enumerate() {
            match of.names.get(group as usize) {
                Some(name) if group != NO_GROUP => {
                    let samples = &mut groups.entry(name).or_default()[place];
                    samples.start_unix_s = side.start_unix_s;
                    samples.values_ms.push(value);
                    samples.started_s.extend(columns.started_s.as_ref().map(|started| started[sample]));
                    samples.pages.extend(pages.map(|pages| pages[sample]));
                }
                _ => unlabelled += 1,
            }
        }
    }
    if groups.is_empty() {
        return Ok(None);
    }
    let size = |sides: &[Samples<'_>; 2]| sides.iter().map(Samples::n).sum::<usize>();
    let all: usize = groups.values().map(size).sum();
    let mut groups: Vec<(&str, [Samples<'_>; 2])> = groups.into_iter().collect();
    groups.sort_by(|(a, first), (b, second)| size(second).cmp(&size(first)).then(a.cmp(b)));
    let omitted = groups.len().saturating_sub(MOST_GROUPS);
    groups.truncate(MOST_GROUPS);
    let labels = [first.label.clone(), second.label.clone()];
    let describe = |(place, (name, values)): (usize, (&str, [Samples<'_>; 2]))| {
        let share = size(&values) as f64 / all as f64;
        let settings = question.intervals.filter(|_| place < MOST_INTERVALS);
        let settings = settings.map(|settings| Settings { resamples: RESAMPLES, ..settings });
        group(name, share, values, &labels, (question.page, question.blocks), settings)
    };
    let described = groups.into_iter().enumerate().map(describe).collect::<Result<Vec<_>, Error>>()?;
    let mut described = corrected(described, question);
    sort(&mut described, &first.label);
    Ok(Some(Breakdown { label: label.clone(), groups: described, omitted: omitted as u64, unlabelled }))
}

fn is_within_groups(pages: &[u32], groups: &Groups) -> bool {
    let mut of_page = BTreeMap::new();
    pages.iter().zip(&groups.of).filter(|(page, _)| **page != NO_GROUP).all(|(page, group)| {
        let first = *of_page.entry(page).or_insert(group);
        first == group
    })
}

fn corrected(described: Vec<(Group, Option<Difference>)>, question: &Question) -> Vec<Group> {
    let (mut groups, differences): (Vec<Group>, Vec<Option<Difference>>) = described.into_iter().unzip();
    if let Some(settings) = question.intervals {
        let found: Vec<Difference> = differences.iter().flatten().copied().collect();
        let verdicts = groups.iter_mut().map(|group| group.experienced.as_mut());
        let judged =
            verdicts.zip(&differences).filter_map(|(verdict, found)| verdict.filter(|_| found.is_some()));
        let settings = Settings { resamples: RESAMPLES, ..settings };
        for (verdict, found) in judged.zip(together(&found, &settings)) {
            claim(verdict, &found);
        }
    }
    groups
}

fn group(
    name: &str,
    share: f64,
    samples: [Samples<'_>; 2],
    labels: &[String; 2],
    (page, blocks): (Page, Blocks),
    settings: Option<Settings>,
) -> Result<(Group, Option<Difference>), Error> {
    let side = |(samples, label): (Samples<'_>, &String)| {
        let Samples { values_ms, counted, started_s, start_unix_s, pages } = samples;
        if let Some(counted) = counted {
            return Ok(Some(SideInput::bare(label, counted.clone())));
        }
        match Distribution::new(values_ms.clone()) {
            Ok(distribution) => {
                let columns = Columns {
                    values_ms,
                    started_s: Some(started_s).filter(|started| !started.is_empty()),
                    pages: Some(pages).filter(|pages| !pages.is_empty()),
                    ..Columns::default()
                };
                let columns = Some(columns).filter(|all| all.started_s.is_some() || all.pages.is_some());
                Ok(Some(SideInput { columns, start_unix_s, ..SideInput::bare(label, distribution) }))
            }
            Err(Error::Empty) => Ok(None),
            Err(error) => Err(error),
        }
    };
    let sides = samples.into_iter().zip(labels).map(side).collect::<Result<Vec<_>, Error>>()?;
    let described = |side: &Option<SideInput>| side.as_ref().map(|side| group_side(&side.distribution, page));
    let (first_side, second_side) = (described(&sides[0]), described(&sides[1]));
    let (experienced, difference) = match sides.into_iter().collect::<Option<Vec<SideInput>>>() {
        Some(sides) => {
            let resamples = infer(&sides, page.effective_requests(), blocks, settings)?.resamples;
            let views =
                sides.iter().map(|side| observe(side, page.required())).collect::<Result<Vec<_>, _>>()?;
            let observed = Observed::new(views.iter().map(Option::as_ref), settings, blocks)?;
            let judge = Judge {
                sides: &sides,
                labels,
                page,
                resamples: resamples.as_ref(),
                observed: observed.as_ref(),
                settings: settings.unwrap_or_default(),
            };
            let (verdict, difference) = judge.first_two();
            (Some(verdict), difference)
        }
        None => (None, None),
    };
    Ok((
        Group { name: name.to_owned(), share, first: first_side, second: second_side, experienced },
        difference,
    ))
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

/// Groups where `first` is worse come first, then by number of people.
fn sort(groups: &mut [Group], first: &str) {
    let rank = |group: &Group| match &group.experienced {
        Some(verdict) if verdict.better.as_deref().is_some_and(|better| better != first) => 0,
        Some(_) => 1,
        None => 2,
    };
    groups.sort_by(|a, b| rank(a).cmp(&rank(b)).then(b.share.total_cmp(&a.share)));
}

/// A label such as an id has a million values, which no reader needs.
const MOST_GROUPS: usize = 1000;

/// Intervals take some milliseconds for each group.
const MOST_INTERVALS: usize = 50;

/// Enough to distinguish sure from not sure.
const RESAMPLES: u32 = 300;
