//! Why a connection has no second subflow, or what the second is not good for: one sentence, the evidence, one remedy.
//!
//! Pure. Causes are looked for in the order of a connection's life: the first packet, this end's limits and addresses, the
//! packets that join, what the peer said to them. The first that the evidence supports is the answer.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Endpoint, Origin, Purpose, State, Subflow, Surroundings, sockets::SeenConnection};

/// What keeps a connection from a second subflow, or the second from being of use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The connection is not established yet, or closing.
    NotEstablished,
    /// The kernel sent plain TCP, since MPTCP had failed shortly before.
    Paused,
    /// The first packet had to be sent again, without MPTCP.
    OptionDropped,
    /// The peer answered the first packet without MPTCP.
    PeerWithoutMptcp,
    /// What the peer received was not what was sent.
    DataChanged,
    /// The connection became plain TCP for a reason that no counter tells.
    FellBack,
    /// This end admits no further subflow.
    NoSubflowsAdmitted,
    /// The peer announced an address, and this end accepts none.
    AnnouncementRefused,
    /// The peer opened the connection, and opens the subflows.
    PeerOpens,
    /// Joins of the peer had a token that is not known here.
    UnknownToken,
    /// Joins could not be proved to belong to the connection.
    JoinForged,
    /// This end has no second address.
    NoSecondAddress,
    /// There is a second address, and MPTCP may not use it.
    NoEndpoint,
    /// MPTCP may use an address that this end does not have.
    EndpointWithoutAddress,
    /// This end could not send a join.
    JoinNotSent,
    /// A join was sent, and nothing came back.
    JoinUnanswered,
    /// Joins were sent and refused.
    JoinRefused,
    /// A join was answered, and its subflow has gone.
    SubflowLost,
    /// There are endpoints, and none was tried.
    NotTried,
    /// The second subflow carries data only when the first has gone.
    OnlyBackup,
    /// The subflows leave by the same device to the same address.
    SamePath,
}

/// A cause with its evidence and its remedy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    /// Which.
    pub cause: Cause,
    /// The cause as a sentence.
    pub why: String,
    /// What was seen that says so. Counters are those of the whole namespace.
    pub evidence: Vec<String>,
    /// The one change that would help.
    pub remedy: String,
}

/// Why a connection has one subflow at most.
pub(super) fn of_one(connection: &SeenConnection, subflows: &[Subflow], around: &Surroundings) -> Finding {
    let case = Case { connection, subflows, around };
    if connection.is_fallback {
        return case.fallback();
    }
    if connection.state != State::Established {
        return finding(
            Cause::NotEstablished,
            "the connection is not established yet, or closing",
            vec![format!("its state is {:?}", connection.state)],
            "look again",
        );
    }
    case.limits().or_else(|| case.peer_opens()).or_else(|| case.addresses()).unwrap_or_else(|| case.joins())
}

/// What a second subflow is not good for.
pub(super) fn of_second(subflows: &[Subflow]) -> Option<Finding> {
    let first = subflows.first()?;
    let seen = || subflows.iter().map(show).collect();
    let is_second = |subflow: &&Subflow| matches!(subflow.origin, Origin::Joined | Origin::JoinAccepted);
    if subflows.iter().filter(is_second).all(|subflow| subflow.is_backup) {
        return Some(finding(
            Cause::OnlyBackup,
            "the second subflow is a backup: it carries data only when the first has gone",
            seen(),
            "to use both at once, where it was opened: ip mptcp endpoint change id ID nobackup (ip mptcp endpoint shows the id)",
        ));
    }
    let is_same =
        |subflow: &Subflow| subflow.device == first.device && subflow.remote.ip() == first.remote.ip();
    (first.device.is_some() && subflows.iter().all(is_same)).then(|| {
        finding(
            Cause::SamePath,
            "all subflows leave by the same device to the same address: what breaks one breaks all",
            seen(),
            "give each address a routing table of its own: ip rule add from ADDRESS table N; ip route add default \
             ... dev DEVICE table N",
        )
    })
}

/// A connection with one subflow at most, and what is known around it.
struct Case<'a> {
    connection: &'a SeenConnection,
    subflows: &'a [Subflow],
    around: &'a Surroundings,
}

