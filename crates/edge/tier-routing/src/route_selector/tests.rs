//! Requests in a network whose routes to the origin fail and recover, in virtual time.

use proptest::prelude::*;

use super::*;
use crate::{Asked, Centre, Custom, Hop, KeyHash, Regional, Role, State, Topology, Zone, proptest_cases};

fn origin() -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 1], 443))
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

struct World {
    network: Network,
    zone: Zone,
    links: Vec<Vec<Duration>>,
    measured: Measurements,
    is_up: Vec<bool>,
    reaches: Vec<bool>,
    health: Vec<Health>,
    reach: Vec<RouteSelector>,
    now: Duration,
    attempts: u64,
    responses: u64,
}

impl World {
    fn new(count: u16, tries: usize, zone: impl FnOnce(&Network) -> Zone) -> Self {
        let centre = |id: u16| Centre { name: format!("dc{id}"), region: format!("r{}", id % 2), weight: 1 };
        let network = Network::new((0..count).map(centre).collect(), |_, _| Duration::ZERO);
        let link = |from: u16| (0..count).map(|to| ms(u64::from(from.abs_diff(to)) * 10)).collect();
        let count = usize::from(count);
        Self {
            zone: zone(&network),
            links: (0..network.len()).map(|from| link(u16::try_from(from).unwrap())).collect(),
            measured: Measurements::new(count),
            is_up: vec![true; count],
            reaches: vec![true; count],
            health: vec![Health::default(); count],
            reach: vec![RouteSelector::new(tries); count],
            network,
            now: ms(0),
            attempts: 0,
            responses: 0,
        }
    }

    fn request(&mut self, here: DataCentreId, role: Role, key: u64, through: &[DataCentreId]) -> bool {
        let at = usize::from(here.0);
        loop {
            let asked = Asked { here, role, key: KeyHash::of(&key.to_le_bytes()), through };
            let Hop::Centre { centre, role } =
                self.zone.next(self.now, &self.network, asked, &self.health[at])
            else {
                break;
            };
            if !self.is_up[usize::from(centre.0)] {
                self.health[at].set(centre, State::Down);
                continue;
            }
            if self.request(centre, role, key, &[through, &[here]].concat()) {
                return true;
            }
            break;
        }
        self.at_origin(here, role, through)
    }

    fn at_origin(&mut self, here: DataCentreId, role: Role, through: &[DataCentreId]) -> bool {
        let at = usize::from(here.0);
        let mut reach = std::mem::replace(&mut self.reach[at], RouteSelector::new(1));
        let allows_detours = role != Role::Detour;
        let around =
            |world: &Self| (world.health[at].clone(), world.links[at].clone(), world.measured.clone());
        let (health, links, measured) = around(self);
        let network = self.network.clone();
        let around = RouteInputs {
            here,
            network: &network,
            health: &health,
            through,
            links: &links,
            measured: &measured,
            allows_detours,
        };
        let (mut tries, Next { route, .. }) = reach.begin(self.now, origin(), &around);
        let mut next = Some(route);
        let mut got_it = false;
        while let Some(route) = next {
            let worked = match route {
                Route::Direct => {
                    self.attempts += 1;
                    let works = self.reaches[at];
                    self.responses += u64::from(works);
                    works
                }
                Route::Through(centre) => {
                    self.is_up[usize::from(centre.0)]
                        && self.at_origin(centre, Role::Detour, &[through, &[here]].concat())
                }
            };
            if worked {
                reach.worked(self.now, origin(), route, Some(ms(20)), ms(40));
                got_it = true;
                break;
            }
            next = reach.failed(
                self.now,
                &mut tries,
                (route, Some(Fault::ConnectionTimeout)),
                Replay::Harmless,
                &around,
            );
        }
        self.reach[at] = reach;
        got_it
    }

    fn somebody_reaches(&self) -> bool {
        self.is_up.iter().zip(&self.reaches).any(|(is_up, reaches)| *is_up && *reaches)
    }
}

#[test]
fn the_direct_route_is_tested_by_live_traffic_that_is_saved() {
    let mut world = World::new(2, 4, |network| Zone::new(network, Topology::None, Regional::Skipped));
    world.reaches[0] = false;
    let mut tested = Vec::new();
    for number in 0..700_u64 {
        let before = world.attempts;
        assert!(world.request(DataCentreId(0), Role::Lower, number, &[]), "no visitor notices");
        if world.attempts - before == 2 {
            tested.push(number);
        }
    }
    assert_eq!(tested, [0, 5, 25, 125, 625]);
    assert_eq!(world.responses, 700);
    // The next test detects the recovery: the 3125th request after the failure.
    world.reaches[0] = true;
    for number in 700..3126 {
        let before = world.attempts;
        assert!(world.request(DataCentreId(0), Role::Lower, number, &[]));
        assert_eq!(world.attempts - before, 1);
        let failed = world.reach[0].failures().last(world.now, origin(), Route::Direct);
        assert_eq!(failed.is_none(), number == 3125, "{number}");
    }
}

