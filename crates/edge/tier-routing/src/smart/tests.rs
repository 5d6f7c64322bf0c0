//! Choices in virtual time.

use proptest::prelude::*;

use super::*;
use crate::{Centre, proptest_cases};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Distances on a line are round-trip times of light in milliseconds.
fn network(names: &[(&str, u64)]) -> Network {
    let centre = |&(name, _): &(&str, u64)| Centre { name: name.into(), region: "r".into(), weight: 1 };
    let places: Vec<_> = names.iter().map(|&(_, place)| ms(place)).collect();
    Network::new(names.iter().map(centre).collect(), |a, b| {
        places[usize::from(a.0)].abs_diff(places[usize::from(b.0)])
    })
}

/// Each data centre connects every 10 s, followed by a review.
struct History {
    network: Network,
    measured: Measurements,
    health: Health,
    smart: Smart,
    now: Duration,
}

impl History {
    fn of(names: &[(&str, u64)]) -> Self {
        let network = network(names);
        let measured = Measurements::new(network.len());
        Self { network, measured, health: Health::default(), smart: Smart::new(Tuning::default()), now: s(0) }
    }

    fn go_on(&mut self, time: Duration, connects: &[u64]) {
        let end = self.now + time;
        while self.now < end {
            self.step(connects);
        }
    }

    fn step(&mut self, connects: &[u64]) {
        self.now += s(10);
        for (id, &connect) in self.network.ids().zip(connects) {
            if self.health.is_up(id) {
                self.measured.add(self.now, id, ms(connect));
            }
        }
        self.smart.review(self.now, &self.network, (&self.measured, &[]), &self.health);
    }

    fn chosen(&self) -> &str {
        match self.smart.choice().basis {
            Basis::Nearest(id) => &self.network.centre(id).name,
            Basis::SeveralPlaces => "several places",
            Basis::Unknown => "unknown",
        }
    }

    fn reason(&self) -> &str {
        &self.smart.choice().reason
    }
}

#[test]
fn the_nearest_is_chosen_as_soon_as_it_has_measured_enough() {
    let mut history = History::of(&[("lhr", 0), ("fra", 5), ("syd", 160)]);
    history.go_on(s(40), &[12, 7, 170]);
    assert_eq!(history.chosen(), "unknown");
    assert!(history.reason().starts_with("no data centre has connected"), "{}", history.reason());
    history.go_on(s(10), &[12, 7, 170]);
    assert_eq!(history.chosen(), "fra");
    assert_eq!(
        history.reason(),
        "fra connects to the origin in 7.0 ms, the median of 5; lhr, the next, in 12.0 ms"
    );
    assert_eq!((history.smart.choice().samples, history.smart.choice().margin), (5, Some(ms(5))));
}

#[test]
fn the_first_to_have_measured_is_not_the_nearest_for_that() {
    for (has_told, expected) in [(true, "fra"), (false, "lhr")] {
        let mut history = History::of(&[("lhr", 0), ("fra", 5), ("syd", 160)]);
        history.health.set(DataCentreId(2), crate::State::Down);
        let measure = |history: &mut History, centre, connect, at| {
            (0..5).for_each(|_| history.measured.add(at, DataCentreId(centre), ms(connect)));
            history.smart.review(at, &history.network, (&history.measured, &[]), &history.health);
        };
        measure(&mut history, 0, 12, s(5));
        assert_eq!(history.chosen(), "unknown");
        assert_eq!(
            history.reason(),
            "fra has not connected to the origin often enough yet; keys are spread over the large data centres"
        );
        if has_told {
            measure(&mut history, 1, 7, s(8));
            assert_eq!(history.chosen(), "fra");
        }
        history.smart.review(s(19), &history.network, (&history.measured, &[]), &history.health);
        assert_eq!(history.chosen(), if has_told { "fra" } else { "unknown" });
        // Waits until 15 s after the first measurement.
        history.smart.review(s(20), &history.network, (&history.measured, &[]), &history.health);
        assert_eq!(history.chosen(), expected);
    }
}

