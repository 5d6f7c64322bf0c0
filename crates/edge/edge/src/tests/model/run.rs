//! Runs sequences concurrently and shortens those in which a client received something that the
//! model forbids.

use std::{
    collections::BTreeMap,
    env,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::{task::JoinHandle, time::sleep};

use super::{
    clients::{Raw, received},
    origin::{Urls, lock, now},
    plan::{self, Client, Sequence, Step},
    random::Random,
    rfc9111::{self, Fields, Received, Source},
    topology::{Arm, path},
};

/// Injected between an edge and its clients to verify that the model detects it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    AnotherResponse,
    AnotherCookie,
    AnotherBody,
    AnotherField,
}

#[derive(Debug, Clone, Default)]
struct Outcome {
    requests: usize,
    purges: usize,
    reused: usize,
    planted: usize,
    found: usize,
    violations: Vec<String>,
}

struct Run {
    arm: Arc<Arm>,
    number: usize,
    urls: Urls,
    sequence: Sequence,
    fault: Fault,
    random: Random,
    last: Option<Received>,
    outcome: Outcome,
}

pub(super) async fn check(arm: Arm, fault: Fault) {
    let arm = Arc::new(arm);
    let number = |name: &str| env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let all = number("MODEL_STEPS").unwrap_or(STEPS);
    let wanted = usize::try_from(if fault == Fault::None { all / 3 } else { 3000 }).unwrap();
    let (alone, is_long) = (number("MODEL_SEED"), number("MODEL_STEPS").is_some());
    let (mut total, mut seed, mut discarded) =
        (Outcome::default(), alone.or_else(|| number("MODEL_FIRST")).unwrap_or(FIRST_SEED), 0);
    let mut classes: BTreeMap<String, (usize, u64, String, String)> = BTreeMap::new();
    while total.requests + total.purges < wanted {
        let seeds: Vec<_> = (seed..seed + alone.map_or(SEQUENCES, |_| 1)).collect();
        seed += SEQUENCES;
        let made = |&seed: &u64| plan::sequence(seed, arm.listeners.len(), arm.wide());
        let Some((outcomes, lines)) = batch(&arm, seeds.iter().map(made).collect(), fault).await else {
            discarded += seeds.len();
            assert!(discarded < MOST_DISCARDED, "the machine has no time for the edge");
            continue;
        };
        for ((outcome, seed), lines) in outcomes.into_iter().zip(&seeds).zip(lines) {
            total.requests += outcome.requests;
            total.purges += outcome.purges;
            total.reused += outcome.reused;
            total.planted += outcome.planted;
            total.found += outcome.found;
            if alone.is_some() {
                println!("{lines}");
            }
            // The order of overlapping responses is checked only in long runs: a fill in flight may
            // still be stored when a newer response arrives.
            let is_judged = |violation: &String| is_long || !violation.contains("is newer");
            for violation in outcome.violations.into_iter().filter(is_judged) {
                if is_long {
                    println!("MODEL_SEED={seed}: {violation}");
                }
                classes.entry(class(&violation)).or_insert((0, *seed, violation, lines.clone())).0 += 1;
            }
        }
        if is_long {
            let found = classes.values().map(|(count, ..)| count).sum::<usize>();
            println!("up to seed {seed}: {} steps, {found} violations", total.requests + total.purges);
        }
        if alone.is_some() || classes.values().map(|(count, ..)| count).sum::<usize>() > ENOUGH {
            break;
        }
    }
    let Outcome { requests, purges, reused, planted, found, .. } = total;
    println!(
        "{:?} {fault:?}: {requests} requests, {purges} purges, {reused} responses from the cache; {discarded} sequences discarded",
        arm.kind
    );
    if fault != Fault::None {
        assert!(planted > 100 && found * 3 > planted, "{found} of {planted} planted faults are found");
        return;
    }
    let mut report = String::new();
    let shortened: Vec<_> = classes
        .into_iter()
        .map(|(class, (count, seed, violation, lines))| {
            let (arm, sequence) = (Arc::clone(&arm), plan::sequence(seed, arm.listeners.len(), arm.wide()));
            let shortest = tokio::spawn(async move {
                if is_long { shorten(&arm, sequence, &class, lines).await } else { String::new() }
            });
            (
                format!(
                    "
== {count} times, first with MODEL_SEED={seed}: {violation}
"
                ),
                shortest,
            )
        })
        .collect();
    for (line, shortest) in shortened {
        report += &line;
        report += &shortest.await.unwrap();
    }
    assert!(report.is_empty(), "{:?}: clients received what the model forbids{report}", arm.kind);
    assert!(alone.is_some() || reused * 20 > requests, "{reused} of {requests} responses are from the cache");
}

