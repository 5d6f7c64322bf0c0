//! The data centre nearest to an origin by measurement, which is the upper tier of all others.
//!
//! Another one is chosen only if it is nearer by a margin for a while, because each change discards
//! a warm cache. Data centres choose independently; if they differ, the majority decides.
//!
//! An anycast origin is near everywhere: two connect times add up to less than the round-trip time
//! of light between the data centres.

use std::{cmp::Reverse, collections::BTreeMap, fmt::Write as _, time::Duration};

use crate::{DataCentreId, Health, Measurements, Network, Renumbering, Typical};

/// The hysteresis of the choice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tuning {
    /// The relative reduction of the connect time that a change requires.
    pub margin: f64,
    /// The absolute reduction of the connect time that a change requires.
    pub least: Duration,
    /// How long the reduction must persist.
    pub persistence: Duration,
    /// How long after a change the former upper tier is requested and no other change is made.
    pub handover: Duration,
    /// How long the majority must differ before its choice is adopted.
    pub agreement: Duration,
    /// How long the first choice waits for data centres without measurements.
    pub first: Duration,
}

impl Default for Tuning {
    /// 10 % and 2 ms are not noticeable in a miss. After 5 minutes most congestion has ended.
    /// Objects that are not requested within an hour cause no burst of misses. Choices are
    /// exchanged every 5 seconds, and 30 seconds let all data centres make the same change. After
    /// 15 seconds each has reported 5 connects.
    fn default() -> Self {
        Self {
            margin: 0.1,
            least: Duration::from_millis(2),
            persistence: Duration::from_secs(300),
            handover: Duration::from_secs(3600),
            agreement: Duration::from_secs(30),
            first: Duration::from_secs(15),
        }
    }
}

/// The basis of the choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// Too few measurements of the origin: keys are spread over the large data centres.
    Unknown,
    /// The origin has several locations: keys are spread over the large data centres.
    SeveralPlaces,
    /// This data centre is the nearest.
    Nearest(DataCentreId),
}

impl Basis {
    /// The nearest data centre, if there is one.
    pub fn nearest(self) -> Option<DataCentreId> {
        match self {
            Self::Nearest(chosen) => Some(chosen),
            Self::Unknown | Self::SeveralPlaces => None,
        }
    }
}

/// The choice and its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The basis.
    pub basis: Basis,
    /// The number of samples of the chosen data centre's median.
    pub samples: usize,
    /// The difference to the second best connect time, if there is one.
    pub margin: Option<Duration>,
    /// A sentence for the operator.
    pub reason: String,
    /// The former choice, while it is still requested.
    pub former: Option<DataCentreId>,
}

/// The state of the choice for one origin.
#[derive(Debug, Clone)]
pub struct Smart {
    tuning: Tuning,
    choice: Choice,
    until: Duration,
    doubted: Option<Duration>,
    outvoted: Option<Duration>,
    measured: Option<Duration>,
    ranked: Vec<DataCentreId>,
}

impl Smart {
    /// Starts without a choice.
    pub fn new(tuning: Tuning) -> Self {
        let reason = unknown();
        let choice = Choice { basis: Basis::Unknown, samples: 0, margin: None, reason, former: None };
        Self {
            tuning,
            choice,
            until: Duration::ZERO,
            doubted: None,
            outvoted: None,
            measured: None,
            ranked: Vec::new(),
        }
    }

    /// The same state with the numbers of another network. A removed choice is replaced at the next
    /// review.
    #[must_use]
    pub fn renumbered(&self, to: &Renumbering) -> Self {
        let basis = match self.choice.basis {
            Basis::Nearest(chosen) => to.of(chosen).map_or(Basis::Unknown, Basis::Nearest),
            basis @ (Basis::Unknown | Basis::SeveralPlaces) => basis,
        };
        let former = self.choice.former.and_then(|former| to.of(former));
        let ranked = self.ranked.iter().filter_map(|&id| to.of(id)).collect();
        let choice = Choice { basis, former, ..self.choice.clone() };
        Self { choice, ranked, doubted: None, outvoted: None, ..self.clone() }
    }

    /// The choice of the last review.
    pub fn choice(&self) -> &Choice {
        &self.choice
    }

