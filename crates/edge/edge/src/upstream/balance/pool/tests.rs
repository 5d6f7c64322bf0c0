//! Tests of the choice of origins in virtual time.

use proptest::prelude::*;

use super::*;

fn pool(balance: Balance, weights: &[u32]) -> Pool {
    pool_with(balance, weights, |_| {})
}

fn pool_with(balance: Balance, weights: &[u32], change: impl FnOnce(&mut PoolSettings)) -> Pool {
    let mut settings = PoolSettings {
        balance,
        slow_start: None,
        ejection: EjectionRule::DEFAULT,
        checks: Some(Thresholds { healthy: 2, unhealthy: 3 }),
    };
    change(&mut settings);
    let member = |(number, &weight): (usize, &u32)| MemberSettings {
        name: format!("http://o{number}:80"),
        weight,
        max_in_flight: None,
    };
    Pool::new(settings, weights.iter().enumerate().map(member).collect(), &HashMap::new())
}

fn outliers(settings: &mut PoolSettings) {
    settings.ejection = EjectionRule { after: 2, duration: Duration::from_secs(30), is_outlier_rule: true };
}

fn at(seconds: u64) -> Time {
    Time::from_millis(seconds * 1000)
}

impl Pool {
    fn choose(&mut self, tried: &[usize], key: u64) -> Pick {
        let in_flight = vec![0; self.members.len()];
        self.pick(PickInput { tried, in_flight: &in_flight, key: KeyHash::of(&key.to_le_bytes()) }, at(0))
    }

    fn member(&mut self, key: u64) -> usize {
        match self.choose(&[], key) {
            Pick::Member(number) => number,
            other => panic!("{other:?}"),
        }
    }

    fn fail(&mut self, number: usize, times: u32, now: u64) {
        for _ in 0..times {
            self.record(number, Outcome::Response { status: 503 }, at(now));
        }
    }

    fn check_down(&mut self, number: usize) {
        for _ in 0..3 {
            self.record_check(number, Err("status 500".into()), at(0));
        }
    }
}

#[test]
fn first_keeps_the_order_of_preference() {
    let mut pool = pool(Balance::First, &[1, 1, 1]);
    let (a, b, c) = (Pick::Member(0), Pick::Member(1), Pick::Member(2));
    assert_eq!(
        [&[][..], &[0], &[0, 1], &[0, 1, 2]].map(|tried| pool.choose(tried, 0)),
        [a, b, c, Pick::None]
    );
    pool.record(0, Outcome::NoResponse { reason: "refused" }, at(0));
    assert_eq!([&[][..], &[1], &[1, 2]].map(|tried| pool.choose(tried, 0)), [b, c, a]);
    for (now, expected) in [(9, b), (10, a)] {
        assert_eq!((pool.advance(at(now)), pool.choose(&[], 0)), (Vec::new(), expected));
    }
}

#[test]
fn least_connections_are_counted_per_weight() {
    let mut pool = pool(Balance::LeastConnections, &[3, 1, 1]);
    for (in_flight, expected) in [([3, 2, 1], 0), ([6, 2, 1], 2), ([5, 2, 2], 0), ([7, 2, 3], 1)] {
        let picked = pool.pick(PickInput { tried: &[], in_flight: &in_flight, key: KeyHash(0) }, at(0));
        // 7 / 3 > 2: the member with two requests is less loaded.
        assert_eq!(picked, Pick::Member(expected), "{in_flight:?}");
    }
}

#[test]
fn full_members_are_not_picked() {
    let mut pool = pool(Balance::RoundRobin, &[1, 1]);
    pool.members[0].settings.max_in_flight = Some(2);
    pool.members[1].settings.max_in_flight = Some(1);
    let mut pick = |in_flight: &[u32], tried: &[usize]| {
        pool.pick(PickInput { tried, in_flight, key: KeyHash(0) }, at(0))
    };
    for _ in 0..3 {
        assert_eq!(pick(&[1, 1], &[]), Pick::Member(0));
        assert_eq!(pick(&[2, 0], &[]), Pick::Member(1));
    }
    assert_eq!(pick(&[2, 1], &[]), Pick::Full);
    assert_eq!(pick(&[2, 1], &[1]), Pick::Full);
    assert_eq!(pick(&[1, 1], &[0, 1]), Pick::None);
}

