//! Benchmarks of `longhaul probe`: maximum load compared with oha and wrk on the same nginx, added latency,
//! and whether the open loop shows a stall.

mod nginx;

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    process::Command,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use nix::sys::signal::Signal;
use serde_json::Value;

use self::nginx::Nginx;
use super::{
    program::{Run, Running, is_installed, longhaul, run},
    row,
};

pub(super) fn load() -> anyhow::Result<()> {
    let nginx = Nginx::start()?;
    let folder = tempfile::tempdir()?;
    let recording = folder.path().join("recording.jsonl").display().to_string();
    let url = format!("http://{}/", nginx.address);
    let connections = CONNECTIONS.to_string();
    let seconds = format!("{SECONDS}s");
    let peers = [
        ("oha", vec!["-c", &connections, "-z", &seconds, "--no-tui", "--output-format", "json", &url]),
        ("wrk", vec!["-t", "1", "-c", &connections, "-d", &seconds, &url]),
    ];
    let (mut ours, mut ours_cpu) = (Vec::new(), Vec::new());
    let mut theirs = peers.each_ref().map(|(name, arguments)| Theirs::of(name, arguments));
    for _ in 0..PAIRS {
        let arguments = ["probe", &url, "--concurrency", &connections, "--connections", "reuse"];
        let more = ["--protocol", "http1", "--duration", &seconds, "--json", "-o", &recording];
        let done = run(longhaul().args(arguments).args(more))?;
        let summary: Value = serde_json::from_str(&done.output).context("longhaul printed no JSON")?;
        ensure!(summary["errors"] == 0, "requests failed: {summary}");
        let rate = number(&summary, "/n")? / number(&summary, "/duration_s")?;
        ours.push(rate);
        ours_cpu.push(done.cpu_us / number(&summary, "/n")?);
        for peer in &mut theirs {
            peer.measure(rate)?;
        }
    }
    row("probe, HTTP/1.1, 50 connections, each request recorded to disk", "-", "requests/s", ours);
    row("its processor time", "-", "us a request", ours_cpu);
    for Theirs { name, is_there, rates, ratios, cpu, .. } in theirs {
        if !is_there {
            println!("| {name} doing the same | - | 0 | not measured: it is not installed | | |");
            continue;
        }
        let goal = if name == "oha" { ">= 1" } else { ">= 0.8" };
        row(&format!("{name}, which records nothing"), "-", "requests/s", rates);
        row("its processor time", "-", "us a request", cpu);
        row(&format!("probe / {name}"), goal, "x", ratios);
    }
    Ok(())
}

struct Theirs<'t> {
    name: &'t str,
    arguments: &'t [&'t str],
    is_there: bool,
    rates: Vec<f64>,
    ratios: Vec<f64>,
    cpu: Vec<f64>,
}

impl<'t> Theirs<'t> {
    fn of(name: &'t str, arguments: &'t [&'t str]) -> Self {
        let is_there = is_installed(name);
        Self { name, arguments, is_there, rates: Vec::new(), ratios: Vec::new(), cpu: Vec::new() }
    }

    fn measure(&mut self, ours: f64) -> anyhow::Result<()> {
        if !self.is_there {
            return Ok(());
        }
        let Run { output, cpu_us } = run(Command::new(self.name).args(self.arguments))?;
        let rate = match self.name {
            "oha" => number(&serde_json::from_str(&output)?, "/summary/requestsPerSec")?,
            _ => {
                let line = output.lines().find_map(|line| line.trim().strip_prefix("Requests/sec:"));
                line.context("wrk printed no rate")?.trim().parse()?
            }
        };
        self.rates.push(rate);
        self.ratios.push(ours / rate);
        self.cpu.push(cpu_us / (rate * SECONDS));
        Ok(())
    }
}

pub(super) fn added() -> anyhow::Result<()> {
    let nginx = Nginx::start()?;
    let url = format!("http://{}/", nginx.address);
    let (mut probes, mut sockets, mut added) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        let arguments =
            ["probe", &url, "--rate", "200/s", "--count", "1000", "--connections", "reuse", "--json"];
        let summary: Value = serde_json::from_str(&run(longhaul().args(arguments))?.output)?;
        let probe = number(&summary, "/phases/total/percentiles_ms/50")? * 1e3;
        let socket = bare_socket(nginx.address)?;
        probes.push(probe);
        sockets.push(socket);
        added.push(probe - socket);
    }
    row("a request of the probe over loopback, p50 of 1000 at 200/s", "-", "us", probes);
    row("the same by a blocking socket", "-", "us", sockets);
    row("what the probe adds", "<= 60", "us", added);
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn bare_socket(server: SocketAddr) -> anyhow::Result<f64> {
    let mut stream = TcpStream::connect(server)?;
    stream.set_nodelay(true)?;
    let request = format!("GET / HTTP/1.1\r\nhost: {server}\r\n\r\n");
    let mut response = [0; 16 << 10];
    let mut times = Vec::new();
    for _ in 0..1000 {
        thread::sleep(Duration::from_millis(5));
        let start = Instant::now();
        stream.write_all(request.as_bytes())?;
        // The response is one kilobyte, which nginx sends with a single write.
        ensure!(stream.read(&mut response)? > 1000, "a part of a response");
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

/// The length of the stop determines which fraction of an open loop's requests waits how long.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
pub(super) fn stall() -> anyhow::Result<()> {
    let (mut ratios, mut closed) = (Vec::new(), Vec::new());
    for _ in 0..STALLS {
        let (server, said) = Running::saying(longhaul().args(["serve", "--listen", "127.0.0.1:0"]))?;
        let url = said.rsplit(' ').next().context("serve named no URL")?.to_owned();
        let run = |pace: &[&'static str]| {
            let mut command = longhaul();
            command.args(["probe", &url, "--duration", "20s", "--connections", "reuse", "--json"]).args(pace);
            thread::spawn(move || run(&mut command))
        };
        let (open, loops) = (run(&["--rate", "500/s"]), run(&["--concurrency", "1"]));
        thread::sleep(Duration::from_secs(5));
        let stopped = Instant::now();
        server.signal(Signal::SIGSTOP)?;
        thread::sleep(Duration::from_millis(1400));
        server.signal(Signal::SIGCONT)?;
        let stop_ms = stopped.elapsed().as_secs_f64() * 1e3;
        let p99 = |thread: thread::JoinHandle<anyhow::Result<Run>>| -> anyhow::Result<f64> {
            let done = thread.join().map_err(|_| anyhow::anyhow!("a run panicked"))??;
            let summary: Value = serde_json::from_str(&done.output)?;
            let over = if summary["phases"]["response"].is_object() { "response" } else { "total" };
            number(&summary, &format!("/phases/{over}/percentiles_ms/99"))
        };
        let expected = stop_ms - 0.01 * 20_000.0;
        ratios.push(p99(open)? / expected);
        closed.push(p99(loops)?);
    }
    row(
        "p99 of an open loop in 20 s, of which the server stands still for 1.4 / the analytic value",
        "0.98 to 1.02",
        "x",
        ratios,
    );
    row("p99 of a closed loop at the same time", "-", "ms", closed);
    Ok(())
}

fn number(json: &Value, path: &str) -> anyhow::Result<f64> {
    json.pointer(path).and_then(Value::as_f64).with_context(|| format!("no number at {path} in {json}"))
}

const CONNECTIONS: u32 = 50;

const SECONDS: f64 = 4.0;

const PAIRS: usize = 7;

const STALLS: usize = 3;
