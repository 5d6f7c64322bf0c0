//! Tests in the language of varnishtest whose Varnish has no VCL: their servers and clients with the edge between them. Tests that
//! use more of the language than that are counted as skipped.

mod peer;
mod words;

use std::{
    collections::BTreeMap,
    fs,
    net::TcpListener,
    path::Path,
    process::Command,
    sync::{Arc, Mutex},
    thread::{self, JoinHandle},
};

use anyhow::{Context, anyhow, bail, ensure};

use self::{
    peer::{Client, Server},
    words::{Line, lines},
};
use super::servers;
use crate::judge::{Ended, accepts, data_centre, free_port};

enum Outcome {
    Passed,
    Failed(String),
    Skipped(String),
}

pub(super) fn judge(folder: &Path, only: Option<&str>) -> anyhow::Result<()> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .with_context(|| format!("{}: {HOW}", folder.display()))?
        .filter_map(|file| Some(file.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "vtc"))
        .collect();
    files.sort();
    ensure!(!files.is_empty(), "{} has no *.vtc: {HOW}", folder.display());
    let program = servers::program()?;
    let (mut passed, mut skipped, mut explained, mut failed) =
        (0, BTreeMap::<String, usize>::new(), 0, Vec::new());
    for file in &files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if only.is_some_and(|part| !name.contains(part)) {
            continue;
        }
        let text = String::from_utf8_lossy(&fs::read(file)?).into_owned();
        match run(&text, &program)? {
            Outcome::Passed => {
                eprintln!("{name}: passed");
                passed += 1;
            }
            Outcome::Skipped(why) => *skipped.entry(why).or_default() += 1,
            Outcome::Failed(why) => match EXPECTED.iter().find(|(expected, _)| *expected == name) {
                Some((_, reason)) => {
                    eprintln!("{name}: explained: {reason}");
                    explained += 1;
                }
                None => {
                    eprintln!("{name}: failed: {why}");
                    failed.push(name);
                }
            },
        }
    }
    let mut reasons: Vec<_> = skipped.iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    reasons.iter().take(8).for_each(|(why, count)| eprintln!("skipped {count}: {why}"));
    println!(
        "{passed} passed, {explained} explained, {} failed, {} skipped",
        failed.len(),
        skipped.values().sum::<usize>()
    );
    ensure!(failed.is_empty(), "tests fail without an explanation: {}", failed.join(", "));
    Ok(())
}

#[derive(Default)]
struct Stage {
    server: Option<Server>,
    clients: BTreeMap<String, Vec<Line>>,
    running: BTreeMap<String, JoinHandle<Result<(), String>>>,
}

fn run(text: &str, program: &Path) -> anyhow::Result<Outcome> {
    let commands = match lines(text) {
        Ok(commands) => commands,
        Err(why) => return Ok(Outcome::Skipped(why)),
    };
    if let Some(why) = commands.iter().find_map(unsupported) {
        return Ok(Outcome::Skipped(why));
    }
    let is_named = |name: &str| commands.iter().any(|line| line.words[0] == name);
    if !is_named("server") || !is_named("client") || !is_named("varnish") {
        return Ok(Outcome::Skipped("no server, client and varnish".to_owned()));
    }
    let (origin, port) = (TcpListener::bind("127.0.0.1:0")?, free_port()?);
    let folder = tempfile::tempdir()?;
    let network = format!(
        "[network]\nname = \"vtc\"\n[[data_centre]]\nname = \"lhr\"\nlisten = [\"127.0.0.1:{port}\"]\n\
         [[zone]]\nname = \"all\"\nhosts = [\"*\"]\norigin = [\"http://127.0.0.1:{}\"]\n",
        origin.local_addr()?.port()
    );
    let _edge: Ended = data_centre(Command::new(program), folder.path(), &network, &[])?;
    accepts(port)?;
    let requests = peer::requests(origin);
    let mut stage = Stage::default();
    for line in &commands {
        if let Err(why) = stage.perform(line, port, &requests) {
            return Ok(Outcome::Failed(format!("{why:#}")));
        }
    }
    match stage.server.take().map_or(Ok(()), Server::end) {
        Ok(()) => Ok(Outcome::Passed),
        Err(why) => Ok(Outcome::Failed(why)),
    }
}

