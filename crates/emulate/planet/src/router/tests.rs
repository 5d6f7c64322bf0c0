//! Paths, faults and catchments without a planet.

use std::{sync::Arc, time::Duration};

use world::{Change, Document, Effect, Layout, LinkDown, World};

use super::{
    Router,
    catchment::Serves,
    edge::Edge,
    faults::Faults,
    path::{End, Hop, Path, Source},
};

const WORLD: &str = "
[world]
lateness = '250us'
[[host]]
name = 'origin'
city = 'newyork'
[[host]]
name = 'visitor'
city = 'london'
network = 'access'
[[host]]
name = 'neighbour'
city = 'london'
[[link]]
between = ['newyork', 'london']
via = ['lisbon']
[[link]]
between = ['newyork', 'lisbon']
rtt = '60ms'
[[link]]
between = ['london', 'lisbon']
rtt = '20ms'
[[anycast]]
name = 'cdn'
prefix = '192.0.2.0/24'
hosts = ['origin', 'neighbour']
convergence = '10s'
transient = 'blackhole'
";

const NEWYORK: usize = 0;
const LONDON: usize = 1;
const LISBON: usize = 2;
const ORIGIN: usize = 0;
const VISITOR: usize = 1;
const NEIGHBOUR: usize = 2;

fn layout() -> Arc<Layout> {
    Arc::new(World::read(&Document::new("w.toml", WORLD)).unwrap().1)
}

fn path(router: &mut Router, from: usize, to: &str, ttl: u8) -> Arc<Path> {
    router.path(Duration::ZERO, Source::Port(from), to.parse().unwrap(), ttl).unwrap()
}

fn edges(path: &Path) -> Vec<Edge> {
    path.hops.iter().map(|hop| hop.edge).collect()
}

fn routers(path: &Path) -> u8 {
    path.hops.iter().map(|hop| hop.routers).sum::<u8>() + path.routers
}

#[test]
fn a_way_passes_the_cities_between() {
    let mut router = Router::new(layout());
    let path = path(&mut router, VISITOR, "10.0.0.1", 64);
    assert_eq!(
        edges(&path),
        [Edge::Up(VISITOR), Edge::Between(LONDON, LISBON), Edge::Between(LISBON, NEWYORK)]
    );
    assert_eq!((path.end, routers(&path)), (End::Port(ORIGIN), 3));
    // 80 ms over the links and a last mile of 10 ms: 1 % of it may be late.
    assert_eq!(path.allowance, Some(Duration::from_micros(900)));
}

#[test]
fn a_way_within_a_city_passes_its_router_once() {
    let mut router = Router::new(layout());
    let path = path(&mut router, NEIGHBOUR, "10.0.0.2", 64);
    assert_eq!(edges(&path), [Edge::Between(LONDON, LONDON), Edge::Down(VISITOR)]);
    assert_eq!(routers(&path), 1);
}

#[test]
fn time_to_live_runs_out_at_the_router_that_it_is_enough_for() {
    let mut router = Router::new(layout());
    for (ttl, end, hops) in [
        (1, End::Expired(LONDON), 1),
        (2, End::Expired(LISBON), 2),
        (3, End::Expired(NEWYORK), 3),
        (4, End::Port(ORIGIN), 3),
    ] {
        let path = path(&mut router, VISITOR, "10.0.0.1", ttl);
        assert_eq!((path.end, path.hops.len()), (end, hops), "ttl {ttl}");
    }
}

#[test]
fn a_router_answers_for_itself_and_takes_nothing_from_its_own_packets() {
    let mut router = Router::new(layout());
    let lisbon = router.router_address(LISBON, "10.0.0.1".parse().unwrap());
    let there = router.path(Duration::ZERO, Source::Port(VISITOR), lisbon, 2).unwrap();
    assert_eq!((there.end, routers(&there)), (End::Router(LISBON), 1));
    let back = router.path(Duration::ZERO, Source::Router(LISBON), "10.0.0.2".parse().unwrap(), 64).unwrap();
    assert_eq!(edges(&back), [Edge::Between(LISBON, LONDON), Edge::Down(VISITOR)]);
    assert_eq!(routers(&back), 1);
}

