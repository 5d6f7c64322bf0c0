//! The cause of a missing second subflow, or the problem of the second one: one sentence, the evidence, one
//! remedy.
//!
//! Causes are checked in the order of a connection's life.

mod fallback;

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::{
    Endpoint, Origin, Purpose, State, Subflow, Surroundings,
    account::{Account, Bearing},
    sockets::SeenConnection,
};

/// The cause of a missing second subflow, or the problem of the second one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The connection is not established yet, or closing.
    NotEstablished,
    /// The kernel sent plain TCP, because MPTCP had failed shortly before.
    Paused,
    /// The first packet had to be retransmitted without MPTCP.
    OptionDropped,
    /// The peer replied to the first packet without MPTCP.
    PeerWithoutMptcp,
    /// The received data differs from the sent data.
    DataChanged,
    /// The connection fell back to plain TCP for a reason without a counter.
    FellBack,
    /// This end permits no further subflow.
    NoSubflowsAdmitted,
    /// The peer announced an address, and this end accepts no addresses.
    AnnouncementRefused,
    /// The peer opened the connection, and opens the subflows.
    PeerOpens,
    /// Joins of the peer had an unknown token.
    UnknownToken,
    /// The authentication of joins failed.
    JoinForged,
    /// This end rejected joins of the peer.
    JoinRejected,
    /// This end has no second address.
    NoSecondAddress,
    /// There is a second address, and MPTCP may not use it.
    NoEndpoint,
    /// MPTCP may use an address that this end does not have.
    EndpointWithoutAddress,
    /// This end could not send a join.
    JoinNotSent,
    /// A join was sent without any response.
    JoinUnanswered,
    /// Joins were sent and refused.
    JoinRefused,
    /// A join was accepted, but its subflow no longer exists.
    SubflowLost,
    /// A join was tried, and the counters over several connections do not show its outcome.
    JoinFailed,
    /// There are endpoints, but no join was tried.
    NotTried,
    /// The second subflow carries data only when the first has ended.
    OnlyBackup,
    /// The subflows use the same device and the same remote address.
    SamePath,
}

/// A cause as a sentence, with its evidence and a remedy. It is inferred if it relies on counters over
/// several connections, whose number is in the connection's `counted`.
pub type Finding = crate::Finding<Cause>;

/// A finding in the form of documents.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Finding")]
pub(super) struct Document<'f> {
    /// The cause.
    cause: Cause,
    /// The cause as a sentence.
    why: &'f str,
    /// Whether it is certain for this connection. If not, it relies on counters over several connections.
    is_certain: bool,
    /// The evidence. The scope of counters is in the connection's `counted`.
    evidence: &'f [String],
    /// The one change that would help.
    remedy: &'f str,
}

#[expect(clippy::ref_option, reason = "the signature of serialize_with")]
pub(super) fn document<S: Serializer>(finding: &Option<Finding>, serializer: S) -> Result<S::Ok, S::Error> {
    let document = finding.as_ref().map(|finding| Document {
        cause: finding.kind,
        why: &finding.sentence,
        is_certain: !finding.is_inferred,
        evidence: &finding.evidence,
        remedy: &finding.advice,
    });
    document.serialize(serializer)
}

