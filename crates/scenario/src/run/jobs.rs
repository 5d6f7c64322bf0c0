//! The command lines of a plan, and the files that they write.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    plan::{Ping, Plan, Probe, Transfer},
    program::Job,
};

/// Where a run's files are.
pub(crate) struct Folder<'f>(pub(crate) &'f Path);

impl Folder<'_> {
    /// Output of programs.
    pub(crate) fn logs(&self) -> PathBuf {
        self.0.join("logs")
    }

    /// What a probe recorded.
    pub(crate) fn probe(&self, probe: &Probe) -> PathBuf {
        self.0.join(format!("{}-from-{}.jsonl", probe.side, probe.host))
    }

    /// What a transfer came to.
    pub(crate) fn transfer(&self, transfer: &Transfer) -> PathBuf {
        self.0.join(format!("transfer-{}.json", transfer_name(transfer)))
    }

    /// What pings recorded.
    pub(crate) fn pings(&self, ping: &Ping) -> PathBuf {
        self.0.join(format!("ping-{}-from-{}.jsonl", ping.side, ping.host))
    }

    /// The programs, in the plan's order.
    pub(crate) fn programs(&self, plan: &Plan) -> Vec<Job> {
        let job = |(index, program): (usize, &crate::plan::Program)| Job {
            host: program.host.clone(),
            command: program.command.clone(),
            log: self.log(&format!("{}-{}", program.host, index + 1)),
            result: None,
        };
        plan.programs.iter().enumerate().map(job).collect()
    }

    /// What measures requests and transfers, from when it is started.
    pub(crate) fn measurements(&self, plan: &Plan) -> Vec<Job> {
        let probes = plan.probes.iter().map(|probe| self.probe_job(probe));
        let transfers = plan.transfers.iter().map(|transfer| self.transfer_job(transfer));
        probes.chain(transfers).collect()
    }

    fn probe_job(&self, probe: &Probe) -> Job {
        let mut command = words(&["longhaul", "probe", &probe.url, "--quiet", "--label", &probe.side]);
        command.extend(words(&["--output", &self.probe(probe).to_string_lossy()]));
        command.extend(probe.arguments.iter().cloned());
        let log = self.log(&format!("probe-{}-from-{}", probe.side, probe.host));
        Job { host: probe.host.clone(), command, log, result: None }
    }

    fn transfer_job(&self, transfer: &Transfer) -> Job {
        let server = format!("{}:{}", transfer.to, transfer.port);
        let duration = units::duration::show(transfer.duration);
        let mut command = words(&["longhaul", "transfer", "send", &server, "--for", &duration, "--json"]);
        command.extend(transfer.is_mptcp.then(|| "--mptcp".to_owned()));
        command.extend(transfer.congestion.iter().flat_map(|name| words(&["--congestion", name])));
        let log = self.log(&format!("transfer-{}", transfer_name(transfer)));
        Job { host: transfer.from.clone(), command, log, result: Some(self.transfer(transfer)) }
    }

    /// Pings that begin after a delay. By addresses: hundreds of hosts that look up hundreds of names keep a small machine busy for a minute.
    pub(crate) fn ping(&self, ping: &Ping, delay: Duration) -> Job {
        let mut command = words(&["longhaul", "ping", "--delay", &units::duration::show(delay)]);
        command.extend(ping.targets.iter().map(|target| target.address.to_string()));
        let [interval, timeout] = [ping.interval, ping.timeout].map(units::duration::show);
        command.extend(words(&["--count", &ping.count.to_string(), "--interval", &interval]));
        command.extend(words(&[
            "--timeout",
            &timeout,
            "--quiet",
            "--label",
            &ping.side,
            "--output",
            &self.pings(ping).to_string_lossy(),
        ]));
        let log = self.log(&format!("ping-{}-from-{}", ping.side, ping.host));
        Job { host: ping.host.clone(), command, log, result: None }
    }

    fn log(&self, name: &str) -> PathBuf {
        self.logs().join(format!("{name}.log"))
    }
}

fn transfer_name(transfer: &Transfer) -> String {
    format!("{}-from-{}-to-{}", transfer.side, transfer.from, transfer.to)
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}
