//! Throughput of the reader and its sender over loopback, compared with iperf3.

use std::process::Command;

use super::{
    admit, alone, cost,
    oscil::{Recording, Sender, reader},
};
use crate::bench::{iperf, row};

pub(in crate::bench) fn bench() -> anyhow::Result<()> {
    alone(|| {
        let (mut ours, mut theirs, mut doubts) = (Side::default(), Side::default(), Vec::new());
        for _ in 0..PAIRS {
            let run = || iperf::run(&here, &here, "127.0.0.1", &["-t", SECONDS])?.bits_per_second();
            theirs.add(cost::of(run)?);
            let (recording, cost) = cost::of(our_run)?;
            doubts.extend(recording.doubts());
            ours.add((recording.bits_per_second()?, cost));
        }
        let ratios = std::iter::zip(&ours.speeds, &theirs.speeds).map(|(our, their)| our / their).collect();
        row("oscil serve and read, loopback", ">= 20 Gbit/s", "Gbit/s", ours.speeds);
        row("iperf3, loopback", "", "Gbit/s", theirs.speeds);
        row("oscil / iperf3, interleaved pairs", ">= 1", "", ratios);
        row("oscil: processor time of both ends for a gigabyte", "", "s", ours.costs);
        row("iperf3: processor time of both ends for a gigabyte", "", "s", theirs.costs);
        admit(&doubts);
        Ok(())
    })
}

#[derive(Default)]
struct Side {
    speeds: Vec<f64>,
    costs: Vec<f64>,
}

impl Side {
    fn add(&mut self, (bits_per_second, cost): (f64, cost::Cost)) {
        self.speeds.push(bits_per_second / 1e9);
        let seconds: f64 = SECONDS.parse().expect("a number");
        self.costs.push(cost.processor_s / (bits_per_second * seconds / 8e9));
    }
}

fn our_run() -> anyhow::Result<Recording> {
    let sender = Sender::start(&[])?;
    Recording::of(reader(here(), &sender.address, &["--for", &format!("{SECONDS}s")]))
}

fn here() -> Command {
    Command::new("env")
}

const PAIRS: usize = 5;
const SECONDS: &str = "5";
