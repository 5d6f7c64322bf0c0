//! A run of the key-value store: clients in all data centres write, delete and read during the faults, and
//! their history is audited.

mod keep;
mod visitor;

use std::{
    fs,
    path::Path,
    sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    thread,
    time::Duration,
};

use anyhow::{Context, anyhow, ensure};
use kv::consistency_checker::{Did, Kind, Operation, Outcome, Stores, audit};
use serde_json::Value;

use self::{keep::Keep, visitor::Visitor};
use super::{
    clock::{Clock, pause},
    cluster::{CENTRES, ORIGIN, Place, longhaul},
    network::Network,
    outcome::{Run, Violation},
    rng::Chance,
    scenarios,
    timeline::{self, Fault, Kinds, What},
};

struct Scene<'p> {
    place: &'p Place,
    network: Network<'p>,
    clock: Clock,
    token: String,
    next: AtomicU64,
    is_over: AtomicBool,
}

pub(super) fn run(place: &Place, seed: u64, clocks: Option<&Path>) -> anyhow::Result<Run> {
    let folder = tempfile::tempdir()?;
    let keep = Keep::of(place, folder.path(), seed)?;
    let token: Value = serde_json::from_str(&longhaul(place.program(), &["edge", "token", "--json"])?)?;
    let [token, hash] = ["token", "sha256"].map(|field| token[field].as_str().unwrap_or_default().to_owned());
    fs::write(folder.path().join("network.toml"), network(place, folder.path(), &keep.table(), &hash))?;
    let network = Network::start(place, folder.path(), clocks)?;
    let (has_disk, has_server) = (keep.is_disk(), !keep.is_disk());
    let kinds = Kinds { has_clocks: clocks.is_some(), has_disk, has_server, has_origin: false };
    let faults = timeline::draw(seed, LASTS, kinds);
    let scene = Scene {
        place,
        network,
        clock: Clock::start(),
        token,
        next: AtomicU64::new(1),
        is_over: AtomicBool::new(false),
    };
    let (played, (mut history, wrong)) = thread::scope(|scope| {
        let visitors: Vec<_> = (0..VISITORS * CENTRES.len())
            .map(|number| {
                scope.spawn({
                    let scene = &scene;
                    move || scene.visit(number, Chance::of(seed, number as u64 + 1))
                })
            })
            .collect();
        let is_over = || scene.is_over.store(true, SeqCst);
        let at = (scene.place, &scene.network, scene.clock);
        let played = scenarios::play(&faults, LASTS, at, |begins| keep.trouble(begins), is_over);
        scene.is_over.store(true, SeqCst);
        let mut told: (Vec<Operation>, Vec<Violation>) = Default::default();
        for visitor in visitors {
            let (history, wrong) = visitor.join().map_err(|_| anyhow!("a visitor panicked"))?;
            told.0.extend(history);
            told.1.extend(wrong);
        }
        anyhow::Ok((played, told))
    })?;
    let mut run = Run::of(seed, played?);
    run.count(keep.name());
    wrong.into_iter().for_each(|Violation(text)| run.violate("others", text));
    let stores = keep.stores(well_until(&run.faults));
    match scene.settle(&stores).and_then(|()| scene.read_at_end()) {
        Ok(last) => history.extend(last),
        Err(why) => run.violate("others", format!("{why:#}\n{}", scene.network.logs())),
    }
    judge(&mut run, &history, &stores);
    Ok(run)
}

