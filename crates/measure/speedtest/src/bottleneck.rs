//! Determines the limiting component of a transfer.
//!
//! The sender's kernel accumulates the busy time of a connection, and how much of it the peer's
//! window or the send buffer limited (tcp_info, Linux 4.10). The network limits the rest of the
//! busy time, and the program the rest of the total time.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::Info;

/// Accumulated times of a sender's kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    /// Time with data to send or unacknowledged data, us.
    pub busy_us: u64,
    /// Part of it limited by the receiver's window, us.
    pub rwnd_limited_us: u64,
    /// Part of it limited by the send buffer, us.
    pub sndbuf_limited_us: u64,
    /// Retransmitted segments.
    pub retransmitted: u64,
    /// Segments sent.
    pub sent: u64,
}

/// Shares of the time in which bodies were transferred.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// Limited by the network.
    pub network: f64,
    /// Limited by the receiver's window.
    pub receiver_window: f64,
    /// Limited by the send buffer.
    pub send_buffer: f64,
    /// Limited by the sending program or its CPU.
    pub application: f64,
    /// Limited by the receiving device, which did not read received data in time. Measured only for
    /// downloads of a browser.
    #[serde(default)]
    pub device: f64,
    /// Share of retransmitted segments.
    pub retransmitted: f64,
}

impl Times {
    /// The times of a connection; `None` if the kernel does not report them.
    pub fn of(info: &Info) -> Option<Self> {
        Some(Self {
            busy_us: info.busy_time_us?,
            rwnd_limited_us: info.rwnd_limited_us?,
            sndbuf_limited_us: info.sndbuf_limited_us?,
            retransmitted: info.total_retrans.into(),
            sent: info.data_segs_out.into(),
        })
    }

    /// The increase since an earlier sample of the same connection.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            busy_us: self.busy_us.saturating_sub(earlier.busy_us),
            rwnd_limited_us: self.rwnd_limited_us.saturating_sub(earlier.rwnd_limited_us),
            sndbuf_limited_us: self.sndbuf_limited_us.saturating_sub(earlier.sndbuf_limited_us),
            retransmitted: self.retransmitted.saturating_sub(earlier.retransmitted),
            sent: self.sent.saturating_sub(earlier.sent),
        }
    }

    /// The sum for two connections.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            busy_us: self.busy_us.saturating_add(other.busy_us),
            rwnd_limited_us: self.rwnd_limited_us.saturating_add(other.rwnd_limited_us),
            sndbuf_limited_us: self.sndbuf_limited_us.saturating_add(other.sndbuf_limited_us),
            retransmitted: self.retransmitted.saturating_add(other.retransmitted),
            sent: self.sent.saturating_add(other.sent),
        }
    }
}

impl Limits {
    /// The shares for connections with this total transfer time; `None` if nothing was sent.
    #[expect(clippy::cast_precision_loss, reason = "microseconds of a test, and its segments")]
    pub fn of(times: Times, transferring: Duration) -> Option<Self> {
        // The busy time may end up to a round trip after the transfer, with the last
        // acknowledgement.
        let all = (transferring.as_secs_f64() * 1e6).max(times.busy_us as f64);
        if all <= 0.0 || times.sent == 0 {
            return None;
        }
        let share = |us: u64| us as f64 / all;
        let (receiver_window, send_buffer) = (share(times.rwnd_limited_us), share(times.sndbuf_limited_us));
        let busy = share(times.busy_us);
        Some(Self {
            network: (busy - receiver_window - send_buffer).max(0.0),
            receiver_window,
            send_buffer,
            application: (1.0 - busy).max(0.0),
            device: 0.0,
            retransmitted: times.retransmitted as f64 / times.sent as f64,
        })
    }

    /// The shares for a receiver that read the last bytes `unread` after their arrival. A device
    /// that reads late also closes the window.
    pub fn of_device(times: Times, sending: Duration, unread: Duration) -> Option<Self> {
        let sent = Self::of(times, sending)?;
        let device = unread.as_secs_f64() / sending.saturating_add(unread).as_secs_f64().max(1e-9);
        let rest = 1.0 - device;
        let limits = Self {
            network: sent.network * rest,
            receiver_window: sent.receiver_window * rest,
            send_buffer: sent.send_buffer * rest,
            application: sent.application * rest,
            device,
            retransmitted: sent.retransmitted,
        };
        if device < BEHIND {
            return Some(limits);
        }
        let device = (device + limits.receiver_window).min(1.0);
        Some(Self { device, receiver_window: 0.0, ..limits })
    }

    /// The component that limited the largest part of the time.
    pub fn most(&self) -> &'static str {
        let all = [
            (self.network, "network"),
            (self.receiver_window, "receiver window"),
            (self.send_buffer, "send buffer"),
            (self.application, "application"),
            (self.device, "device"),
        ];
        all.into_iter().max_by(|(one, _), (other, _)| one.total_cmp(other)).map_or("network", |(_, who)| who)
    }
}

/// A slow device must still read the kernel's whole buffer, which is 3 % of the longest bodies.
const BEHIND: f64 = 0.03;

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: Times =
        Times { busy_us: 900, rwnd_limited_us: 500, sndbuf_limited_us: 100, retransmitted: 1, sent: 10 };

    #[test]
    fn the_time_is_divided_without_a_rest() {
        let limits = Limits::of(TIMES, Duration::from_micros(1000)).unwrap();
        let expected = Limits {
            network: 0.3,
            receiver_window: 0.5,
            send_buffer: 0.1,
            application: 0.1,
            device: 0.0,
            retransmitted: 0.1,
        };
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(close(limits.network, expected.network) && close(limits.application, expected.application));
        assert_eq!(limits.most(), "receiver window");
        assert_eq!(Limits::of(TIMES, Duration::from_micros(800)).unwrap().application, 0.0);
        assert_eq!(Limits::of(TIMES, Duration::ZERO).unwrap().application, 0.0);
        assert_eq!(Limits::of(Times::default(), Duration::from_micros(800)), None);
    }

    #[test]
    fn a_device_that_reads_late_has_closed_the_window() {
        let of = |unread| {
            Limits::of_device(TIMES, Duration::from_micros(900), Duration::from_micros(unread)).unwrap()
        };
        // 100 of 1000 us, and the 500 us with a closed window.
        let late = of(100);
        assert!((late.device - 0.6).abs() < 1e-9 && late.receiver_window == 0.0, "{late:?}");
        assert!((late.network - 0.3).abs() < 1e-9 && late.application.abs() < 1e-9);
        assert_eq!(late.most(), "device");
        let timely = of(9);
        assert!(timely.device < 0.01 && timely.receiver_window > 0.5);
        assert_eq!(timely.most(), "receiver window");
    }

    #[test]
    fn an_older_kernel_tells_nothing() {
        let mut info = Info { data_segs_out: 5, ..Info::default() };
        assert_eq!(Times::of(&info), None);
        (info.busy_time_us, info.rwnd_limited_us, info.sndbuf_limited_us) = (Some(9), Some(2), Some(1));
        let times = Times::of(&info).unwrap();
        assert_eq!((times.busy_us, times.sent), (9, 5));
        assert_eq!(times.and(times).since(times), times);
    }
}
