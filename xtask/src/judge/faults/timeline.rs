//! The faults of a run and their times, determined by the seed.

use std::{fmt, time::Duration};

use super::{
    centres::{CENTRES, ORIGIN_CITY},
    rng::Chance,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) what: What,
    pub(super) from: Duration,
    pub(super) to: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Killed(usize),
    Cut(&'static str, &'static str),
    Alone(usize),
    /// A data centre's clock jumps by this number of seconds and stays so.
    Clock(usize, i64),
    Full,
    Server,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Kinds {
    pub(super) has_clocks: bool,
    pub(super) has_disk: bool,
    pub(super) has_server: bool,
    pub(super) has_origin: bool,
}

pub(super) fn draw(seed: u64, lasts: Duration, kinds: Kinds) -> Vec<Fault> {
    let mut chance = Chance::of(seed, 0);
    let mut faults: Vec<Fault> = Vec::new();
    let wanted = 3 + chance.below(4);
    for _ in 0..wanted {
        let Some(what) = what(&mut chance, kinds) else { continue };
        let from = chance.between(EARLIEST, lasts * 3 / 4);
        let longest = (lasts - from).min(LONGEST);
        let to = from + chance.between(SHORTEST.min(longest), longest);
        let is_alike = |other: &Fault| other.what.is_about() == what.is_about();
        let overlaps = |other: &Fault| other.from <= to && from <= other.to;
        if !faults.iter().any(|other| is_alike(other) && overlaps(other)) {
            faults.push(Fault { what, from, to });
        }
    }
    faults.sort_by_key(|fault| fault.from);
    faults
}

fn what(chance: &mut Chance, kinds: Kinds) -> Option<What> {
    let centre = chance.place(CENTRES.len());
    let mut cities: Vec<_> = CENTRES.iter().map(|centre| centre.city).collect();
    if kinds.has_origin {
        cities.push(ORIGIN_CITY);
    }
    let (a, b) = (chance.place(cities.len()), chance.place(cities.len()));
    let hours = i64::try_from(1 + chance.below(30)).unwrap_or(1);
    let seconds = if chance.below(2) == 0 { hours * 3600 } else { -hours * 3600 };
    match chance.below(10) {
        0..3 => Some(What::Killed(centre)),
        3..6 => (a != b).then(|| What::Cut(cities[a.min(b)], cities[a.max(b)])),
        6 => Some(What::Alone(centre)),
        7 | 8 => kinds.has_clocks.then_some(What::Clock(centre, seconds)),
        _ if kinds.has_disk => Some(What::Full),
        _ => kinds.has_server.then_some(What::Server),
    }
}

impl What {
    /// Faults with the same key must not overlap.
    fn is_about(self) -> (u8, usize, &'static str, &'static str) {
        match self {
            Self::Killed(centre) => (0, centre, "", ""),
            Self::Cut(a, b) => (1, 0, a, b),
            Self::Alone(centre) => (2, centre, "", ""),
            Self::Clock(centre, _) => (3, centre, "", ""),
            Self::Full => (4, 0, "", ""),
            Self::Server => (5, 0, "", ""),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |centre: usize| CENTRES[centre].name;
        match self.what {
            What::Killed(centre) => write!(f, "{} killed", name(centre)),
            What::Cut(a, b) => write!(f, "{a}-{b} cut"),
            What::Alone(centre) => write!(f, "{} alone", name(centre)),
            What::Clock(centre, by) => write!(f, "clock of {} by {:+} h", name(centre), by / 3600),
            What::Full => write!(f, "disk full"),
            What::Server => write!(f, "server of NATS killed"),
        }?;
        write!(f, " {:.1}-{:.1} s", self.from.as_secs_f64(), self.to.as_secs_f64())
    }
}

const EARLIEST: Duration = Duration::from_millis(200);
const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(3);

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Kinds = Kinds { has_clocks: true, has_disk: true, has_server: false, has_origin: true };

    #[test]
    fn faults_follow_from_the_seed_and_end_within_the_run() {
        let lasts = Duration::from_secs(4);
        let mut kinds = [0; 5];
        for seed in 0..500 {
            let faults = draw(seed, lasts, ALL);
            assert_eq!(faults, draw(seed, lasts, ALL));
            for (number, fault) in faults.iter().enumerate() {
                kinds[usize::from(fault.what.is_about().0)] += 1;
                assert!(fault.from < fault.to && fault.to <= lasts, "{fault}");
                let mut others = faults[number + 1..].iter();
                assert!(!others.any(|other| other.what.is_about() == fault.what.is_about() && other.from <= fault.to));
            }
        }
        assert!(kinds.iter().all(|count| *count > 50), "{kinds:?}");
    }

    #[test]
    fn what_is_not_wanted_does_not_come() {
        let none = Kinds { has_clocks: false, has_disk: false, has_server: false, has_origin: false };
        let faults = (0..500).flat_map(|seed| draw(seed, Duration::from_secs(4), none));
        for fault in faults {
            assert!(matches!(fault.what, What::Killed(_) | What::Cut(..) | What::Alone(_)), "{fault}");
            assert!(!fault.to_string().contains(ORIGIN_CITY), "{fault}");
        }
    }
}