/// `None` if the process was suspended for so long that edge timeouts may have expired: the model
/// covers only freshness lifetimes.
async fn batch(
    arm: &Arc<Arm>,
    sequences: Vec<Sequence>,
    fault: Fault,
) -> Option<(Vec<Outcome>, Vec<String>)> {
    let longest = Pulse::begin();
    let phases = sequences.iter().map(Vec::len).max().unwrap_or(0);
    let begin = |sequence: Sequence| {
        let number = usize::try_from(arm.origin.next()).unwrap();
        let urls = arm.origin.begin(number, arm.obeys_requests());
        let (arm, random, outcome) = (Arc::clone(arm), Random::new(number as u64), Outcome::default());
        Run { arm, number, urls, sequence, fault, random, last: None, outcome }
    };
    let mut runs: Vec<_> = sequences.into_iter().map(begin).collect();
    for phase in 0..phases {
        let going: Vec<_> = runs
            .into_iter()
            .map(|mut run| {
                tokio::spawn(async move {
                    run.phase(phase).await;
                    run
                })
            })
            .collect();
        runs = Vec::new();
        for run in going {
            runs.push(run.await.unwrap());
        }
        // Wait for the next second, the unit of lifetimes, and for background work.
        let left = 1_000_000_000 - now() % 1_000_000_000;
        sleep(Duration::from_nanos(left) + SETTLING).await;
        let end = now();
        for url in runs.iter().flat_map(|run| run.urls.iter()) {
            let mut url = lock(url);
            url.history.phases.push(end);
            url.line(|| "  a second later".into());
        }
    }
    let end = |run: Run| {
        arm.origin.end(run.number);
        let lines = run
            .urls
            .iter()
            .enumerate()
            .map(|(number, url)| format!("  URL {number}:\n{}\n", lock(url).lines.join("\n")));
        (run.outcome, lines.collect())
    };
    let ended = runs.into_iter().map(end).unzip();
    (longest.pause() < STANDSTILL).then_some(ended)
}

struct Pulse {
    longest: Arc<AtomicU64>,
    task: JoinHandle<()>,
}

impl Pulse {
    fn begin() -> Self {
        let longest = Arc::<AtomicU64>::default();
        let noted = Arc::clone(&longest);
        let task = tokio::spawn(async move {
            loop {
                let before = now();
                sleep(BEAT).await;
                noted.fetch_max(now().saturating_sub(before), Relaxed);
            }
        });
        Self { longest, task }
    }

    fn pause(self) -> Duration {
        self.task.abort();
        Duration::from_nanos(self.longest.load(Relaxed))
    }
}

async fn shorten(arm: &Arc<Arm>, mut sequence: Sequence, class: &str, lines: String) -> String {
    let mut report = format!("  it did not happen again\n{lines}");
    let mut candidates = vec![sequence.clone()];
    for _ in 0..ROUNDS {
        let Some((outcomes, lines)) = batch(arm, candidates.clone(), Fault::None).await else { continue };
        let failing = outcomes.iter().zip(lines).zip(candidates).filter(|((outcome, _), _)| {
            outcome.violations.iter().any(|violation| self::class(violation) == class)
        });
        let shortest =
            failing.min_by_key(|(_, candidate)| candidate.iter().flatten().map(Step::count).sum::<usize>());
        let Some(((outcome, lines), shorter)) = shortest else { break };
        sequence = shorter;
        candidates = plan::simpler(&sequence);
        candidates.truncate(MOST_CANDIDATES);
        report = format!("{}\n{lines}", outcome.violations.join("\n"));
    }
    report
}

fn class(violation: &str) -> String {
    let unquoted = violation.split('"').step_by(2);
    unquoted.flat_map(str::chars).filter(|letter| !letter.is_ascii_digit()).collect()
}

impl Run {
    async fn phase(&mut self, phase: usize) {
        let steps = self.sequence.get(phase).cloned().unwrap_or_default();
        for step in steps {
            match step {
                Step::Requests { url, plan, clients } => {
                    lock(&self.urls[url]).plan = plan;
                    self.requests(url, clients).await;
                }
                Step::Purge { url, centre, is_hard, by } => {
                    let began = now();
                    self.arm.purge(centre, self.number, url, by, is_hard).await;
                    let purge = rfc9111::Purge { is_hard, began, ended: now() };
                    for (number, purged) in self.urls.iter().enumerate() {
                        if by == plan::By::Prefix || number == url {
                            let mut purged = lock(purged);
                            purged.line(|| format!("  purge by {by:?}, hard: {is_hard}"));
                            purged.history.purges.push(purge);
                        }
                    }
                    self.outcome.purges += 1;
                }
            }
        }
    }

