//! What follows from the looks at a connection alone: rates, round trips, what was sent again.

use super::{Look, Role};
use crate::{
    Info,
    diag::{Model, Socket, State},
};

/// A connection between its first look and its last.
#[derive(Debug)]
pub(super) struct Figures<'a> {
    /// The first look's; of a connection that was seen once only, what it began with.
    pub before: Info,
    /// The last look's.
    pub now: &'a Info,
    /// The last look.
    pub socket: &'a Socket,
    /// All looks.
    pub looks: &'a [Look],
    /// The time between, s; of a connection that was seen once only, how long it was ever busy.
    pub seconds: f64,
}

impl<'a> Figures<'a> {
    /// None for a socket of which the kernel tells nothing.
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

    /// What the kernel told at each look.
    pub(super) fn infos(&self) -> impl Iterator<Item = (&'a Socket, &'a Info)> + use<'a> {
        self.looks.iter().filter_map(|look| Some((&look.socket, look.socket.info.as_ref()?)))
    }

    /// Which end this is. Bytes that wait to leave make a sender, those that wait to be read a receiver.
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

    /// Bytes that the peer acknowledged.
    pub(super) fn acked(&self) -> u64 {
        self.now.bytes_acked.saturating_sub(self.before.bytes_acked)
    }

    /// Bytes that came in order.
    pub(super) fn received(&self) -> u64 {
        self.now.bytes_received.saturating_sub(self.before.bytes_received)
    }

    /// Segments with data sent, repeats included.
    pub(super) fn segments(&self) -> u32 {
        self.now.data_segs_out.wrapping_sub(self.before.data_segs_out)
    }

    /// Segments sent again.
    pub(super) fn repeats(&self) -> u32 {
        self.now.total_retrans.wrapping_sub(self.before.total_retrans)
    }

    /// The share of segments that were sent again.
    pub(super) fn repeated_share(&self) -> f64 {
        f64::from(self.repeats()) / f64::from(self.segments().max(1))
    }

    /// Repeats for nothing, as the peer reported them.
    pub(super) fn needless(&self) -> u32 {
        self.since(|info| info.dsack_dups).unwrap_or(0)
    }

    /// How much a counter that may be absent has grown.
    pub(super) fn since(&self, counter: impl Fn(&Info) -> Option<u32>) -> Option<u32> {
        Some(counter(self.now)?.wrapping_sub(counter(&self.before).unwrap_or(0)))
    }

    /// Whether no byte moved.
    pub(super) fn is_silent(&self) -> bool {
        self.acked() == 0 && self.received() == 0
    }

    /// Whether the peer has closed the connection since before it was looked at, and this end has sent nothing and keeps it
    /// open.
    pub(super) fn is_left_open(&self) -> bool {
        let is_half_closed = self.looks.iter().all(|look| look.socket.state == State::CloseWait);
        is_half_closed && self.socket.inode != 0 && self.is_silent() && self.socket.send_queue == 0
    }

    /// Whether the peer's window was the same at nearly all looks. It is where its program reads whatever comes; one that reads
    /// slowly, however evenly, leaves something behind, and how much changes with each read. A dip now and then means nothing:
    /// any program waits for a processor. Of a subflow it says nothing, as the window is its connection's.
    pub(super) fn has_constant_window(&self) -> bool {
        let windows = || self.infos().filter_map(|(_, info)| info.snd_wnd);
        let Some(most) = windows().max() else { return false };
        let smaller = windows().filter(|window| *window < most - most / 100).count();
        !self.is_subflow() && smaller * 10 <= windows().count()
    }

    /// How much a time that may be absent has grown, us.
    pub(super) fn grown_us(&self, time: impl Fn(&Info) -> Option<u64>) -> Option<u64> {
        Some(time(self.now)?.saturating_sub(time(&self.before).unwrap_or(0)))
    }

    /// Whether it is a subflow of an MPTCP connection that the kernel told of.
    pub(super) fn is_subflow(&self) -> bool {
        self.looks.iter().any(|look| look.multipath.is_some())
    }

    /// Whether its program would like to send at the last look: bytes wait in this socket or, for a subflow, in its connection.
    fn has_pending(&self) -> bool {
        let above = self.looks.last().and_then(|look| look.multipath);
        self.socket.send_queue > 0 || above.is_some_and(|connection| connection.pending > 0)
    }

    /// Whether bytes wait to be read at the last look, likewise.
    fn has_unread(&self) -> bool {
        let above = self.looks.last().and_then(|look| look.multipath);
        self.socket.receive_queue > 0 || above.is_some_and(|connection| connection.memory.rmem_alloc > 0)
    }

    /// Bits a second, of the direction in which more bytes went.
    pub(super) fn rate(&self) -> f64 {
        if self.seconds > 0.0 { self.acked().max(self.received()) as f64 * 8.0 / self.seconds } else { 0.0 }
    }

    /// Bits a second that arrive at the other end, also out of order: while what was lost is sent again, nothing is
    /// acknowledged, and then much at once. Of BBR's connections, as it measures.
    pub(super) fn carried(&self) -> f64 {
        if let Some(Model::Bbr { bandwidth, .. }) = self.socket.model {
            return bandwidth as f64 * 8.0;
        }
        let arrived = self.since(|info| info.delivered).filter(|_| self.repeats() > 0 && self.seconds > 0.0);
        arrived.map_or(self.rate(), |segments| {
            f64::from(segments) * f64::from(self.now.snd_mss) * 8.0 / self.seconds
        })
    }

    /// The usual round-trip time, s: the median of the looks. Of a receiver it is the first packets', unless it sends too.
    pub(super) fn rtt(&self) -> Option<f64> {
        self.rtt_us().map(|us| f64::from(us) / 1e6)
    }

    pub(super) fn rtt_us(&self) -> Option<u32> {
        median(self.infos().map(|(_, info)| info.rtt_us)).filter(|&us| us > 0)
    }

    /// The least round-trip time, s.
    pub(super) fn min_rtt(&self) -> Option<f64> {
        self.min_rtt_us().map(|us| f64::from(us) / 1e6)
    }

    pub(super) fn min_rtt_us(&self) -> Option<u32> {
        self.now.least_rtt_us()
    }

    /// How long packets wait on the path, s: what the round trip takes beyond the least.
    pub(super) fn queueing(&self) -> f64 {
        self.rtt().zip(self.min_rtt()).map_or(0.0, |(usual, least)| (usual - least).max(0.0))
    }

    /// Whether packets wait on the path for so long that more of them would only wait longer.
    pub(super) fn has_standing_queue(&self) -> bool {
        self.waits_for(STANDING_QUEUE)
    }

    /// Whether packets wait on the path at all: what holds back a connection whose window fills the path.
    pub(super) fn has_queue(&self) -> bool {
        self.waits_for(QUEUE)
    }

    /// Whether packets wait for longer than this share of the least round trip. What differs from one packet to the next is
    /// no queue.
    fn waits_for(&self, share: f64) -> bool {
        let varying = median(self.infos().map(|(_, info)| info.rttvar_us)).map_or(0.0, f64::from) / 1e6;
        self.queueing() - 2.0 * varying > (self.min_rtt().unwrap_or(0.0) * share).max(QUEUE_LEAST_S)
    }

    /// Whether they wait for so long that a sender whose window is used up would gain nothing by a larger one. Round trips that
    /// are somewhat longer than the least are no sign of that: others fill the path as well.
    pub(super) fn has_long_queue(&self) -> bool {
        self.min_rtt().is_some_and(|least| self.queueing() > least * LONG_QUEUE)
    }

    /// The same of a sender whose buffer is used up. One that congestion control paces makes no queue by itself; others write
    /// in bursts, once a round trip, and each packet waits for those before it for up to a round trip more.
    pub(super) fn has_queue_beyond_bursts(&self) -> bool {
        let is_paced = self.has_model();
        self.min_rtt()
            .is_some_and(|least| self.queueing() > least * if is_paced { PACED_QUEUE } else { BURST_QUEUE })
    }

    /// Whether congestion control paces by a model of the path and does not mind single losses.
    pub(super) fn has_model(&self) -> bool {
        matches!(self.socket.model, Some(Model::Bbr { .. }))
    }

    /// What this kernel does not tell, of what would be needed here.
    pub(super) fn missing(&self) -> Vec<String> {
        let Info { busy_time_us, snd_wnd, rcv_wnd, dsack_dups, .. } = self.now;
        [
            (busy_time_us.is_none(), "how long a connection was busy and limited by what", "4.10"),
            (dsack_dups.is_none(), "what was sent again for nothing", "4.19"),
            (snd_wnd.is_none(), "the window that the peer advertises", "5.4"),
            (rcv_wnd.is_none(), "the window that this end advertises", "6.2"),
        ]
        .into_iter()
        .filter(|(is_missing, ..)| *is_missing)
        .map(|(_, what, since)| format!("this kernel does not tell {what} (since {since})"))
        .collect()
    }
}