#[test]
fn the_first_to_be_back_is_not_the_nearest_for_that_either() {
    let mut history = History::of(&[("lhr", 0), ("fra", 5)]);
    let review = |history: &mut History, at| {
        history.smart.review(at, &history.network, (&history.measured, &[]), &history.health);
    };
    let measure = |history: &mut History, centre, connect, at| {
        (0..5).for_each(|_| history.measured.add(at, DataCentreId(centre), ms(connect)));
        review(history, at);
    };
    measure(&mut history, 0, 12, s(5));
    history.health.set(DataCentreId(0), crate::State::Down);
    (6..100).for_each(|at| review(&mut history, s(at)));
    assert_eq!(history.chosen(), "unknown");
    history.health.set(DataCentreId(0), crate::State::Up);
    review(&mut history, s(100));
    assert_eq!(history.chosen(), "unknown");
    measure(&mut history, 1, 7, s(104));
    assert_eq!(history.chosen(), "fra");
}

#[test]
fn a_little_nearer_is_no_reason() {
    let mut history = History::of(&[("lhr", 0), ("fra", 5)]);
    history.go_on(s(600), &[40, 50]);
    // 10 % of 40 ms are required.
    history.go_on(s(3600), &[40, 37]);
    assert_eq!(history.chosen(), "lhr");
    assert_eq!(
        history.reason(),
        "lhr stays: fra connects to the origin in 37.0 ms instead of 40.0 ms, and a change has to save 4.0 ms"
    );
    // 10 % of 10 ms are 1 ms, but at least 2 ms are required.
    history.go_on(s(3600), &[10, 9]);
    assert_eq!(history.chosen(), "lhr");
}

#[test]
fn nearer_by_the_margin_for_five_minutes_is_one_and_the_former_is_asked_for_an_hour() {
    let mut history = History::of(&[("lhr", 0), ("fra", 5)]);
    history.go_on(s(600), &[40, 50]);
    // The median of 31 changes after 16 samples, 160 s; then 300 s must pass.
    history.go_on(s(450), &[40, 20]);
    assert_eq!(history.chosen(), "lhr");
    assert!(
        history.reason().starts_with("lhr stays for now: fra seems to be the nearest"),
        "{}",
        history.reason()
    );
    history.go_on(s(10), &[40, 20]);
    assert_eq!(history.chosen(), "fra");
    let changed = history.now;
    assert!(history.reason().ends_with("it replaced lhr, from which it requests missing objects"));
    let lhr = Some(DataCentreId(0));
    assert_eq!(history.smart.former(changed + s(3599)), lhr);
    assert_eq!(history.smart.former(changed + s(3600)), None);
    // Within the hour after a change the former data centre is not chosen again.
    history.go_on(s(3590), &[5, 20]);
    assert_eq!((history.chosen(), history.smart.choice().former), ("fra", lhr));
    history.go_on(s(10), &[5, 20]);
    assert_eq!((history.chosen(), history.smart.choice().former), ("lhr", Some(DataCentreId(1))));
}

#[test]
fn a_short_detour_of_the_route_changes_nothing() {
    let mut history = History::of(&[("lhr", 0), ("fra", 5)]);
    history.go_on(s(600), &[40, 50]);
    for _ in 0..20 {
        history.go_on(s(250), &[90, 50]);
        history.go_on(s(350), &[40, 50]);
    }
    assert_eq!(history.chosen(), "lhr");
}

#[test]
fn one_that_is_down_is_replaced_after_a_while_even_during_a_change() {
    let mut history = History::of(&[("lhr", 0), ("fra", 5), ("ams", 3)]);
    history.go_on(s(600), &[40, 50, 60]);
    history.go_on(s(460), &[40, 20, 60]);
    assert_eq!(history.chosen(), "fra");
    history.health.set(DataCentreId(1), crate::State::Down);
    history.go_on(s(300), &[40, 20, 60]);
    assert_eq!(history.chosen(), "fra");
    assert_eq!(history.smart.candidates().map(|id| id.0).collect::<Vec<_>>(), [1, 0, 2]);
    history.go_on(s(10), &[40, 20, 60]);
    assert_eq!(history.chosen(), "lhr");
}

