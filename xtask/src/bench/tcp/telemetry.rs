//! Overhead of repeated observation of a busy connection.
//!
//! The processor time of the main thread is therefore the overhead of sampling in the shipped
//! program.

use std::{
    fs,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::Context;

use super::{
    alone, cost,
    oscil::{Recording, Sender, reader},
};
use crate::bench::row;

pub(in crate::bench) fn bench() -> anyhow::Result<()> {
    alone(|| {
        for (load, arguments) in [("as fast as it can", &[][..]), ("at 1 Gbit/s", PACED)] {
            for (interval, goal) in [("10ms", "< 2 %"), ("100ms", "")] {
                let (mut shares, mut looks) = (Vec::new(), Vec::new());
                for _ in 0..RUNS {
                    let sender = Sender::start(arguments)?;
                    let (share, recording) = watched(&sender.address, interval)?;
                    shares.push(share * 100.0);
                    looks.push(recording.looks_made()? * 100.0);
                }
                let what = format!("a sample every {interval} of a connection {load}");
                row(&format!("{what}, of one core"), goal, "%", shares);
                row(&format!("{what}, samples taken"), "", "%", looks);
            }
        }
        let mut shares = Vec::new();
        let sender = Sender::start(PACED)?;
        for _ in 0..RUNS {
            let [often, seldom] = [process(&sender.address, "10ms")?, process(&sender.address, "1s")?];
            shares.push((often - seldom) * 100.0);
        }
        row(
            "oscil read at 1 Gbit/s, process: interval 10 ms minus interval 1 s, of one core",
            "< 2 %",
            "%",
            shares,
        );
        Ok(())
    })
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn watched(address: &str, interval: &str) -> anyhow::Result<(f64, Recording)> {
    let mut reader = reader(Command::new("env"), address, &["--for", "12s", "--interval", interval]);
    let reader =
        reader.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().context("cannot run longhaul")?;
    let processor = || processor_time(reader.id());
    // The recording has started by then. The last second is left for the reader to finish.
    thread::sleep(Duration::from_secs(1));
    let (start, before) = (Instant::now(), processor()?);
    thread::sleep(Duration::from_secs(10));
    let (length, after) = (start.elapsed(), processor()?);
    let recording = Recording::parse(&reader.wait_with_output()?.stdout)?;
    Ok(((after - before).as_secs_f64() / length.as_secs_f64(), recording))
}

fn processor_time(process: u32) -> anyhow::Result<Duration> {
    let path = format!("/proc/{process}/task/{process}/schedstat");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    let nanos = text.split_whitespace().next().and_then(|word| word.parse().ok());
    nanos.map(Duration::from_nanos).with_context(|| format!("{path} has no time"))
}

fn process(address: &str, interval: &str) -> anyhow::Result<f64> {
    let reader = reader(Command::new("env"), address, &["--for", "10s", "--interval", interval]);
    let (recording, cost) = cost::of(|| Recording::of(reader))?;
    Ok(cost.processor_s / recording.seconds()?)
}

const RUNS: usize = 3;
const PACED: &[&str] = &["--pacing", "1Gbit"];