pub(super) fn of_one(
    connection: &SeenConnection,
    subflows: &[Subflow],
    around: &Surroundings,
    account: &Account,
) -> Finding {
    let case = Case { connection, subflows, around, account };
    if connection.is_fallback {
        return match subflows.first().and_then(|first| first.handshake) {
            Some(handshake) => case.known_fallback(handshake),
            None => case.counted_fallback(),
        };
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

pub(super) fn of_second(subflows: &[Subflow]) -> Option<Finding> {
    let first = subflows.first()?;
    let seen = || subflows.iter().map(show).collect();
    let is_second = |subflow: &&Subflow| matches!(subflow.origin, Origin::Joined | Origin::JoinAccepted);
    if subflows.iter().filter(is_second).all(|subflow| subflow.is_backup) {
        return Some(finding(
            Cause::OnlyBackup,
            "the second subflow is a backup: it carries data only when the first has gone",
            seen(),
            "to use both concurrently, where it was opened: ip mptcp endpoint change id ID nobackup (ip mptcp endpoint shows the id)",
        ));
    }
    let is_same =
        |subflow: &Subflow| subflow.device == first.device && subflow.remote.ip() == first.remote.ip();
    (first.device.is_some() && subflows.iter().all(is_same)).then(|| {
        finding(
            Cause::SamePath,
            "all subflows leave by the same device to the same address: what breaks one breaks all",
            seen(),
            "give each address a separate routing table: ip rule add from ADDRESS table N; ip route add default \
             ... dev DEVICE table N",
        )
    })
}

struct Case<'a> {
    connection: &'a SeenConnection,
    subflows: &'a [Subflow],
    around: &'a Surroundings,
    account: &'a Account,
}

impl Case<'_> {
    fn limits(&self) -> Option<Finding> {
        let &SeenConnection { further, most_further, accepted: (accepted, most_accepted), .. } =
            self.connection;
        if further >= most_further {
            return Some(finding(
                Cause::NoSubflowsAdmitted,
                "this end permits no further subflow",
                vec![format!("{further} of at most {most_further} further subflows are in use")],
                "ip mptcp limits set subflows 8",
            ));
        }
        let counted = self.counted(&["AddAddr"]).filter(|_| accepted >= most_accepted)?;
        let limit = format!("{accepted} of at most {most_accepted} announced addresses were accepted");
        Some(counted.finding(|announced| {
            let dropped = self.account.evidence(&["AddAddrDrop"]);
            finding(
                Cause::AnnouncementRefused,
                "the peer announced an address, and this end accepts no more of them",
                [vec![limit], announced, dropped].concat(),
                "ip mptcp limits set add_addr_accepted 8",
            )
        }))
    }

    fn peer_opens(&self) -> Option<Finding> {
        if !self.subflows.iter().any(|subflow| subflow.origin == Origin::FirstAccepted) {
            return None;
        }
        if let Some(counted) = self.counted(&["MPJoinNoTokenFound"]) {
            return Some(counted.finding(|evidence| {
                finding(
                    Cause::UnknownToken,
                    "joins arrived here with a token that no connection of this host has",
                    evidence,
                    "let a load balancer send joins to the host that has the connection, or announce this host's own \
                     address: ip mptcp endpoint add ADDRESS signal",
                )
            }));
        }
        if let Some(counted) = self.counted(&["MPJoinAckHMacFailure"]) {
            return Some(counted.finding(forged));
        }
        if let Some(counted) = self.counted(&["MPJoinRejected"]) {
            return Some(counted.finding(|evidence| {
                finding(
                    Cause::JoinRejected,
                    "this end refused a join: when it arrived, the path manager admitted no further subflow",
                    evidence,
                    "let this end admit more (ip mptcp limits set subflows 8), and open the connection again",
                )
            }));
        }
        let joins = self.account.sum(&["MPJoinSynRx"]);
        let opens = finding(
            Cause::PeerOpens,
            "the peer opened this connection, and only its first subflow is there",
            vec![format!("joins received: {joins} (MPJoinSynRx)")],
            "run the same command at the peer's end, which shows what it tried",
        );
        Some(self.mention(opens, &["MPJoinNoTokenFound", "MPJoinAckHMacFailure", "MPJoinRejected"]))
    }

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
            return None;
        }
        let Some(endpoint) = endpoints.first() else {
            let Some(other) = others.first() else {
                return Some(finding(
                    Cause::NoSecondAddress,
                    "this end has one address of this version of IP, and the peer announced no other address",
                    vec![format!(
                        "{own} is the only one; announced by the peer: {}",
                        self.account.sum(&["AddAddr"])
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
            &format!("MPTCP may use {}, which is not an address of this host", endpoint.address),
            vec![format!(
                "its addresses are {}",
                list(self.around.addresses.iter().map(|each| each.address))
            )],
            "give the host that address, or replace the endpoint: ip mptcp endpoint flush; ip mptcp endpoint add \
             ADDRESS dev DEVICE subflow",
        ))
    }

    fn joins(&self) -> Finding {
        if let Some(waiting) = self.subflows.iter().find(|subflow| subflow.state == State::SynSent) {
            return unanswered(waiting);
        }
        if let Some(counted) = self.counted(&NOT_SENT) {
            return counted.finding(|evidence| {
                finding(
                    Cause::JoinNotSent,
                    "this end could not send a join from its second address",
                    evidence,
                    "give the address a route: ip rule add from ADDRESS table N; ip route add default ... dev DEVICE \
                     table N",
                )
            });
        }
        if let Some(counted) = self.counted(&["MPJoinSynAckHMacFailure"]) {
            return counted.finding(forged);
        }
        self.sent_joins()
    }

    fn sent_joins(&self) -> Finding {
        let [sent, answered, resets] =
            ["MPJoinSynTx", "MPJoinSynAckRx", "MPRstRx"].map(|name| self.account.sum(&[name]));
        let evidence = || {
            vec![
                format!("joins sent: {sent} (MPJoinSynTx), answered: {answered} (MPJoinSynAckRx)"),
                format!("resets with a reason received: {resets} (MPRstRx)"),
            ]
        };
        let bearing = self.account.bearing(sent);
        let is_own = bearing == Bearing::Certain;
        let bearing = if is_own { bearing } else { Bearing::Likely };
        let counted = CounterEvidence { bearing, evidence: evidence(), scope: self.account.scope() };
        let refused = sent.saturating_sub(answered);
        let has_tried = self.connection.tried > 0 || self.connection.accepted.0 > 0;
        match (sent, answered) {
            (0, _) => not_tried(evidence()),
            _ if !(has_tried || is_own && refused > 0) => not_tried(evidence()),
            (_, 0) => counted.finding(join_refused),
            _ if refused == 0 => counted.finding(subflow_lost),
            _ if self.account.bearing(refused) == Bearing::Some => counted.finding(join_failed),
            _ => counted.finding(join_refused),
        }
    }

    fn counted(&self, names: &[&str]) -> Option<CounterEvidence> {
        let bearing = self.account.bearing(self.account.sum(names));
        let evidence = self.account.evidence(names);
        let scope = self.account.scope();
        matches!(bearing, Bearing::Likely | Bearing::Certain).then_some(CounterEvidence {
            bearing,
            evidence,
            scope,
        })
    }

    fn mention(&self, finding: Finding, names: &[&str]) -> Finding {
        let counted = self.account.evidence(names);
        if counted.is_empty() {
            return finding;
        }
        let evidence = [finding.evidence, counted, vec![self.account.scope()]].concat();
        Finding { evidence, ..finding }
    }
}

struct CounterEvidence {
    bearing: Bearing,
    evidence: Vec<String>,
    scope: String,
}

impl CounterEvidence {
    fn finding(self, cause: impl FnOnce(Vec<String>) -> Finding) -> Finding {
        let mut finding = cause(self.evidence);
        finding.evidence.push(self.scope);
        Finding { is_inferred: self.bearing != Bearing::Certain, ..finding }
    }
}

fn unanswered(waiting: &Subflow) -> Finding {
    let device = waiting.device.as_deref().unwrap_or("no device");
    finding(
        Cause::JoinUnanswered,
        "a join was sent without a response: that path is down, or filters TCP option 30",
        vec![format!("{} to {} by {device} waits for a response", waiting.local, waiting.remote)],
        &format!(
            "try that path alone: ping -I {} {}; if it answers, something on it drops joins",
            waiting.local.ip(),
            waiting.remote.ip()
        ),
    )
}

fn join_refused(evidence: Vec<String>) -> Finding {
    finding(
        Cause::JoinRefused,
        "joins were sent and refused, or timed out after a minute or two without a response",
        evidence,
        "run the same command at the peer's end and look at its limits (ip mptcp limits set subflows 8), or a load balancer \
         that sends joins to another host",
    )
}

fn subflow_lost(evidence: Vec<String>) -> Finding {
    finding(
        Cause::SubflowLost,
        "a join was accepted, but its subflow no longer exists: reset, timed out, or its address was removed",
        evidence,
        "run the same command at the peer's end: it may admit no further subflow; if it does, open the connection \
         again, as the kernel does not try a lost subflow a second time",
    )
}

fn join_failed(evidence: Vec<String>) -> Finding {
    finding(
        Cause::JoinFailed,
        "a join was tried, and its subflow is not there; of this host's joins some were refused, and some accepted and \
         lost later",
        evidence,
        "watch a connection from before it opens, so that what is counted is its own: longhaul tcp mptcp --watch",
    )
}

fn not_tried(evidence: Vec<String>) -> Finding {
    finding(
        Cause::NotTried,
        "there is an address to use, and this end has not tried it",
        evidence,
        "open the connection again; if that does not help, the peer forbids joins to the address it was reached at and \
         must announce another: ip mptcp endpoint add ADDRESS signal, there",
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
    Finding::new(cause, why.to_owned(), evidence, remedy.to_owned())
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

const NOT_SENT: [&str; 3] = ["MPJoinSynTxCreatSkErr", "MPJoinSynTxBindErr", "MPJoinSynTxConnectErr"];

#[cfg(test)]
mod tests;
