//! Explains the speed of a connection: the limiting factor, the evidence for it, and the one change that
//! would help.
//!
//! - [`Observer`]: start here. Observes connections for a while, and changes nothing.
//! - [`judge`]: the conclusions from an observation. Pure.
//!
//! A connection is judged from this end. The kernel counts for how long a sender was busy, and for
//! which part of that time the peer's window or the send buffer limited it.

mod ceiling;
mod evidence;
mod figures;
mod held;
mod kind;
mod limit;
mod listener;
mod network;
mod observe;
mod options;
mod others;
mod ports;
mod receiver;
mod sender;
mod shares;
mod state;
mod text;

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use self::{
    figures::Figures,
    limit::idle,
    others::{Others, Surroundings},
};
pub use self::{
    kind::Kind,
    limit::Limit,
    listener::{Listener, Queue},
    observe::{End, Filter, Observer},
    options::Chosen,
    ports::PortUse,
    shares::Shares,
};
use crate::{
    Process,
    diag::{Multipath, Socket, State},
    kernel::Version,
    settings::Settings,
};

/// An observation of a network namespace.
#[derive(Debug, Clone, Default)]
pub struct Observation {
    /// The kernel.
    pub kernel: Option<Version>,
    /// The namespace's settings.
    pub settings: Settings,
    /// The selected connections.
    pub connections: Vec<Seen>,
    /// Number of source ports in use for each destination.
    pub ports: Vec<PortUse>,
    /// The listening sockets.
    pub listeners: Vec<Listener>,
    /// Number of selected connections that are in `TIME_WAIT`.
    pub ended: u64,
}

/// A connection with its samples.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Samples, the first at the beginning, the last at the end. At least one.
    pub looks: Vec<Look>,
    /// Whether it closed before the end.
    pub has_closed: bool,
    /// The process that has it open; `None` if it is inaccessible.
    pub process: Option<Process>,
    /// The socket options of its program; `None` if they are inaccessible.
    pub chosen: Option<Chosen>,
}

/// A sample of a connection.
#[derive(Debug, Clone)]
pub struct Look {
    /// Time since the start of the observation.
    pub at: Duration,
    /// The state of the socket.
    pub socket: Socket,
    /// For a subflow: the state of its MPTCP connection.
    pub multipath: Option<Multipath>,
}

/// The role of this host in the transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// This end sent more bytes than it received.
    Sender,
    /// This end received more bytes than it sent.
    Receiver,
    /// No data was transferred.
    Neither,
}

/// A finding about a connection.
pub type Finding = crate::finding::Finding<Kind>;

/// The explanation of a connection's speed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Explanation {
    /// The local address; with the port `*` for all connections to one destination.
    pub local: String,
    /// The remote address.
    pub remote: String,
    /// The limiting factor.
    pub limit: Limit,
    /// The reason, the evidence, and the advice.
    #[serde(flatten)]
    pub finding: Finding,
    /// The share of the time during which it limits, from the kernel's times and the samples. Absent for
    /// limits that are not times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_share: Option<f64>,
    /// The division of its time. Absent for source ports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shares: Option<Shares>,
    /// Further findings.
    pub also: Vec<Finding>,
    /// The role of this end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Its state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// Whether it closed before the end of the observation.
    pub has_closed: bool,
    /// Whether it is a subflow of an MPTCP connection. Windows and buffers are then those of that connection.
    pub is_subflow: bool,
    /// The process that has it open. Absent if it is inaccessible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The process's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// The user who owns it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<u32>,
    /// Observation time, s; for a connection that closed immediately, its total busy time.
    pub seconds: f64,
    /// Bytes acknowledged by the peer in that time.
    pub bytes_sent: u64,
    /// Bytes received in that time.
    pub bytes_received: u64,
    /// The larger of the two as a rate.
    pub rate_mbps: f64,
    /// Round-trip time, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_ms: Option<f64>,
    /// Minimum round-trip time of the last minutes, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rtt_ms: Option<f64>,
    /// Its congestion control.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// Values that this kernel does not report, with the first release that does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

