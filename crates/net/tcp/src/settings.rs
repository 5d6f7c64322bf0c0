//! The settings of a network namespace that limit TCP, and the kernel's defaults.
//!
//! A setting is `None` if this kernel lacks it, or does not show it in this namespace:
//! `net.core.default_qdisc` exists only in the initial one.

use std::{fs, path::Path, str::FromStr};

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    Error,
    error::Doing,
    kernel::{Rule, Version},
};

/// Settings by their `sysctl` names without `net.ipv4.`; settings of `net.core` have the prefix `core_`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Settings {
    /// Receive buffers in bytes: the minimum under memory pressure, the initial size, the maximum of
    /// autotuning.
    pub tcp_rmem: Option<[u64; 3]>,
    /// Send buffers in bytes, with the same three values.
    pub tcp_wmem: Option<[u64; 3]>,
    /// The maximum of `SO_RCVBUF` in bytes; the buffer is twice the requested size.
    pub core_rmem_max: Option<u64>,
    /// The maximum of `SO_SNDBUF` in bytes; the buffer is twice the requested size.
    pub core_wmem_max: Option<u64>,
    /// The share of a receive buffer that is window; without effect since 6.6.
    pub tcp_adv_win_scale: Option<i64>,
    /// Whether receive buffers are autotuned.
    pub tcp_moderate_rcvbuf: Option<u64>,
    /// Whether windows may be larger than 64 KiB (RFC 7323).
    pub tcp_window_scaling: Option<u64>,
    /// Whether a receiver without memory may shrink its window.
    pub tcp_shrink_window: Option<u64>,
    /// Limit of unsent bytes, above which a sender is not writable.
    pub tcp_notsent_lowat: Option<u64>,
    /// Limit of a connection's bytes in queues below TCP.
    pub tcp_limit_output_bytes: Option<u64>,
    /// Whether the congestion window is reset after an idle time.
    pub tcp_slow_start_after_idle: Option<u64>,
    /// Whether path metrics of a connection are not saved for later connections to the same destination.
    pub tcp_no_metrics_save: Option<u64>,
    /// 0: no timestamps; 1: with a random offset per connection; 2: without an offset.
    pub tcp_timestamps: Option<u64>,
    /// Whether a receiver reports data beyond a gap (RFC 2018).
    pub tcp_sack: Option<u64>,
    /// 0: no path MTU probing; 1: after a black hole; 2: always.
    pub tcp_mtu_probing: Option<u64>,
    /// Window of the minimum RTT, in seconds.
    pub tcp_min_rtt_wlen: Option<u64>,
    /// The congestion control of new connections.
    pub tcp_congestion_control: Option<String>,
    /// The loaded congestion controls.
    pub tcp_available_congestion_control: Option<Vec<String>>,
    /// The queueing discipline of new devices.
    pub core_default_qdisc: Option<String>,
    /// The first and the last port that `connect()` chooses.
    pub ip_local_port_range: Option<[u64; 2]>,
    /// 0: ports in TIME-WAIT are not reused; 1: they are; 2: on loopback.
    pub tcp_tw_reuse: Option<u64>,
    /// Seconds that a connection without an owner waits for the peer's FIN.
    pub tcp_fin_timeout: Option<u64>,
    /// Maximum number of connections in TIME-WAIT.
    pub tcp_max_tw_buckets: Option<u64>,
    /// The machine's memory in bytes, on which the kernel's buffer defaults depend.
    pub memory_bytes: Option<u64>,
}

/// A setting below the kernel's default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BelowDefault {
    /// Its name for `sysctl`; with an index if it is one of three.
    pub setting: &'static str,
    /// The current value.
    pub value: u64,
    /// The kernel's default.
    pub default: u64,
}

impl Settings {
    /// The settings of the calling thread's network namespace. Fails if `/proc/sys/net` is missing.
    pub fn read() -> Result<Self, Error> {
        fs::metadata(FOLDER).doing(|| format!("read {FOLDER}"))?;
        let memory = fs::read_to_string("/proc/meminfo").ok().and_then(|text| total_memory(&text));
        Ok(Self {
            memory_bytes: memory,
            ..Self::of(|name| fs::read_to_string(Path::new(FOLDER).join(name)).ok())
        })
    }

    fn of(text: impl Fn(&str) -> Option<String>) -> Self {
        let number = |name: &str| text(name).and_then(|text| numbers::<u64, 1>(&text)).map(|[number]| number);
        Self {
            tcp_rmem: text("ipv4/tcp_rmem").and_then(|text| numbers(&text)),
            tcp_wmem: text("ipv4/tcp_wmem").and_then(|text| numbers(&text)),
            core_rmem_max: number("core/rmem_max"),
            core_wmem_max: number("core/wmem_max"),
            tcp_adv_win_scale: text("ipv4/tcp_adv_win_scale")
                .and_then(|text| numbers(&text))
                .map(|[scale]| scale),
            tcp_moderate_rcvbuf: number("ipv4/tcp_moderate_rcvbuf"),
            tcp_window_scaling: number("ipv4/tcp_window_scaling"),
            tcp_shrink_window: number("ipv4/tcp_shrink_window"),
            tcp_notsent_lowat: number("ipv4/tcp_notsent_lowat"),
            tcp_limit_output_bytes: number("ipv4/tcp_limit_output_bytes"),
            tcp_slow_start_after_idle: number("ipv4/tcp_slow_start_after_idle"),
            tcp_no_metrics_save: number("ipv4/tcp_no_metrics_save"),
            tcp_timestamps: number("ipv4/tcp_timestamps"),
            tcp_sack: number("ipv4/tcp_sack"),
            tcp_mtu_probing: number("ipv4/tcp_mtu_probing"),
            tcp_min_rtt_wlen: number("ipv4/tcp_min_rtt_wlen"),
            tcp_congestion_control: text("ipv4/tcp_congestion_control").map(|text| text.trim().to_owned()),
            tcp_available_congestion_control: text("ipv4/tcp_available_congestion_control")
                .map(|text| text.split_whitespace().map(str::to_owned).collect()),
            core_default_qdisc: text("core/default_qdisc").map(|text| text.trim().to_owned()),
            ip_local_port_range: text("ipv4/ip_local_port_range").and_then(|text| numbers(&text)),
            tcp_tw_reuse: number("ipv4/tcp_tw_reuse"),
            tcp_fin_timeout: number("ipv4/tcp_fin_timeout"),
            tcp_max_tw_buckets: number("ipv4/tcp_max_tw_buckets"),
            memory_bytes: None,
        }
    }

