//! Why a connection is as fast as it is: what limits it, what says so, and the one change that would help.
//!
//! - [`Observer`]: start here. Looks at connections for a while, and changes nothing.
//! - [`judge`]: what follows from what it saw. Pure.
//!
//! A connection is judged from this end. The kernel counts for how long a sender was busy, and for how much of that the peer's
//! window or its own send buffer held it; what held it for the rest, and what held a receiver, is told by the looks in
//! between. Inside: `figures` are what follows from the looks alone, and `held` divides a sender's time. `sender`, `receiver`,
//! `network` and `state` decide what limits; `limit` has a file for each: how it is recognised, its sentence and its advice.

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

/// What was seen of a network namespace.
#[derive(Debug, Clone, Default)]
pub struct Observation {
    /// The kernel.
    pub kernel: Option<Version>,
    /// The namespace's settings.
    pub settings: Settings,
    /// The connections that were asked for.
    pub connections: Vec<Seen>,
    /// How many source ports each destination takes.
    pub ports: Vec<PortUse>,
    /// The sockets that wait for connections.
    pub listeners: Vec<Listener>,
    /// How many of the connections that were asked for have ended and wait for a minute (`TIME_WAIT`).
    pub ended: u64,
}

/// A connection, and what was seen of it.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Looks at it, the first at the beginning, the last at the end. At least one.
    pub looks: Vec<Look>,
    /// Whether it had gone before the end.
    pub has_closed: bool,
    /// The process that has it open; none if we may not see it.
    pub process: Option<Process>,
    /// What its program chose; none if we may not see it.
    pub chosen: Option<Chosen>,
}

/// A connection at one moment.
#[derive(Debug, Clone)]
pub struct Look {
    /// When, since the observation began.
    pub at: Duration,
    /// What the kernel told.
    pub socket: Socket,
    /// Of a subflow: what the kernel told of its MPTCP connection.
    pub multipath: Option<Multipath>,
}

/// Which end of the transfer this host is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// More bytes left than came.
    Sender,
    /// More bytes came than left.
    Receiver,
    /// No byte moved.
    Neither,
}

/// What was found of a connection.
pub type Finding = crate::finding::Finding<Kind>;

/// Why a connection is as fast as it is.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Explanation {
    /// This end; with the port `*` for all connections to one destination.
    pub local: String,
    /// The other end.
    pub remote: String,
    /// What limits it.
    pub limit: Limit,
    /// Why, what says so, and what would help.
    #[serde(flatten)]
    pub finding: Finding,
    /// For which share of the time it limits, by the kernel's times and the looks. Absent where it is not a matter of time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_share: Option<f64>,
    /// What its time went to. Absent for source ports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shares: Option<Shares>,
    /// What else was found.
    pub also: Vec<Finding>,
    /// Which end this is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Its state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// Whether it had gone before the end of the observation.
    pub has_closed: bool,
    /// Whether it is a subflow of an MPTCP connection, of which the windows and buffers are then.
    pub is_subflow: bool,
    /// The process that has it open. Absent: we may not see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The process's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// The user whose it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<u32>,
    /// How long it was looked at, s; of one that closed at once, how long it was ever busy.
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
    /// The least round-trip time of the last minutes, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rtt_ms: Option<f64>,
    /// Its congestion control.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// What this kernel does not tell, and from which release on kernels do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

impl Explanation {
    /// Of what is not one connection that was looked at: a listener, or the ports to one destination.
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

/// A limit, what the time went to, and what was found: the first finding is why.
struct Verdict {
    role: Role,
    limit: Limit,
    /// For which share of the time, if that is known.
    limit_share: Option<f64>,
    shares: Shares,
    findings: Vec<Finding>,
}

/// What a connection is judged by.
struct Case<'a> {
    seen: &'a Seen,
    figures: Figures<'a>,
    around: &'a Observation,
    surroundings: &'a Surroundings,
    others: Others,
}

/// Says why each connection is as fast as it is; those that moved the most bytes come first.
pub fn judge(observation: &Observation) -> Vec<Explanation> {
    let surroundings = Surroundings::of(observation);
    let connections = observation.connections.iter();
    let mut all: Vec<_> = connections.filter_map(|seen| explain(seen, observation, &surroundings)).collect();
    all.extend(ports::judge(observation));
    all.extend(listener::judge(observation));
    let moved = |each: &Explanation| each.bytes_sent + each.bytes_received;
    all.sort_by(|a, b| (moved(b), &a.local, &a.remote).cmp(&(moved(a), &b.local, &b.remote)));
    // Source ports and listeners concern every connection to come; they have no time of their own.
    all.sort_by_key(|each| each.shares.is_some());
    all
}

/// None for a socket of which the kernel tells nothing, as one that is not a connection yet.
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
        // One that no process has open any more has no user either.
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
            // No byte moved, and none waits to be moved.
            Role::Neither => self.at_rest(Limit::Idle, idle::finding(&self.figures)),
        }
    }

    /// What is said where its state says it, and no division of time.
    fn at_rest(&self, limit: Limit, finding: Finding) -> Verdict {
        Verdict {
            role: self.figures.role(),
            limit,
            limit_share: None,
            shares: Shares { sender_application: 1.0, ..Shares::default() },
            findings: vec![finding],
        }
    }

    /// The socket that listens at this end of the connection.
    fn listener(&self) -> Option<&Listener> {
        let local = self.figures.socket.local;
        self.around.listeners.iter().find(|listener| Listener::takes(listener.local, local))
    }

    /// The process that has it open, as a sentence names it.
    fn program(&self) -> String {
        self.program_or("the program")
    }

    /// The same at the beginning of a sentence.
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
