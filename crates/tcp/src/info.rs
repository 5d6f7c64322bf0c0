//! `struct tcp_info`: what the kernel tells of one connection, from Linux 4.9's 168 bytes to the newest.
//!
//! The kernel only ever adds at the end, so a shorter one is an older kernel's: its later fields are absent. What is
//! longer than we know is kept as [`Info::unknown`]. Source: include/uapi/linux/tcp.h and `tcp_get_info()`.

use std::os::fd::AsFd;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::{Doing, Error},
    sys,
};

/// What the kernel tells of one connection. Names are the kernel's without `tcpi_`, and with a unit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Info {
    /// The state's number, as [`State`](crate::diag::State) has it.
    pub state: u8,
    /// Congestion control's state: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
    pub ca_state: u8,
    /// Retransmission timeouts in a row that were not answered yet.
    pub retransmits: u8,
    /// Window probes in a row that were not answered yet.
    pub probes: u8,
    /// Doublings of the timeout.
    pub backoff: u8,
    /// Options in use, as [`Options`] says.
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
    /// The largest segment that is sent, bytes of payload.
    pub snd_mss: u32,
    /// The largest segment that seems to be received, bytes of payload.
    pub rcv_mss: u32,
    /// Segments sent and not acknowledged. Of a listening socket: connections that wait to be accepted.
    pub unacked: u32,
    /// Of those, selectively acknowledged. Of a listening socket: how many may wait.
    pub sacked: u32,
    /// Of those, thought to be lost.
    pub lost: u32,
    /// Of those, sent again.
    pub retrans: u32,
    /// Segments up to the highest selectively acknowledged (forward acknowledgement); 0 since Linux 4.15.
    pub fackets: u32,
    /// Since data was sent last, ms.
    pub last_data_sent_ms: u32,
    /// Never set by the kernel.
    pub last_ack_sent_ms: u32,
    /// Since data was received last, ms.
    pub last_data_recv_ms: u32,
    /// Since an acknowledgement was received last, ms.
    pub last_ack_recv_ms: u32,
    /// Path MTU, bytes.
    pub pmtu: u32,
    /// The most that this end will advertise as its window for now, bytes.
    pub rcv_ssthresh: u32,
    /// Smoothed round-trip time, us.
    pub rtt_us: u32,
    /// Its mean deviation, us.
    pub rttvar_us: u32,
    /// Slow start ends at this congestion window, segments; 2147483647: not yet.
    pub snd_ssthresh: u32,
    /// Congestion window, segments.
    pub snd_cwnd: u32,
    /// The largest segment that this end offered to receive, bytes.
    pub advmss: u32,
    /// Segments by which packets may be out of order before one counts as lost.
    pub reordering: u32,
    /// Round-trip time as the receiver estimates it, us; 0: not yet.
    pub rcv_rtt_us: u32,
    /// What the application read in one round trip, bytes: what the receive buffer is tuned for.
    pub rcv_space: u32,
    /// Segments sent again, in all.
    pub total_retrans: u32,
    /// Pacing rate, bytes per second; all ones: not paced.
    pub pacing_rate: u64,
    /// `SO_MAX_PACING_RATE`, bytes per second; all ones: none.
    pub max_pacing_rate: u64,
    /// Bytes acknowledged by the peer.
    pub bytes_acked: u64,
    /// Bytes received in order.
    pub bytes_received: u64,
    /// Segments sent.
    pub segs_out: u32,
    /// Segments received.
    pub segs_in: u32,
    /// Bytes written by the application and never sent yet.
    pub notsent_bytes: u32,
    /// Least round-trip time of the last minutes, us; all ones: none yet.
    pub min_rtt_us: u32,
    /// Segments with data received.
    pub data_segs_in: u32,
    /// Segments with data sent.
    pub data_segs_out: u32,
    /// The latest rate of delivery, bytes per second.
    pub delivery_rate: u64,
    /// Time with data unacknowledged or unsent, us. Linux 4.10, as the next two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy_time_us: Option<u64>,
    /// Of that, limited by the peer's window, us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rwnd_limited_us: Option<u64>,
    /// Of that, limited by the send buffer, us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sndbuf_limited_us: Option<u64>,
    /// Segments delivered to the peer. Linux 4.18, as the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivered: Option<u32>,
    /// Of those, marked "congestion experienced".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivered_ce: Option<u32>,
    /// Bytes of payload sent, repeats included. Linux 4.19, as the next three.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_sent: Option<u64>,
    /// Bytes of payload sent again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_retrans: Option<u64>,
    /// Duplicates that the peer reported: repeats for nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dsack_dups: Option<u32>,
    /// Times that packets were seen to be out of order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reord_seen: Option<u32>,
    /// Packets received out of order. Linux 5.4, as the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rcv_ooopack: Option<u32>,
    /// The window that the peer advertises, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snd_wnd: Option<u32>,
    /// The window that this end advertises, bytes. Linux 6.2, as the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rcv_wnd: Option<u32>,
    /// Times that another path was tried by another flow hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rehash: Option<u32>,
    /// Retransmission timeouts, in all. Linux 6.7, as the next two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_rto: Option<u16>,
    /// Recoveries from them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_rto_recoveries: Option<u16>,
    /// Time spent in them, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_rto_time_ms: Option<u32>,
    /// Segments received that are marked "congestion experienced". Linux 6.18 (accurate ECN, RFC 9768), as the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub received_ce: Option<u32>,
    /// Bytes delivered as ECT(1), as the peer says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivered_e1_bytes: Option<u32>,
    /// Bytes delivered as ECT(0), as the peer says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivered_e0_bytes: Option<u32>,
    /// Bytes delivered with a mark, as the peer says.
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
    /// How accurate ECN was agreed on and failed; what each bit means depends on the kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accecn_flags: Option<u32>,
    /// What a newer kernel sends after that, in hexadecimal.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unknown: String,
}