    /// The chosen data centre, then the others with measurements, nearest first. Empty without a
    /// choice.
    pub fn candidates(&self) -> impl Iterator<Item = DataCentreId> + '_ {
        let chosen = self.choice.basis.nearest();
        let others = self.ranked.iter().copied().filter(move |&id| chosen.is_some() && Some(id) != chosen);
        chosen.into_iter().chain(others)
    }

    /// The former choice, while it is still requested.
    pub fn former(&self, now: Duration) -> Option<DataCentreId> {
        self.choice.former.filter(|_| now < self.until)
    }

    /// Reviews the measurements and the choices that others reported. Call it every few seconds.
    pub fn review(
        &mut self,
        now: Duration,
        network: &Network,
        (measured, told): (&Measurements, &[DataCentreId]),
        health: &Health,
    ) -> &Choice {
        if self.former(now).is_none() {
            self.choice.former = None;
        }
        let mut ranked: Vec<(DataCentreId, Typical)> =
            network.ids().filter_map(|id| Some((id, measured.typical(now, id)?))).collect();
        ranked.sort_by_key(|&(id, typical)| (typical.connect, id));
        // After all measurements were lost, the first to return waits for the others as at the
        // start.
        let is_measured = ranked.iter().any(|&(id, _)| health.is_up(id));
        self.measured = self.measured.or(Some(now)).filter(|_| is_measured);
        if !ranked.is_empty() {
            self.ranked.clear();
            self.ranked.extend(ranked.iter().map(|&(id, _)| id));
        }
        // Without measurements the choice is kept.
        if self.agree(now, network, told, health) || ranked.is_empty() {
            return &self.choice;
        }
        let since = self.measured.unwrap_or(now);
        let wanted = match apart(network, &ranked) {
            Some(pair) => Wanted::Spread(pair),
            // The first to have measurements is not necessarily the nearest.
            None if self.choice.basis == Basis::Unknown && now < since + self.tuning.first => {
                match network.ids().find(|&id| health.is_up(id) && !self.ranked.contains(&id)) {
                    Some(missing) => Wanted::Stay(awaiting(&network.centre(missing).name)),
                    None => self.nearest(network, &ranked, health),
                }
            }
            None => self.nearest(network, &ranked, health),
        };
        self.decide(now, network, (&ranked, told), wanted);
        &self.choice
    }

    fn agree(&mut self, now: Duration, network: &Network, told: &[DataCentreId], health: &Health) -> bool {
        if self.choice.basis == Basis::SeveralPlaces {
            return false;
        }
        let own = self.choice.basis.nearest();
        let mut votes: BTreeMap<DataCentreId, usize> = BTreeMap::new();
        for &id in told.iter().chain(&own).filter(|id| health.is_up(**id)) {
            *votes.entry(id).or_default() += 1;
        }
        // With equal votes, all select the same one.
        let most = votes.into_iter().max_by_key(|&(id, votes)| (votes, Reverse(id)));
        let Some(agreed) = most.map(|(id, _)| id).filter(|id| Some(*id) != own) else {
            self.outvoted = None;
            return false;
        };
        let since = *self.outvoted.get_or_insert(now);
        if own.is_some() && now < since + self.tuning.agreement {
            return false;
        }
        (self.outvoted, self.doubted) = (None, None);
        self.change(now, network, &[], agreed);
        let name = &network.centre(agreed).name;
        self.choice.reason = format!("{name}, the choice of most other data centres");
        (self.choice.samples, self.choice.margin) = (0, None);
        true
    }

    fn nearest(&self, network: &Network, ranked: &[(DataCentreId, Typical)], health: &Health) -> Wanted {
        let Some(&(best, least)) = ranked.iter().find(|(id, _)| health.is_up(*id)) else {
            return Wanted::Stay("no data centre that has measured the origin is up".to_owned());
        };
        let Basis::Nearest(chosen) = self.choice.basis else { return Wanted::InPlace(best) };
        let own = ranked.iter().find(|(id, _)| *id == chosen && health.is_up(chosen));
        let Some((_, own)) = own else { return Wanted::InPlace(best) };
        let nearer = own.connect.saturating_sub(least.connect);
        let needed = own.connect.mul_f64(self.tuning.margin).max(self.tuning.least);
        if best == chosen || nearer.is_zero() {
            return Wanted::Keep;
        }
        if nearer < needed {
            let [chosen, best] = [chosen, best].map(|id| &network.centre(id).name);
            return Wanted::Stay(format!(
                "{chosen} stays: {best} connects to the origin in {} instead of {}, and a change has to save {}",
                show(least.connect),
                show(own.connect),
                show(needed)
            ));
        }
        Wanted::Nearer(best)
    }

    fn decide(
        &mut self,
        now: Duration,
        network: &Network,
        (ranked, told): (&[(DataCentreId, Typical)], &[DataCentreId]),
        wanted: Wanted,
    ) {
        let (next, spread, waits_for_handover) = match wanted {
            Wanted::Keep => {
                self.doubted = None;
                if let Basis::Nearest(chosen) = self.choice.basis {
                    self.explain(network, ranked, chosen, "");
                }
                return;
            }
            Wanted::Stay(reason) => {
                self.doubted = None;
                self.choice.reason = reason;
                return;
            }
            Wanted::Nearer(best) => (Basis::Nearest(best), None, true),
            Wanted::InPlace(best) => (Basis::Nearest(best), None, false),
            Wanted::Spread(pair) => (Basis::SeveralPlaces, Some(pair), false),
        };
        if next != self.choice.basis {
            let since = *self.doubted.get_or_insert(now);
            let mut from = since + self.tuning.persistence;
            if waits_for_handover && self.former(now).is_some() {
                from = from.max(self.until);
            }
            // Only the first data centre to change waits.
            let is_first = !told.iter().any(|&other| next == Basis::Nearest(other));
            if self.choice.basis != Basis::Unknown && is_first && now < from {
                self.choice.reason = self.waiting(network, next, from - now);
                return;
            }
        }
        self.doubted = None;
        match (next, spread) {
            (Basis::Nearest(chosen), _) => self.change(now, network, ranked, chosen),
            (basis, Some(pair)) => {
                let reason = pair.sentence(network);
                self.choice = Choice { basis, samples: pair.samples, margin: None, reason, former: None };
            }
            (Basis::Unknown | Basis::SeveralPlaces, None) => {}
        }
    }

    fn change(
        &mut self,
        now: Duration,
        network: &Network,
        ranked: &[(DataCentreId, Typical)],
        chosen: DataCentreId,
    ) {
        self.choice.former = self.choice.basis.nearest();
        self.choice.basis = Basis::Nearest(chosen);
        self.until = now + self.tuning.handover;
        let before = self.choice.former.map(|id| &network.centre(id).name);
        let more = before.map_or_else(String::new, |before| {
            format!("; it replaced {before}, from which it requests missing objects")
        });
        self.explain(network, ranked, chosen, &more);
    }

    fn explain(
        &mut self,
        network: &Network,
        ranked: &[(DataCentreId, Typical)],
        chosen: DataCentreId,
        more: &str,
    ) {
        let Some((_, own)) = ranked.iter().find(|(id, _)| *id == chosen) else { return };
        let next = ranked.iter().find(|(id, _)| *id != chosen);
        let name = |id: DataCentreId| &network.centre(id).name;
        let mut reason = format!(
            "{} connects to the origin in {}, the median of {}",
            name(chosen),
            show(own.connect),
            own.samples
        );
        // Writing to a String cannot fail.
        let _ = match next {
            Some((id, other)) => write!(reason, "; {}, the next, in {}", name(*id), show(other.connect)),
            None => write!(reason, "; no other has measured it"),
        };
        reason.push_str(more);
        self.choice.samples = own.samples;
        self.choice.margin = next.map(|(_, other)| other.connect.saturating_sub(own.connect));
        self.choice.reason = reason;
    }

    fn waiting(&self, network: &Network, next: Basis, left: Duration) -> String {
        let name = |id: DataCentreId| &network.centre(id).name;
        let seems = match next {
            Basis::Nearest(best) => format!("{} seems to be the nearest", name(best)),
            Basis::SeveralPlaces | Basis::Unknown => "the origin seems to be in several places".to_owned(),
        };
        let stays = match self.choice.basis {
            Basis::Nearest(chosen) => format!("{} stays", name(chosen)),
            Basis::SeveralPlaces | Basis::Unknown => {
                "keys stay spread over the large data centres".to_owned()
            }
        };
        format!("{stays} for now: {seems}; the change is made if this persists for {}", show(left))
    }
}