impl Case<'_> {
    /// It became plain TCP.
    fn fallback(&self) -> Finding {
        if let Some(evidence) = self.counted(&["MPCapableSYNTXDisabled", "Blackhole"]) {
            return finding(
                Cause::Paused,
                "this kernel sent plain TCP for a while, since packets with MPTCP had vanished before",
                evidence,
                "find what drops TCP option 30 on the path; sysctl net.mptcp.blackhole_timeout=0 ends the pause",
            );
        }
        if let Some(evidence) = self.counted(&["MPCapableSYNTXDrop"]) {
            return finding(
                Cause::OptionDropped,
                "the first packet was answered only when it was sent again without MPTCP",
                evidence,
                "find what drops packets with TCP option 30 on the path: a firewall or a load balancer",
            );
        }
        let changed = [
            "DataCsumErr",
            "DSSCorruptionFallback",
            "MPFailTx",
            "MPFailRx",
            "InfiniteMapTx",
            "InfiniteMapRx",
        ];
        if let Some(evidence) = self.counted(&changed) {
            return finding(
                Cause::DataChanged,
                "what arrived was not what was sent: something on the path changes data or sequence numbers",
                evidence,
                "take the proxy or the application gateway out of the path",
            );
        }
        if let Some(evidence) = self.counted(&["MPCapableFallbackSYNACK", "MPCapableFallbackACK"]) {
            return finding(
                Cause::PeerWithoutMptcp,
                "the peer answered without MPTCP, so the connection is plain TCP for good",
                evidence,
                "let the program at the other end open an MPTCP socket (mptcpize run PROGRAM, or IPPROTO_MPTCP); if it \
                 does, something on the path removes TCP option 30",
            );
        }
        let evidence =
            vec!["the kernel marks the connection as fallen back, and counts no reason".to_owned()];
        let why = "the connection became plain TCP, for a reason that this kernel does not count";
        finding(Cause::FellBack, why, evidence, "look at the first packets: longhaul lab capture, or tcpdump")
    }

    /// This end admits too little.
    fn limits(&self) -> Option<Finding> {
        let &SeenConnection { further, most_further, accepted: (accepted, most_accepted), .. } =
            self.connection;
        if further >= most_further {
            return Some(finding(
                Cause::NoSubflowsAdmitted,
                "this end admits no further subflow",
                vec![format!("{further} of at most {most_further} further subflows are in use")],
                "ip mptcp limits set subflows 8",
            ));
        }
        let dropped = self.counted(&["AddAddrDrop"]).unwrap_or_default();
        let announced = self.counted(&["AddAddr"]).filter(|_| accepted >= most_accepted)?;
        let limit = format!("{accepted} of at most {most_accepted} announced addresses were accepted");
        Some(finding(
            Cause::AnnouncementRefused,
            "the peer announced an address, and this end accepts no more of them",
            [vec![limit], announced, dropped].concat(),
            "ip mptcp limits set add_addr_accepted 8",
        ))
    }

    /// Further subflows are the business of who opened the connection.
    fn peer_opens(&self) -> Option<Finding> {
        if !self.subflows.iter().any(|subflow| subflow.origin == Origin::FirstAccepted) {
            return None;
        }
        if let Some(evidence) = self.counted(&["MPJoinNoTokenFound"]) {
            return Some(finding(
                Cause::UnknownToken,
                "joins came here with a token that no connection of this host has",
                evidence,
                "let a load balancer send joins to the host that has the connection, or announce this host's own \
                 address: ip mptcp endpoint add ADDRESS signal",
            ));
        }
        if let Some(evidence) = self.counted(&["MPJoinAckHMacFailure", "MPJoinRejected"]) {
            return Some(forged(evidence));
        }
        let joins = self.counter("MPJoinSynRx");
        Some(finding(
            Cause::PeerOpens,
            "the peer opened this connection, and no subflow that it opened beside the first is there",
            vec![format!("joins received: {joins} (MPJoinSynRx)")],
            "look at the peer's end with the same command; it knows what it tried",
        ))
    }

    /// This end has nothing to open a subflow from.
    fn addresses(&self) -> Option<Finding> {
        let own = self.connection.local.ip();
        let is_other = |address: IpAddr| address != own && address.is_ipv4() == own.is_ipv4();
        let others: Vec<_> = self.around.addresses.iter().filter(|each| is_other(each.address)).collect();
        let may_open = |each: &&Endpoint| {
            matches!(each.purpose, Purpose::Subflow | Purpose::Both) && is_other(each.address)
        };
        let endpoints: Vec<_> = self.around.endpoints.iter().filter(may_open).collect();
        let (accepted, _) = self.connection.accepted;
        if accepted > 0 {
            // An address of the peer was accepted, so there was something to join.
            return None;
        }
        let Some(endpoint) = endpoints.first() else {
            let Some(other) = others.first() else {
                return Some(finding(
                    Cause::NoSecondAddress,
                    "this end has one address of this version of IP, and the peer announced no other of its own",
                    vec![format!(
                        "{own} is the only one; announced by the peer: {}",
                        self.counter("AddAddr")
                    )],
                    "connect a second network, or let the peer announce an address: ip mptcp endpoint add ADDRESS \
                     signal, there",
                ));
            };
            return Some(finding(
                Cause::NoEndpoint,
                &format!("MPTCP may not use this end's second address, {}", other.address),
                vec![format!(
                    "it is on {}, and ip mptcp endpoint shows no subflow endpoint for it",
                    other.device
                )],
                &format!("ip mptcp endpoint add {} dev {} subflow", other.address, other.device),
            ));
        };
        let is_here = |each: &&Endpoint| others.iter().any(|other| other.address == each.address);
        if endpoints.iter().any(is_here) {
            return None;
        }
        Some(finding(
            Cause::EndpointWithoutAddress,
            &format!("MPTCP may use {}, which is no address of this host", endpoint.address),
            vec![format!(
                "its addresses are {}",
                list(self.around.addresses.iter().map(|each| each.address))
            )],
            "give the host that address, or replace the endpoint: ip mptcp endpoint flush; ip mptcp endpoint add \
             ADDRESS dev DEVICE subflow",
        ))
    }

    /// It had all it takes; what became of its joins?
    fn joins(&self) -> Finding {
        if let Some(waiting) = self.subflows.iter().find(|subflow| subflow.state == State::SynSent) {
            return unanswered(waiting);
        }
        if let Some(evidence) =
            self.counted(&["MPJoinSynTxCreatSkErr", "MPJoinSynTxBindErr", "MPJoinSynTxConnectErr"])
        {
            return finding(
                Cause::JoinNotSent,
                "this end could not send a join from its second address",
                evidence,
                "give the address a route: ip rule add from ADDRESS table N; ip route add default ... dev DEVICE table N",
            );
        }
        if let Some(evidence) = self.counted(&["MPJoinSynAckHMacFailure"]) {
            return forged(evidence);
        }
        let (sent, answered) = (self.counter("MPJoinSynTx"), self.counter("MPJoinSynAckRx"));
        let evidence = vec![
            format!("joins sent: {sent} (MPJoinSynTx), answered: {answered} (MPJoinSynAckRx)"),
            format!("resets with a reason received: {} (MPRstRx)", self.counter("MPRstRx")),
        ];
        if sent > answered {
            return finding(
                Cause::JoinRefused,
                "joins were sent and refused, or given up after a minute or two without an answer",
                evidence,
                "look at the peer's end with the same command: its limits (ip mptcp limits set subflows 8), or a load \
                 balancer that sends joins to another host",
            );
        }
        if sent > 0 && self.connection.tried > 0 {
            return finding(
                Cause::SubflowLost,
                "a join was answered, and its subflow has gone: reset, timed out, or its address was removed",
                evidence,
                "look at the peer's end with the same command: it may admit no further subflow; if it does, open the \
                 connection again, as the kernel does not try a lost subflow a second time",
            );
        }
        finding(
            Cause::NotTried,
            "there is an address to use, and this end has not tried it",
            evidence,
            "open the connection again; if that does not help, the peer forbids joins to the address it was reached at \
             and must announce another: ip mptcp endpoint add ADDRESS signal, there",
        )
    }

    fn counter(&self, name: &str) -> u64 {
        self.around.counters.get(name).copied().unwrap_or(0)
    }

    /// Those of the counters that are not 0, as evidence; `None`: all are.
    fn counted(&self, names: &[&str]) -> Option<Vec<String>> {
        let counted = names.iter().filter(|name| self.counter(name) > 0);
        let all: Vec<_> = counted.map(|name| format!("{name} is {}", self.counter(name))).collect();
        (!all.is_empty()).then_some(all)
    }
}

