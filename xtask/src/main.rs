//! Developer tasks. `cargo xtask` lists them.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a developer's tool talks to the terminal")]

mod bench;
mod check;
mod dist;
mod generate;
mod judge;
mod picture;
mod release;
mod smoke;
mod tidy;
mod verify;

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::{Command, ExitCode, Output},
    thread::JoinHandle,
    time::Instant,
};

use anyhow::{Context, anyhow, bail};

use check::Before;
use judge::cache_tests::List;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["check"] => check::check(Before::Pages),
        ["check", "built"] => check::check(Before::Everything),
        ["smoke", program] => smoke::smoke(program),
        ["tidy"] => tidy::tidy(),
        ["generate"] => generate::generate(),
        ["bench", names @ ..] => bench::bench(names),
        ["engine-bench"] => bench::engines(),
        ["header-bench"] => bench::headers(),
        ["tier-bench"] => {
            bench::choice();
            Ok(())
        }
        ["packets", arguments @ ..] => bench::packets(arguments),
        ["judge", "cache-tests"] => judge::cache_tests::judge(List::Compared),
        ["judge", "cache-tests", "write"] => judge::cache_tests::judge(List::Written),
        ["judge", "lint"] => judge::lint::judge(),
        ["judge", "recordings", paths @ ..] => judge::recordings::judge(paths),
        ["judge", "rubric"] => judge::rubric::judge(),
        ["judge", "smuggling"] => judge::smuggling::judge(),
        ["judge", "kv"] => judge::kv::judge(),
        ["judge", "faults", subject, words @ ..] => judge::faults::judge(subject, words),
        ["judge", "kill", kills @ ..] => judge::kill::judge(kills),
        ["judge", "soak", minutes @ ..] => judge::soak::judge(minutes),
        ["judge", "speed", words @ ..] => judge::speed::judge(words),
        ["judge", "wild", words @ ..] => judge::wild::judge(words),
        ["verify", "mutants", words @ ..] => verify::mutants(words),
        ["dist"] => dist::dist(),
        ["picture"] => picture::picture(),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

const USAGE: &str = "\
cargo xtask check            all that `make test` checks: format, tidiness, lints, tests, the page in a browser
cargo xtask check built      the same after `make test` has compiled everything and walked through the pages
cargo xtask smoke PROGRAM    the help of all commands and the commands of the docs, with a program such as target/release/longhaul
cargo xtask tidy             the rules of the house that no compiler knows
cargo xtask generate         write what is generated from the code: JSON schemas and the page's types
cargo xtask bench [NAME...]  measure speed against a peer, and exactness: planet, grid, forms, compare, tcp, headers, kv, speed, tiers; all without one
cargo xtask bench sure [N [PLACE]]  how often a source is called surely different from itself, N times a place
cargo xtask bench sure peers [N]    what ministat, benchstat and scipy (PYTHON=python) say of the same draws
cargo xtask bench power [N [SHAPE]]  how often a side that is slower by so many standard errors is found, beside scipy (PYTHON=python)
cargo xtask bench edge [--rounds N] [--seconds S] [--only SCENARIO,...] [--before PROGRAM]  the edge's processor time a request beside nginx, HAProxy, Varnish, Traffic Server
cargo xtask bench grid --json    the grid of delays, rates and losses as JSON
cargo xtask judge cache-tests [write]  the cache tests of cache-tests.fyi (CACHE_TESTS=their folder), compared with the list of what passes
cargo xtask judge lint       what httplint says of each class of answer, compared with the list of what is known and why
cargo xtask judge recordings [PATH...]  files of every format, or those at PATH: target/debug/longhaul beside a reader in Python; FILE.options has a file's options
cargo xtask judge rubric     10 000 sets of figures of a line: our scores beside those of the package that published the rubric
cargo xtask judge smuggling  messages that two readers take for different ones: how many requests reach an origin, beside nginx and HAProxy
cargo xtask judge kv         workerd, its emulator, wrangler and both SDKs ask a key-value store: what differs from what they are used to
cargo xtask judge faults kv|tiers RUNS [--seed S] [--program FILE] [--json]  data centres on a planet with random faults: what visitors were told has to be what is promised
cargo xtask judge kill [KILLS]  a data centre with a disk is killed under load, 100 times if nothing else is said: no visitor may see a wrong byte
cargo xtask judge soak [MINUTES]  mixed load on a data centre, an hour long if nothing else is said: no request may fail, and memory has to stay as it is
cargo xtask judge speed [PART...] [--only TEXT]  the speed test over links that are known: rate, bloat, loss, browser; of links with TEXT in their name
cargo xtask judge wild [SEED [COUNT]] [--json] [--only TEXT] [--verbose]  the same scripts of requests and answers against the edge, nginx and Varnish (LONGHAUL=another program)
cargo xtask judge wild --wpt DIR | --varnishtest DIR  the HTTP cache tests of the web platform in Chromium; varnishtest's tests without VCL
cargo xtask verify mutants [NAME...] [--program FILE]  scenarios, and copies of them without what they show: the claims that name it must fail there
cargo xtask dist             what is shipped, in target/dist: a static program, a Debian package, manual pages, completions
cargo xtask picture          make the pictures of a report and of a speed test in a browser anew";

/// The top folder of the project.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

/// Runs a program in a folder of the project and fails if it does.
fn run(folder: &str, program: &str, arguments: &[&str]) -> anyhow::Result<()> {
    run_allowing(&[0], folder, program, arguments)
}

/// A program that runs beside others.
struct Beside {
    shown: String,
    output: JoinHandle<io::Result<Output>>,
}

/// Starts a program in a folder of the project. What it writes is shown when it is waited for.
fn beside(folder: &str, program: &str, arguments: &[&str]) -> Beside {
    let shown = format!("{program} {}", arguments.join(" "));
    println!("$ {shown} &");
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root().join(folder));
    Beside { shown, output: std::thread::spawn(move || command.output()) }
}

impl Beside {
    /// Waits for its end, and fails if it did.
    fn wait(self) -> anyhow::Result<()> {
        let Self { shown, output } = self;
        let output = output.join().map_err(|_| anyhow!("the thread of {shown} panicked"))?;
        let output = output.with_context(|| format!("cannot run {shown}"))?;
        println!("$ wait: {shown}");
        io::stdout().write_all(&output.stdout)?;
        io::stderr().write_all(&output.stderr)?;
        if !output.status.success() {
            bail!("failed: {shown}");
        }
        Ok(())
    }
}

/// Runs a program in a folder of the project, says how long it took, and fails unless it ends with one of these exit codes.
#[expect(clippy::disallowed_methods, reason = "a developer wants to know what takes long")]
fn run_allowing(codes: &[i32], folder: &str, program: &str, arguments: &[&str]) -> anyhow::Result<()> {
    let shown = format!("{program} {}", arguments.join(" "));
    println!("$ {shown}");
    let begin = Instant::now();
    let status = Command::new(program)
        .args(arguments)
        .current_dir(root().join(folder))
        .status()
        .with_context(|| format!("cannot run {program}"))?;
    println!("  {} s", begin.elapsed().as_secs());
    if !status.code().is_some_and(|code| codes.contains(&code)) {
        bail!("failed: {shown}");
    }
    Ok(())
}
