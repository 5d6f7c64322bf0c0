//! Values derived from the samples of a connection: rates, round trips, retransmissions.

use super::{Look, Role};
use crate::{
    Info,
    diag::{Model, Socket, State},
};

#[derive(Debug)]
pub(super) struct Figures<'a> {
    /// For a connection with a single sample, its initial values.
    pub before: Info,
    pub now: &'a Info,
    pub socket: &'a Socket,
    pub looks: &'a [Look],
    /// For a connection with a single sample, its total busy time.
    pub seconds: f64,
}

impl<'a> Figures<'a> {
    /// `None` for a socket without `tcp_info`.
    pub(super) fn of(looks: &'a [Look]) -> Option<Self> {
        let (first, last) = (looks.first()?, looks.last()?);
        let now = last.socket.info.as_ref()?;
        let has_one = last.at == first.at;
        let before = if has_one { Info::default() } else { first.socket.info.clone()? };
        let seconds = if has_one {
            now.busy_time_us.unwrap_or(0) as f64 / 1e6
        } else {
            (last.at - first.at).as_secs_f64()
        };
        Some(Self { before, now, socket: &last.socket, looks, seconds })
    }

    pub(super) fn infos(&self) -> impl Iterator<Item = (&'a Socket, &'a Info)> + use<'a> {
        self.looks.iter().filter_map(|look| Some((&look.socket, look.socket.info.as_ref()?)))
    }

    /// Without transferred bytes, unsent bytes make a sender, and unread bytes a receiver.
    pub(super) fn role(&self) -> Role {
        let (acked, received) = (self.acked(), self.received());
        match (acked, received) {
            (0, 0) if self.has_pending() => Role::Sender,
            (0, 0) if self.has_unread() => Role::Receiver,
            (0, 0) => Role::Neither,
            _ if acked >= received => Role::Sender,
            _ => Role::Receiver,
        }
    }

    pub(super) fn acked(&self) -> u64 {
        self.now.bytes_acked.saturating_sub(self.before.bytes_acked)
    }

    pub(super) fn received(&self) -> u64 {
        self.now.bytes_received.saturating_sub(self.before.bytes_received)
    }

    pub(super) fn segments(&self) -> u32 {
        self.now.data_segs_out.wrapping_sub(self.before.data_segs_out)
    }

    pub(super) fn repeats(&self) -> u32 {
        self.now.total_retrans.wrapping_sub(self.before.total_retrans)
    }

    pub(super) fn repeated_share(&self) -> f64 {
        f64::from(self.repeats()) / f64::from(self.segments().max(1))
    }

    pub(super) fn needless(&self) -> u32 {
        self.since(|info| info.dsack_dups).unwrap_or(0)
    }

    pub(super) fn since(&self, counter: impl Fn(&Info) -> Option<u32>) -> Option<u32> {
        Some(counter(self.now)?.wrapping_sub(counter(&self.before).unwrap_or(0)))
    }

    pub(super) fn is_silent(&self) -> bool {
        self.acked() == 0 && self.received() == 0
    }

    pub(super) fn is_left_open(&self) -> bool {
        let is_half_closed = self.looks.iter().all(|look| look.socket.state == State::CloseWait);
        is_half_closed && self.socket.inode != 0 && self.is_silent() && self.socket.send_queue == 0
    }

    /// The window is constant if its program reads immediately: a slow reader leaves a varying
    /// amount unread. For a subflow the result is meaningless, because the window is its
    /// connection's.
    pub(super) fn has_constant_window(&self) -> bool {
        let windows = || self.infos().filter_map(|(_, info)| info.snd_wnd);
        let Some(most) = windows().max() else { return false };
        let smaller = windows().filter(|window| *window < most - most / 100).count();
        !self.is_subflow() && smaller * 10 <= windows().count()
    }

    /// In microseconds.
    pub(super) fn grown_us(&self, time: impl Fn(&Info) -> Option<u64>) -> Option<u64> {
        Some(time(self.now)?.saturating_sub(time(&self.before).unwrap_or(0)))
    }

    pub(super) fn is_subflow(&self) -> bool {
        self.looks.iter().any(|look| look.multipath.is_some())
    }

    fn has_pending(&self) -> bool {
        let above = self.looks.last().and_then(|look| look.multipath);
        self.socket.send_queue > 0 || above.is_some_and(|connection| connection.pending > 0)
    }

    fn has_unread(&self) -> bool {
        let above = self.looks.last().and_then(|look| look.multipath);
        self.socket.receive_queue > 0 || above.is_some_and(|connection| connection.memory.rmem_alloc > 0)
    }

    /// Bits per second, of the direction with more bytes.
    pub(super) fn rate(&self) -> f64 {
        if self.seconds > 0.0 { self.acked().max(self.received()) as f64 * 8.0 / self.seconds } else { 0.0 }
    }

    /// Bits per second that arrive at the other end, including out-of-order data: during a retransmission,
    /// acknowledgements stop and then cover much data. For BBR, its own measurement.
    pub(super) fn carried(&self) -> f64 {
        if let Some(Model::Bbr { bandwidth, .. }) = self.socket.model {
            return bandwidth as f64 * 8.0;
        }
        let arrived = self.since(|info| info.delivered).filter(|_| self.repeats() > 0 && self.seconds > 0.0);
        arrived.map_or(self.rate(), |segments| {
            f64::from(segments) * f64::from(self.now.snd_mss) * 8.0 / self.seconds
        })
    }

    /// In seconds, the median of the samples. A receiver that does not send has only the
    /// handshake's.
    pub(super) fn rtt(&self) -> Option<f64> {
        self.rtt_us().map(|us| f64::from(us) / 1e6)
    }

    pub(super) fn rtt_us(&self) -> Option<u32> {
        median(self.infos().map(|(_, info)| info.rtt_us)).filter(|&us| us > 0)
    }

    /// In seconds.
    pub(super) fn min_rtt(&self) -> Option<f64> {
        self.min_rtt_us().map(|us| f64::from(us) / 1e6)
    }

    pub(super) fn min_rtt_us(&self) -> Option<u32> {
        self.now.least_rtt_us()
    }

    /// In seconds: the usual minus the minimum round trip.
    pub(super) fn queueing(&self) -> f64 {
        self.rtt().zip(self.min_rtt()).map_or(0.0, |(usual, least)| (usual - least).max(0.0))
    }

    pub(super) fn has_standing_queue(&self) -> bool {
        self.waits_for(STANDING_QUEUE)
    }

    pub(super) fn has_queue(&self) -> bool {
        self.waits_for(QUEUE)
    }

    fn waits_for(&self, share: f64) -> bool {
        let varying = median(self.infos().map(|(_, info)| info.rttvar_us)).map_or(0.0, f64::from) / 1e6;
        self.queueing() - 2.0 * varying > (self.min_rtt().unwrap_or(0.0) * share).max(QUEUE_LEAST_S)
    }

    /// Whether the queue is so long that a larger window would gain nothing. A slightly longer round trip is
    /// no sign of that, because other flows fill the path too.
    pub(super) fn has_long_queue(&self) -> bool {
        self.min_rtt().is_some_and(|least| self.queueing() > least * LONG_QUEUE)
    }

    /// Whether the queue is longer than the sender's own bursts. Other senders write a burst per
    /// round trip, and each packet waits up to a round trip for the packets before it.
    pub(super) fn has_queue_beyond_bursts(&self) -> bool {
        let is_paced = self.has_model();
        self.min_rtt()
            .is_some_and(|least| self.queueing() > least * if is_paced { PACED_QUEUE } else { BURST_QUEUE })
    }

    pub(super) fn has_model(&self) -> bool {
        matches!(self.socket.model, Some(Model::Bbr { .. }))
    }

    pub(super) fn missing(&self) -> Vec<String> {
        let Info { busy_time_us, snd_wnd, rcv_wnd, dsack_dups, .. } = self.now;
        [
            (busy_time_us.is_none(), "for how long a connection was busy, and its limits", "4.10"),
            (dsack_dups.is_none(), "spurious retransmissions", "4.19"),
            (snd_wnd.is_none(), "the window that the peer advertises", "5.4"),
            (rcv_wnd.is_none(), "the window that this end advertises", "6.2"),
        ]
        .into_iter()
        .filter(|(is_missing, ..)| *is_missing)
        .map(|(_, what, since)| format!("this kernel does not report {what} (since {since})"))
        .collect()
    }
}

