//! The journal of an emulator: late packets, and stalls of programs and of the machine.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::fidelity::LateFlow;

/// The journal of an emulator. All times except `start_ns` are relative to `start_ns`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Journal {
    /// Start of the journal, on the machine's monotonic clock.
    pub start_ns: u64,
    /// Length of a slot.
    pub slot_ns: u64,
    /// Time from a program through the switch to a program, with both wake-ups: pairs of a share of
    /// the trials, ascending, and the time that it does not exceed.
    pub wake_ns: Vec<(f64, u64)>,
    /// Delivered packets, by sender, receiver and service.
    pub flows: Vec<Flow>,
    /// Delays of the programs of each host.
    pub hosts: Vec<Held>,
    /// Stalls of the whole machine or of one of its processors.
    pub machine: Vec<Delay>,
}

/// Packets of one service from one host to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// The sending host.
    pub from: String,
    /// The receiving host.
    pub to: String,
    /// The service.
    pub service: Service,
    /// Slots in order of time, without those that have no packet.
    pub slots: Vec<Slot>,
    /// Packets less than 1, 2, 4, 8, ... us late; the last bin is unbounded.
    pub lateness: Vec<u32>,
}

/// A protocol, and the lower one of the two ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Service {
    /// The protocol number in the IP header: 1, 6, 17 or 58.
    pub protocol: u8,
    /// The lower port; 0 for protocols without ports, and if there are too many services to track.
    pub port: u16,
}

/// Packets that were delivered in a time slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u32, u64, u32)", into = "(u32, u64, u32)")]
pub struct Slot {
    /// Number of the slot, from 0.
    pub number: u32,
    /// Lateness of the latest packet.
    pub late_ns: u64,
    /// Number of packets.
    pub packets: u32,
}

/// Delays of the programs of a host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Held {
    /// The host.
    pub host: String,
    /// The delays.
    pub delays: Vec<Delay>,
}

/// A delay that occurred somewhere between two moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, u64, u64)", into = "(u64, u64, u64)")]
pub struct Delay {
    /// Earliest start.
    pub from_ns: u64,
    /// Latest end.
    pub until_ns: u64,
    /// Length of the delay.
    pub delay_ns: u64,
}

impl Journal {
    /// The flows with the latest packets, the latest first; at most `most`.
    pub fn latest(&self, most: usize) -> Vec<LateFlow> {
        let mut flows: Vec<_> = self.flows.iter().map(|flow| (flow.latest_ns(), flow)).collect();
        flows.sort_by_key(|(latest_ns, _)| std::cmp::Reverse(*latest_ns));
        flows.into_iter().take(most).map(|(_, flow)| LateFlow::from(flow)).collect()
    }
}

impl Flow {
    fn latest_ns(&self) -> u64 {
        self.slots.iter().map(|slot| slot.late_ns).max().unwrap_or(0)
    }

    /// Rounded up by at most a factor of two, and capped at the maximum.
    #[expect(clippy::cast_precision_loss, reason = "counts of packets are below 2^53")]
    fn late_us(&self, share: f64) -> f64 {
        let packets: u64 = self.lateness.iter().map(|&count| u64::from(count)).sum();
        let (mut seen, mut up_to_us) = (0, 1.0_f64);
        for &count in &self.lateness {
            seen += u64::from(count);
            if seen as f64 >= share * packets as f64 {
                break;
            }
            up_to_us *= 2.0;
        }
        up_to_us.min(self.latest_ns() as f64 / 1e3)
    }
}

impl From<&Flow> for LateFlow {
    fn from(flow: &Flow) -> Self {
        let latest_us = flow.latest_ns() as f64 / 1e3;
        let lateness_us = [("50", flow.late_us(0.5)), ("99", flow.late_us(0.99)), ("max", latest_us)];
        Self {
            from: flow.from.clone(),
            to: flow.to.clone(),
            service: flow.service.to_string(),
            packets: flow.slots.iter().map(|slot| u64::from(slot.packets)).sum(),
            lateness_us: lateness_us.map(|(name, us)| (name.to_owned(), us)).into(),
        }
    }
}

impl Service {
    /// Pings, over IPv4 or IPv6.
    pub const PING: Self = Self { protocol: 1, port: 0 };

    /// A TCP service by port.
    pub fn tcp(port: u16) -> Self {
        Self { protocol: 6, port }
    }

