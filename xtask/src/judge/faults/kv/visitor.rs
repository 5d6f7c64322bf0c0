//! A client of the store in one data centre, which records its history.

use std::{net::SocketAddr, time::Duration};

use anyhow::{Context, ensure};
use kv::consistency_checker::{Did, Operation, Outcome, Seen};

use super::Scene;
use crate::judge::faults::{
    ask::{Answer, Client, NoAnswer},
    rng::Chance,
};

pub(super) struct Visitor<'s> {
    scene: &'s Scene<'s>,
    centre: usize,
    client: Client,
    pub(super) refusal: String,
}

struct Sent {
    at: u64,
    life: Option<u32>,
}

impl<'s> Visitor<'s> {
    /// Moves the calling thread into the data centre's host.
    pub(super) fn of(scene: &'s Scene<'_>, centre: usize, patience: Duration) -> anyhow::Result<Self> {
        scene.place.join(centre)?;
        let headers = format!("Host: kv\r\nAuthorization: Bearer {}\r\n", scene.token);
        let client = Client::new(SocketAddr::from(([127, 0, 0, 1], 4490)), &headers, patience);
        Ok(Self { scene, centre, client, refusal: String::new() })
    }

    pub(super) fn read(&mut self, key: u32, chance: &mut Chance) -> anyhow::Result<Option<Operation>> {
        let cache_ttl = match chance.below(4) {
            0 => Some(30),
            1 => Some(3600),
            _ => None,
        };
        let query = cache_ttl.map_or_else(String::new, |ttl| format!("&cache_ttl={ttl}"));
        let sent = self.sent();
        let answer = match self.client.ask("GET", &format!("/k{key}?urlencoded=true{query}"), b"") {
            Ok(answer) => answer,
            Err(why) => {
                self.refusal = why.to_string();
                return Ok(None);
            }
        };
        let value = match answer.status {
            200 => Some(number_of(&answer.body, key)?),
            404 => None,
            500..=599 => {
                self.refusal = answer.text();
                return Ok(None);
            }
            status => anyhow::bail!("a read got status {status}: {}", answer.text()),
        };
        let version = answer.header("kv-version").filter(|version| !version.is_empty());
        let version = version.map(str::parse).transpose()?;
        ensure!(value.is_none() || version.is_some(), "a value has no version");
        let age: u64 = answer.header("kv-age").context("a read has no KV-Age")?.parse()?;
        let (age, cache_ttl) = (Duration::from_secs(age), cache_ttl.map(Duration::from_secs));
        Ok(Some(self.done(key, &sent, Did::Read(Seen { value, version, age, cache_ttl }))))
    }

    pub(super) fn put(
        &mut self,
        key: u32,
        value: u64,
        chance: &mut Chance,
    ) -> anyhow::Result<Option<Operation>> {
        let length = usize::try_from(chance.below(2000))?;
        self.write(key, value, length)
    }

    pub(super) fn large(&mut self, key: u32, value: u64) -> anyhow::Result<Option<Operation>> {
        self.write(key, value, 150_000)
    }

    fn write(&mut self, key: u32, value: u64, length: usize) -> anyhow::Result<Option<Operation>> {
        let sent = self.sent();
        let body = body_of(key, value, length);
        let answer = self.client.ask("PUT", &format!("/k{key}?urlencoded=true"), &body);
        let did = Did::Put(value, outcome(answer)?);
        Ok(Some(self.done(key, &sent, did)))
    }

    pub(super) fn delete(&mut self, key: u32) -> anyhow::Result<Option<Operation>> {
        let sent = self.sent();
        let answer = self.client.ask("DELETE", &format!("/k{key}?urlencoded=true"), b"");
        let did = Did::Delete(outcome(answer)?);
        Ok(Some(self.done(key, &sent, did)))
    }

    fn sent(&self) -> Sent {
        Sent { life: self.scene.network.life(self.centre), at: self.scene.clock.nanos() }
    }

    fn done(&self, key: u32, sent: &Sent, did: Did) -> Operation {
        let answered = self.scene.clock.nanos();
        let life = sent.life.filter(|_| self.scene.network.life(self.centre) == sent.life);
        Operation { key, centre: self.centre, life, sent: sent.at, answered, did }
    }
}

fn outcome(answer: Result<Answer, NoAnswer>) -> anyhow::Result<Outcome> {
    let answer = match answer {
        Ok(answer) => answer,
        Err(NoAnswer::NotAsked(_)) => return Ok(Outcome::Refused),
        Err(NoAnswer::NotHeard(_)) => return Ok(Outcome::Unknown),
    };
    let text = answer.text();
    match answer.status {
        200 => {
            let version = answer.header("kv-version").context("a write has no version")?;
            Ok(Outcome::Acknowledged(version.parse()?))
        }
        // The message distinguishes a rejected write from one that may have been done.
        503 if text.contains("may have been done") => Ok(Outcome::Unknown),
        503 | 507 => Ok(Outcome::Refused),
        500..=599 => Ok(Outcome::Unknown),
        status => anyhow::bail!("a write got status {status}: {text}"),
    }
}

fn body_of(key: u32, value: u64, length: usize) -> Vec<u8> {
    let mut body = format!("k{key} {value} {length} ").into_bytes();
    let letter = |at: usize| b'a' + ((at as u64 + value) % 26).to_le_bytes()[0];
    body.extend((0..length).map(letter));
    body
}

fn number_of(body: &[u8], key: u32) -> anyhow::Result<u64> {
    let head = String::from_utf8_lossy(&body[..body.len().min(60)]).into_owned();
    let mut words = head.split(' ').skip(1);
    let mut number = || words.next().and_then(|word| word.parse::<u64>().ok());
    let (value, length) = number().zip(number()).with_context(|| format!("no client wrote {head:?}"))?;
    ensure!(
        body == body_of(key, value, usize::try_from(length)?),
        "a value differs from the written value: {head:?}"
    );
    Ok(value)
}