#[test]
fn a_round_trip_by_fault_has_no_detour() {
    let world =
        "[[host]]\nname = 'a'\ncity = 'newyork'\n[[host]]\nname = 'b'\ncity = 'london'\nnetwork = 'access'\n";
    let mut router = Router::new(Arc::new(World::read(&Document::new("w.toml", world)).unwrap().1));
    let detour = |router: &mut Router| path(router, 0, "10.0.0.2", 64).hops[0].detour;
    assert!(detour(&mut router) > Duration::ZERO);
    let change = Change { rtt: Some(Duration::from_millis(200)), ..Change::default() };
    router.set_faults(Duration::ZERO, &[Effect::Link { between: (0, 1), change }]);
    assert_eq!(detour(&mut router), Duration::ZERO);
}

#[test]
fn nobody_has_a_strangers_address() {
    let mut router = Router::new(layout());
    for stranger in ["10.0.0.99", "224.0.0.1", "192.0.3.1", "ff02::1"] {
        let path = router.path(Duration::ZERO, Source::Port(ORIGIN), stranger.parse().unwrap(), 64);
        assert_eq!(path, None, "{stranger}");
    }
}

#[test]
fn detours_are_those_of_generated_links() {
    let text =
        "[[host]]\nname = 'a'\ncity = 'london'\nnetwork = 'access'\n[[host]]\nname = 'b'\ncity = 'newyork'\n";
    let layout = Arc::new(World::read(&Document::new("w.toml", text)).unwrap().1);
    let mut router = Router::new(Arc::clone(&layout));
    let path = path(&mut router, 0, "10.0.0.2", 64);
    let Hop { edge, detour, .. } = path.hops[1];
    assert_eq!(edge, Edge::Between(0, 1));
    // 2.1 times the great circle of 5570 km instead of 1.5 times: 16.7 ms one way.
    assert!((detour.as_secs_f64() - 0.0167).abs() < 0.0001, "{detour:?}");
    let edges: Duration = path.hops.iter().map(|hop| hop.detour).sum::<Duration>()
        + layout.link(0, 1).propagation
        + layout.ports[0].line.as_ref().unwrap().up.propagation;
    assert_eq!(edges, layout.one_way(0, 1));
}

fn effect(layout: &Layout, fault: &str) -> Effect {
    let fault = Document::new("f.toml", fault).parse().unwrap();
    layout.effect(&fault).unwrap()
}

#[test]
fn faults_add_up_and_the_later_wins() {
    let layout = layout();
    let link = Edge::Between(LISBON, LONDON);
    let lossy = effect(&layout, "between = ['london', 'lisbon']\nloss = '5%'\nrtt = '30ms'");
    let lossier = effect(&layout, "between = ['lisbon', 'london']\nloss = '10%'");
    let both = Faults::new(&layout, &[lossy, lossier]).change(&layout, link);
    assert_eq!(both.to_string(), "loss 10%, rtt 30ms");
    assert!(Faults::default().change(&layout, link).is_empty());
}

#[test]
fn a_city_that_is_down_takes_all_its_wires_with_it() {
    let layout = layout();
    let faults = Faults::new(&layout, &[effect(&layout, "city = 'london'\ndown = true")]);
    for (edge, down) in [
        (Edge::Between(LISBON, LONDON), Some(LinkDown::Silent)),
        (Edge::Between(LONDON, LISBON), Some(LinkDown::Silent)),
        (Edge::Up(VISITOR), Some(LinkDown::Silent)),
        (Edge::Between(LISBON, NEWYORK), None),
    ] {
        assert_eq!(faults.change(&layout, edge).down, down, "{edge:?}");
    }
    assert!(faults.withdrawn(0, NEIGHBOUR).is_some() && faults.withdrawn(0, ORIGIN).is_none());
}

