//! A run of the cache: clients in all data centres request objects that change and are purged during the
//! faults.
//!
//! In every fourth run, purges also travel through NATS (if it is installed), whose server can be
//! killed.

mod audit;
mod origin;
mod visitor;

use std::{
    fs,
    path::Path,
    sync::{
        Barrier,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

use anyhow::{Context, anyhow, ensure};
use serde_json::Value;

pub(super) use self::origin::Origin;
use self::{
    audit::{Purge, Visit, has_way},
    visitor::{Purger, Visitor},
};
use super::{
    clock::{Clock, pause},
    cluster::{CENTRES, ORIGIN, Place, longhaul},
    network::Network,
    outcome::{Run, Violation},
    rng::Chance,
    scenarios,
    server::Server,
    timeline::{self, Fault, Kinds},
};

struct Scene<'p> {
    place: &'p Place,
    origin: &'p Origin,
    network: Network<'p>,
    bus: Option<Server<'p>>,
    clock: Clock,
    token: String,
    seed: u64,
    is_over: AtomicBool,
}

#[derive(Default)]
struct Told {
    visits: Vec<Visit>,
    purges: Vec<Purge>,
    wrong: Vec<Violation>,
}

pub(super) fn run(place: &Place, origin: &Origin, seed: u64, clocks: Option<&Path>) -> anyhow::Result<Run> {
    let folder = tempfile::tempdir()?;
    let token: Value = serde_json::from_str(&longhaul(place.program(), &["edge", "token", "--json"])?)?;
    let [token, hash] = ["token", "sha256"].map(|field| token[field].as_str().unwrap_or_default().to_owned());
    let bus = match seed % 4 {
        1 if Server::is_installed() => Some(Server::start(place, 0, folder.path())?),
        _ => None,
    };
    fs::write(folder.path().join("network.toml"), network(place, folder.path(), bus.as_ref(), &hash))?;
    let network = Network::start(place, folder.path(), clocks)?;
    let has_server = bus.is_some();
    let kinds = Kinds { has_clocks: clocks.is_some(), has_disk: false, has_server, has_origin: true };
    let mut faults = timeline::draw(seed, LASTS, kinds);
    let is_over = AtomicBool::new(false);
    let mut scene = Scene { place, origin, network, bus, clock: Clock::start(), token, seed, is_over };
    let before = scene.burst("generic", "before")?;
    scene.clock = Clock::start();
    let mut told = scene.play(&mut faults)?;
    let mut bursts =
        vec![("before the first fault", before), ("after the last one", scene.burst("generic", "after")?)];
    if seed.is_multiple_of(4) {
        scene.agree()?;
        bursts.push(("when all have the same upper tier", scene.burst("smart", "agreed")?));
    }
    told.visits.extend(scene.read_at_end()?);
    let mut run = Run::of(seed, faults);
    for (when, (requests, slowest)) in bursts {
        let is_slow = slowest > A_WHILE;
        run.count(if is_slow { "bursts with a time-out" } else { "bursts" });
        if requests != 1 && !is_slow {
            let text =
                format!("{BURST} concurrent clients, {when}, caused {requests} requests at the origin");
            run.violate("more than one flight", text + "\n" + &scene.network.logs());
        }
    }
    told.judge(&mut run);
    scene.count_on_bus(&mut run)?;
    run.count_many("requests at the origin", origin.take(&format!("/{seed}/")));
    Ok(run)
}

impl Scene<'_> {
    /// Sets the times of the faults to the real ones.
    fn play(&self, faults: &mut Vec<Fault>) -> anyhow::Result<Told> {
        thread::scope(|scope| {
            let visitors: Vec<_> =
                (0..VISITORS * CENTRES.len()).map(|number| scope.spawn(move || self.visit(number))).collect();
            let purger = scope.spawn(|| self.purge());
            let played = scenarios::play(
                faults,
                LASTS,
                (self.place, &self.network, self.clock),
                |begins| self.bus.as_ref().map_or(Ok(()), |server| server.trouble(begins)),
                || {
                    self.is_over.store(true, SeqCst);
                },
            );
            self.is_over.store(true, SeqCst);
            let mut told = Told::default();
            for visitor in visitors {
                let (visits, wrong) = visitor.join().map_err(|_| anyhow!("a visitor panicked"))?;
                told.visits.extend(visits);
                told.wrong.extend(wrong);
            }
            told.purges = purger.join().map_err(|_| anyhow!("who purges panicked"))??;
            *faults = played?;
            Ok(told)
        })
    }

    fn visit(&self, number: usize) -> (Vec<Visit>, Option<Violation>) {
        let mut chance = Chance::of(self.seed, number as u64 + 1);
        let mut visits = Vec::new();
        let mut visit = || {
            let mut visitor = Visitor::of(self, number % CENTRES.len())?;
            while !self.is_over.load(SeqCst) {
                visits.push(visitor.ask(chance.below(OBJECTS))?);
                pause(chance.between(Duration::from_millis(1), Duration::from_millis(25)));
            }
            anyhow::Ok(())
        };
        let wrong = visit().err().map(|why| Violation(format!("{why:#}")));
        (visits, wrong)
    }

    fn purge(&self) -> anyhow::Result<Vec<Purge>> {
        let mut chance = Chance::of(self.seed, 100);
        let mut purges = Vec::new();
        while !self.is_over.load(SeqCst) {
            purges.extend(Purger::of(self, chance.place(CENTRES.len()))?.purge(&mut chance)?);
            pause(chance.between(Duration::from_millis(5), Duration::from_millis(60)));
        }
        Ok(purges)
    }

    fn count_on_bus(&self, run: &mut Run) -> anyhow::Result<()> {
        if self.bus.is_none() {
            return Ok(());
        }
        run.count("runs with NATS");
        for (number, centre) in CENTRES.iter().enumerate() {
            let status = self.network.status(number);
            let status = status.with_context(|| format!("{} does not answer its operator", centre.name))?;
            let taken = status["purges"]["bus"]["taken"].as_u64();
            run.count_many("purges heard of from NATS first", taken.context("there is a bus")?);
        }
        Ok(())
    }

    fn burst(&self, zone: &str, name: &str) -> anyhow::Result<(u64, Duration)> {
        let path = format!("/{}/{name}", self.seed);
        let barrier = Barrier::new(BURST);
        let began = self.clock.now();
        thread::scope(|scope| {
            let visitors: Vec<_> = (0..BURST)
                .map(|number| {
                    let (path, barrier) = (&path, &barrier);
                    scope.spawn(move || {
                        let visitor = Visitor::of(self, number % CENTRES.len());
                        barrier.wait();
                        visitor?.ask_for(zone, path)
                    })
                })
                .collect();
            for visitor in visitors {
                visitor.join().map_err(|_| anyhow!("a visitor panicked"))??;
            }
            anyhow::Ok(())
        })?;
        Ok((self.origin.requests(&path), self.clock.now() - began))
    }

    fn agree(&self) -> anyhow::Result<()> {
        let began = self.clock.now();
        loop {
            let uppers: Vec<Value> = (0..CENTRES.len())
                .map(|centre| {
                    let status = self.network.status(centre).unwrap_or_default();
                    let tiers = status["tiers"].as_array().into_iter().flatten();
                    tiers.filter(|zone| zone["zone"] == "smart").map(|zone| zone["upper"].clone()).collect()
                })
                .collect();
            if uppers.iter().all(|upper| *upper == uppers[0] && upper[0].is_string()) {
                return Ok(());
            }
            let waited = AGREEING.as_secs();
            ensure!(self.clock.now() - began < AGREEING, "after {waited} s upper tiers differ: {uppers:?}");
            pause(Duration::from_millis(200));
        }
    }

    fn read_at_end(&self) -> anyhow::Result<Vec<Visit>> {
        let in_centre = |centre| {
            let mut visitor = Visitor::of(self, centre)?;
            (0..OBJECTS).map(|object| visitor.ask(object)).collect::<anyhow::Result<Vec<_>>>()
        };
        let of = |centre| {
            let joined = thread::scope(|scope| scope.spawn(move || in_centre(centre)).join());
            joined.map_err(|_| anyhow!("a visitor panicked"))?
        };
        let visits: Vec<_> = (0..CENTRES.len()).map(of).collect::<anyhow::Result<_>>()?;
        Ok(visits.concat())
    }
}