#[test]
fn an_origin_that_is_everywhere_is_not_near_anybody() {
    let mut history = History::of(&[("lhr", 0), ("fra", 5), ("syd", 160)]);
    // 3 and 9 ms with 160 ms of light between them: 148 are missing.
    history.go_on(s(60), &[3, 2, 9]);
    assert_eq!(history.chosen(), "several places");
    assert_eq!(
        history.reason(),
        "the origin is in several places: lhr connects in 3.0 ms and syd in 9.0 ms, and light needs 160.0 ms from one to the \
         other and back; keys are spread over the large data centres"
    );
    assert_eq!(history.smart.candidates().count(), 0);
    // This is recognised when all old samples of Sydney's median have expired, plus 300 s.
    history.go_on(s(300), &[8, 2, 158]);
    assert_eq!(history.chosen(), "several places");
    history.go_on(s(400), &[8, 2, 158]);
    assert_eq!(history.chosen(), "fra");
}

#[test]
fn light_is_not_overtaken_by_data_centres_at_the_edge_of_town() {
    let mut history = History::of(&[("lhr", 0), ("fra", 10)]);
    history.go_on(s(60), &[5, 5]);
    assert_eq!(history.chosen(), "lhr");
    let mut history = History::of(&[("lhr", 0), ("fra", 10)]);
    history.go_on(s(60), &[4, 5]);
    assert_eq!(history.chosen(), "lhr", "9 of 10 ms may be an error of the map");
    let mut history = History::of(&[("lhr", 0), ("fra", 10)]);
    history.go_on(s(60), &[4, 4]);
    assert_eq!(history.chosen(), "several places");
}

#[test]
fn who_has_just_started_takes_over_what_the_others_have_chosen() {
    let mut history = History::of(&[("lhr", 0), ("fra", 5), ("syd", 160)]);
    let told = |history: &mut History, told: &[u16]| {
        let told: Vec<_> = told.iter().map(|id| DataCentreId(*id)).collect();
        history.now += s(1);
        history.smart.review(history.now, &history.network, (&history.measured, &told), &history.health);
    };
    told(&mut history, &[]);
    assert_eq!(history.chosen(), "unknown");
    told(&mut history, &[1, 0]);
    assert_eq!((history.chosen(), history.smart.former(history.now)), ("lhr", None));
    assert_eq!(history.reason(), "lhr, the choice of most other data centres");
    let mut history = History::of(&[("lhr", 0), ("fra", 5), ("syd", 160)]);
    history.health.set(DataCentreId(0), crate::State::Down);
    told(&mut history, &[0, 0, 1]);
    assert_eq!(history.chosen(), "fra");
}

#[test]
fn who_is_alone_with_a_choice_takes_over_that_of_most_after_a_while() {
    let mut history = History::of(&[("lhr", 0), ("fra", 5), ("syd", 160)]);
    let mut now = s(60);
    history.go_on(now, &[9, 8, 170]);
    assert_eq!(history.chosen(), "fra");
    let mut go_on = |history: &mut History, time, told: &[u16]| {
        let told: Vec<_> = told.iter().map(|id| DataCentreId(*id)).collect();
        let end = now + time;
        while now < end {
            now += s(1);
            history.smart.review(now, &history.network, (&history.measured, &told), &history.health);
        }
    };
    go_on(&mut history, s(29), &[0, 0]);
    assert_eq!(history.chosen(), "fra");
    go_on(&mut history, s(5), &[1, 0]);
    go_on(&mut history, s(30), &[0, 0]);
    assert_eq!(history.chosen(), "fra");
    go_on(&mut history, s(1), &[0, 0]);
    assert_eq!(history.chosen(), "lhr");
}

#[test]
fn nobody_measures_and_nothing_changes() {
    let mut history = History::of(&[("lhr", 0), ("fra", 5)]);
    history.go_on(s(60), &[40, 50]);
    history.go_on(s(7200), &[]);
    assert_eq!(history.chosen(), "lhr");
}