impl Explanation {
    fn without_connection(local: String, remote: String, limit: Limit, finding: Finding) -> Self {
        Self {
            local,
            remote,
            limit,
            finding,
            limit_share: None,
            shares: None,
            also: Vec::new(),
            role: None,
            state: None,
            has_closed: false,
            is_subflow: false,
            pid: None,
            process: None,
            uid: None,
            seconds: 0.0,
            bytes_sent: 0,
            bytes_received: 0,
            rate_mbps: 0.0,
            rtt_ms: None,
            min_rtt_ms: None,
            congestion: None,
            missing: Vec::new(),
        }
    }
}

struct Verdict {
    role: Role,
    limit: Limit,
    limit_share: Option<f64>,
    shares: Shares,
    findings: Vec<Finding>,
}

struct Case<'a> {
    seen: &'a Seen,
    figures: Figures<'a>,
    around: &'a Observation,
    surroundings: &'a Surroundings,
    others: Others,
}

/// Explains the speed of each connection; connections that moved the most bytes are first.
pub fn judge(observation: &Observation) -> Vec<Explanation> {
    let surroundings = Surroundings::of(observation);
    let connections = observation.connections.iter();
    let mut all: Vec<_> = connections.filter_map(|seen| explain(seen, observation, &surroundings)).collect();
    all.extend(ports::judge(observation));
    all.extend(listener::judge(observation));
    let moved = |each: &Explanation| each.bytes_sent + each.bytes_received;
    all.sort_by(|a, b| (moved(b), &a.local, &a.remote).cmp(&(moved(a), &b.local, &b.remote)));
    all.sort_by_key(|each| each.shares.is_some());
    all
}

/// `None` for a socket without `tcp_info`, such as one that is not a connection yet.
fn explain(seen: &Seen, around: &Observation, surroundings: &Surroundings) -> Option<Explanation> {
    let figures = Figures::of(&seen.looks)?;
    let others = surroundings.senders_beside(&figures);
    let case = Case { seen, figures, around, surroundings, others };
    let verdict = case.verdict();
    let (figures, socket) = (&case.figures, case.figures.socket);
    let mut findings = verdict.findings.into_iter();
    let finding = findings.next()?;
    Some(Explanation {
        local: socket.local.to_string(),
        remote: socket.remote.to_string(),
        limit: verdict.limit,
        finding,
        limit_share: verdict.limit_share,
        shares: Some(verdict.shares),
        also: findings.collect(),
        role: Some(verdict.role),
        state: Some(socket.state),
        has_closed: seen.has_closed,
        is_subflow: socket.mptcp_token.is_some(),
        pid: seen.process.as_ref().map(|process| process.pid),
        process: seen.process.as_ref().map(|process| process.name.clone()),
        // A socket that no process has open has no user either.
        uid: (socket.inode > 0).then_some(socket.uid),
        seconds: figures.seconds,
        bytes_sent: figures.acked(),
        bytes_received: figures.received(),
        rate_mbps: figures.rate() / 1e6,
        rtt_ms: figures.rtt_us().map(|us| f64::from(us) / 1e3),
        min_rtt_ms: figures.min_rtt_us().map(|us| f64::from(us) / 1e3),
        congestion: socket.congestion.clone(),
        missing: figures.missing(),
    })
}

impl Case<'_> {
    fn verdict(&self) -> Verdict {
        if let Some((limit, finding)) = self.state() {
            return self.at_rest(limit, finding);
        }
        match self.figures.role() {
            Role::Sender => self.sender(),
            Role::Receiver => self.receiver(),
            Role::Neither => self.at_rest(Limit::Idle, idle::finding(&self.figures)),
        }
    }

    fn at_rest(&self, limit: Limit, finding: Finding) -> Verdict {
        Verdict {
            role: self.figures.role(),
            limit,
            limit_share: None,
            shares: Shares { sender_application: 1.0, ..Shares::default() },
            findings: vec![finding],
        }
    }

    fn listener(&self) -> Option<&Listener> {
        let local = self.figures.socket.local;
        self.around.listeners.iter().find(|listener| Listener::takes(listener.local, local))
    }

    fn program(&self) -> String {
        self.program_or("the program")
    }

    fn subject(&self) -> String {
        self.program_or("The program")
    }

    fn program_or(&self, unknown: &str) -> String {
        match &self.seen.process {
            Some(Process { pid, name, .. }) => format!("{name} (process {pid})"),
            None => unknown.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests;