#[test]
fn a_partition_cuts_between_its_groups_only() {
    let layout = layout();
    let faults = Faults::new(&layout, &[effect(&layout, "partition = [['london', 'lisbon']]")]);
    assert_eq!(faults.change(&layout, Edge::Between(LISBON, NEWYORK)).down, Some(LinkDown::Silent));
    assert_eq!(faults.change(&layout, Edge::Between(LISBON, LONDON)).down, None);
}

#[test]
fn a_killed_host_has_no_carrier_and_a_frozen_one_has() {
    let layout = layout();
    let killed = Faults::new(&layout, &[effect(&layout, "host = 'origin'\ndown = 'killed'")]);
    assert_eq!(killed.without_carrier().into_iter().collect::<Vec<_>>(), [ORIGIN]);
    let frozen = Faults::new(&layout, &[effect(&layout, "host = 'origin'\ndown = 'frozen'")]);
    assert_eq!(frozen, Faults::default());
}

#[test]
fn a_host_without_a_line_has_one_while_a_fault_is_on_it() {
    let layout = layout();
    let mut router = Router::new(Arc::clone(&layout));
    let between = [Edge::Between(NEWYORK, LISBON), Edge::Between(LISBON, LONDON)];
    assert_eq!(edges(&path(&mut router, ORIGIN, "10.0.0.3", 64)), between);
    router.set_faults(Duration::ZERO, &[effect(&layout, "host = 'origin'\nloss = '5%'")]);
    let lossy = path(&mut router, ORIGIN, "10.0.0.3", 64);
    assert_eq!(edges(&lossy), [Edge::Up(ORIGIN), between[0], between[1]]);
    assert_eq!(edges(&path(&mut router, NEIGHBOUR, "10.0.0.1", 64)).last(), Some(&Edge::Down(ORIGIN)));
    router.set_faults(Duration::ZERO, &[]);
    assert_eq!(edges(&path(&mut router, ORIGIN, "10.0.0.3", 64)), between);
}

#[test]
fn each_city_hears_of_a_withdrawal_in_its_own_time() {
    let layout = layout();
    let mut router = Router::new(Arc::clone(&layout));
    let serves =
        |router: &Router, at: u64, city| router.catchments.serves_prefix(Duration::from_secs(at), 0, city);
    assert_eq!(serves(&router, 0, LONDON), Serves::Site(NEIGHBOUR));
    assert_eq!(serves(&router, 0, NEWYORK), Serves::Site(ORIGIN));

    let gone = effect(&layout, "withdraw = 'cdn'\nhost = 'neighbour'");
    router.set_faults(Duration::from_secs(100), &[gone]);
    // Each city learns of it after 0 to 10 s; until then the site's router drops its packets.
    assert_eq!(serves(&router, 100, LONDON), Serves::Blackhole(NEIGHBOUR));
    assert_eq!(serves(&router, 110, LONDON), Serves::Site(ORIGIN));
    assert_eq!(serves(&router, 105, NEWYORK), Serves::Site(ORIGIN), "it never went elsewhere");

    router.set_faults(Duration::from_secs(200), &[]);
    assert_eq!(serves(&router, 200, LONDON), Serves::Site(ORIGIN), "the detour is still what it knows");
    assert_eq!(serves(&router, 210, LONDON), Serves::Site(NEIGHBOUR));
}

#[test]
fn a_city_that_cannot_reach_its_site_goes_to_the_next_once_it_has_heard() {
    let layout = layout();
    // Lisbon is nearer to London. Each of these cuts it off from London, and leaves it New York.
    for cause in [
        "partition = [['london']]",
        "between = ['london', 'lisbon']\ndown = true",
        "between = ['london', 'lisbon']\ndown = 'unreachable'",
        "host = 'neighbour'\ndown = 'unreachable'",
    ] {
        let mut router = Router::new(Arc::clone(&layout));
        let serves = |router: &Router, at: u64, city| {
            router.catchments.serves_prefix(Duration::from_secs(at), 0, city)
        };
        assert_eq!(serves(&router, 0, LISBON), Serves::Site(NEIGHBOUR));
        router.set_faults(Duration::from_secs(100), &[effect(&layout, cause)]);
        assert_eq!(serves(&router, 100, LISBON), Serves::CutOff(NEIGHBOUR), "{cause}");
        assert_eq!(serves(&router, 110, LISBON), Serves::Site(ORIGIN), "{cause}");
        assert_eq!(serves(&router, 110, NEWYORK), Serves::Site(ORIGIN), "{cause}");
        router.set_faults(Duration::from_secs(200), &[]);
        assert_eq!(serves(&router, 210, LISBON), Serves::Site(NEIGHBOUR), "{cause}");
    }
}