/// Bytes sent and not acknowledged.
pub(super) fn outstanding(socket: &Socket, info: &Info) -> u32 {
    socket.send_queue.saturating_sub(info.notsent_bytes)
}

/// Bytes that wait to be read. Of a subflow, those of its connection, with the kernel's metadata: they wait there.
pub(super) fn unread(look: &Look) -> u32 {
    look.multipath.map_or(look.socket.receive_queue, |connection| connection.memory.rmem_alloc)
}

/// The middle one; of an even number, the lower.
pub(super) fn median(values: impl Iterator<Item = u32>) -> Option<u32> {
    let mut values: Vec<_> = values.collect();
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied()
}

/// A window counts as used from this share on: a burst has gaps at its ends, and acknowledgements may be delayed.
pub(super) const USED: f64 = 0.7;
/// The queue of a burst of one window, whatever made it small, may be nearly as long.
const STANDING_QUEUE: f64 = 0.25;
/// Below that, delayed acknowledgements look the same.
const QUEUE: f64 = 0.1;
/// And from this on, for the same reason on short paths.
const QUEUE_LEAST_S: f64 = 0.002;
/// In least round trips: as much waits as is under way.
const LONG_QUEUE: f64 = 1.0;
/// The same: what a burst makes, and a half to be sure.
const BURST_QUEUE: f64 = 1.5;
/// The same: BBR makes a queue of one at most.
const PACED_QUEUE: f64 = 0.5;
