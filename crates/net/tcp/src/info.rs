//! `struct tcp_info`: the kernel's state of one connection, from Linux 4.9's 168 bytes to the newest version.
//!
//! The kernel only appends fields, so a shorter structure is an older kernel's, and its later fields are
//! absent. Bytes beyond the known fields are kept in [`Info::unknown`]. Source: include/uapi/linux/tcp.h and
//! `tcp_get_info()`.

use std::os::fd::AsFd;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::{Doing, Error},
    sys,
};

/// The kernel's state of one connection. Names are the kernel's without `tcpi_`, and with a unit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Info {
    /// The number of the [`State`](crate::diag::State).
    pub state: u8,
    /// Congestion control's state: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
    pub ca_state: u8,
    /// Consecutive retransmission timeouts without an acknowledgement.
    pub retransmits: u8,
    /// Consecutive probes without a response.
    pub probes: u8,
    /// Doublings of the timeout.
    pub backoff: u8,
    /// Options in use: bits of [`Options`].
    pub options: u8,
    /// The shift of windows that the peer advertises.
    pub snd_wscale: u8,
    /// The shift of windows that this end advertises.
    pub rcv_wscale: u8,
    /// Whether `delivery_rate` was measured while the application had too little to send.
    pub delivery_rate_app_limited: bool,
    /// Retransmission timeout, us.
    pub rto_us: u32,
    /// Delayed-acknowledgement timeout, us.
    pub ato_us: u32,
    /// Maximum segment size for sending, bytes of payload.
    pub snd_mss: u32,
    /// Estimated maximum segment size of received data, bytes of payload.
    pub rcv_mss: u32,
    /// Segments sent and not acknowledged. For a listening socket: connections that wait to be accepted.
    pub unacked: u32,
    /// Selectively acknowledged segments. For a listening socket: the limit of its queue.
    pub sacked: u32,
    /// Segments presumed lost.
    pub lost: u32,
    /// Retransmitted segments in flight.
    pub retrans: u32,
    /// Segments up to the highest selectively acknowledged (forward acknowledgement); 0 since Linux 4.15.
    pub fackets: u32,
    /// Time since data was last sent, ms.
    pub last_data_sent_ms: u32,
    /// Never set by the kernel.
    pub last_ack_sent_ms: u32,
    /// Time since data was last received, ms.
    pub last_data_recv_ms: u32,
    /// Time since an acknowledgement was last received, ms.
    pub last_ack_recv_ms: u32,
    /// Path MTU, bytes.
    pub pmtu: u32,
    /// Current limit of the advertised window, bytes.
    pub rcv_ssthresh: u32,
    /// Smoothed round-trip time, us.
    pub rtt_us: u32,
    /// Its mean deviation, us.
    pub rttvar_us: u32,
    /// Slow-start threshold, segments; 2147483647 if it is not set yet.
    pub snd_ssthresh: u32,
    /// Congestion window, segments.
    pub snd_cwnd: u32,
    /// Maximum segment size that this end advertised, bytes.
    pub advmss: u32,
    /// Reordering distance in segments before a packet counts as lost.
    pub reordering: u32,
    /// The receiver's estimate of the round-trip time, us; 0 if there is none yet.
    pub rcv_rtt_us: u32,
    /// Bytes that the application read in one round trip, for which the receive buffer is tuned.
    pub rcv_space: u32,
    /// Total of retransmitted segments.
    pub total_retrans: u32,
    /// Pacing rate, bytes per second; all ones: not paced.
    pub pacing_rate: u64,
    /// `SO_MAX_PACING_RATE`, bytes per second; all ones if not set.
    pub max_pacing_rate: u64,
    /// Bytes acknowledged by the peer.
    pub bytes_acked: u64,
    /// Bytes received in order.
    pub bytes_received: u64,
    /// Segments sent.
    pub segs_out: u32,
    /// Segments received.
    pub segs_in: u32,
    /// Bytes written by the application and not sent yet.
    pub notsent_bytes: u32,
    /// Minimum round-trip time of the last minutes, us; all ones if there is none yet.
    pub min_rtt_us: u32,
    /// Data segments received.
    pub data_segs_in: u32,
    /// Data segments sent.
    pub data_segs_out: u32,
    /// The latest delivery rate, bytes per second.
    pub delivery_rate: u64,
    /// Time with unacknowledged or unsent data, us. Since Linux 4.10, like the next two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy_time_us: Option<u64>,
    /// Part of the busy time that was limited by the peer's window, us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rwnd_limited_us: Option<u64>,
    /// Part of the busy time that was limited by the send buffer, us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sndbuf_limited_us: Option<u64>,
    /// Segments delivered to the peer. Since Linux 4.18, like the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivered: Option<u32>,
    /// Delivered segments with the mark "congestion experienced".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivered_ce: Option<u32>,
    /// Bytes of payload sent, including retransmissions. Since Linux 4.19, like the next three.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_sent: Option<u64>,
    /// Bytes of payload retransmitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_retrans: Option<u64>,
    /// Duplicates that the peer reported: spurious retransmissions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dsack_dups: Option<u32>,
    /// Number of detected reorderings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reord_seen: Option<u32>,
    /// Packets received out of order. Since Linux 5.4, like the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rcv_ooopack: Option<u32>,
    /// The window that the peer advertises, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snd_wnd: Option<u32>,
    /// The window that this end advertises, bytes. Since Linux 6.2, like the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rcv_wnd: Option<u32>,
    /// Number of changes of the flow hash to try another path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rehash: Option<u32>,
    /// Total of retransmission timeouts. Since Linux 6.7, like the next two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_rto: Option<u16>,
    /// Recoveries from timeouts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_rto_recoveries: Option<u16>,
    /// Time spent in timeout recovery, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_rto_time_ms: Option<u32>,
    /// Segments received with the mark "congestion experienced". Since Linux 6.18 (accurate ECN, RFC 9768),
    /// like the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub received_ce: Option<u32>,
    /// Bytes delivered as ECT(1), as reported by the peer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivered_e1_bytes: Option<u32>,
    /// Bytes delivered as ECT(0), as reported by the peer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivered_e0_bytes: Option<u32>,
    /// Bytes delivered with a mark, as reported by the peer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivered_ce_bytes: Option<u32>,
    /// Bytes received as ECT(1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub received_e1_bytes: Option<u32>,
    /// Bytes received as ECT(0).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub received_e0_bytes: Option<u32>,
    /// Bytes received with a mark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub received_ce_bytes: Option<u32>,
    /// Negotiation and failures of accurate ECN; the meaning of the bits depends on the kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accecn_flags: Option<u32>,
    /// Additional bytes of a newer kernel, in hexadecimal.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unknown: String,
}

