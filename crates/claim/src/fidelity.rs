//! The proof that a run was shaped by its world and not by the emulator, as data: it is part of each result.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::doubt::Caveat;

/// How faithful a run was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fidelity {
    /// Whether the emulator stayed within its limits. If not, the numbers describe the emulator.
    pub valid: bool,
    /// Which limits were broken, as sentences.
    pub reasons: Vec<String>,
    /// The same with the kind of each.
    #[serde(default)]
    pub doubts: Vec<Caveat>,
    /// Packets delivered.
    pub delivered: u64,
    /// How late packets were delivered, time to be read included, in microseconds: the "mean", and percentiles "50", "99", "99.9"
    /// and "max". Empty when no packet was delivered.
    pub lateness_us: BTreeMap<String, f64>,
    /// The same as a histogram: how many packets were at most so late and later than the bin before. Each bin is twice as
    /// wide; the last one has all that is later.
    pub lateness_histogram: Vec<Bin>,
    /// How late a packet may be: this, in microseconds, or 1 % of its round trip if that is more. Absent: the world has no
    /// such limit, and claims are judged at both ends of the emulator's error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lateness_limit_us: Option<f64>,
    /// Share of packets that were later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_share: Option<f64>,
    /// The flows whose packets were latest since the planet came up, the latest first: at most 10. Only in results of runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latest_flows: Vec<LateFlow>,
    /// What else held up packets and programs.
    #[serde(default)]
    pub held_up: HeldUp,
    /// Packets that the emulator itself lost, not the model.
    pub own_drops: u64,
    /// Bytes of IP packets, as a wire would carry them, that hosts sent, and routers in answer.
    pub bytes_in: u64,
    /// Bytes that reached a host, or a router that answered.
    pub bytes_out: u64,
    /// Bytes that the model dropped: loss, queues and faults.
    pub bytes_dropped: u64,
    /// Bytes that the model made twice.
    pub bytes_duplicated: u64,
    /// Bytes still on their way when the counters were read. in + duplicated = out + dropped + in flight.
    pub bytes_in_flight: u64,
    /// Share of one core that the switch used.
    pub switch_cpu_share: f64,
    /// Share of all cores that were busy during the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine_cpu_share: Option<f64>,
    /// How packets reach a receiver: "slice", "segment" or "gso".
    pub receive: String,
}

/// What held up packets and programs, by where it was seen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HeldUp {
    /// How long a packet takes from a program through a kernel to the switch, and from there to a program, both of which it
    /// wakes, in microseconds: the percentiles "50", "95" and "99". Seen by a thread on each processor that is always due.
    /// Empty before its first beat.
    pub wake_us: BTreeMap<String, f64>,
    /// For how long a processor stood still, in milliseconds: the hypervisor had it, or interrupts. Seen by the same threads.
    pub stalls_ms: f64,
    /// For how long programs of hosts waited for a processor or were stopped by something else than a fault, all together.
    pub programs_ms: f64,
    /// For how long some program waited for memory. Absent where the kernel does not count it (CONFIG_PSI).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_ms: Option<f64>,
    /// The time that the hypervisor took from the processors, all together. Absent where it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steal_ms: Option<f64>,
}

/// How late the packets of a flow were: those of one service from one host to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LateFlow {
    /// The host that sent them.
    pub from: String,
    /// The host that got them.
    pub to: String,
    /// What for: "tcp/443" by the lower port, "udp" where there were too many ports to keep apart, "icmp".
    pub service: String,
    /// Packets delivered.
    pub packets: u64,
    /// How late they were, in microseconds: at most so late the percentiles "50" and "99", to a factor of two, and "max".
    pub lateness_us: BTreeMap<String, f64>,
}

/// Packets that were about as late.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bin {
    /// At most so late, in microseconds.
    pub up_to_us: f64,
    /// How many.
    pub packets: u64,
}
