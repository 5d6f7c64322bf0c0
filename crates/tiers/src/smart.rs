//! The data centre nearest to an origin by measurement, which asks it for all others; and when another one takes its place.
//!
//! The caller has it reviewed every few seconds. Another data centre has to be nearer by a margin, and to stay so for a while, before
//! it is chosen: each change costs a store that is warm. After a change the new one asks the old one for what it lacks, so that the
//! origin does not notice.
//!
//! Each data centre makes the choice for itself, of the same measurements. Where that does not lead to the same, as they began at different
//! times or were apart, what most of them have chosen counts: whoever has just started takes it over at once, and whoever is alone with
//! another choice does after a while. Whoever has reason to change does so as soon as another one has. So an object that many want is asked
//! for once.
//!
//! An origin that is announced from many places (anycast) is near everywhere, and no data centre is the one nearest to it. That is not
//! guessed from low figures but follows from light: if two data centres connect in times whose sum is less than what light needs between them,
//! they do not talk to the same place.

use std::{cmp::Reverse, collections::BTreeMap, fmt::Write as _, time::Duration};

use crate::{CentreId, Health, Measurements, Network, Renumbering, Typical};

/// How slow it is to change its mind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tuning {
    /// The share of its connect time by which another has to be less.
    pub margin: f64,
    /// And at least by so much.
    pub least: Duration,
    /// And for so long.
    pub persistence: Duration,
    /// For how long after a change the new one asks the old one, and no other change takes place.
    pub handover: Duration,
    /// For how long most others have to have chosen another one before it is taken over.
    pub agreement: Duration,
    /// For how long after the first measurement the first choice waits for those who have not measured.
    pub first: Duration,
}

impl Default for Tuning {
    /// 10 % and 2 ms: less is not felt in a miss, which takes tens of milliseconds. 5 minutes: most congestion is over by then. An hour: what
    /// nobody asks for within an hour is not what makes a storm. 30 seconds: choices are told every five seconds, and one that all
    /// are about to make should not be taken back. 15 seconds: who connects once a second and tells it every five seconds has told of
    /// five connects within ten.
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

/// What the choice rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// No data centre has measured the origin often enough yet: keys are spread over the large ones.
    Unknown,
    /// The origin is in several places: keys are spread over the large ones.
    SeveralPlaces,
    /// This one is the nearest.
    Nearest(CentreId),
}

impl Basis {
    /// The data centre that is the nearest, if one is.
    pub fn nearest(self) -> Option<CentreId> {
        match self {
            Self::Nearest(chosen) => Some(chosen),
            Self::Unknown | Self::SeveralPlaces => None,
        }
    }
}

/// The choice and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// What it is.
    pub basis: Basis,
    /// Of how many samples the median is that speaks for it.
    pub samples: usize,
    /// By how much the next one is farther; `None` if there is no other.
    pub margin: Option<Duration>,
    /// A sentence for the operator.
    pub reason: String,
    /// The one that was chosen before, as long as it is asked.
    pub former: Option<CentreId>,
}

/// The state of the choice for one origin.
#[derive(Debug, Clone)]
pub struct Smart {
    tuning: Tuning,
    choice: Choice,
    /// Until when the former one is asked.
    until: Duration,
    /// Since when there has been reason to change.
    doubted: Option<Duration>,
    /// Since when most others have chosen another one.
    outvoted: Option<Duration>,
    /// Since when anybody who is up has measured.
    measured: Option<Duration>,
    /// All that have measured, the nearest first.
    ranked: Vec<CentreId>,
}

impl Smart {
    /// Nothing is known yet.
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

    /// The same under the numbers of another network. If the chosen one is gone, the next review makes another choice.
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

    /// The choice as the last review left it.
    pub fn choice(&self) -> &Choice {
        &self.choice
    }

