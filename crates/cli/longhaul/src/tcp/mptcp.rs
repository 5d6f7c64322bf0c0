//! `longhaul tcp mptcp`: reports which Multipath TCP connections lack a second subflow, and why.

use std::{fmt::Write, os::fd::AsFd, process::ExitCode};

use clap::Args;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use tcp::mptcp::{Audit, Auditor, Connection, Filter, State};
use units::show::bytes;

use super::finding;
use crate::{
    interrupt::Interrupt,
    output::{self, GREEN, YELLOW, paint},
};

/// Report which Multipath TCP connections lack a second subflow, and why
///
/// Inspects the connections of its network namespace and changes nothing. Exits with 0 if every connection
/// has a second subflow, 1 if one lacks it or there is no connection, 2 on errors. See docs/mptcp.md.
///
/// The kernel's counters are totals of all connections. With --watch, the counts of a connection that opens
/// meanwhile start with it.
///
/// Examples: longhaul tcp mptcp --port 443, longhaul lab exec phone -- longhaul tcp mptcp --watch
#[derive(Debug, Args)]
pub(crate) struct Mptcp {
    /// Only connections of this process
    #[arg(long, value_name = "PID")]
    pid: Option<u32>,
    /// Only connections with this port at either end
    #[arg(long)]
    port: Option<u16>,
    /// Repeat each second, until Ctrl-C
    #[arg(long)]
    watch: bool,
    /// Print JSON: an object; with --watch one per line
    #[arg(long)]
    json: bool,
}

impl Mptcp {
    pub(crate) fn run(&self) -> anyhow::Result<ExitCode> {
        let interrupted = Interrupt::listen()?.descriptor()?;
        let mut auditor = Auditor::new(Filter { pid: self.pid, port: self.port });
        let mut audit = auditor.look()?;
        self.print(&audit, true)?;
        while self.watch && output::has_reader() {
            let mut asked = [PollFd::new(interrupted.as_fd(), PollFlags::POLLIN)];
            if poll(&mut asked, PollTimeout::from(BETWEEN_LOOKS))? > 0 {
                break;
            }
            audit = auditor.look()?;
            self.print(&audit, false)?;
        }
        Ok(if audit.is_well() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn print(&self, audit: &Audit, is_first: bool) -> anyhow::Result<()> {
        match (self.json, self.watch) {
            (true, false) => output::print_json(audit),
            (true, true) => output::print(&(serde_json::to_string(audit)? + "\n")),
            (false, false) => output::print(&show(audit)),
            (false, true) => output::print_again(&show(audit), is_first),
        }
    }
}

fn show(audit: &Audit) -> String {
    let mut text = String::new();
    for connection in &audit.connections {
        show_connection(&mut text, connection);
    }
    text + &summary(audit)
}

fn show_connection(text: &mut String, connection: &Connection) {
    let Connection { local, remote, bytes_sent, bytes_received, .. } = connection;
    let _ = writeln!(
        text,
        "{local} to {remote}  {} sent, {} received",
        bytes(*bytes_sent),
        bytes(*bytes_received)
    );
    for subflow in &connection.subflows {
        let device = subflow.device.as_deref().unwrap_or("-");
        let backup = if subflow.is_backup { ", backup" } else { "" };
        let state = state(subflow.state);
        let _ = writeln!(text, "  {device:6} {} to {}  {state}{backup}", subflow.local, subflow.remote);
    }
    let word = if connection.has_second { paint("ok", GREEN) } else { paint("one path", YELLOW) };
    let Some(finding) = &connection.finding else {
        let _ = writeln!(text, "  {word}");
        return;
    };
    let _ = writeln!(text, "  {word}: {}", finding.sentence);
    finding::details(text, finding);
}

fn summary(audit: &Audit) -> String {
    let all = audit.connections.len();
    if all > 0 {
        let well = audit.connections.iter().filter(|connection| connection.has_second).count();
        return format!("{well} of {all} MPTCP connections with a second subflow\n");
    }
    let plain = audit.plain_tcp;
    if !audit.is_enabled {
        return "no MPTCP connection: MPTCP is switched off here\n    change: sysctl net.mptcp.enabled=1\n"
            .to_owned();
    }
    format!(
        "no MPTCP connection; {plain} of plain TCP\n    change: let the program use MPTCP: mptcpize run PROGRAM, or \
         IPPROTO_MPTCP when it opens its socket\n"
    )
}

fn state(state: State) -> &'static str {
    match state {
        State::Established => "established",
        State::SynSent => "waits for an answer",
        State::SynReceived => "opening",
        State::Closing => "closing",
    }
}

const BETWEEN_LOOKS: u16 = 1000;