pub(super) fn outstanding(socket: &Socket, info: &Info) -> u32 {
    socket.send_queue.saturating_sub(info.notsent_bytes)
}

/// A subflow's unread data is in its connection; that number includes the kernel's metadata.
pub(super) fn unread(look: &Look) -> u32 {
    look.multipath.map_or(look.socket.receive_queue, |connection| connection.memory.rmem_alloc)
}

pub(super) fn median(values: impl Iterator<Item = u32>) -> Option<u32> {
    let mut values: Vec<_> = values.collect();
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied()
}

/// A window counts as used from this share on: a burst has gaps at its ends, and acknowledgements may be
/// delayed.
pub(super) const USED: f64 = 0.7;
/// The queue of a burst of one window may be nearly as long, whatever limits the window.
const STANDING_QUEUE: f64 = 0.25;
/// Below that, delayed acknowledgements look the same.
const QUEUE: f64 = 0.1;
/// Lower bound for the same reason on short paths.
const QUEUE_LEAST_S: f64 = 0.002;
/// In minimum round trips: as much is queued as is in flight.
const LONG_QUEUE: f64 = 1.0;
/// In minimum round trips: the queue of a burst, plus a half as a margin.
const BURST_QUEUE: f64 = 1.5;
/// In minimum round trips: BBR's queue is at most one.
const PACED_QUEUE: f64 = 0.5;