    /// The chosen one, then all others that have measured the origin, the nearest first. Empty where nothing is chosen.
    pub fn candidates(&self) -> impl Iterator<Item = CentreId> + '_ {
        let chosen = self.choice.basis.nearest();
        let others = self.ranked.iter().copied().filter(move |&id| chosen.is_some() && Some(id) != chosen);
        chosen.into_iter().chain(others)
    }

    /// The one that was chosen before, if it is still to be asked.
    pub fn former(&self, now: Duration) -> Option<CentreId> {
        self.choice.former.filter(|_| now < self.until)
    }

    /// Looks at what was measured, and at what other data centres say that they have chosen, one of each. To be called every few seconds.
    pub fn review(
        &mut self,
        now: Duration,
        network: &Network,
        (measured, told): (&Measurements, &[CentreId]),
        health: &Health,
    ) -> &Choice {
        if self.former(now).is_none() {
            self.choice.former = None;
        }
        let mut ranked: Vec<(CentreId, Typical)> =
            network.ids().filter_map(|id| Some((id, measured.typical(now, id)?))).collect();
        ranked.sort_by_key(|&(id, typical)| (typical.connect, id));
        // After all who had measured were lost, the first one to be back is waited with as the first of all was.
        let is_measured = ranked.iter().any(|&(id, _)| health.is_up(id));
        self.measured = self.measured.or(Some(now)).filter(|_| is_measured);
        if !ranked.is_empty() {
            self.ranked.clear();
            self.ranked.extend(ranked.iter().map(|&(id, _)| id));
        }
        // Otherwise what was chosen stays where nobody measures: that is no reason to change.
        if self.agree(now, network, told, health) || ranked.is_empty() {
            return &self.choice;
        }
        let since = self.measured.unwrap_or(now);
        let wanted = match apart(network, &ranked) {
            Some(pair) => Wanted::Spread(pair),
            // Whoever is the first to have measured is not the nearest for that.
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

    /// Takes over what most have chosen, if it is time to; whether it did.
    fn agree(&mut self, now: Duration, network: &Network, told: &[CentreId], health: &Health) -> bool {
        if self.choice.basis == Basis::SeveralPlaces {
            return false;
        }
        let own = self.choice.basis.nearest();
        let mut votes: BTreeMap<CentreId, usize> = BTreeMap::new();
        for &id in told.iter().chain(&own).filter(|id| health.is_up(**id)) {
            *votes.entry(id).or_default() += 1;
        }
        // Of two with as many votes all take the same.
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
        self.choice.reason = format!("{name}, as it is the one that most other data centres have chosen");
        (self.choice.samples, self.choice.margin) = (0, None);
        true
    }

    /// The least connect time among those that are up, or that of the chosen one if it is not worse by the margin.
    fn nearest(&self, network: &Network, ranked: &[(CentreId, Typical)], health: &Health) -> Wanted {
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
        (ranked, told): (&[(CentreId, Typical)], &[CentreId]),
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
            // Whoever is not the first to change need not wait for it.
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

    /// Another one is chosen from now on.
    fn change(&mut self, now: Duration, network: &Network, ranked: &[(CentreId, Typical)], chosen: CentreId) {
        self.choice.former = self.choice.basis.nearest();
        self.choice.basis = Basis::Nearest(chosen);
        self.until = now + self.tuning.handover;
        let before = self.choice.former.map(|id| &network.centre(id).name);
        let more = before.map_or_else(String::new, |before| {
            format!("; it took the place of {before}, which it asks for what it lacks")
        });
        self.explain(network, ranked, chosen, &more);
    }

    /// Says what speaks for the chosen one.
    fn explain(&mut self, network: &Network, ranked: &[(CentreId, Typical)], chosen: CentreId, more: &str) {
        let Some((_, own)) = ranked.iter().find(|(id, _)| *id == chosen) else { return };
        let next = ranked.iter().find(|(id, _)| *id != chosen);
        let name = |id: CentreId| &network.centre(id).name;
        let mut reason = format!(
            "{} connects to the origin in {}, the median of {}",
            name(chosen),
            show(own.connect),
            own.samples
        );
        // Writing into a String cannot fail.
        let _ = match next {
            Some((id, other)) => write!(reason, "; {}, the next, in {}", name(*id), show(other.connect)),
            None => write!(reason, "; no other has measured it"),
        };
        reason.push_str(more);
        self.choice.samples = own.samples;
        self.choice.margin = next.map(|(_, other)| other.connect.saturating_sub(own.connect));
        self.choice.reason = reason;
    }

    /// Says what is about to change, and when.
    fn waiting(&self, network: &Network, next: Basis, left: Duration) -> String {
        let name = |id: CentreId| &network.centre(id).name;
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
        format!("{stays} for now: {seems}, and is it if that is still so in {}", show(left))
    }
}

/// What a review finds.
enum Wanted {
    /// The chosen one is the nearest.
    Keep,
    /// It stays for another reason.
    Stay(String),
    /// Another is nearer by the margin.
    Nearer(CentreId),
    /// There is none so far, or it is down, or no longer measures.
    InPlace(CentreId),
    /// The origin is in several places.
    Spread(Pair),
}

/// Two data centres that cannot have connected to the same place.
struct Pair {
    near: (CentreId, Duration),
    far: (CentreId, Duration),
    light: Duration,
    samples: usize,
}

impl Pair {
    fn sentence(&self, network: &Network) -> String {
        let name = |id: CentreId| &network.centre(id).name;
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

/// Whether some two data centres talk to different places: the pair that shows it best.
fn apart(network: &Network, ranked: &[(CentreId, Typical)]) -> Option<Pair> {
    let mut best: Option<(Duration, Pair)> = None;
    for (at, &(near, first)) in ranked.iter().enumerate() {
        for &(far, second) in &ranked[at + 1..] {
            let (sum, light) = (first.connect + second.connect, network.light(near, far));
            // The list is sorted, and no light needs longer than half around the Earth and back.
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

/// Milliseconds with a digit, and seconds from ten on.
fn show(time: Duration) -> String {
    if time >= Duration::from_secs(10) {
        format!("{} s", time.as_secs())
    } else {
        format!("{:.1} ms", time.as_secs_f64() * 1000.0)
    }
}

/// Light in glass over half the Earth's circumference and back: 2 x 20 015 km at 5 us a kilometre.
const HALF_AROUND: Duration = Duration::from_micros(200_150);

/// Cities are not points, and data centres not in their middle: a tenth of the distance may be wrong.
const CERTAIN: f64 = 0.9;

#[cfg(test)]
mod tests;
