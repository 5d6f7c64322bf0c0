//! Evidence that a run was shaped by its world and not by the emulator. It is part of each result.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::doubt::Caveat;

/// The fidelity of an emulated run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fidelity {
    /// Whether the emulator stayed within its limits. If not, the numbers describe the emulator.
    pub valid: bool,
    /// The violated limits, as sentences.
    pub reasons: Vec<String>,
    /// The violated limits, with the kind of each.
    #[serde(default)]
    pub doubts: Vec<Caveat>,
    /// Packets delivered.
    pub delivered: u64,
    /// Lateness of delivered packets in microseconds, including the time until they are read: the "mean", the
    /// percentiles "50", "99", "99.9" and the "max". Empty if no packet was delivered.
    pub lateness_us: BTreeMap<String, f64>,
    /// The lateness as a histogram. Each bin is twice as wide as the one before; the last bin is unbounded.
    pub lateness_histogram: Vec<Bin>,
    /// The permitted lateness in microseconds, or 1 % of the round trip if that is more. Absent if the world
    /// has no such limit; claims are then judged at both ends of the emulator's error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lateness_limit_us: Option<f64>,
    /// Share of packets that exceeded the limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_share: Option<f64>,
    /// The flows with the latest packets since the planet started, the latest first: at most 10. Only in
    /// results of runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latest_flows: Vec<LateFlow>,
    /// Other delays of packets and programs.
    #[serde(default)]
    pub held_up: HeldUp,
    /// Packets that were lost by the emulator itself and not by the model.
    pub own_drops: u64,
    /// Bytes of IP packets, as on a wire, that hosts sent and that routers sent in reply.
    pub bytes_in: u64,
    /// Bytes that reached a host, or a router that replied.
    pub bytes_out: u64,
    /// Bytes that the model dropped: loss, queues and faults.
    pub bytes_dropped: u64,
    /// Bytes that the model duplicated.
    pub bytes_duplicated: u64,
    /// Bytes in flight when the counters were read. in + duplicated = out + dropped + in flight.
    pub bytes_in_flight: u64,
    /// Share of one core that the switch used.
    pub switch_cpu_share: f64,
    /// Share of all cores that were busy during the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine_cpu_share: Option<f64>,
    /// The receive mode: "slice", "segment" or "gso".
    pub receive: String,
}

/// Delays of packets and programs, by the place where they were measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HeldUp {
    /// Time from a program through a kernel to the switch, and from there to a program, including both
    /// wake-ups, in microseconds: the percentiles "50", "95" and "99". Measured by a periodic thread on each
    /// processor. Empty before the first heartbeat.
    pub wake_us: BTreeMap<String, f64>,
    /// Total time in milliseconds during which a processor was stalled by the hypervisor or by interrupts.
    /// Measured by the same threads.
    pub stalls_ms: f64,
    /// Total time during which programs of hosts waited for a processor or were stopped by something other
    /// than a fault.
    pub programs_ms: f64,
    /// Time during which at least one program waited for memory. Absent if the kernel does not count it
    /// (CONFIG_PSI).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_ms: Option<f64>,
    /// Total steal time of the processors. Absent if it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steal_ms: Option<f64>,
}

/// Lateness of a flow: the packets of one service from one host to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LateFlow {
    /// The sending host.
    pub from: String,
    /// The receiving host.
    pub to: String,
    /// The service: "tcp/443" by the lower port, "udp" if there were too many ports to track separately,
    /// "icmp".
    pub service: String,
    /// Packets delivered.
    pub packets: u64,
    /// Lateness in microseconds: the percentiles "50" and "99", rounded up by at most a factor of two, and
    /// the "max".
    pub lateness_us: BTreeMap<String, f64>,
}

/// A bin of the lateness histogram.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bin {
    /// Upper bound of the lateness, in microseconds.
    pub up_to_us: f64,
    /// Number of packets.
    pub packets: u64,
}