/// One request per second, and a connection without a request every 10 s while the route is failed.
/// Returns the times of direct requests in seconds.
fn seconds_of_direct_requests(cut: std::ops::Range<u64>, is_silent: bool) -> Vec<u64> {
    let world = World::new(2, 3, |network| Zone::new(network, Topology::None, Regional::Skipped));
    let mut reach = RouteSelector::new(3);
    let around = RouteInputs {
        here: DataCentreId(0),
        network: &world.network,
        health: &world.health[0],
        through: &[],
        links: &world.links[0],
        measured: &world.measured,
        allows_detours: true,
    };
    let mut direct = Vec::new();
    for second in 0..400 {
        let (now, is_cut) = (ms(second * 1000), cut.contains(&second));
        if second % 10 == 5 && reach.failures().last(now, origin(), Route::Direct).is_some() {
            let outcome = if is_cut && !is_silent { Err(Fault::ConnectionTimeout) } else { Ok(ms(20)) };
            reach.probed(now, origin(), outcome);
        }
        let (mut tries, Next { route, .. }) = reach.begin(now, origin(), &around);
        let mut next = Some(route);
        while let Some(route) = next {
            if route == Route::Direct {
                direct.push(second);
                if is_cut {
                    let failed = (route, Some(Fault::HttpResponseTimeout));
                    next = reach.failed(now, &mut tries, failed, Replay::Harmless, &around);
                    continue;
                }
            }
            reach.worked(now, origin(), route, None, ms(40));
            break;
        }
    }
    direct
}

#[test]
fn what_was_cut_is_used_again_after_the_first_connection() {
    let direct = seconds_of_direct_requests(50..80, false);
    let during: Vec<_> = direct.iter().copied().filter(|second| (50..80).contains(second)).collect();
    // The first request, the 5th and 25th after it, and those after the separate fault at 55.
    assert_eq!(during, [50, 55, 59, 75, 79]);
    // The path recovers at 80 and a connection is made at 85, before the 125th request at 175.
    assert_eq!(
        direct.iter().filter(|second| **second >= 80).copied().collect::<Vec<_>>(),
        Vec::from_iter(85..400)
    );
}

#[test]
fn an_origin_that_connects_and_never_answers_is_tried_once_more_and_then_by_its_turns() {
    let direct = seconds_of_direct_requests(50..400, true);
    let during: Vec<_> = direct.into_iter().filter(|second| *second >= 50).collect();
    // The connect at 55 triggers a test by the 5th request; later connects trigger no further
    // tests.
    assert_eq!(during, [50, 55, 75, 175]);
}

#[test]
fn what_must_not_be_sent_again_is_not() {
    let world = World::new(3, 4, |network| Zone::new(network, Topology::None, Regional::Skipped));
    let mut reach = RouteSelector::new(4);
    let around = RouteInputs {
        here: DataCentreId(0),
        network: &world.network,
        health: &world.health[0],
        through: &[],
        links: &world.links[0],
        measured: &world.measured,
        allows_detours: true,
    };
    let (mut tries, next) = reach.begin(ms(0), origin(), &around);
    assert_eq!(next, Next { route: Route::Direct, hedge: Some(ms(250)) });
    assert_eq!(reach.beside(ms(250), &tries, &around), Some(Route::Through(DataCentreId(1))));
    let failed = (Route::Direct, Some(Fault::HttpResponseTimeout));
    assert_eq!(reach.failed(ms(1), &mut tries, failed, Replay::Forbidden, &around), None);
    let (_, next) = reach.begin(ms(2), origin(), &around);
    assert_eq!(next, Next { route: Route::Through(DataCentreId(1)), hedge: None });
    let (mut tries, Next { route, .. }) = reach.begin(ms(2), origin(), &around);
    let passed_by = reach.failed(ms(2), &mut tries, (route, None), Replay::Harmless, &around);
    assert_eq!((route, passed_by), (Route::Through(DataCentreId(1)), Some(Route::Through(DataCentreId(2)))));
    assert_eq!(reach.begin(ms(2), origin(), &around).1.route, route);
    assert_eq!(reach.failures().listed(ms(2)).count(), 1, "the direct one");
    let (_, next) = reach.begin(ms(3), origin(), &RouteInputs { allows_detours: false, ..around });
    assert_eq!(next, Next { route: Route::Direct, hedge: None });
}