impl Told {
    fn judge(self, run: &mut Run) {
        let faults = run.faults.clone();
        for visit in &self.visits {
            let is_failed = visit.came.is_err();
            run.count(match (is_failed, visit.is_one_life) {
                (false, _) => "requests answered",
                (true, false) => "requests failed, to a data centre that was killed or began",
                (true, true) => "requests failed, to one that ran",
            });
            if is_failed && has_way(&faults, visit) {
                run.violate("requests failed though there was a way", describe(visit));
            }
            if let Some(purge) = self.purges.iter().find(|purge| purge.is_broken_by(visit)) {
                let text = format!("{}\n    against {purge:?}", describe(visit));
                run.violate("stale answers after an acknowledged purge", text);
            }
        }
        run.count_many("purges acknowledged", self.purges.len() as u64);
        let acknowledged = self.purges.iter().map(|purge| purge.done_in.len() as u64).sum();
        run.count_many("data centres that have acknowledged them", acknowledged);
        for Violation(text) in self.wrong {
            run.violate("others", text);
        }
        if self.purges.len() < LEAST_PURGES || run.counted("requests answered") < LEAST_REQUESTS {
            run.invalid = Some(format!("only {} purges were acknowledged", self.purges.len()));
        }
    }
}

fn describe(visit: &Visit) -> String {
    let Visit { centre, is_one_life, object, sent, answered, came, how } = visit;
    let life = if *is_one_life { "" } else { ", killed or started meanwhile" };
    let (sent, answered) = (sent.as_secs_f64(), answered.as_secs_f64());
    format!("object {object} in {}{life}, {sent:.3}-{answered:.3} s: {came:?}, {how}", CENTRES[*centre].name)
}