/// Bits of [`Info::options`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Options {
    /// Timestamps (RFC 7323).
    Timestamps = 1,
    /// Selective acknowledgements (RFC 2018).
    Sack = 2,
    /// Window scaling (RFC 7323).
    WindowScale = 4,
    /// Explicit congestion notification (RFC 3168).
    Ecn = 8,
}

impl Info {
    /// Decodes the kernel's structure. `None` if it is shorter than in Linux 4.9, or of a socket without a
    /// state.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut next = Cursor(bytes);
        let mut info = Self::first(&mut next)?;
        info.later(&mut next);
        info.unknown = hex(next.0);
        Some(info)
    }

    /// The minimum round-trip time of the last minutes, us; `None` without a measurement.
    pub fn least_rtt_us(&self) -> Option<u32> {
        Some(self.min_rtt_us).filter(|&rtt| rtt != u32::MAX && rtt != 0)
    }

    /// The `tcp_info` of a socket of this process, including one with a broken connection. `None` as in
    /// [`Self::decode`].
    pub fn of(socket: impl AsFd) -> Result<Option<Self>, Error> {
        sys::tcp_info(socket)
            .doing(|| "read a socket's tcp_info".to_owned())
            .map(|bytes| Self::decode(&bytes))
    }

    /// The `tcp_info` of each subflow of a Multipath TCP socket of this process, at most 9.
    ///
    /// # Errors
    /// Without MPTCP, for example after a fallback to TCP.
    pub fn of_subflows(socket: impl AsFd) -> Result<Vec<Self>, Error> {
        let bytes = sys::subflow_infos(socket).doing(|| "read the subflows' tcp_info".to_owned())?;
        Ok(subflows(&bytes))
    }

    /// Whether an option is in use.
    pub fn has(&self, option: Options) -> bool {
        self.options & option as u8 != 0
    }

    fn first(next: &mut Cursor<'_>) -> Option<Self> {
        let [state, ca_state, retransmits, probes, backoff, options, scales, flags] = next.take()?;
        let (low, high) = (scales & 0xf, scales >> 4);
        // Bit fields start at the low bits of a byte on little-endian machines, and at the high bits on
        // others.
        let (snd_wscale, rcv_wscale) = if cfg!(target_endian = "little") { (low, high) } else { (high, low) };
        let app_limited = if cfg!(target_endian = "little") { 1 } else { 0x80 };
        Some(Self {
            state,
            ca_state,
            retransmits,
            probes,
            backoff,
            options,
            snd_wscale,
            rcv_wscale,
            delivery_rate_app_limited: flags & app_limited != 0,
            rto_us: next.u32()?,
            ato_us: next.u32()?,
            snd_mss: next.u32()?,
            rcv_mss: next.u32()?,
            unacked: next.u32()?,
            sacked: next.u32()?,
            lost: next.u32()?,
            retrans: next.u32()?,
            fackets: next.u32()?,
            last_data_sent_ms: next.u32()?,
            last_ack_sent_ms: next.u32()?,
            last_data_recv_ms: next.u32()?,
            last_ack_recv_ms: next.u32()?,
            pmtu: next.u32()?,
            rcv_ssthresh: next.u32()?,
            rtt_us: next.u32()?,
            rttvar_us: next.u32()?,
            snd_ssthresh: next.u32()?,
            snd_cwnd: next.u32()?,
            advmss: next.u32()?,
            reordering: next.u32()?,
            rcv_rtt_us: next.u32()?,
            rcv_space: next.u32()?,
            total_retrans: next.u32()?,
            pacing_rate: next.u64()?,
            max_pacing_rate: next.u64()?,
            bytes_acked: next.u64()?,
            bytes_received: next.u64()?,
            segs_out: next.u32()?,
            segs_in: next.u32()?,
            notsent_bytes: next.u32()?,
            min_rtt_us: next.u32()?,
            data_segs_in: next.u32()?,
            data_segs_out: next.u32()?,
            delivery_rate: next.u64()?,
            ..Self::default()
        })
    }

    fn later(&mut self, next: &mut Cursor<'_>) {
        self.busy_time_us = next.u64();
        self.rwnd_limited_us = next.u64();
        self.sndbuf_limited_us = next.u64();
        self.delivered = next.u32();
        self.delivered_ce = next.u32();
        self.bytes_sent = next.u64();
        self.bytes_retrans = next.u64();
        self.dsack_dups = next.u32();
        self.reord_seen = next.u32();
        self.rcv_ooopack = next.u32();
        self.snd_wnd = next.u32();
        self.rcv_wnd = next.u32();
        self.rehash = next.u32();
        self.total_rto = next.u16();
        self.total_rto_recoveries = next.u16();
        self.total_rto_time_ms = next.u32();
        self.received_ce = next.u32();
        self.delivered_e1_bytes = next.u32();
        self.delivered_e0_bytes = next.u32();
        self.delivered_ce_bytes = next.u32();
        self.received_e1_bytes = next.u32();
        self.received_e0_bytes = next.u32();
        self.received_ce_bytes = next.u32();
        self.accecn_flags = next.u32();
    }
}