impl Scene<'_> {
    fn visit(&self, number: usize, mut chance: Chance) -> (Vec<Operation>, Option<Violation>) {
        let mut history = Vec::new();
        let mut visit = || {
            let mut visitor = Visitor::of(self, number % CENTRES.len(), SOON)?;
            while !self.is_over.load(SeqCst) {
                let key = u32::try_from(chance.below(KEYS))?;
                let did = match chance.below(20) {
                    0..9 => visitor.read(key, &mut chance),
                    9..17 => visitor.put(key, self.next.fetch_add(1, SeqCst), &mut chance),
                    17 => visitor.large(key, self.next.fetch_add(1, SeqCst)),
                    _ => visitor.delete(key),
                };
                history.extend(did?);
                pause(chance.between(Duration::from_millis(1), Duration::from_millis(25)));
            }
            anyhow::Ok(())
        };
        let wrong = visit().err().map(|why| Violation(format!("{why:#}")));
        (history, wrong)
    }

    fn settle(&self, stores: &Stores) -> anyhow::Result<()> {
        let Stores::Two { at: stores, .. } = stores else { return Ok(()) };
        let since = self.clock.now();
        loop {
            let of = |store: &usize| {
                self.network.status(*store).map_or(Value::Null, |status| status["kv"].clone())
            };
            let all: Vec<_> = stores.iter().map(of).collect();
            // A store in NATS reports what it lacks only after it has read its stream.
            let is_settled = |kv: &Value| {
                let pair = &kv["pair"];
                kv["error"].is_null() && pair["is_reachable"] == true && pair["behind"] == 0
            };
            if all.iter().all(is_settled) {
                return Ok(());
            }
            let waited = LATE.as_secs();
            ensure!(self.clock.now() < since + LATE, "two stores differ after {waited} s: {all:?}");
            pause(Duration::from_millis(100));
        }
    }

    fn read_at_end(&self) -> anyhow::Result<Vec<Operation>> {
        let mut history = Vec::new();
        for (centre, of) in CENTRES.iter().enumerate() {
            let in_host = || {
                let mut visitor = Visitor::of(self, centre, LATE)?;
                (0..u32::try_from(KEYS)?).map(|key| self.read_in_the_end(key, &mut visitor)).collect()
            };
            let read: anyhow::Result<Vec<_>> = thread::scope(|scope| {
                scope.spawn(in_host).join().map_err(|_| anyhow!("a visitor panicked"))?
            });
            history.extend(read.with_context(|| {
                let status = self.network.status(centre).unwrap_or_default();
                format!("{} after the last fault, with {}", of.name, status["kv"])
            })?);
        }
        Ok(history)
    }

    fn read_in_the_end(&self, key: u32, visitor: &mut Visitor<'_>) -> anyhow::Result<Operation> {
        let since = self.clock.now();
        loop {
            if let Some(operation) = visitor.read(key, &mut Chance::of(0, 0))? {
                return Ok(operation);
            }
            let waited = LATE.as_secs();
            ensure!(self.clock.now() < since + LATE, "no response within {waited} s: {}", visitor.refusal);
            pause(Duration::from_millis(100));
        }
    }
}

fn judge(run: &mut Run, history: &[Operation], stores: &Stores) {
    for operation in history {
        run.count(match &operation.did {
            Did::Put(_, Outcome::Acknowledged(_)) => "writes acknowledged",
            Did::Delete(Outcome::Acknowledged(_)) => "deletes acknowledged",
            Did::Put(_, Outcome::Refused) | Did::Delete(Outcome::Refused) => "writes refused",
            Did::Put(_, Outcome::Unknown) | Did::Delete(Outcome::Unknown) => "writes without an answer",
            Did::Read(_) => "reads answered",
        });
    }
    for found in audit(history, stores) {
        let mut text = format!("{}: {}", found.kind, describe(&history[found.at]));
        if let Some(against) = found.against {
            text += &format!("\n    against {}", describe(&history[against]));
        }
        run.violate(kind(found.kind), text);
    }
    let acknowledged = run.counted("writes acknowledged") + run.counted("deletes acknowledged");
    if acknowledged < LEAST_WRITES || run.counted("reads answered") < LEAST_READS {
        run.invalid = Some(format!("only {acknowledged} writes were acknowledged"));
    }
}

fn well_until(faults: &[Fault]) -> u64 {
    let apart = faults.iter().filter(|fault| !matches!(fault.what, What::Clock(..)));
    apart.map(|fault| fault.from.as_nanos()).min().and_then(|at| u64::try_from(at).ok()).unwrap_or(u64::MAX)
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Lost => "lost acknowledged writes",
        Kind::Resurrected => "resurrected deletes",
        Kind::Stale | Kind::TooOld => "reads older than promised",
        _ => "others",
    }
}

fn describe(operation: &Operation) -> String {
    let Operation { key, centre, life, sent, answered, did } = operation;
    let s = |nanos: u64| Duration::from_nanos(nanos).as_secs_f64();
    let life = life.map_or_else(String::new, |life| format!(", life {}", life / 2));
    format!("k{key} in {}{life}, {:.3}-{:.3} s: {did:?}", CENTRES[*centre].name, s(*sent), s(*answered))
}

fn network(place: &Place, folder: &Path, store: &str, hash: &str) -> String {
    let disk = |name: &str| format!("disk = \"{}/cache-{name}\"\ndisk_size = \"100MB\"\n", folder.display());
    place.tables("", |centre| disk(centre.name))
        + &format!(
            "[[zone]]\nname = \"all\"\nhosts = [\"*\"]\norigin = [\"http://{}\"]\n\
             [kv]\nlisten = [\"127.0.0.1:4490\"]\nstore = {store}\n\
             [[kv.namespace]]\nname = \"faults\"\ntokens = [\"{hash}\"]\n",
            ORIGIN.1
        )
}

const LASTS: Duration = Duration::from_secs(4);
const VISITORS: usize = 2;
const KEYS: u64 = 6;
const SOON: Duration = Duration::from_secs(2);
const LATE: Duration = Duration::from_secs(20);
const LEAST_WRITES: u64 = 10;
const LEAST_READS: u64 = 30;