proptest! {
    #![proptest_config(proptest_cases::or(12))]

    /// A change is followed by an hour without one, unless the chosen data centre is down, or was
    /// down for so long that it has too few measurements.
    #[test]
    fn no_flapping(
        seed in any::<u64>(),
        outages in prop::collection::vec((0_usize..3000, 0_u16..3, 1_usize..200), 0..4),
    ) {
        let mut history = History::of(&[("a", 0), ("b", 0), ("c", 0)]);
        let mut connects = [50_i64, 50, 50];
        let (mut last, mut before) = (None, Basis::Unknown);
        let mut pause = s(300);
        let mut state = seed;
        for step in 0..3000 {
            for connect in &mut connects {
                state = crate::KeyHash::of(&state.to_le_bytes()).0;
                *connect = (*connect + (state % 7).cast_signed() - 3).clamp(20, 200);
            }
            for &(from, centre, length) in &outages {
                let is_down = (from..from + length).contains(&step);
                history.health.set(DataCentreId(centre), if is_down { crate::State::Down } else { crate::State::Up });
            }
            history.step(&connects.map(|ms| ms.unsigned_abs()));
            let basis = history.smart.choice().basis;
            if basis != before {
                if let (Basis::Nearest(was), Some(last)) = (before, last) {
                    let measures = history.measured.typical(history.now, was).is_some();
                    let was_up = history.health.is_up(was) && measures;
                    prop_assert!(!was_up || history.now - last >= pause, "{:?} after {last:?}", history.now);
                    prop_assert!(history.now - last >= s(300));
                    pause = s(3600);
                }
                (last, before) = (Some(history.now), basis);
            }
        }
    }

    /// Half a minute after all are up and connected, they have made the same choice and keep it.
    #[test]
    fn all_come_to_the_same_choice(
        steps in prop::collection::vec((any::<u8>(), 0_usize..4, prop::array::uniform4(0_i64..7)), 50..400),
    ) {
        let network = network(&[("a", 0), ("b", 0), ("c", 0), ("d", 0)]);
        let mut measured = Measurements::new(4);
        let mut connects = [50_i64, 51, 52, 53];
        let mut smart: Vec<_> = (0..4).map(|_| Smart::new(Tuning::default())).collect();
        let mut cut = [false; 4];
        let mut now = s(0);
        let mut step = |smart: &mut Vec<Smart>, cut: &[bool; 4], connects: &[i64; 4]| {
            now += s(10);
            for (id, connect) in network.ids().zip(connects) {
                measured.add(now, id, ms(connect.unsigned_abs()));
            }
            let choices: Vec<_> = smart.iter().map(|smart| smart.choice().basis).collect();
            for (here, smart) in smart.iter_mut().enumerate() {
                let others = (0..4).filter(|&other| other != here && !cut[here] && !cut[other]);
                let told: Vec<_> = others.filter_map(|other| choices[other].nearest()).collect();
                smart.review(now, &network, (&measured, &told), &Health::default());
            }
            smart.iter().map(|smart| smart.choice().basis).collect::<Vec<_>>()
        };
        for (what, which, walk) in steps {
            for (connect, by) in connects.iter_mut().zip(walk) {
                *connect = (*connect + by - 3).clamp(20, 200);
            }
            match what % 8 {
                0 => smart[which] = Smart::new(Tuning::default()),
                1 | 2 => cut[which] = !cut[which],
                _ => {}
            }
            step(&mut smart, &cut, &connects);
        }
        let mut agreed = Vec::new();
        for _ in 0..1000 {
            let choices = step(&mut smart, &[false; 4], &connects);
            agreed.push(choices.iter().all(|choice| *choice == choices[0]));
        }
        let apart: Vec<_> = (0..agreed.len()).filter(|step| !agreed[*step]).collect();
        prop_assert!(apart.len() <= 12, "{apart:?}");
        prop_assert!(apart.iter().all(|step| *step < 900), "{apart:?}");
    }

    #[test]
    fn noise_below_the_margin_changes_nothing(noise in prop::collection::vec((0_u64..4, 0_u64..4), 1000)) {
        let mut history = History::of(&[("a", 0), ("b", 0)]);
        history.go_on(s(60), &[50, 55]);
        for (a, b) in noise {
            // Medians are in 50..=53 and 47..=50: at most 6 ms nearer, of which 5 to 5.3 are
            // required.
            history.step(&[50 + a, 50 - b.min(2)]);
        }
        prop_assert_eq!(history.chosen(), "a");
    }
}
