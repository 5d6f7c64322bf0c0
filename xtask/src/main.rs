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
        ["tidy", "--lower"] => tidy::lower(),
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
cargo xtask check            run all checks of `make test`: format, tidiness, lints, tests, the page in a browser
cargo xtask check built      the same after `make test` has compiled everything and tested the pages
cargo xtask smoke PROGRAM    run the help of all commands and the commands of the docs with a program such as target/release/longhaul
cargo xtask tidy             check the project rules that the compiler does not check
cargo xtask tidy --lower     record the counts of findings that became lower, in xtask/tidy/ratchet.toml
cargo xtask generate         write the files that are generated from the code: JSON schemas and the page's types
cargo xtask bench [NAME...]  measure speed (compared with a peer) and accuracy: planet, grid, forms, compare, tcp, headers, kv, speed, tiers; all without NAME
cargo xtask bench sure [N [PLACE]]  false positive rate of comparisons: N comparisons of a source with itself per place
cargo xtask bench sure peers [N]    the same for ministat, benchstat and scipy (PYTHON=python) on the same draws
cargo xtask bench power [N [SHAPE]]  detection rate of a slowdown by a number of standard errors, compared with scipy (PYTHON=python)
cargo xtask bench edge [--rounds N] [--seconds S] [--only SCENARIO,...] [--before PROGRAM]  the edge's processor time per request, compared with nginx, HAProxy, Varnish, Traffic Server
cargo xtask bench grid --json    the grid of delays, rates and losses as JSON
cargo xtask judge cache-tests [write]  the tests of cache-tests.fyi (CACHE_TESTS=their folder), compared with the committed list of passing tests
cargo xtask judge lint       check each class of responses with httplint, and compare with the committed list of known notes
cargo xtask judge recordings [PATH...]  files of every format, or files at PATH: compare target/debug/longhaul with a reader in Python; FILE.options contains options for FILE
cargo xtask judge rubric     10 000 sets of figures: compare our scores with the npm package of the published rubric
cargo xtask judge smuggling  ambiguous messages: number of requests that reach an origin, compared with nginx and HAProxy
cargo xtask judge kv         run workerd, its emulator, wrangler and both SDKs against a key-value store, and list unexpected results
cargo xtask judge faults kv|tiers RUNS [--seed S] [--program FILE] [--json]  data centres on a planet with random faults: check the responses against the documented guarantees
cargo xtask judge kill [KILLS]  kill a data centre with a disk under load, 100 times by default: no client may receive a wrong byte
cargo xtask judge soak [MINUTES]  mixed load on a data centre, for an hour by default: no request may fail, and memory must not grow
cargo xtask judge speed [PART...] [--only TEXT]  the speed test over known links: rate, bloat, loss, browser; only links with TEXT in their name
cargo xtask judge wild [SEED [COUNT]] [--json] [--only TEXT] [--verbose]  the same scripts of requests and responses against the edge, nginx and Varnish (LONGHAUL=another program)
cargo xtask judge wild --wpt DIR | --varnishtest DIR  the HTTP cache tests of the web platform in Chromium; varnishtest's tests without VCL
cargo xtask verify mutants [NAME...] [--program FILE]  run scenarios, and copies without the feature that they demonstrate: the named claims must fail there
cargo xtask dist             build the release files in target/dist: a static program, a Debian package, manual pages, completions
cargo xtask picture          rewrite the screenshots of a report and of a speed test";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

fn run(folder: &str, program: &str, arguments: &[&str]) -> anyhow::Result<()> {
    run_allowing(&[0], folder, program, arguments)
}

struct Beside {
    shown: String,
    output: JoinHandle<io::Result<Output>>,
}

fn beside(folder: &str, program: &str, arguments: &[&str]) -> Beside {
    let shown = format!("{program} {}", arguments.join(" "));
    println!("$ {shown} &");
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root().join(folder));
    Beside { shown, output: std::thread::spawn(move || command.output()) }
}

impl Beside {
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

/// Fails unless the exit code is one of `codes`.
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
