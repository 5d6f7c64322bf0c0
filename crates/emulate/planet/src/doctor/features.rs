//! Detects the features of a host's network. Features are tried in a temporary network namespace, because the
//! kernel's configuration may be unreadable.

use std::net::{IpAddr, Ipv4Addr};

use tcp::mptcp::PathManager;
use units::Bitrate;

use super::{Check, limited, ok};
use crate::{
    device::{Netlink, Table},
    process,
    sys::{
        priority,
        tun::{self, Tun},
    },
};

#[derive(Debug, Clone, Copy)]
pub(super) struct Features(u8);

impl Features {
    pub(super) fn find() -> Option<Self> {
        process::in_new_namespaces(|| {
            let mptcp = if PathManager::open().is_ok() { MPTCP } else { 0 };
            let priority = if priority::can_run_at_once() { PRIORITY } else { 0 };
            mptcp | priority | try_device().unwrap_or(0)
        })
        .map(Self)
    }

    pub(super) fn checks(self) -> Vec<Check> {
        let has_device = self.0 & DEVICE != 0;
        let known = FEATURES.iter().filter(|feature| has_device || feature.bit & (MPTCP | PRIORITY) != 0);
        known.map(|feature| feature.check(self.0 & feature.bit != 0)).collect()
    }
}

struct Feature {
    bit: u8,
    name: &'static str,
    there: &'static str,
    missing: &'static str,
    remedy: &'static str,
}

impl Feature {
    fn check(&self, is_there: bool) -> Check {
        if is_there { ok(self.name, self.there) } else { limited(self.name, self.missing, self.remedy) }
    }
}

fn try_device() -> Option<u8> {
    let tun = Tun::open(0).ok()?;
    let netlink = Netlink::open().ok()?;
    let index = netlink.device(&tun::name(0)).ok()?.index;
    let rate = Bitrate::from_bits_per_second(1_000_000_000)?;
    let address = IpAddr::from(Ipv4Addr::new(10, 0, 0, 1));
    let found = [
        (UDP_OFFLOAD, tun.has_udp_offload()),
        (CARRIER, tun.set_carrier(false).is_ok()),
        (RULES, netlink.add_source_rule(address, Table::of_device(0)).is_ok()),
        (RATE, netlink.limit_rate(index, rate).is_ok()),
    ];
    Some(found.into_iter().filter(|&(_, is_there)| is_there).fold(DEVICE, |all, (bit, _)| all | bit))
}

const DEVICE: u8 = 1;
const UDP_OFFLOAD: u8 = 2;
const CARRIER: u8 = 4;
const RULES: u8 = 8;
const RATE: u8 = 16;
const MPTCP: u8 = 32;
const PRIORITY: u8 = 64;

const FEATURES: [Feature; 6] = [
    Feature {
        bit: UDP_OFFLOAD,
        name: "UDP super-packets",
        there: "they stay whole between hosts",
        missing: "the kernel cuts them, and fast QUIC takes more processor time",
        remedy: "Linux 6.2 or newer",
    },
    Feature {
        bit: CARRIER,
        name: "carrier",
        there: "a line can lose it, and its host notices",
        missing: "a line cannot lose it; faults with down = \"carrier\" fail",
        remedy: "Linux 5.0 or newer",
    },
    Feature {
        bit: RULES,
        name: "policy routing",
        there: "hosts can have several lines",
        missing: "hosts can have one line only",
        remedy: "a kernel with CONFIG_IP_MULTIPLE_TABLES",
    },
    Feature {
        bit: RATE,
        name: "network cards",
        there: "hosts can have nic, the rate of a network card",
        missing: "worlds with nic cannot run: the kernel has no token bucket filter",
        remedy: "as root: modprobe sch_tbf, or a kernel with CONFIG_NET_SCH_TBF",
    },
    Feature {
        bit: MPTCP,
        name: "MPTCP",
        there: "connections can have several paths",
        missing: "worlds with mptcp cannot run: the kernel lacks MPTCP",
        remedy: "Linux 5.6 or newer with CONFIG_MPTCP",
    },
    Feature {
        bit: PRIORITY,
        name: "priority",
        there: "the switch runs before all programs (SCHED_FIFO)",
        missing: "the switch takes turns with the programs, and packets are late while these compute",
        remedy: "run as root, or allow it: rtprio 1 in /etc/security/limits.conf",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::State;

    #[test]
    fn what_is_missing_has_a_remedy_and_what_is_unknown_is_not_told() {
        let told = |bits| {
            Features(bits).checks().into_iter().map(|check| (check.name, check.state)).collect::<Vec<_>>()
        };
        assert_eq!(told(MPTCP), [("MPTCP", State::Ok), ("priority", State::Limited)]);
        let all = told(DEVICE | RATE);
        assert_eq!(all.len(), FEATURES.len());
        for (name, state) in all {
            assert_eq!(state == State::Ok, name == "network cards", "{name}");
        }
        assert!(Features(DEVICE).checks().iter().all(|check| check.remedy.is_some()));
    }
}
