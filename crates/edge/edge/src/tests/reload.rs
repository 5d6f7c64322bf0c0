//! Reload of the network's file with open links: new authority, revoked certificates, changed data
//! centres.

use std::fs;

use http_stack::{Client, Origin, Revoked, Serial, client::Trace};

use super::{
    test_network::{NAMES, World},
    tiers::{ask_on, connect_to_fra, knock, member},
    with,
};
use crate::Network;

const LHR: usize = 0;
const FRA: usize = 1;
const SYD: usize = 2;

const TO_FRA: &str = "tiers = { lhr = \"fra\", syd = \"fra\" }\n";

fn world() -> World {
    World::new(TO_FRA, async |_, _| with("max-age=60", "it"))
}

impl World {
    fn reload(&self, centre: usize, change: impl Fn(&mut Network)) {
        let node = &self.centres[centre].worker.node;
        let mut network = Network::clone(&node.network());
        change(&mut network);
        node.update_peers(&network).unwrap();
        node.replace_network(network);
    }

    fn reload_all(&self) {
        (0..NAMES.len()).for_each(|centre| self.reload(centre, |_| {}));
    }

    async fn ask(&self, (client, origin): &(Client, Origin)) -> Result<(u16, String), String> {
        let response = ask_on(client, origin, "lhr", |_| {}).await?;
        Ok((response.status().as_u16(), String::from_utf8_lossy(response.body()).trim_end().to_owned()))
    }

    async fn is_linked(&self, path: &str) {
        for centre in [LHR, SYD] {
            let (peers, before) = (self.others(centre), self.asked_by_others(FRA));
            peers.connections.reconnect_all(&peers.peer(peers.id("fra").unwrap()).origin);
            assert_eq!(self.get(centre, &format!("{path}{centre}")).await.status, 200);
            assert!(self.asked_by_others(FRA) > before, "{path} {centre}");
        }
    }
}

#[tokio::test]
async fn authority_is_replaced_without_a_restart() {
    let world = world();
    let before = member(&world, "lhr");
    let open = connect_to_fra(&world, before.clone()).await.unwrap();
    assert_eq!(world.ask(&open).await, Ok((200, "it".to_owned())));
    world.is_linked("/before").await;
    let new = tempfile::tempdir().unwrap();
    crate::Certificate::create_authority(new.path()).unwrap();
    let new_file = |name: &str| fs::read_to_string(new.path().join(name)).unwrap();
    let both = fs::read_to_string(world.file("ca.pem")).unwrap() + &new_file("ca.pem");
    fs::write(world.file("ca.pem"), both).unwrap();
    world.reload_all();
    for (centre, name) in NAMES.into_iter().enumerate() {
        crate::Certificate::issue(new.path(), name, &[], 1).unwrap();
        for file in [format!("{name}.pem"), format!("{name}-key.pem")] {
            fs::write(world.file(&file), new_file(&file)).unwrap();
        }
        world.reload(centre, |_| {});
        world.is_linked(&format!("/{name}")).await;
    }
    assert_eq!(world.ask(&open).await, Ok((200, "it".to_owned())), "both are trusted");
    fs::write(world.file("ca.pem"), new_file("ca.pem")).unwrap();
    world.reload_all();
    world.is_linked("/after").await;
    assert_eq!(knock(&world, member(&world, "lhr"), "lhr").await, Ok((200, "it".to_owned())));
    let (status, why) = world.ask(&open).await.unwrap();
    assert_eq!(status, 403);
    assert!(why.contains("its authority is no longer trusted"), "{why}");
    let refused = knock(&world, before, "lhr").await.unwrap_err();
    assert!(refused.starts_with("tls: "), "{refused}");
}

#[tokio::test]
async fn revoked_certificate_is_refused_on_open_connections() {
    let world = world();
    let serial = |name: &str| {
        let pem = fs::read(world.file(&format!("{name}.pem"))).unwrap();
        Serial::of_pem(&pem).unwrap()
    };
    for revoked in [
        Revoked { serials: vec![serial("lhr")], names: Vec::new() },
        Revoked { serials: Vec::new(), names: vec!["LHR".to_owned()] },
    ] {
        let open = connect_to_fra(&world, member(&world, "lhr")).await.unwrap();
        assert_eq!(world.ask(&open).await, Ok((200, "it".to_owned())));
        world.reload(FRA, |network| network.revoked.clone_from(&revoked));
        let (status, why) = world.ask(&open).await.unwrap();
        assert!(status == 403 && why.contains("the certificate of \"lhr\" is revoked"), "{status} {why}");
        let refused = knock(&world, member(&world, "lhr"), "lhr").await.unwrap_err();
        assert!(refused.starts_with("tls: "), "{refused}");
        assert_eq!(knock(&world, member(&world, "syd"), "syd").await, Ok((200, "it".to_owned())));
        world.reload(FRA, |network| network.revoked = Revoked::default());
    }
    world.reload(LHR, |network| network.revoked.serials.push(serial("fra")));
    let peers = world.others(LHR);
    let (fra, small) =
        (peers.id("fra").unwrap(), peers.connections.client(crate::peers::TrafficClass::Small));
    let mut trace = Trace::start(small.clock().now());
    let request = super::request(http_stack::Method::GET, "/", &[]);
    let refused = small.send(&peers.peer(fra).origin, request, &mut trace).await.unwrap_err();
    assert_eq!(refused.to_string(), "tls: certificate revoked");
}

#[tokio::test]
async fn unusable_files_change_nothing() {
    let world = world();
    fs::write(world.file("ca.pem"), "nothing").unwrap();
    let node = &world.centres[FRA].worker.node;
    let error = node.update_peers(&node.network()).unwrap_err().to_string();
    assert!(error.contains("ca.pem") && error.contains("no certificate"), "{error}");
    world.is_linked("/").await;
}

#[tokio::test]
async fn peers_are_kept_when_others_are_added_or_removed() {
    let world = world();
    world.is_linked("/").await;
    let peer = |name: &str| {
        let links = world.others(LHR).report_links();
        links.into_iter().find(|link| link.to == name)
    };
    while !["fra", "syd"].iter().all(|name| peer(name).is_some_and(|link| link.up)) {
        tokio::task::yield_now().await;
    }
    let requests = peer("fra").unwrap().requests;
    assert!(requests > 0);
    world.reload(LHR, |network| {
        let mut added = network.data_centres[SYD].clone();
        added.name = "ams".to_owned();
        added.link.as_mut().unwrap().address = "127.0.0.1:1".parse().unwrap();
        network.data_centres[SYD] = added;
        network.data_centres.reverse();
    });
    let fra = peer("fra").unwrap();
    assert!(fra.up && fra.requests == requests, "{fra:?}");
    assert_eq!(peer("syd").map(|link| link.up), None);
    let ams = peer("ams").unwrap();
    assert!(!ams.up && ams.error.is_some(), "{ams:?}");
}