enum Wanted {
    Keep,
    Stay(String),
    Nearer(DataCentreId),
    InPlace(DataCentreId),
    Spread(Pair),
}

/// They cannot have connected to the same location.
struct Pair {
    near: (DataCentreId, Duration),
    far: (DataCentreId, Duration),
    light: Duration,
    samples: usize,
}

impl Pair {
    fn sentence(&self, network: &Network) -> String {
        let name = |id: DataCentreId| &network.centre(id).name;
        format!(
            "the origin is in several places: {} connects in {} and {} in {}, and light needs {} from one to the other and back; keys are \
             spread over the large data centres",
            name(self.near.0),
            show(self.near.1),
            name(self.far.0),
            show(self.far.1),
            show(self.light)
        )
    }
}

fn apart(network: &Network, ranked: &[(DataCentreId, Typical)]) -> Option<Pair> {
    let mut best: Option<(Duration, Pair)> = None;
    for (at, &(near, first)) in ranked.iter().enumerate() {
        for &(far, second) in &ranked[at + 1..] {
            let (sum, light) = (first.connect + second.connect, network.light(near, far));
            // The list is sorted, and the light between two data centres takes at most this long.
            if sum > HALF_AROUND {
                break;
            }
            let missing = light.mul_f64(CERTAIN).saturating_sub(sum);
            if !missing.is_zero() && best.as_ref().is_none_or(|(most, _)| missing > *most) {
                let samples = first.samples.min(second.samples);
                let pair = Pair { near: (near, first.connect), far: (far, second.connect), light, samples };
                best = Some((missing, pair));
            }
        }
    }
    best.map(|(_, pair)| pair)
}

fn unknown() -> String {
    "no data centre has connected to the origin often enough yet; keys are spread over the large ones"
        .to_owned()
}

fn awaiting(missing: &str) -> String {
    format!(
        "{missing} has not connected to the origin often enough yet; keys are spread over the large data centres"
    )
}

/// Milliseconds with one decimal; whole seconds from 10 s on.
fn show(time: Duration) -> String {
    if time >= Duration::from_secs(10) {
        format!("{} s", time.as_secs())
    } else {
        format!("{:.1} ms", time.as_secs_f64() * 1000.0)
    }
}

/// Light in glass over half of the Earth's circumference and back: 2 x 20 015 km at 5 us per km.
const HALF_AROUND: Duration = Duration::from_micros(200_150);

/// Data centres are not at the centre of their city: a tenth of the distance may be wrong.
const CERTAIN: f64 = 0.9;

#[cfg(test)]
mod tests;