impl Stage {
    fn perform(
        &mut self,
        line: &Line,
        port: u16,
        requests: &Arc<Mutex<peer::Requests>>,
    ) -> anyhow::Result<()> {
        let [kind, name, options @ ..] = line.words.as_slice() else { return Ok(()) };
        match kind.as_str() {
            "server" => {
                let mut repeat = 1;
                let mut options = options.iter();
                while let Some(option) = options.next() {
                    match option.as_str() {
                        "-repeat" => {
                            repeat = options.next().and_then(|count| count.parse().ok()).unwrap_or(1);
                        }
                        "-wait" => {
                            if let Some(server) = self.server.take() {
                                server.end().map_err(anyhow::Error::msg)?;
                            }
                        }
                        _ => {}
                    }
                }
                if let Some(block) = &line.block {
                    if let Some(server) = self.server.take() {
                        server.end().map_err(anyhow::Error::msg)?;
                    }
                    self.server = Some(Server::start(block.clone(), repeat, Arc::clone(requests)));
                }
            }
            "client" => {
                if let Some(block) = &line.block {
                    self.clients.insert(name.clone(), block.clone());
                }
                let block = self.clients.get(name).cloned().unwrap_or_default();
                let has = |option: &str| options.iter().any(|own| own == option);
                if has("-start") || has("-run") {
                    self.running.insert(name.clone(), thread::spawn(move || Client::run(&block, port)));
                }
                if (has("-run") || has("-wait"))
                    && let Some(running) = self.running.remove(name)
                {
                    let result = running.join().unwrap_or_else(|_| Err("the client panicked".to_owned()));
                    result.map_err(|why| anyhow!("{name}: {why}"))?;
                }
            }
            "varnish" | "varnishtest" | "vtest" => {}
            other => bail!("{other} is not supported"),
        }
        Ok(())
    }
}

fn unsupported(line: &Line) -> Option<String> {
    let [kind, name, options @ ..] = line.words.as_slice() else {
        return Some("an empty command".to_owned());
    };
    let known = |options: &[String], known: &[&str]| {
        let other =
            options.iter().find(|option| option.starts_with('-') && !known.contains(&option.as_str()));
        other.map(|option| format!("{kind} {option}"))
    };
    match kind.as_str() {
        "varnishtest" | "vtest" => None,
        "server" if name != "s1" => Some("more than one server".to_owned()),
        "server" => {
            known(options, &["-start", "-wait", "-repeat", "-keepalive"]).or_else(|| unknown(line, SERVER))
        }
        "client" => known(options, &["-start", "-run", "-wait"]).or_else(|| unknown(line, CLIENT)),
        "varnish" if line.block.as_ref().is_some_and(|block| !block.is_empty()) => Some("VCL".to_owned()),
        "varnish" => known(options, &["-vcl+backend", "-start", "-expect", "-wait", "-stop"]),
        other => Some(other.to_owned()),
    }
}

fn unknown(line: &Line, commands: &[&str]) -> Option<String> {
    let block = line.block.as_ref()?;
    block.iter().find_map(|line| {
        let command = line.words.first()?;
        if !commands.contains(&command.as_str()) {
            return Some(format!("{} {command}", if commands == SERVER { "server" } else { "client" }));
        }
        if command == "expect" && line.words.get(2).is_some_and(|operator| operator.contains('~')) {
            return Some("a regular expression".to_owned());
        }
        // Fields and counters that only Varnish has.
        let own = ["x-varnish", "via", "server", "age", "x-forwarded-for"];
        let is_own = |word: &String| {
            own.iter().any(|name| word.to_ascii_lowercase().ends_with(&format!(".http.{name}")))
        };
        if command == "expect" && line.words.iter().any(is_own) {
            return Some("a field of Varnish itself".to_owned());
        }
        let mut options = line.words[1..].iter().filter(|word| word.starts_with('-') && word.len() > 2);
        let known = |word: &&String| peer::OPTIONS.contains(&word.as_str());
        options.find(|word| command != "expect" && !known(word)).map(|word| format!("{command} {word}"))
    })
}

const SERVER: &[&str] = &["rxreq", "txresp", "expect", "close", "accept", "expect_close"];
const CLIENT: &[&str] = &["txreq", "rxresp", "expect"];

/// Tests of behaviour that Varnish chose, and why the edge does something else.
const EXPECTED: &[(&str, &str)] = &[
    ("c00025", "If-None-Match compares weakly, with Range too (RFC 9110 section 13.1.2)"),
    ("c00135", "no range of an empty body can be satisfied (RFC 9110 section 15.5.17)"),
    ("r01337", "an invalid response of the origin is a 502 (RFC 9110 section 15.6.3)"),
    ("r01826", "a 204 ends with its head, whatever its Content-Length is (RFC 9112 section 6.3)"),
    ("r01843", "a request without a length has no content (RFC 9112 section 6.3)"),
    ("r02617", "2^63 is a valid Content-Length (RFC 9110 section 8.6), and the edge waits for the body"),
    ("r02633", "the connection closes after a 400, so the next request on it gets no response"),
];

const HOW: &str = "--varnishtest needs a folder with *.vtc, such as bin/varnishtest/tests of https://github.com/varnishcache/varnish-cache";
