//! The command lines of a plan, and the files that they write.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use units::Bytes;

use crate::{
    plan::{self, OUT, Ping, Plan, Probe, Transfer},
    program::Job,
};

/// Something that measures: its job, when it begins, and how it may end.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measurement {
    /// Whose it is.
    pub side: String,
    /// The side whose measurements end before this one begins.
    pub after: Option<String>,
    /// What is to be started.
    pub job: Job,
    /// Exit codes with which it has measured.
    pub codes: Vec<u8>,
    /// How long it may take; `None` if it ends by itself.
    pub timeout: Option<Duration>,
}

impl Measurement {
    /// One of ours, which begins at once. 1 is a result that is not good; it is read and says why.
    fn ours(side: &str, job: Job) -> Self {
        Self { side: side.to_owned(), after: None, job, codes: vec![0, 1], timeout: None }
    }
}

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

    /// What a command printed.
    pub(crate) fn command(&self, command: &plan::Command) -> PathBuf {
        self.0.join(format!("command-{}-from-{}.json", command.side, command.host))
    }

    /// The programs, in the plan's order.
    pub(crate) fn programs(&self, plan: &Plan) -> Vec<Job> {
        let job = |(index, program): (usize, &plan::Program)| Job {
            host: program.host.clone(),
            command: self.placed(&program.command),
            log: self.log(&format!("{}-{}", program.host, index + 1)),
            log_limit: plan.log_limit,
            result: None,
        };
        plan.programs.iter().enumerate().map(job).collect()
    }

    /// What measures, from when it is started. All but pings.
    pub(crate) fn measurements(&self, plan: &Plan) -> Vec<Measurement> {
        let most = plan.log_limit;
        let probes = plan.probes.iter().map(|probe| self.probe_job(probe, most));
        let transfers = plan.transfers.iter().map(|transfer| self.transfer_job(transfer, most));
        let commands = plan.commands.iter().map(|command| self.command_job(command, most));
        probes.chain(transfers).chain(commands).collect()
    }

    fn probe_job(&self, probe: &Probe, log_limit: Bytes) -> Measurement {
        let mut command = words(&["longhaul", "probe", &probe.url, "--quiet", "--label", &probe.side]);
        command.extend(words(&["--output", &self.probe(probe).to_string_lossy()]));
        command.extend(probe.arguments.iter().cloned());
        let log = self.log(&format!("probe-{}-from-{}", probe.side, probe.host));
        Measurement::ours(
            &probe.side,
            Job { host: probe.host.clone(), command, log, log_limit, result: None },
        )
    }

    fn transfer_job(&self, transfer: &Transfer, log_limit: Bytes) -> Measurement {
        let server = format!("{}:{}", transfer.to, transfer.port);
        let mut command = words(&["longhaul", "transfer", "send", &server, "--json"]);
        command.extend(match transfer.bytes {
            Some(bytes) => words(&["--bytes", &bytes.to_string()]),
            None => words(&["--for", &units::duration::show(transfer.duration)]),
        });
        let options = [
            ("--omit", transfer.omit.map(units::duration::show)),
            ("--congestion", transfer.congestion.clone()),
            ("--notsent-lowat", transfer.notsent_lowat.map(|most| most.to_string())),
        ];
        for (flag, value) in options {
            command.extend(value.iter().flat_map(|value| words(&[flag, value])));
        }
        command.extend(transfer.is_mptcp.then(|| "--mptcp".to_owned()));
        let log = self.log(&format!("transfer-{}", transfer_name(transfer)));
        let result = Some((self.transfer(transfer), LARGEST_SUMMARY));
        let job = Job { host: transfer.from.clone(), command, log, log_limit, result };
        Measurement { after: transfer.after.clone(), ..Measurement::ours(&transfer.side, job) }
    }

    fn command_job(&self, command: &plan::Command, log_limit: Bytes) -> Measurement {
        let log = self.log(&format!("command-{}-from-{}", command.side, command.host));
        let job = Job {
            host: command.host.clone(),
            command: self.placed(&command.command),
            log,
            log_limit,
            result: Some((self.command(command), command.limit)),
        };
        Measurement {
            side: command.side.clone(),
            after: command.after.clone(),
            job,
            codes: command.codes.clone(),
            timeout: Some(command.timeout),
        }
    }

    /// Pings that begin after a delay. By addresses: hundreds of hosts that look up hundreds of names keep a small machine busy for a minute.
    pub(crate) fn ping(&self, ping: &Ping, delay: Duration, log_limit: Bytes) -> Measurement {
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
        Measurement::ours(&ping.side, Job { host: ping.host.clone(), command, log, log_limit, result: None })
    }

    /// A command line that knows where this folder is.
    fn placed(&self, command: &[String]) -> Vec<String> {
        let out = std::path::absolute(self.0).unwrap_or_else(|_| self.0.to_owned());
        command.iter().map(|word| word.replace(OUT, &out.to_string_lossy())).collect()
    }

    fn log(&self, name: &str) -> PathBuf {
        self.logs().join(format!("{name}.log"))
    }
}

/// What a transfer prints has at most 65 536 intervals of a few dozen bytes.
const LARGEST_SUMMARY: Bytes = Bytes(16_000_000);

fn transfer_name(transfer: &Transfer) -> String {
    format!("{}-from-{}-to-{}", transfer.side, transfer.from, transfer.to)
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}
