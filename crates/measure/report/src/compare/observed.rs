//! Page views as they were recorded. They take precedence over the model if all sides have them.

use claim::Measure;
use statistics::{
    ConfidenceInterval, Difference, Distribution, Error, FailedRequest, PageViews, Resamples, Scheme,
    Settings, Timed, independent_stretch, page_views, resample, share_faster, thin_above,
};

use super::{Blocks, PERCENTILES, Question, SideInput, by_percentile, inference, step};
use crate::model::{Band, ObservedPages, Quantiles};

#[derive(Debug)]
pub(crate) struct ObservedSide {
    pub(super) views: PageViews,
    pub(super) is_timed: bool,
    /// The first view after the side's level changed permanently.
    step: Option<usize>,
    waits: Option<Waits>,
}

#[derive(Debug)]
struct Waits {
    means: Distribution,
    /// For percentiles and shares; `None` if they equal the means.
    drawn: Option<Distribution>,
}

impl Waits {
    fn drawn(&self) -> &Distribution {
        self.drawn.as_ref().unwrap_or(&self.means)
    }
}

pub(super) fn observe(side: &SideInput, required: f64) -> Result<Option<ObservedSide>, Error> {
    let Some(columns) = &side.columns else { return Ok(None) };
    let Some(pages) = &columns.pages else { return Ok(None) };
    let failed: Vec<FailedRequest> = side
        .failures
        .iter()
        .map(|failure| FailedRequest { started_s: failure.started_s, page: failure.page })
        .collect();
    let times = columns.started_s.as_deref();
    let views = match page_views(&columns.values_ms, pages, times, &failed, required) {
        // One view does not show the variation of views, and a million requests are not a page.
        Err(Error::TooFew { .. } | Error::Requests { .. }) => return Ok(None),
        found => found?,
    };
    let waits = if views.mean_ms.is_empty() {
        None
    } else {
        let drawn = (views.drawn_ms != views.mean_ms).then(|| Distribution::new(views.drawn_ms.clone()));
        Some(Waits { means: Distribution::new(views.mean_ms.clone())?, drawn: drawn.transpose()? })
    };
    let samples = columns.values_ms.len().max(1);
    let step = step::first_after(side, &step::shifts(side)?).map(|step| step * views.mean_ms.len() / samples);
    Ok(Some(ObservedSide { views, is_timed: times.is_some(), step, waits }))
}

impl ObservedSide {
    /// `waits_ms` are in the order of time.
    fn scheme<'o>(&self, waits_ms: &'o [f64], blocks: Blocks) -> Scheme<'o> {
        if !self.is_timed {
            return Scheme::Independent;
        }
        match blocks {
            Blocks::None => Scheme::Independent,
            Blocks::Automatic => {
                let length = independent_stretch(waits_ms, self.step);
                Scheme::Timed(Timed {
                    values_ms: waits_ms,
                    started_s: None,
                    offset_s: 0.0,
                    step: self.step,
                    length,
                })
            }
            Blocks::Length(samples) => {
                let length = samples.div_ceil(self.views.median.max(1) as usize).min(waits_ms.len());
                if length > 1 { Scheme::Blocks { in_time_ms: waits_ms, length } } else { Scheme::Independent }
            }
        }
    }
}

type Side<'o> = (&'o ObservedSide, &'o Waits);

#[derive(Debug)]
pub(crate) struct Observed<'o> {
    sides: Vec<Side<'o>>,
    means: Option<Resamples<'o>>,
    drawn: Option<Resamples<'o>>,
    lengths: Vec<Option<usize>>,
}

impl<'o> Observed<'o> {
    pub(super) fn of_all(
        sides: &'o [Option<ObservedSide>],
        question: &Question,
    ) -> Result<Option<Self>, Error> {
        let settings = question.intervals;
        Self::new(sides.iter().map(Option::as_ref), settings, question.blocks)
    }