/// Bits of [`Info::options`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Options {
    /// Time stamps (RFC 7323).
    Timestamps = 1,
    /// Selective acknowledgements (RFC 2018).
    Sack = 2,
    /// Window scaling (RFC 7323).
    WindowScale = 4,
    /// Explicit congestion notification (RFC 3168).
    Ecn = 8,
}

impl Info {
    /// Reads what a kernel sent. None if it is shorter than Linux 4.9's, or of a socket that has none.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut next = Cursor(bytes);
        let mut info = Self::first(&mut next)?;
        info.later(&mut next);
        info.unknown = hex(next.0);
        Some(info)
    }

    /// The least round-trip time of the last minutes, us; none if none was measured.
    pub fn least_rtt_us(&self) -> Option<u32> {
        Some(self.min_rtt_us).filter(|&rtt| rtt != u32::MAX && rtt != 0)
    }

    /// Of a socket of this process, also of one whose connection has broken. None as [`Self::decode`] has it.
    pub fn of(socket: impl AsFd) -> Result<Option<Self>, Error> {
        sys::tcp_info(socket)
            .doing(|| "ask for a socket's tcp_info".to_owned())
            .map(|bytes| Self::decode(&bytes))
    }

    /// Of each subflow of a Multipath TCP socket of this process, 9 at most.
    ///
    /// # Errors
    /// Where there is no MPTCP, as after a fallback to TCP.
    pub fn of_subflows(socket: impl AsFd) -> Result<Vec<Self>, Error> {
        let bytes = sys::subflow_infos(socket).doing(|| "ask for the subflows' tcp_info".to_owned())?;
        Ok(subflows(&bytes))
    }

    /// Whether an option is in use.
    pub fn has(&self, option: Options) -> bool {
        self.options & option as u8 != 0
    }

    /// What every kernel since 4.9 tells.
    fn first(next: &mut Cursor<'_>) -> Option<Self> {
        let [state, ca_state, retransmits, probes, backoff, options, scales, flags] = next.take()?;
        let (low, high) = (scales & 0xf, scales >> 4);
        // Bit fields begin at the low bits of a byte on little-endian machines, at the high ones on others.
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

    /// What later kernels added, in the order in which they did.
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

/// Of each subflow, from a `struct mptcp_subflow_data` and what comes after it. The kernel says how long each is: as long as
/// was asked for, or as its own.
fn subflows(bytes: &[u8]) -> Vec<Info> {
    let (head, infos) = bytes.split_at_checked(sys::SUBFLOW_DATA).unwrap_or_default();
    let mut head = Cursor(head);
    let (_, Some(number), _, Some(length)) = (head.u32(), head.u32(), head.u32(), head.u32()) else {
        return Vec::new();
    };
    let each = infos.chunks_exact((length as usize).max(1)).take(number as usize);
    each.filter_map(Info::decode).collect()
}

/// What is left to read. Once something does not fit, nothing after it is there either.
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

    /// Sizes of the structure by the first kernel that had them, and how many of the later fields each has.
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

    /// Bytes of which each 4 are another number.
    fn numbered(size: usize) -> Vec<u8> {
        (0..size / 4).flat_map(|word| u32::try_from(word).unwrap().to_ne_bytes()).collect()
    }

    #[test]
    fn each_kernel_tells_what_it_has() {
        for (kernel, size, later) in SIZES {
            let info = Info::decode(&numbered(size)).unwrap();
            // Words 17 and 20 of the structure in every version.
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
        // Two of Linux 6.18's 280 bytes, in room for more.
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

    /// Fields that are always there.
    const FIRST: usize = 44;
}