    pub(crate) fn covers(self, other: Self) -> bool {
        let is_ping = |service: Self| matches!(service.protocol, 1 | 58);
        let is_protocol = self.protocol == other.protocol || is_ping(self) && is_ping(other);
        is_protocol && (self.port == other.port || other.port == 0)
    }
}

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.protocol, self.port) {
            (1 | 58, _) => f.write_str("icmp"),
            (6, 0) => f.write_str("tcp"),
            (6, port) => write!(f, "tcp/{port}"),
            (17, 0) => f.write_str("udp"),
            (17, port) => write!(f, "udp/{port}"),
            (protocol, _) => write!(f, "IP protocol {protocol}"),
        }
    }
}

impl Slot {
    /// Merges slots with the same number. They must be sorted by number.
    pub fn merge(slots: &mut Vec<Self>) {
        slots.dedup_by(|next, kept| {
            let is_same = next.number == kept.number;
            if is_same {
                kept.late_ns = kept.late_ns.max(next.late_ns);
                kept.packets = kept.packets.saturating_add(next.packets);
            }
            is_same
        });
    }
}

impl From<(u32, u64, u32)> for Slot {
    fn from((number, late_ns, packets): (u32, u64, u32)) -> Self {
        Self { number, late_ns, packets }
    }
}

impl From<Slot> for (u32, u64, u32) {
    fn from(slot: Slot) -> Self {
        (slot.number, slot.late_ns, slot.packets)
    }
}

impl From<(u64, u64, u64)> for Delay {
    fn from((from_ns, until_ns, delay_ns): (u64, u64, u64)) -> Self {
        Self { from_ns, until_ns: until_ns.max(from_ns), delay_ns }
    }
}

impl From<Delay> for (u64, u64, u64) {
    fn from(delay: Delay) -> Self {
        (delay.from_ns, delay.until_ns, delay.delay_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_survives_json() {
        let slots = vec![(0, 1, 1).into(), (5, 4_000_000, 2).into()];
        let flow = Flow {
            from: "a".to_owned(),
            to: "b".to_owned(),
            service: Service::tcp(80),
            slots,
            lateness: vec![1, 0, 2],
        };
        let held = Held { host: "b".to_owned(), delays: vec![(200, 210, 6).into()] };
        let journal = Journal {
            start_ns: 7,
            slot_ns: 10,
            wake_ns: vec![(0.5, 4)],
            flows: vec![flow],
            hosts: vec![held],
            machine: vec![(400, 450, 50).into()],
        };
        let text = serde_json::to_string(&journal).unwrap();
        assert!(text.contains("[5,4000000,2]"), "{text}");
        assert_eq!(serde_json::from_str::<Journal>(&text).unwrap(), journal);
    }

    #[test]
    fn slots_of_one_number_become_one() {
        let mut slots: Vec<Slot> = [(1, 5, 2), (1, 9, 1), (3, 4, 1)].map(Slot::from).to_vec();
        Slot::merge(&mut slots);
        assert_eq!(slots, [(1, 9, 3), (3, 4, 1)].map(Slot::from));
    }

    #[test]
    fn the_latest_flows_come_first_with_how_late_they_were() {
        let flow = |to: &str, protocol, slots: &[(u32, u64, u32)], lateness: &[u32]| Flow {
            from: "a".to_owned(),
            to: to.to_owned(),
            service: Service { protocol, port: 53 },
            slots: slots.iter().map(|&slot| slot.into()).collect(),
            lateness: lateness.to_vec(),
        };
        let early = flow("b", 6, &[(0, 900, 100)], &[100]);
        // 98 packets below 1 us, one below 2 and one below 8, which was 6.5 us late.
        let late = flow("c", 17, &[(0, 1500, 99), (3, 6500, 1)], &[98, 1, 0, 1]);
        let quiet = flow("d", 1, &[], &[0]);
        let journal = Journal { flows: vec![early, late, quiet], ..Journal::default() };
        let latest = journal.latest(2);
        let named: Vec<_> = latest.iter().map(|flow| (&*flow.to, &*flow.service, flow.packets)).collect();
        assert_eq!(named, [("c", "udp/53", 100), ("b", "tcp/53", 100)]);
        let us = |flow: &LateFlow| ["50", "99", "max"].map(|name| flow.lateness_us[name]);
        assert_eq!(us(&latest[0]), [1.0, 2.0, 6.5]);
        assert_eq!(us(&latest[1]), [0.9, 0.9, 0.9], "none can be later than the latest");
    }
}