/// The kernel reports their length: the requested one, or its own if that is smaller.
fn subflows(bytes: &[u8]) -> Vec<Info> {
    let (head, infos) = bytes.split_at_checked(sys::SUBFLOW_DATA).unwrap_or_default();
    let mut head = Cursor(head);
    let (_, Some(number), _, Some(length)) = (head.u32(), head.u32(), head.u32(), head.u32()) else {
        return Vec::new();
    };
    let each = infos.chunks_exact((length as usize).max(1)).take(number as usize);
    each.filter_map(Info::decode).collect()
}

struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) =
            self.0.split_first_chunk().map_or((None, &[][..]), |(taken, rest)| (Some(*taken), rest));
        self.0 = rest;
        taken
    }

    fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_ne_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_ne_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_ne_bytes)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [(&str, usize, usize); 9] = [
        ("4.9", 168, 0),
        ("4.10", 192, 3),
        ("4.18", 200, 5),
        ("4.19", 224, 9),
        ("5.4", 232, 11),
        ("6.2", 240, 13),
        ("6.7", 248, 16),
        ("6.18", 280, 24),
        ("newer", 300, 24),
    ];

    fn numbered(size: usize) -> Vec<u8> {
        (0..size / 4).flat_map(|word| u32::try_from(word).unwrap().to_ne_bytes()).collect()
    }

    #[test]
    fn each_kernel_tells_what_it_has() {
        for (kernel, size, later) in SIZES {
            let info = Info::decode(&numbered(size)).unwrap();
            assert_eq!((info.rtt_us, info.snd_cwnd), (17, 20), "{kernel}");
            let json = serde_json::to_value(&info).unwrap();
            let named = json.as_object().unwrap().keys().filter(|key| *key != "unknown").count();
            assert_eq!(named, FIRST + later, "{kernel}");
            assert_eq!(info.snd_wnd, (size >= 232).then_some(57), "{kernel}");
            assert_eq!(info.received_ce_bytes, (size >= 276).then_some(68), "{kernel}");
        }
        assert_eq!(Info::decode(&numbered(164)), None, "older than Linux 4.9");
    }

    #[test]
    fn each_subflow_is_as_long_as_the_kernel_says() {
        // Two structures of Linux 6.18's 280 bytes, in a larger buffer.
        let head = [16, 2, 280, 280].map(u32::to_ne_bytes).concat();
        let infos = [numbered(280), numbered(280)].concat();
        let answer = [head.as_slice(), &infos, &[0; 560]].concat();
        let flows = subflows(&answer);
        assert_eq!(flows.iter().map(|info| (info.rtt_us, info.snd_cwnd)).collect::<Vec<_>>(), [(17, 20); 2]);
        assert_eq!(subflows(&answer[..15]), []);
        assert_eq!(subflows(&[0; 16]), []);
    }

    #[test]
    fn what_a_newer_kernel_adds_is_kept() {
        let info = Info::decode(&numbered(284)).unwrap();
        assert_eq!(info.unknown, hex(&70_u32.to_ne_bytes()));
    }

    const FIRST: usize = 44;
}