#[test]
fn at_most_half_of_the_origins_are_ejected() {
    for (members, most) in [(1, 0), (2, 1), (3, 1), (5, 2), (8, 4)] {
        let mut pool = pool_with(Balance::RoundRobin, &vec![1; members], outliers);
        (0..members).for_each(|number| pool.fail(number, 10, 0));
        assert_eq!((0..members).filter(|&number| !pool.is_up(number)).count(), most, "{members}");
        // The failures of the others count once there is room.
        pool.advance(at(31));
        (0..members).rev().for_each(|number| pool.fail(number, 10, 31));
        assert_eq!((0..members).filter(|&number| !pool.is_up(number)).count(), most, "{members}");
    }
}

#[test]
fn recovered_origin_receives_a_growing_share() {
    let mut pool = pool_with(Balance::RoundRobin, &[1, 1], |settings| {
        outliers(settings);
        settings.slow_start = Some(Duration::from_secs(30));
    });
    pool.fail(1, 2, 0);
    assert_eq!(pool.report(1, at(10)).unwrap().ejected_for, Some(Duration::from_secs(20)));
    let mut shares = Vec::new();
    for now in [29, 30, 39, 45, 60] {
        pool.advance(at(now));
        let picks = (0..1000).filter(|_| {
            let input = PickInput { tried: &[], in_flight: &[0, 0], key: KeyHash(0) };
            pool.pick(input, at(now)) == Pick::Member(1)
        });
        shares.push(picks.count());
    }
    // Weights 0, 0.1, 0.3, 0.5 and 1 next to 1: of 1000 picks w / (1 + w), within one per cycle.
    for (share, expected) in shares.iter().zip([0, 91, 231, 333, 500]) {
        assert!(share.abs_diff(expected) <= 1, "{shares:?}");
    }
}

#[test]
fn state_survives_a_reload_by_name() {
    let mut pool = pool(Balance::RoundRobin, &[1, 1]);
    pool.check_down(1);
    let mut settings = pool.settings;
    let member = |name: &str| MemberSettings { name: name.into(), weight: 1, max_in_flight: None };
    let members = vec![member("http://new:80"), member("http://o1:80"), member("http://o0:80")];
    let next = Pool::new(settings, members.clone(), &pool.health());
    assert_eq!([0, 1, 2].map(|number| next.is_up(number)), [true, false, true]);
    settings.checks = None;
    assert!(Pool::new(settings, members, &pool.health()).is_up(1));
}

fn any_balance() -> impl Strategy<Value = Balance> {
    prop::sample::select(vec![Balance::First, Balance::RoundRobin, Balance::LeastConnections, Balance::Hash])
}

proptest! {
    #[test]
    fn origin_that_is_down_is_picked_last(
        balance in any_balance(),
        down in prop::collection::vec(any::<(bool, bool)>(), 1..6),
        key in any::<u64>(),
    ) {
        let mut pool = pool(balance, &vec![1; down.len()]);
        for (number, (by_check, by_request)) in down.iter().enumerate() {
            if *by_check {
                pool.check_down(number);
            }
            if *by_request {
                pool.record(number, Outcome::NoResponse { reason: "refused" }, at(0));
            }
        }
        let mut order = Vec::new();
        while let Pick::Member(number) = pool.choose(&order, key) {
            order.push(number);
        }
        // All are tried, each once, and healthy origins come first.
        let up = order.iter().take_while(|&&number| pool.is_up(number)).count();
        prop_assert_eq!(up, down.iter().filter(|(a, b)| !a && !b).count());
        order.sort_unstable();
        prop_assert_eq!(order, (0..down.len()).collect::<Vec<_>>());
    }

    #[test]
    fn only_keys_of_a_failed_origin_move(weights in prop::collection::vec(1u32..5, 2..7), failed in any::<prop::sample::Index>()) {
        let (mut pool, failed) = (pool(Balance::Hash, &weights), failed.index(weights.len()));
        let before: Vec<_> = (0..500).map(|key| pool.member(key)).collect();
        pool.check_down(failed);
        for (key, before) in before.iter().enumerate() {
            let after = pool.member(key as u64);
            prop_assert!(after != failed && (*before == failed || after == *before));
        }
    }

    #[test]
    fn picks_follow_the_weights(weights in prop::collection::vec(1u32..9, 1..6)) {
        for balance in [Balance::RoundRobin, Balance::LeastConnections] {
            let mut pool = pool(balance, &weights);
            let total: u32 = weights.iter().sum();
            for _ in 0..2 * total {
                pool.member(0);
            }
            for (member, weight) in pool.members.iter().zip(&weights) {
                prop_assert_eq!(member.health.picks, u64::from(2 * weight));
            }
        }
    }
}