fn network(place: &Place, folder: &Path, bus: Option<&Server<'_>>, hash: &str) -> String {
    let bus = bus.map_or_else(String::new, |server| format!("bus = \"{}\"\n", server.address()));
    let disk = |name: &str| match name {
        "lhr" | "mil" => format!("disk = \"{}/disk-{name}\"\ndisk_size = \"100MB\"\n", folder.display()),
        _ => String::new(),
    };
    let zone = |name: &str, more: &str| {
        format!(
            "[[zone]]\nname = \"{name}\"\nhosts = [\"{name}\"]\norigin = [\"http://{}\"]\nfirst_byte = \"2s\"\n{more}\n\
             [[zone.rule]]\npath = \"/*\"\nedge_ttl = \"1h\"\n",
            ORIGIN.1
        )
    };
    place.tables(&bus, |centre| disk(centre.name))
        + &format!("[admin]\ntokens = [\"{hash}\"]\n")
        + &zone("smart", "tiers = \"smart\"\nregional = true")
        + &zone("generic", "tiers = \"generic\"")
}

const LASTS: Duration = Duration::from_secs(4);
const VISITORS: usize = 2;
const BURST: usize = 16;
const OBJECTS: u64 = 12;
/// Choices are announced every five seconds, and a data centre in the minority adopts the majority's choice
/// after 30 s.
const AGREEING: Duration = Duration::from_secs(50);
/// Longer than a request takes without faults, shorter than any timeout of the data centres.
const A_WHILE: Duration = Duration::from_secs(1);
const LEAST_PURGES: usize = 3;
const LEAST_REQUESTS: u64 = 100;