    /// The defaults of `kernel` on a machine with `memory` bytes, or with plenty of memory if it is
    /// `None`. A setting is `None` if it depends on the build of the kernel, or is unknown for such
    /// an old kernel (before 3.4).
    pub fn defaults(kernel: Version, memory: Option<u64>) -> Self {
        if !Rule::RECEIVE_6_MIB.holds(kernel) {
            return Self::default();
        }
        let share = memory.map_or(u64::MAX, |bytes| bytes / 128 / 16 * 15);
        let since = |rule: &Rule, new, old| if rule.holds(kernel) { new } else { old };
        let receive_start = since(&Rule::RECEIVE_STARTS_AT_128_KIB, 128 * KIB, 87_380);
        let receive_most = since(&Rule::RECEIVE_32_MIB, 32 * MIB, 6 * MIB);
        let fixed_most = since(&Rule::FIXED_BUFFERS_TO_4_MIB, 4 * MIB, 212_992);
        Self {
            tcp_rmem: Some([4 * KIB, receive_start, receive_most.min(share).max(receive_start)]),
            tcp_wmem: Some([4 * KIB, 16 * KIB, (4 * MIB).min(share).max(64 * KIB)]),
            core_rmem_max: Some(fixed_most),
            core_wmem_max: Some(fixed_most),
            tcp_adv_win_scale: Some(1),
            tcp_moderate_rcvbuf: Some(1),
            tcp_window_scaling: Some(1),
            tcp_shrink_window: Rule::SHRINK_WINDOW.holds(kernel).then_some(0),
            tcp_notsent_lowat: Rule::NOTSENT_LOWAT.holds(kernel).then_some(u32::MAX.into()),
            tcp_limit_output_bytes: (kernel >= Version::new(5, 0))
                .then(|| since(&Rule::QUEUES_4_MIB_BELOW_TCP, 4 * MIB, MIB)),
            tcp_slow_start_after_idle: Some(1),
            tcp_no_metrics_save: Some(0),
            tcp_timestamps: Some(1),
            tcp_sack: Some(1),
            tcp_mtu_probing: Some(0),
            tcp_min_rtt_wlen: (kernel >= Version::new(4, 3)).then_some(300),
            ip_local_port_range: Rule::EVEN_PORTS_FIRST.holds(kernel).then_some([32_768, 60_999]),
            tcp_tw_reuse: Some(since(&Rule::REUSE_ON_LOOPBACK, 2, 0)),
            tcp_fin_timeout: Some(60),
            memory_bytes: memory,
            ..Self::default()
        }
    }

    /// Settings below `kernel`'s default that make connections slower or fewer.
    pub fn below_default(&self, kernel: Version) -> Vec<BelowDefault> {
        let defaults = Self::defaults(kernel, self.memory_bytes).limits();
        let pairs = self.limits().into_iter().zip(defaults);
        pairs
            .filter_map(|((setting, value), (_, default))| {
                let (value, default) = value.zip(default)?;
                (value < default).then_some(BelowDefault { setting, value, default })
            })
            .collect()
    }

    fn limits(&self) -> [(&'static str, Option<u64>); 12] {
        let [receive, send] =
            [self.tcp_rmem, self.tcp_wmem].map(|buffers| move |index: usize| Some(buffers?[index]));
        let ports = self.ip_local_port_range.map(|[first, last]| (last + 1).saturating_sub(first));
        [
            ("net.ipv4.tcp_rmem[1]", receive(1)),
            ("net.ipv4.tcp_rmem[2]", receive(2)),
            ("net.ipv4.tcp_wmem[1]", send(1)),
            ("net.ipv4.tcp_wmem[2]", send(2)),
            ("net.core.rmem_max", self.core_rmem_max),
            ("net.core.wmem_max", self.core_wmem_max),
            ("net.ipv4.tcp_moderate_rcvbuf", self.tcp_moderate_rcvbuf),
            ("net.ipv4.tcp_window_scaling", self.tcp_window_scaling),
            ("net.ipv4.tcp_limit_output_bytes", self.tcp_limit_output_bytes),
            ("net.ipv4.tcp_timestamps", self.tcp_timestamps),
            ("net.ipv4.tcp_sack", self.tcp_sack),
            ("ports of net.ipv4.ip_local_port_range", ports),
        ]
    }
}

fn numbers<T: FromStr, const N: usize>(text: &str) -> Option<[T; N]> {
    let numbers = text.split_whitespace().map(|word| word.parse().ok()).collect::<Option<Vec<T>>>()?;
    numbers.try_into().ok()
}

fn total_memory(text: &str) -> Option<u64> {
    let kib: u64 = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?
        .trim()
        .strip_suffix("kB")?
        .trim()
        .parse()
        .ok()?;
    kib.checked_mul(KIB)
}

const FOLDER: &str = "/proc/sys/net";
const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

#[cfg(test)]
mod tests;
