//! Time that `tcp explain` needs for ten thousand sockets, without its observation period, compared with a
//! list by `ss`.

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use anyhow::{Context, ensure};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde_json::Value;

use super::{
    alone,
    cost::{self, Cost},
};
use crate::bench::{lab::binary, row};

pub(in crate::bench) fn bench() -> anyhow::Result<()> {
    alone(|| {
        let mut connections = Connections::open()?;
        let (mut text, mut json, mut busy, mut list) = Default::default();
        for _ in 0..RUNS {
            add(&mut text, looked(&[], || Ok(()))?.1);
            add(&mut json, looked(&["--json"], || Ok(()))?.1);
            let (said, cost) = looked(&["--json"], || connections.use_all())?;
            let explained: Vec<Value> = serde_json::from_slice(&said).context("explain gave no JSON")?;
            ensure!(explained.len() == SOCKETS, "{} of {SOCKETS} sockets were explained", explained.len());
            add(&mut busy, cost);
            add(&mut list, cost::of(|| run(Command::new("ss").arg("-tmi")))?.1);
        }
        show(
            &format!("explain, {SOCKETS} idle sockets, without the observation period of 1 s"),
            "< 200 ms",
            text,
        );
        show("the same with --json", "< 200 ms", json);
        show("the same with --json, each has moved 10 kB", "< 200 ms", busy);
        show("ss -tmi lists the same sockets", "", list);
        Ok(())
    })
}

type Costs = [Vec<f64>; 2];

fn add([walls, processors]: &mut Costs, Cost { seconds, processor_s }: Cost) {
    walls.push(seconds * 1e3);
    processors.push(processor_s * 1e3);
}

fn show(what: &str, goal: &str, [walls, processors]: Costs) {
    row(&format!("{what}: time"), goal, "ms", walls);
    row(&format!("{what}: processor time"), "", "ms", processors);
}

#[expect(clippy::disallowed_methods, reason = "the middle of its looking is a time, not an event")]
fn looked(
    arguments: &[&str],
    meanwhile: impl FnOnce() -> anyhow::Result<()>,
) -> anyhow::Result<(Vec<u8>, Cost)> {
    let mut explain = Command::new(binary());
    explain.args(["tcp", "explain", "--for", "1s"]).args(arguments);
    let (said, cost) = cost::of(|| {
        thread::scope(|scope| {
            let running = scope.spawn(|| run(&mut explain));
            // In the middle of the observation, so that the two snapshots at its ends are not disturbed.
            thread::sleep(Duration::from_millis(400));
            meanwhile()?;
            running.join().expect("no panic")
        })
    })?;
    Ok((said, Cost { seconds: cost.seconds - 1.0, ..cost }))
}

fn run(command: &mut Command) -> anyhow::Result<Vec<u8>> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stderr(Stdio::inherit()).output().with_context(|| format!("cannot run {name}"))?;
    ensure!(output.status.success(), "{name} failed");
    Ok(output.stdout)
}

struct Connections(Vec<[TcpStream; 2]>);

impl Connections {
    fn open() -> anyhow::Result<Self> {
        let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
        setrlimit(Resource::RLIMIT_NOFILE, most, most)?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let pair = |_| Ok([TcpStream::connect(address)?, listener.accept()?.0]);
        let pairs: std::io::Result<_> = (0..SOCKETS / 2).map(pair).collect();
        Ok(Self(pairs.with_context(|| format!("cannot open {SOCKETS} sockets, ulimit -n is {most}"))?))
    }

    fn use_all(&mut self) -> anyhow::Result<()> {
        let mut bytes = [0; 10_000];
        for [near, far] in &mut self.0 {
            near.write_all(&bytes)?;
            far.read_exact(&mut bytes)?;
        }
        Ok(())
    }
}

const SOCKETS: usize = 10_000;
const RUNS: usize = 5;
