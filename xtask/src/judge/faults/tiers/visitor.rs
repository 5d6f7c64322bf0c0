//! A client of the cache in one data centre, and an operator that purges there.

use std::{net::SocketAddr, time::Duration};

use anyhow::{Context, bail, ensure};
use serde_json::Value;

use super::{
    OBJECTS, Scene,
    audit::{Purge, Visit},
    origin,
};
use crate::judge::faults::{
    ask::{Client, NoAnswer},
    cluster::CENTRES,
    network::operator,
    rng::Chance,
};

pub(super) struct Visitor<'s> {
    scene: &'s Scene<'s>,
    centre: usize,
    clients: [(&'static str, Client); 2],
}

impl<'s> Visitor<'s> {
    /// Moves the calling thread into the data centre's host.
    pub(super) fn of(scene: &'s Scene<'_>, centre: usize) -> anyhow::Result<Self> {
        scene.place.join(centre)?;
        let client = |zone| {
            let headers = format!("Host: {zone}\r\n");
            (zone, Client::new(SocketAddr::from(([127, 0, 0, 1], 80)), &headers, PATIENCE))
        };
        Ok(Self { scene, centre, clients: ZONES.map(client) })
    }

    pub(super) fn ask(&mut self, object: u64) -> anyhow::Result<Visit> {
        let scene = self.scene;
        let life = scene.network.life(self.centre);
        let sent = scene.clock.now();
        let (came, how) = self.request(zone_of(object), &path_of(scene.seed, object))?;
        let answered = scene.clock.now();
        let mut is_one_life = life.is_some() && scene.network.life(self.centre) == life;
        match &came {
            Err(NoAnswer::NotAsked(_)) => is_one_life &= scene.network.is_heard(self.centre, life),
            _ if is_one_life => scene.network.hear(self.centre, life),
            _ => {}
        }
        let came = came.map_err(|why| why.to_string());
        Ok(Visit { centre: self.centre, is_one_life, object, sent, answered, came, how })
    }

    pub(super) fn ask_for(&mut self, zone: &str, path: &str) -> anyhow::Result<()> {
        match self.request(zone, path)? {
            (Ok(_), _) => Ok(()),
            (Err(why), _) => bail!("{path} in {}, with nothing cut: {why}", CENTRES[self.centre].name),
        }
    }

    fn request(&mut self, zone: &str, path: &str) -> anyhow::Result<(Result<u64, NoAnswer>, String)> {
        let client = self.clients.iter_mut().find(|(name, _)| *name == zone);
        let (_, client) = client.context("there are two zones")?;
        let answer = match client.ask("GET", path, b"") {
            Ok(answer) => answer,
            Err(why) => return Ok((Err(why), String::new())),
        };
        let how = answer.header("cache-status").unwrap_or_default().to_owned();
        match answer.status {
            200 => {
                let body = answer.text();
                let version = body.split(' ').nth(1).and_then(|word| word.parse().ok());
                let version = version.with_context(|| format!("the origin never sent {body:?}"))?;
                ensure!(body == origin::body(path, version), "the origin never sent {body:?} for {path}");
                Ok((Ok(version), how))
            }
            status @ 500..=599 => Ok((Err(NoAnswer::NotHeard(format!("status {status}"))), how)),
            status => bail!("{path} got status {status}"),
        }
    }
}

pub(super) struct Purger<'s> {
    scene: &'s Scene<'s>,
    centre: usize,
    client: Client,
}

impl<'s> Purger<'s> {
    /// Moves the calling thread into the data centre's host.
    pub(super) fn of(scene: &'s Scene<'_>, centre: usize) -> anyhow::Result<Self> {
        scene.place.join(centre)?;
        let headers = format!("Host: operator\r\nAuthorization: Bearer {}\r\n", scene.token);
        Ok(Self { scene, centre, client: Client::new(operator(), &headers, PATIENCE) })
    }

    pub(super) fn purge(mut self, chance: &mut Chance) -> anyhow::Result<Option<Purge>> {
        let one = chance.below(OBJECTS);
        let zone = zone_of(one);
        let path = path_of(self.scene.seed, one);
        let is_hard = chance.below(3) == 0;
        let (objects, mut what) = match chance.below(8) {
            0 => {
                let objects = (0..OBJECTS).filter(|object| zone_of(*object) == zone).collect();
                (objects, serde_json::json!({ "purge_everything": true }))
            }
            1..4 => (vec![one], serde_json::json!({ "tags": [format!("t{one}")] })),
            _ => (vec![one], serde_json::json!({ "files": [format!("http://{zone}{path}")] })),
        };
        what["hard"] = is_hard.into();
        let raise = |object: u64| (object, self.scene.origin.raise(&path_of(self.scene.seed, object)));
        let least = objects.into_iter().map(raise).collect();
        let target = format!("/client/v4/zones/{zone}/purge_cache");
        let Ok(answer) = self.client.ask("POST", &target, what.to_string().as_bytes()) else {
            return Ok(None);
        };
        let acknowledged = self.scene.clock.now();
        if answer.status >= 500 {
            return Ok(None);
        }
        ensure!(answer.status == 200, "a purge got status {}: {}", answer.status, answer.text());
        let answer: Value = serde_json::from_slice(&answer.body)?;
        let others = answer["result"]["data_centres"]
            .as_array()
            .context("a purge response does not list the other data centres")?;
        let has_done = |there: &&Value| there["applied_ms"].is_number();
        let number = |there: &Value| CENTRES.iter().position(|centre| there["data_centre"] == centre.name);
        let others = others.iter().filter(has_done).filter_map(number);
        let what = what.to_string();
        Ok(Some(Purge { what, least, acknowledged, done_in: others.chain([self.centre]).collect() }))
    }
}

fn zone_of(object: u64) -> &'static str {
    ZONES[usize::from(object.is_multiple_of(2))]
}

fn path_of(seed: u64, object: u64) -> String {
    format!("/{seed}/{object}")
}

const ZONES: [&str; 2] = ["smart", "generic"];
/// Longer than a request that tries several paths in sequence.
const PATIENCE: Duration = Duration::from_secs(15);