#[test]
fn the_nearest_detour_that_works_is_taken() {
    let mut world = World::new(4, 4, |network| Zone::new(network, Topology::None, Regional::Skipped));
    world.reaches = vec![false, false, true, true];
    assert!(world.request(DataCentreId(0), Role::Lower, 1, &[]));
    assert_eq!(world.attempts, 3);
    assert!(world.request(DataCentreId(0), Role::Lower, 2, &[]));
    assert_eq!(world.attempts, 4);
    let failed: Vec<_> = world.reach[0].failures().listed(world.now).map(|listed| listed.route).collect();
    assert_eq!(failed, [Route::Direct, Route::Through(DataCentreId(1))]);
}

#[test]
fn a_dead_origin_costs_a_request_so_many_tries_and_no_more() {
    let mut world = World::new(6, 3, |network| Zone::new(network, Topology::Generic, Regional::Skipped));
    world.reaches = vec![false; 6];
    for key in 0..200 {
        let before = world.attempts;
        assert!(!world.request(DataCentreId(0), Role::Lower, key, &[]));
        assert!(world.attempts - before <= 6);
    }
}

#[derive(Debug, Clone)]
enum Event {
    Request(u16, u64),
    Reaches(u16, bool),
    Up(u16, bool),
    Later(u64),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        6 => (0_u16..6, 0_u64..50).prop_map(|(at, key)| Event::Request(at, key)),
        2 => (0_u16..6, any::<bool>()).prop_map(|(at, reaches)| Event::Reaches(at, reaches)),
        1 => (0_u16..6, any::<bool>()).prop_map(|(at, is_up)| Event::Up(at, is_up)),
        1 => (0_u64..700_000).prop_map(Event::Later),
    ];
    prop::collection::vec(event, 1..200)
}

fn zones() -> impl Strategy<Value = (Topology, Regional)> {
    let map = |network: &Network| {
        Custom::new(
            network,
            [(0, 1), (1, 2), (3, 2), (4, 3)].map(|(a, b)| (DataCentreId(a), DataCentreId(b))),
        )
    };
    let network = World::new(6, 1, |network| Zone::new(network, Topology::None, Regional::Skipped)).network;
    let smart = {
        let mut smart = crate::Smart::new(crate::Tuning::default());
        let mut measured = Measurements::new(6);
        for (id, connect) in network.ids().zip([50, 40, 10, 20, 60, 70]) {
            (0..5).for_each(|_| measured.add(ms(0), id, ms(connect)));
        }
        smart.review(ms(0), &network, (&measured, &[]), &Health::default());
        smart
    };
    let custom = map(&network).unwrap();
    let topology = prop_oneof![
        Just(Topology::None),
        Just(Topology::Generic),
        Just(Topology::Smart(smart.into())),
        Just(Topology::Custom(custom)),
    ];
    (topology, prop_oneof![Just(Regional::Asked), Just(Regional::Skipped)])
}

proptest! {
    #![proptest_config(proptest_cases::or(100))]

    /// A request fails only if no reachable data centre can connect to the origin, and each
    /// successful request costs the origin one response.
    #[test]
    fn a_request_fails_only_if_nobody_reaches_the_origin(
        events in events(),
        (topology, regional) in zones(),
    ) {
        let mut world = World::new(6, 7, |network| Zone::new(network, topology, regional));
        let mut served = 0;
        for event in events {
            match event {
                Event::Reaches(at, reaches) => world.reaches[usize::from(at)] = reaches,
                Event::Up(at, is_up) => {
                    world.is_up[usize::from(at)] = is_up;
                    if is_up {
                        world.health.iter_mut().for_each(|health| health.set(DataCentreId(at), State::Up));
                    }
                }
                Event::Later(by) => world.now += ms(by),
                Event::Request(at, key) if world.is_up[usize::from(at)] => {
                    let got_it = world.request(DataCentreId(at), Role::Lower, key, &[]);
                    prop_assert_eq!(got_it, world.somebody_reaches());
                    served += u64::from(got_it);
                    prop_assert_eq!(world.responses, served);
                }
                Event::Request(..) => {}
            }
        }
    }
}
