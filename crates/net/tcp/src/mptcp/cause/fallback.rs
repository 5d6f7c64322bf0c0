//! The cause of a fallback to plain TCP, from the connection's handshake and from counters.

use super::{Case, Cause, Finding, finding};
use crate::mptcp::Handshake;

impl Case<'_> {
    pub(super) fn known_fallback(&self, handshake: Handshake) -> Finding {
        let first = match handshake {
            Handshake::NotAsked if self.connection.token == 0 => {
                let seen = "its first packet did not request MPTCP, although the program did";
                let counted = self.account.evidence(&PAUSED);
                // The kernel has other reasons too, such as TCP's MD5 signatures.
                return if counted.is_empty() { fell_back(seen) } else { paused(with(seen, counted)) };
            }
            Handshake::NotAsked => {
                let seen = "the acknowledged SYN was a retransmission without MPTCP";
                return option_dropped(with(seen, self.account.evidence(&DROPPED)));
            }
            Handshake::NotAnswered => {
                let seen = "its first packet requested MPTCP, and the reply did not include it";
                return peer_without_mptcp(with(seen, self.account.evidence(&UNANSWERED)));
            }
            Handshake::Agreed => "both ends had agreed on MPTCP, and it has become plain TCP since",
        };
        match self.counted(&CHANGED) {
            Some(counted) => counted.finding(|evidence| data_changed(with(first, evidence))),
            None => self.mention(fell_back(first), &CHANGED),
        }
    }

    pub(super) fn counted_fallback(&self) -> Finding {
        let causes: [(&[&str], Say); 4] = [
            (&PAUSED, paused),
            (&DROPPED, option_dropped),
            (&CHANGED, data_changed),
            (&UNANSWERED, peer_without_mptcp),
        ];
        let mut found = causes.into_iter().filter_map(|(names, cause)| Some((self.counted(names)?, cause)));
        match found.next() {
            Some((counted, cause)) => counted.finding(cause),
            None => {
                let all: Vec<_> = causes.iter().flat_map(|(names, _)| names.iter().copied()).collect();
                self.mention(fell_back("the kernel marks the connection as fallen back"), &all)
            }
        }
    }
}

type Say = fn(Vec<String>) -> Finding;

fn paused(evidence: Vec<String>) -> Finding {
    finding(
        Cause::Paused,
        "this kernel sends plain TCP for a while, since packets with MPTCP had vanished before",
        evidence,
        "find what drops TCP option 30 on the path; sysctl net.mptcp.blackhole_timeout=0 ends the pause",
    )
}

fn option_dropped(evidence: Vec<String>) -> Finding {
    finding(
        Cause::OptionDropped,
        "the first packet got a reply only when it was retransmitted without MPTCP",
        evidence,
        "find what drops packets with TCP option 30 on the path: a firewall or a load balancer",
    )
}

fn data_changed(evidence: Vec<String>) -> Finding {
    finding(
        Cause::DataChanged,
        "the received data differs from the sent data: something on the path changes data or sequence numbers",
        evidence,
        "take the proxy or the application gateway out of the path",
    )
}

fn peer_without_mptcp(evidence: Vec<String>) -> Finding {
    finding(
        Cause::PeerWithoutMptcp,
        "the peer replied without MPTCP, so the connection is plain TCP for good",
        evidence,
        "let the program at the other end open an MPTCP socket (mptcpize run PROGRAM, or IPPROTO_MPTCP); if it does, \
         something on the path removes TCP option 30",
    )
}

fn fell_back(seen: &str) -> Finding {
    finding(
        Cause::FellBack,
        "the connection became plain TCP, for a reason that this kernel does not count",
        vec![seen.to_owned()],
        "look at the first packets: longhaul lab capture, or tcpdump",
    )
}

fn with(first: &str, rest: Vec<String>) -> Vec<String> {
    [vec![first.to_owned()], rest].concat()
}

/// Counters of a pause, in which the kernel sends plain TCP.
const PAUSED: [&str; 2] = ["MPCapableSYNTXDisabled", "Blackhole"];

const DROPPED: [&str; 1] = ["MPCapableSYNTXDrop"];

const UNANSWERED: [&str; 2] = ["MPCapableFallbackSYNACK", "MPCapableFallbackACK"];

const CHANGED: [&str; 6] =
    ["DataCsumErr", "DSSCorruptionFallback", "MPFailTx", "MPFailRx", "InfiniteMapTx", "InfiniteMapRx"];