#[test]
fn on_its_own_side_of_what_is_down_a_city_keeps_its_site() {
    let layout = layout();
    let mut router = Router::new(Arc::clone(&layout));
    router.set_faults(Duration::ZERO, &[effect(&layout, "partition = [['london']]")]);
    let after = Duration::from_secs(10);
    assert_eq!(router.catchments.serves_prefix(after, 0, LONDON), Serves::Site(NEIGHBOUR));
    let both = ["partition = [['london']]", "withdraw = 'cdn'\nhost = 'neighbour'"];
    router.set_faults(after, &both.map(|fault| effect(&layout, fault)));
    assert_eq!(router.catchments.serves_prefix(after * 2, 0, LONDON), Serves::Nobody);
    router.set_faults(after * 2, &[effect(&layout, "city = 'lisbon'\ndown = true")]);
    let path = router.path(after * 3, Source::Router(LISBON), "192.0.2.1".parse().unwrap(), 9).unwrap();
    assert_eq!(edges(&path), [Edge::Between(LISBON, LONDON)]);
}

#[test]
fn a_host_announces_nothing_over_a_device_without_a_carrier() {
    let layout = layout();
    for (cause, announces) in [
        ("host = 'neighbour'\ndown = 'carrier'", false),
        ("host = 'neighbour'\ndown = 'killed'", false),
        ("host = 'neighbour'\ndown = 'silent'", true),
        ("host = 'neighbour'\ndown = 'frozen'", true),
    ] {
        let mut router = Router::new(Arc::clone(&layout));
        router.set_faults(Duration::ZERO, &[effect(&layout, cause)]);
        assert_eq!(router.catchments.is_announced(0, NEIGHBOUR), announces, "{cause}");
        let site = if announces { NEIGHBOUR } else { ORIGIN };
        let serves = router.catchments.serves_prefix(Duration::from_secs(10), 0, LONDON);
        assert_eq!(serves, Serves::Site(site), "{cause}");
    }
}

#[test]
fn a_prefix_that_nobody_announces_has_no_way() {
    let layout = layout();
    let mut router = Router::new(Arc::clone(&layout));
    let all =
        ["origin", "neighbour"].map(|host| effect(&layout, &format!("withdraw = 'cdn'\nhost = '{host}'")));
    router.set_faults(Duration::ZERO, &all);
    let path = router.path(Duration::from_secs(10), Source::Port(VISITOR), "192.0.2.7".parse().unwrap(), 64);
    assert_eq!(path.unwrap().end, End::Unroutable(LONDON));
}

#[test]
fn a_loop_lasts_as_long_as_the_time_to_live() {
    let layout = layout();
    let mut router = Router::new(Arc::clone(&layout));
    let gone = effect(&layout, "withdraw = 'cdn'\nhost = 'neighbour'\ntransient = 'loop'");
    router.set_faults(Duration::ZERO, &[gone]);
    let path = path(&mut router, ORIGIN, "192.0.2.1", 9);
    assert_eq!(path.end, End::Port(ORIGIN));
    let path = router.path(Duration::ZERO, Source::Router(LISBON), "192.0.2.1".parse().unwrap(), 9).unwrap();
    // Lisbon's router creates the packet, eight others decrement its nine hops, and the next finds
    // only one left.
    assert_eq!(path.hops.len(), 9);
    assert!(matches!(path.end, End::Expired(_)), "{path:?}");
    assert_eq!(path.hops[7].edge, Edge::Between(LONDON, LISBON));
}