    pub(super) fn new(
        sides: impl Iterator<Item = Option<&'o ObservedSide>>,
        settings: Option<Settings>,
        blocks: Blocks,
    ) -> Result<Option<Self>, Error> {
        let with_waits =
            |side: Option<&'o ObservedSide>| side.and_then(|side| Some((side, side.waits.as_ref()?)));
        let Some(sides) = sides.map(with_waits).collect::<Option<Vec<_>>>().filter(|sides| !sides.is_empty())
        else {
            return Ok(None);
        };
        let scheme = |(side, _): &Side<'o>| inference::block_length(side.scheme(&side.views.mean_ms, blocks));
        let lengths: Vec<Option<usize>> = sides.iter().map(scheme).collect();
        let drawn_anew = |of: fn(&Side<'o>) -> (&'o Distribution, &'o [f64])| {
            let scheme = |side: &Side<'o>| {
                let (distribution, in_time_ms) = of(side);
                (distribution, side.0.scheme(in_time_ms, blocks))
            };
            let schemes: Vec<_> = sides.iter().map(scheme).collect();
            settings.map(|settings| resample(&schemes, 1, &settings)).transpose()
        };
        let means = drawn_anew(|(side, waits)| (&waits.means, &side.views.mean_ms))?;
        let drawn = if sides.iter().any(|(_, waits)| waits.drawn.is_some()) {
            drawn_anew(|(side, waits)| (waits.drawn(), &side.views.drawn_ms))?
        } else {
            None
        };
        Ok(Some(Self { sides, means, drawn, lengths }))
    }

    pub(super) fn mean(&self, side: usize) -> f64 {
        self.sides[side].1.means.mean()
    }

    pub(super) fn mean_difference(&self, first: usize, second: usize) -> Option<Difference> {
        Some(self.means.as_ref()?.pair(first, second)?.mean())
    }

    pub(super) fn quantile(&self, side: usize, share: f64) -> f64 {
        self.sides[side].1.drawn().quantile(share)
    }

    pub(super) fn quantile_difference(&self, first: usize, second: usize, share: f64) -> Option<Difference> {
        Some(self.drawn_resamples()?.pair(first, second)?.quantile(share))
    }

    pub(super) fn is_thin(&self, side: usize, share: f64) -> bool {
        share >= thin_above(self.sides[side].1.means.n())
    }

    pub(super) fn share_faster(&self, first: usize, second: usize) -> (f64, Option<[f64; 2]>) {
        match self.drawn_resamples().and_then(|resamples| resamples.pair(first, second)) {
            Some(pair) => {
                let (share, interval) = pair.share_faster(1);
                (share, inference::share_ci(interval))
            }
            None => (share_faster(self.sides[first].1.drawn(), self.sides[second].1.drawn(), 1), None),
        }
    }

    pub(crate) fn value(&self, side: usize, measure: Measure) -> Option<f64> {
        match measure.percentile() {
            Some(share) => (!self.is_thin(side, share)).then(|| self.quantile(side, share)),
            None => Some(self.mean(side)),
        }
    }

    pub(crate) fn difference(&self, first: usize, second: usize, measure: Measure) -> Option<Difference> {
        match measure.percentile() {
            Some(share) => self.quantile_difference(first, second, share),
            None => self.mean_difference(first, second),
        }
    }

    pub(super) fn requests(&self) -> [u32; 2] {
        let least = self.sides.iter().map(|(side, _)| side.views.smallest).min().unwrap_or(0);
        let most = self.sides.iter().map(|(side, _)| side.views.largest).max().unwrap_or(0);
        [least, most]
    }

    pub(super) fn chart(&self, side: usize) -> (Quantiles, Option<Band>) {
        let band = self.drawn_resamples().map(|all| super::charts::band(&all.sides()[side]));
        (super::charts::quantiles(self.sides[side].1.drawn()), band)
    }

    fn drawn_resamples(&self) -> Option<&Resamples<'o>> {
        self.drawn.as_ref().or(self.means.as_ref())
    }
}

pub(super) fn described(side: &ObservedSide, drawn: Option<(&Observed<'_>, usize)>) -> ObservedPages {
    let waits = side.waits.as_ref();
    let ci = |of: &dyn Fn(&Observed<'_>, usize) -> Option<ConfidenceInterval>| {
        drawn.and_then(|(drawn, place)| of(drawn, place)).map(inference::ci)
    };
    let percentile =
        |share: f64| ci(&|drawn, place| Some(drawn.drawn_resamples()?.sides()[place].quantile(share)));
    ObservedPages {
        views: side.views.views() as u64,
        whole: side.views.whole() as u64,
        requests_min: side.views.smallest,
        requests_median: side.views.median,
        requests_max: side.views.largest,
        expected_ms: waits.map(|waits| waits.means.mean()),
        expected_ci_ms: ci(&|drawn, place| Some(drawn.means.as_ref()?.sides()[place].mean())),
        percentiles_ms: waits
            .map(|waits| by_percentile(|share| waits.drawn().quantile(share)))
            .unwrap_or_default(),
        percentiles_ci_ms: PERCENTILES
            .iter()
            .filter_map(|&(name, share)| Some((name.to_owned(), percentile(share)?)))
            .collect(),
        thin_above: waits.map_or(0.0, |waits| thin_above(waits.means.n()) * 100.0),
        block_length: drawn.and_then(|(drawn, place)| drawn.lengths[place]).map(|length| length as u64),
    }
}
