//! Samples the kernel's statistics of the sender's connection.

use std::net::TcpStream;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use socket2::SockRef;
use tcp::{Info, diag};

use super::Protocol;
use crate::sys;

#[derive(Debug, Clone)]
pub(super) struct Telemetry {
    protocol: Protocol,
    pub(super) fell_back: bool,
    pub(super) congestion: Option<String>,
    pub(super) subflows: Option<u64>,
    /// Over several subflows, the largest sum: a closed subflow no longer contributes.
    pub(super) retransmits: Option<u64>,
    pub(super) rtt_min_us: Option<u32>,
    pub(super) memory: Option<Memory>,
    /// Plus one for the end of the payload.
    pub(super) acknowledged: u64,
}

/// Memory of the sender's socket, sampled after writes, up to a hundred times per second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    /// The maximum.
    pub most_bytes: u64,
    /// The mean.
    pub mean_bytes: f64,
    /// Number of samples.
    pub looks: u64,
}

impl Memory {
    #[expect(clippy::cast_precision_loss, reason = "2^53 looks are 28 million years")]
    fn after(before: Option<Self>, held: u64) -> Self {
        let Self { most_bytes, mean_bytes, looks } =
            before.unwrap_or(Self { most_bytes: 0, mean_bytes: 0.0, looks: 0 });
        let looks = looks + 1;
        let mean_bytes = mean_bytes + (held as f64 - mean_bytes) / looks as f64;
        Self { most_bytes: most_bytes.max(held), mean_bytes, looks }
    }
}

impl Telemetry {
    pub(super) fn new(stream: &TcpStream, protocol: Protocol) -> Self {
        let congestion = SockRef::from(stream).tcp_congestion().ok();
        let mut telemetry = Self {
            protocol,
            fell_back: false,
            congestion: congestion
                .map(|name| String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned()),
            subflows: None,
            retransmits: None,
            rtt_min_us: None,
            memory: None,
            acknowledged: 0,
        };
        telemetry.look_at_flows(stream);
        telemetry
    }

    /// Call it only while the connection is intact: the unacknowledged bytes of a broken one are
    /// unreliable.
    pub(super) fn look(&mut self, stream: &TcpStream, written: u64) {
        if let Ok(owed) = sys::unacknowledged(stream) {
            self.acknowledged = self.acknowledged.max(written.saturating_sub(owed));
        }
        self.look_at_flows(stream);
    }

    pub(super) fn weigh(&mut self, stream: &TcpStream) {
        if let Ok(Some(memory)) = diag::Memory::of(stream) {
            self.memory = Some(Memory::after(self.memory, u64::from(memory.wmem_queued)));
        }
    }

    fn look_at_flows(&mut self, stream: &TcpStream) {
        let subflows = match self.protocol {
            Protocol::Mptcp => Info::of_subflows(stream).ok(),
            Protocol::Tcp => None,
        };
        self.fell_back = self.protocol == Protocol::Mptcp && subflows.is_none();
        let only = || Info::of(stream).ok().flatten().into_iter().collect();
        let flows = subflows.unwrap_or_else(only);
        if flows.is_empty() {
            return;
        }
        if self.protocol == Protocol::Mptcp && !self.fell_back {
            self.subflows = self.subflows.max(Some(flows.len() as u64));
        }
        let retransmits = flows.iter().map(|flow| u64::from(flow.total_retrans)).sum();
        self.retransmits = self.retransmits.max(Some(retransmits));
        self.rtt_min_us = flows.iter().filter_map(Info::least_rtt_us).chain(self.rtt_min_us).min();
    }
}
