//! Rules of linked data centres: the first data centre applies the actions, and only once.

use std::sync::atomic::Ordering::SeqCst;

use http_stack::{Body, HeaderMap, Method, Request, Response};

use super::{
    Fixture, receive, request,
    test_network::World,
    tiers::{ask_on, connect_to_fra, member},
    with,
};

const LHR: usize = 0;
const FRA: usize = 1;
const SYD: usize = 2;

const TO_FRA: &str = "tiers = { lhr = \"fra\", syd = \"fra\" }\n";

const RULES: &str = "[[zone.rule]]\npath = \"/a/*\"\nrewrite = \"/a/a/${1}\"\n\
     request_headers = { add = { x-a = \"1\" }, remove = [\"x-b\"] }\n\
     response_headers = { add = { x-c = \"1\" } }\n\
     [[zone.rule]]\nheader = { x-b = \"1\" }\nedge_ttl = \"1h\"\nkey = { query = [] }\n";

async fn echo(request: Request<Body>, number: usize) -> Response<Body> {
    let x_a: Vec<_> =
        request.headers().get_all("x-a").iter().map(|value| value.to_str().unwrap().to_owned()).collect();
    with("no-store", format!("{number} {} {}", request.uri().path_and_query().unwrap(), x_a.join("|")))
}

#[tokio::test]
async fn actions_apply_once_over_two_data_centres() {
    let world = World::new(&format!("{TO_FRA}{RULES}"), echo);
    for (round, centre) in [LHR, SYD, LHR, SYD, FRA, FRA].into_iter().enumerate() {
        let request = request(Method::GET, &format!("/a/x?q={round}"), &[("x-b", "1")]);
        let response = world.centres[centre].worker.serve(request).await;
        let added = response.headers().get_all("x-c").iter().count();
        assert_eq!(added, 1, "{round}");
        // The condition on x-b is evaluated before x-b is removed, also for the upper tier.
        let received = receive(response).await;
        assert!(received.body.ends_with(b" /a/a/x?q=0 1"), "{received:?}");
        assert!(received.body.starts_with(b"0 "), "{received:?}");
    }
    assert_eq!((world.asked(), world.asked_by_others(FRA)), (1, 2));
}

#[tokio::test]
async fn fast_hits_for_peers_are_for_the_same_rules() {
    let world = World::new(&format!("{TO_FRA}{RULES}"), async |_, _| with("max-age=600", "it"));
    let hash = world.centres[FRA].worker.network().zones[0].rules.hash();
    let connected = connect_to_fra(&world, member(&world, "lhr")).await.unwrap();
    let ask = async |rules: Option<String>| {
        let at_once = || world.centres[FRA].at_once.load(SeqCst);
        let before = at_once();
        let change = |headers: &mut HeaderMap| {
            rules.iter().for_each(|rules| drop(headers.insert("lh-rule-place", rules.parse().unwrap())));
        };
        let response = ask_on(&connected.0, &connected.1, "lhr", change).await.unwrap();
        (response.status().as_u16(), at_once() > before)
    };
    let (none, second) = (format!("{hash:016x}"), format!("{hash:016x} 1"));
    let mut quick = Vec::new();
    for rules in [&none, &none, &none, &second, &second, &none] {
        let (status, is_quick) = ask(Some(rules.clone())).await;
        assert_eq!(status, 200);
        quick.push(is_quick);
    }
    assert_eq!(quick, [false, false, true, false, true, false]);
    for other in [None, Some(format!("{:016x}", !hash)), Some(format!("{none} 2")), Some("x".to_owned())] {
        assert_eq!(ask(other.clone()).await, (421, false), "{other:?}");
    }
    assert_eq!(world.asked(), 1);
}

#[tokio::test]
async fn data_centre_with_other_rules_is_not_used() {
    let other = RULES.replace("/a/a/${1}", "/b/${1}");
    let zones = [format!("{TO_FRA}{RULES}"), format!("{TO_FRA}{other}"), String::new()];
    let world = World::with(zones.map(|zone| (zone, None)), echo);
    let received = world.send(LHR, request(Method::GET, "/a/x", &[("x-b", "1")])).await;
    assert_eq!((received.status, &received.body[..]), (200, &b"0 /a/a/x 1"[..]));
    assert_eq!(received.told.matches("fra").count(), 0, "{}", received.told);
}

#[tokio::test]
async fn redirect_is_sent_by_the_first_data_centre() {
    let rule = "[[zone.rule]]\npath = \"/old\"\nredirect = { to = \"/new\" }\n";
    let world = World::new(&format!("{TO_FRA}{rule}"), echo);
    assert_eq!(world.get(LHR, "/old").await.status, 302);
    assert_eq!((world.asked(), world.asked_by_others(FRA)), (0, 0));
    assert_eq!(world.get(LHR, "/new").await.body, "0 /new ");
}

#[tokio::test]
async fn internal_field_of_a_client_is_ignored() {
    let fixture = Fixture::new(RULES, echo);
    let received = fixture.get("/a/x", &[("lh-rule-place", "0000000000000000 0")]).await;
    assert_eq!(received.body, "0 /a/a/x 1");
}
