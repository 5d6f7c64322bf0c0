//! Runs one scenario: starts the servers, fills and verifies their caches, and runs the rounds.

use std::path::Path;

use anyhow::{Context, ensure};

use super::{
    Cores, Options,
    client::{self, Response},
    guard::Guard,
    load,
    origin::{LETTER, Origin},
    scenario::{Answer, Scenario, Store, URLS},
    server::{Kind, Server},
    tls::certify,
};

pub(super) struct Outcome {
    pub(super) scenario: &'static Scenario,
    pub(super) servers: Vec<Measured>,
}

pub(super) struct Measured {
    pub(super) kind: Kind,
    pub(super) state: State,
}

pub(super) enum State {
    Absent(String),
    Ran { version: String, runs: Vec<Run> },
}

#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) requests_per_s: f64,
    pub(super) cpu_us: f64,
    pub(super) busy: f64,
    pub(super) invalid: Option<String>,
}

pub(super) fn measure(
    scenario: &'static Scenario,
    options: &Options,
    cores: Cores,
) -> anyhow::Result<Outcome> {
    // In memory where possible, to exclude disk I/O from the figures. The disk store needs a file system on a
    // disk.
    let memory = Path::new("/dev/shm");
    let is_in_memory = scenario.store == Store::Memory && memory.is_dir();
    let place = if is_in_memory { memory.to_owned() } else { std::env::temp_dir() };
    let folder = tempfile::Builder::new().prefix("longhaul-bench-").tempdir_in(place)?;
    let mut guard = Guard::over(folder.path())?;
    if scenario.protocol.is_tls() {
        certify(folder.path())?;
    }
    let mut asked = Asked { origin: Origin::start(cores.load, folder.path(), &mut guard)?, before: 0 };
    let (mut servers, mut measured) = (Vec::new(), Vec::new());
    for kind in Kind::ALL.into_iter().filter(|kind| kind.takes_part(scenario)) {
        let state = match kind.absence(scenario) {
            Some(why) => State::Absent(why),
            None => match ready(kind, scenario, cores, folder.path(), &mut guard, &mut asked) {
                Ok(server) => {
                    servers.push(server);
                    State::Ran { version: kind.version()?, runs: Vec::new() }
                }
                // A peer that behaves differently is left out, so that the results of the others
                // stay valid.
                Err(error) if kind != Kind::Longhaul => State::Absent(format!("{error:#}")),
                Err(error) => return Err(error),
            },
        };
        measured.push(Measured { kind, state });
    }
    for round in 0..options.rounds {
        let mut order: Vec<_> = servers.iter().collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for server in order {
            eprint!(
                "\r{}: round {} of {}, {}\x1b[K",
                scenario.name,
                round + 1,
                options.rounds,
                server.kind.name()
            );
            let run = once(server, scenario, options, cores, folder.path(), &mut asked)?;
            let of_kind = measured.iter_mut().find(|measured| measured.kind == server.kind);
            if let Some(Measured { state: State::Ran { runs, .. }, .. }) = of_kind {
                runs.push(run);
            }
        }
    }
    eprint!("\r\x1b[K");
    Ok(Outcome { scenario, servers: measured })
}

fn ready(
    kind: Kind,
    scenario: &Scenario,
    cores: Cores,
    folder: &Path,
    guard: &mut Guard,
    asked: &mut Asked,
) -> anyhow::Result<Server> {
    let server = Server::start(kind, scenario, asked.origin.address, cores.server, folder, guard)?;
    prove(&server, scenario, asked).with_context(|| kind.name())?;
    // The load uses other cache keys over TLS (and, for HAProxy, over HTTP/2). A slow machine needs several
    // rounds to request every URL.
    for _ in 0..MOST_GOES {
        let before = asked.count()?;
        load::run(scenario, server.loaded, 1, cores.load, folder)?;
        if scenario.answer == Answer::Origin || asked.count()? == before {
            break;
        }
    }
    Ok(server)
}

fn once(
    server: &Server,
    scenario: &Scenario,
    options: &Options,
    cores: Cores,
    folder: &Path,
    asked: &mut Asked,
) -> anyhow::Result<Run> {
    let (origin, cpu) = (asked.count()?, server.cpu_us()?);
    let loaded = load::run(scenario, server.loaded, options.seconds, cores.load, folder)?;
    let (cpu, origin) = (server.cpu_us()? - cpu, asked.count()? - origin);
    #[expect(clippy::cast_precision_loss, reason = "requests of a run fit")]
    let requests = loaded.requests as f64;
    let invalid = match loaded.trouble {
        _ if loaded.requests == 0 => Some("no request was answered".to_owned()),
        None => misplaced(scenario.answer, loaded.requests, origin),
        trouble => trouble,
    };
    let seconds = loaded.seconds;
    Ok(Run { requests_per_s: requests / seconds, cpu_us: cpu / requests, busy: cpu / 1e6 / seconds, invalid })
}

/// Up to 0.1 % of requests for cached objects may reach the origin.
fn misplaced(answer: Answer, requests: u64, origin: u64) -> Option<String> {
    match answer {
        Answer::Cache if origin > requests / 1000 => {
            Some(format!("the origin had {origin} of {requests} requests that should be hits"))
        }
        Answer::Origin if origin < requests => {
            Some(format!("the origin had only {origin} of {requests} requests"))
        }
        _ => None,
    }
}

fn prove(server: &Server, scenario: &Scenario, asked: &mut Asked) -> anyhow::Result<()> {
    let get = |index: usize| -> anyhow::Result<Response> {
        let response = client::get(server.address, &scenario.path(index), scenario.headers)?;
        ensure!(
            response.status == 200,
            "the response to {} has status {}",
            scenario.path(index),
            response.status
        );
        let is_right =
            response.body.len() == scenario.body && response.body.iter().all(|&byte| byte == LETTER);
        ensure!(is_right, "the body of {} is wrong: {} bytes", scenario.path(index), response.body.len());
        Ok(response)
    };
    for _ in 0..2 {
        (0..URLS).try_for_each(|index| get(index).map(drop))?;
    }
    let before = asked.count()?;
    let is_hit = server.kind.is_hit(&get(0)?);
    let asked_now = asked.count()? - before;
    match scenario.answer {
        Answer::Cache => {
            ensure!(is_hit != Some(false), "the second request for a URL is not reported as a hit");
            ensure!(asked_now == 0, "a hit caused a request at the origin");
        }
        Answer::Origin => {
            ensure!(is_hit != Some(true), "an uncacheable response is reported as a hit");
            ensure!(asked_now == 1, "one request caused {asked_now} requests at the origin");
        }
    }
    Ok(())
}

/// After that, the cache is measured even if it is not full.
const MOST_GOES: usize = 10;

struct Asked {
    origin: Origin,
    before: u64,
}

impl Asked {
    fn count(&mut self) -> anyhow::Result<u64> {
        let count = self.origin.requests(self.before)?;
        self.before += 1;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_at_the_wrong_place_are_told() {
        assert_eq!(misplaced(Answer::Cache, 10_000, 10), None);
        assert!(misplaced(Answer::Cache, 10_000, 11).is_some());
        assert_eq!(misplaced(Answer::Origin, 10_000, 10_064), None);
        assert!(misplaced(Answer::Origin, 10_000, 9_999).is_some());
    }
}