fn unanswered(waiting: &Subflow) -> Finding {
    let device = waiting.device.as_deref().unwrap_or("no device");
    finding(
        Cause::JoinUnanswered,
        "a join was sent, and nothing came back: that path is down, or filters TCP option 30",
        vec![format!("{} to {} by {device} waits for an answer", waiting.local, waiting.remote)],
        &format!(
            "try that path alone: ping -I {} {}; if it answers, something on it drops joins",
            waiting.local.ip(),
            waiting.remote.ip()
        ),
    )
}

fn forged(evidence: Vec<String>) -> Finding {
    finding(
        Cause::JoinForged,
        "a join could not be proved to belong to the connection: something in between speaks MPTCP itself, or changes \
         TCP options",
        evidence,
        "take the proxy out of the path",
    )
}

fn finding(cause: Cause, why: &str, evidence: Vec<String>, remedy: &str) -> Finding {
    Finding { cause, why: why.to_owned(), evidence, remedy: remedy.to_owned() }
}

fn show(subflow: &Subflow) -> String {
    let backup = if subflow.is_backup { ", backup" } else { "" };
    let device = subflow.device.as_deref().unwrap_or("no device");
    format!("{} to {} by {device}{backup}", subflow.local, subflow.remote)
}

fn list(addresses: impl Iterator<Item = IpAddr>) -> String {
    let all: Vec<_> = addresses.map(|address| address.to_string()).collect();
    if all.is_empty() { "none".to_owned() } else { all.join(", ") }
}

#[cfg(test)]
mod tests;
