//! Compares the error that a planet reports with an independent measurement of datagrams, under
//! disturbances.
//!
//! `cargo test --release -p longhaul two_hundred -- --ignored --nocapture` runs all of them many
//! times and prints a table.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use claim::{Index, Service, Span, WAITS};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use statistics::Distribution;

use crate::harness::{Folder, Planet, Running, World, longhaul, wait_until};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Trouble {
    Nothing,
    /// The planet's process is stopped repeatedly, for 1 to 200 ms.
    Stops,
    Hogs(usize),
    Memory,
    Frozen,
}

struct Trial {
    n: usize,
    /// Datagrams whose delay is within the reported error.
    covered: f64,
    /// By figure: its deviation and the reported maximum error, in ms.
    figures: [(&'static str, f64, f64); 4],
}

impl Trial {
    fn is_within(&self) -> bool {
        self.figures.iter().all(|&(_, off, stated)| is_at_most(off, stated))
    }
}

/// Tolerates sums that were added in another order.
fn is_at_most(off_ms: f64, stated_ms: f64) -> bool {
    off_ms <= stated_ms + 1e-9
}

const COUNT: usize = 400;
const ONE_WAY_MS: f64 = 5.0;

fn trial(trouble: Trouble, seed: u64) -> Trial {
    let planet = World::named(&format!("witness-{seed}"))
        .host("a", "london")
        .host("b", "paris")
        .link("london", "paris", "rtt = \"10ms\"")
        .up();
    let port = (20_000 + seed % 10_000).to_string();
    let witness = witness();
    let receiver = planet
        .command("b", &[&witness, "receive", &port, &COUNT.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until(|| {
        planet
            .exec("b", &["cat", "/proc/net/udp"])
            .stdout
            .contains(&format!("{:04X}", port.parse::<u16>().unwrap()))
    });
    let mut sender = Running::start(
        &mut planet.command("a", &[&witness, "send", &format!("b:{port}"), &COUNT.to_string(), "5000"]),
    );
    make(trouble, &planet, &port, seed, &mut sender);
    let lines = String::from_utf8(receiver.wait_with_output().unwrap().stdout).unwrap();
    judge(&planet, &port, &lines)
}

#[expect(clippy::disallowed_methods, reason = "trouble has its times")]
fn make(trouble: Trouble, planet: &Planet, port: &str, seed: u64, sender: &mut Running) {
    let process = planet::Planet::find(Some(planet.name())).unwrap().pid();
    let target = match trouble {
        Trouble::Stops => Some(process),
        Trouble::Frozen => receiver(port),
        _ => None,
    };
    let mut helpers: Vec<Child> = match trouble {
        Trouble::Hogs(count) => (0..count).map(|_| shell("while :; do :; done")).collect(),
        Trouble::Memory => vec![shell("head -c 3000000000 /dev/zero | tail -c 2900000000 > /dev/null")],
        _ => Vec::new(),
    };
    let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut draw = |most: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        Duration::from_millis(1 + random % most)
    };
    if trouble == Trouble::Frozen {
        std::thread::sleep(Duration::from_millis(200));
    }
    while !sender.has_ended() {
        std::thread::sleep(draw(300));
        if let Some(target) = target {
            let _ = kill(Pid::from_raw(target), Signal::SIGSTOP);
            std::thread::sleep(draw(200));
            let _ = kill(Pid::from_raw(target), Signal::SIGCONT);
        }
    }
    for helper in &mut helpers {
        let _ = helper.kill();
        let _ = helper.wait();
    }
}

fn shell(program: &str) -> Child {
    Command::new("sh").args(["-c", &format!("exec 2>/dev/null; {program}")]).spawn().unwrap()
}

/// Of the witness, not of the program that started it in its host.
fn receiver(port: &str) -> Option<i32> {
    let is_it = |process: &Path| {
        let words = fs::read(process.join("cmdline")).unwrap_or_default();
        let words: Vec<_> = words.split(|&byte| byte == 0).collect();
        words.len() > 2
            && words[0].ends_with(b"witness")
            && words[1] == b"receive"
            && words[2] == port.as_bytes()
    };
    let found = fs::read_dir("/proc").unwrap().flatten().find(|process| is_it(&process.path()))?;
    found.file_name().to_str()?.parse().ok()
}

fn judge(planet: &Planet, port: &str, lines: &str) -> Trial {
    let journal = planet::Planet::find(Some(planet.name())).unwrap().journal().unwrap();
    let service = Service { protocol: 17, port: port.parse().unwrap() };
    let index = Index::from(journal);
    // A datagram without a reply: the way back takes no time.
    let route = index.route("a", Some("b"), Some(service), [5_000_000, 0]);
    let stamps: Vec<[u64; 2]> = lines
        .lines()
        .map(|line| {
            let (sent, arrived) = line.split_once(' ').unwrap();
            [sent, arrived].map(|stamp| stamp.parse().unwrap())
        })
        .collect();
    let span = |value_ms, sent, arrived| {
        let mut waits_ns = [[0; 2]; WAITS];
        waits_ns[0] = [sent, arrived];
        Span { value_ms, least_ms: ONE_WAY_MS, whole_ns: [sent, arrived], waits_ns }
    };
    let ms = |ns: u64| Duration::from_nanos(ns).as_secs_f64() * 1e3;
    let delays: Vec<f64> = stamps.iter().map(|[sent, arrived]| ms(arrived - sent)).collect();
    let samples: Vec<_> =
        delays.iter().zip(&stamps).map(|(&delay, &[sent, arrived])| span(delay, sent, arrived)).collect();
    let errors = route.bounds_ms(&samples);
    let covered =
        delays.iter().zip(&errors).filter(|&(delay, error)| is_at_most(delay - ONE_WAY_MS, *error)).count();
    let with = Distribution::new(delays.clone()).unwrap();
    let without =
        Distribution::new(delays.iter().zip(&errors).map(|(delay, error)| delay - error).collect()).unwrap();
    let figure = |name, value: fn(&Distribution) -> f64| {
        (name, value(&with) - ONE_WAY_MS, value(&with) - value(&without))
    };
    Trial {
        n: delays.len(),
        covered: covered as f64 / delays.len() as f64,
        figures: [
            figure("mean", Distribution::mean),
            figure("p50", |all| all.quantile(0.5)),
            figure("p99", |all| all.quantile(0.99)),
            figure("max", Distribution::max),
        ],
    }
}

fn witness() -> String {
    let test = std::env::current_exe().unwrap();
    let path: PathBuf = test.parent().unwrap().parent().unwrap().join("examples/witness");
    assert!(path.exists(), "{} is built by `cargo test`", path.display());
    path.display().to_string()
}

const RUNS: u64 = 29;

const TROUBLES: [Trouble; 7] = [
    Trouble::Nothing,
    Trouble::Stops,
    Trouble::Hogs(1),
    Trouble::Hogs(4),
    Trouble::Hogs(8),
    Trouble::Memory,
    Trouble::Frozen,
];

#[test]
fn the_truth_lies_within_the_stated_error() {
    for (seed, trouble) in (1..).zip([Trouble::Nothing, Trouble::Stops, Trouble::Hogs(4), Trouble::Frozen]) {
        let trial = trial(trouble, seed);
        assert!(trial.n > COUNT * 9 / 10, "{trouble:?}: {} datagrams arrived", trial.n);
        let said = format!("{trouble:?}: {:?}, {} of the datagrams", trial.figures, trial.covered);
        // The planet cannot observe everything that delays single datagrams.
        assert!(trial.covered > 0.95, "{said}");
        assert!(trial.figures[..2].iter().all(|&(_, off, stated)| is_at_most(off * 0.98, stated)), "{said}");
        assert!(trial.figures[2..].iter().all(|(_, off, stated)| off * 0.9 <= *stated), "{said}");
        let (_, off, stated) = trial.figures[3];
        let is_troubled = matches!(trouble, Trouble::Stops | Trouble::Frozen);
        assert!(!is_troubled || off > 10.0 && stated > 10.0, "{trouble:?}: {:?}", trial.figures);
    }
}

const TWICE: &str = "[scenario]\ntitle = 'the same twice'\n\
     [[host]]\nname = 'a'\ncity = 'london'\n[[host]]\nname = 'b'\ncity = 'paris'\n\
     [[link]]\nbetween = ['london', 'paris']\nrtt = '10ms'\n\
     [[program]]\nhost = 'b'\nready = 80\nrun = ['longhaul', 'serve', '--listen', '0.0.0.0:80']\n\
     [[probe]]\nside = 'one'\nfrom = ['a']\nurl = 'http://b/'\nrate = '50/s'\nduration = '3s'\n";

#[test]
fn the_same_scenario_twice_has_no_difference_beyond_the_error() {
    let folder = Folder::new();
    let file = folder.file("twice.toml", TWICE);
    let recordings = ["first", "second"].map(|name| {
        let out = folder.path(name);
        longhaul(&["run", &file, "--out", out.to_str().unwrap(), "--json"]).measured();
        format!("{name}={}", out.join("one-from-a.jsonl").display())
    });
    let comparison = longhaul(&["compare", &recordings[0], &recordings[1], "--json"]).measured();
    for side in comparison["sides"].as_array().unwrap() {
        assert!(side["own_error_ms"]["expected_request"].as_f64().unwrap() > 0.0, "{side}");
    }
    let headline = comparison["verdict"]["headline"].as_str().unwrap();
    assert!(headline.starts_with("There is no difference beyond the emulator's own error"), "{headline}");
}

#[test]
#[ignore = "takes a quarter of an hour"]
fn two_hundred_runs() {
    println!(
        "| trouble | runs | all figures within | figures within | datagrams within | mean off, stated | p50 | p99 | max |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for (number, trouble) in (0_u64..).zip(TROUBLES) {
        let trials: Vec<Trial> = (0..RUNS).map(|run| trial(trouble, 1000 + number * 100 + run)).collect();
        let within = trials.iter().filter(|trial| trial.is_within()).count();
        let figures = trials
            .iter()
            .flat_map(|trial| trial.figures)
            .filter(|&(_, off, stated)| is_at_most(off, stated))
            .count();
        let covered = trials.iter().map(|trial| trial.covered).sum::<f64>() / trials.len() as f64;
        let median = |pick: &dyn Fn(&Trial) -> f64| {
            Distribution::new(trials.iter().map(pick).collect()).unwrap().quantile(0.5)
        };
        let cells = [0, 1, 2, 3].map(|figure| {
            let [off, stated] =
                [median(&|trial| trial.figures[figure].1), median(&|trial| trial.figures[figure].2)];
            format!("{off:.3}, {stated:.3}")
        });
        let (runs, covered) = (trials.len(), covered * 100.0);
        println!("| {trouble:?} | {runs} | {within} | {figures} | {covered:.2} % | {} |", cells.join(" | "));
    }
}