    async fn requests(&mut self, url: usize, clients: Vec<Client>) {
        let mut going = Vec::new();
        for client in clients {
            let (arm, urls, path) = (Arc::clone(&self.arm), Arc::clone(&self.urls), path(self.number, url));
            let id = arm.origin.next();
            let fields = client.fields(id, &lock(&urls[url]));
            let mut effective = fields.clone();
            // Product decision: end-to-end fields remain and apply even if `Connection` nominates
            // them.
            if let Some(nominated) = client.nominated.filter(|name| *name == "x-dev") {
                effective.remove(nominated);
            }
            lock(&urls[url]).history.request(rfc9111::Request {
                id,
                method: client.method,
                fields: effective,
                has_body: client.has_body,
                centre: 1 << client.centre,
                began: now(),
                ended: None,
            });
            going.push(tokio::spawn(async move {
                let raw =
                    arm.connections.exchange(arm.listeners[client.centre], &client, &path, &fields).await;
                let received =
                    raw.as_ref().and_then(|raw| raw.fields.iter().find(|(name, _)| name == "x-serial"));
                let serial = received.and_then(|(_, serial)| serial.parse().ok());
                lock(&urls[url]).history.request_ended(id, (now(), serial));
                (id, client, fields, raw)
            }));
        }
        for going in going {
            let (id, client, fields, raw) = going.await.unwrap();
            self.outcome.requests += 1;
            self.judge(url, id, (&client, &fields), raw.as_ref());
        }
        let altered = std::mem::take(&mut lock(&self.urls[url]).altered);
        self.outcome.violations.extend(altered);
    }

    fn judge(&mut self, url: usize, id: u64, (client, asked): (&Client, &Fields), raw: Option<&Raw>) {
        let urls = Arc::clone(&self.urls);
        let mut url = lock(&urls[url]);
        let Some(raw) = raw else {
            // An HTTP/2 client may lose the header of a response if the stream is reset.
            if client.version == 20 && url.plan.breaks_off {
                return;
            }
            self.outcome.violations.push(format!("request {id} had no response"));
            url.line(|| format!("  request {id}: {} -> nothing", client.text()));
            return;
        };
        let of =
            |name: &str| raw.fields.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone());
        let cacheable = received(raw, client.method, asked, &url).and_then(|mut received| {
            let is_planted = self.fault != Fault::None && self.random.one_in(4) && self.plant(&mut received);
            let cacheable = url.history.judge(id, &received);
            self.outcome.planted += usize::from(is_planted);
            self.outcome.found += usize::from(is_planted && cacheable.is_err());
            self.last = Some(received);
            cacheable
        });
        self.outcome.reused += usize::from(cacheable == Ok(Source::Cache));
        url.line(|| {
            let told = of("cache-status").unwrap_or_default();
            let length = raw.body.len();
            let fields: Vec<_> = ["x-serial", "x-extra", "set-cookie", "etag", "age", "content-range"]
                .into_iter()
                .filter_map(|name| of(name).map(|value| format!("{name}: {value}")))
                .collect();
            format!(
                "  request {id}: {} {asked:?}\n    -> {} {fields:?} {length} bytes, {told}: {cacheable:?}",
                client.text(),
                raw.status
            )
        });
        if matches!(raw.status, 200 | 206) {
            if let Some(tag) = of("etag") {
                url.seen.0 = Some(tag);
            }
            if let Some(modified) = of("last-modified") {
                url.seen.1 = Some(modified);
            }
        }
        if let Err(why) = cacheable {
            self.outcome.violations.push(format!("request {id} received {why}"));
        }
    }

    fn plant(&self, received: &mut Received) -> bool {
        let Some(last) = &self.last else { return false };
        let before = received.clone();
        match self.fault {
            Fault::None => {}
            Fault::AnotherResponse => *received = last.clone(),
            Fault::AnotherCookie => received.cookie = last.serial,
            Fault::AnotherBody if received.representation.is_some() => {
                (received.representation, received.blocks) = (last.representation, last.blocks);
            }
            Fault::AnotherBody => {}
            Fault::AnotherField => received.extra = last.serial,
        }
        received.serial.is_some() && *received != before
    }
}

const STEPS: u64 = 9000;
const FIRST_SEED: u64 = 1;
const SEQUENCES: u64 = 100;
const SETTLING: Duration = Duration::from_millis(100);
/// Far below the edge's timeouts for origins and other data centres.
const STANDSTILL: Duration = Duration::from_secs(3);
const BEAT: Duration = Duration::from_millis(20);
const MOST_DISCARDED: usize = 100_000;
const ENOUGH: usize = 1000;
const ROUNDS: usize = 30;
const MOST_CANDIDATES: usize = 300;
