//! An origin that one data centre cannot reach, and others can.

use std::net::{SocketAddr, TcpListener};

use http::{Body, Method, Request};

use super::{network::World, request, with};

/// An address at which nobody listens.
fn nowhere() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// A world whose first data centre looks for the origin where it is not.
fn cut(zone: &str) -> World {
    let zones = [Some(nowhere()), None, None].map(|found_at| (zone.to_owned(), found_at));
    World::with(zones, async |request: Request<Body>, number| {
        let body = request.into_body().collect(100).await.unwrap();
        with(if number % 2 == 0 { "no-store" } else { "max-age=60" }, body)
    })
}

#[tokio::test]
async fn where_one_way_is_cut_no_request_fails() {
    let world = cut("");
    for number in 0..200 {
        let came = world.get(0, &format!("/{number}")).await;
        assert_eq!(came.status, 200, "{number}: {}", came.told);
    }
    assert_eq!(world.asked(), 200);
    let network = world.centres[0].core.network();
    let routes = world.others(0).report_routes(&network);
    let [route] = &routes[..] else { panic!("{routes:?}") };
    assert_eq!((route.route.as_str(), route.error.as_str()), ("direct", "refused"));
    assert_eq!(route.origin, network.zones[0].origins[0].to_string());
    // The first one found out, and all others have met it: the next to try it is the 625th.
    assert_eq!((route.requests, route.next_test_at), (199, 625));
    assert!(route.detour.as_deref().is_some_and(|detour| ["fra", "syd"].contains(&detour)), "{route:?}");
}

#[tokio::test]
async fn what_changes_something_goes_round_once_and_whole() {
    let world = cut("");
    let post = || {
        let mut post = request(Method::POST, "/", &[("content-length", "5")]);
        *post.body_mut() = Body::whole("12345");
        post
    };
    // Nothing of it was sent on the way that is cut.
    for number in 1..4 {
        let came = world.send(0, post()).await;
        assert_eq!((came.status, came.body, world.asked()), (200, "12345".into(), number));
    }
}

#[tokio::test]
async fn a_zone_may_forbid_it() {
    let world = cut("detours = \"off\"\n");
    let came = world.get(0, "/").await;
    assert_eq!((came.status, world.asked()), (502, 0));
    assert!(came.told.ends_with("detail=origin-unreachable"), "{}", came.told);
}

#[tokio::test]
async fn an_upper_tier_that_is_cut_off_is_served_by_who_asked_it() {
    // fra, which all others ask, finds the origin nowhere: it goes through syd.
    let zones = [None, Some(nowhere()), None];
    let zones = zones.map(|found_at| ("tiers = { lhr = \"fra\", syd = \"fra\" }\n".to_owned(), found_at));
    let world = World::with(zones, async |_, _| with("max-age=60", "it"));
    let came = world.get(0, "/").await;
    assert_eq!((came.status, world.asked(), world.asked_by_others(1)), (200, 1, 1));
    // Of two data centres, the one that asked is the only other one: it does without.
    world.centres[2].die();
    for number in 0..20 {
        assert_eq!(world.get(0, &format!("/{number}")).await.status, 200);
    }
}

#[tokio::test]
async fn an_origin_that_nobody_reaches_is_an_error_that_names_what_was_tried() {
    let zones = [(); 3].map(|()| (String::new(), Some(nowhere())));
    let world = World::with(zones, async |_, _| with("max-age=60", "it"));
    let came = world.get(0, "/").await;
    assert_eq!((came.status, world.asked()), (502, 0));
    let routes = world.others(0).report_routes(&world.centres[0].core.network());
    let mut tried: Vec<_> = routes.iter().map(|route| route.route.as_str()).collect();
    tried.sort_unstable();
    assert_eq!(tried, ["direct", "fra", "syd"]);
}
