//! TCP statistics of connections from peers: delivery rate and retransmissions, from the kernel.
//!
//! Each end only has statistics of data that it sent, so the two ends of a link report different
//! values, one per direction.

use std::{
    net::SocketAddr,
    sync::{Mutex, PoisonError},
};

use tcp::{Info, diag::Diag};
use tracing::debug;

use super::connections::MAX_WORKERS;

pub(super) struct TcpInfoSource {
    diag: Option<Mutex<Diag>>,
    local: SocketAddr,
}

#[derive(Debug, Default)]
pub(super) struct Connections(Mutex<Vec<SocketAddr>>);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct TcpStats {
    segments: u64,
    retransmitted: u64,
    /// The delivery rate of the fastest connection, bytes per second.
    rate: u64,
}

impl TcpInfoSource {
    pub(super) fn new(local: SocketAddr) -> Self {
        let diag =
            Diag::open().inspect_err(|error| debug!(%error, "TCP statistics are unavailable (sock_diag)"));
        Self { diag: diag.ok().map(Mutex::new), local }
    }

    pub(super) fn stats(&self, connections: &Connections) -> Option<TcpStats> {
        let diag = self.diag.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        let remotes = connections.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let found = remotes.into_iter().filter_map(|remote| diag.between(self.local, remote).ok().flatten());
        let carried = found.filter_map(|socket| Some(TcpStats::of(&socket.info?))).reduce(TcpStats::merge);
        carried.filter(|carried| carried.segments > 0)
    }
}

impl Connections {
    pub(super) fn record(&self, remote: SocketAddr) {
        let mut remotes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        remotes.retain(|known| *known != remote);
        if remotes.len() == MAX_SOCKETS {
            remotes.remove(0);
        }
        remotes.push(remote);
    }
}

impl TcpStats {
    fn of(info: &Info) -> Self {
        let (segments, again) = (info.data_segs_out.into(), info.total_retrans.into());
        Self { segments, retransmitted: again, rate: info.delivery_rate }
    }

    fn merge(self, other: Self) -> Self {
        Self {
            segments: self.segments + other.segments,
            retransmitted: self.retransmitted + other.retransmitted,
            rate: self.rate.max(other.rate),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of segments are far below 2^53")]
    pub(super) fn loss(self) -> f64 {
        self.retransmitted as f64 / self.segments as f64
    }

    pub(super) fn throughput(self) -> Option<u64> {
        Some(self.rate.saturating_mul(8)).filter(|&rate| rate > 0)
    }
}

/// The shared connections and the connections of workers; twice, to include replaced connections.
const MAX_SOCKETS: usize = 2 * (3 + MAX_WORKERS);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_latest_connections_are_kept() {
        let connections = Connections::default();
        let from = |port: usize| SocketAddr::from(([127, 0, 0, 1], u16::try_from(port).unwrap()));
        (1..=MAX_SOCKETS).chain([1, MAX_SOCKETS + 1]).for_each(|port| connections.record(from(port)));
        let latest: Vec<_> = (3..=MAX_SOCKETS).chain([1, MAX_SOCKETS + 1]).map(from).collect();
        assert_eq!(*connections.0.lock().unwrap(), latest);
    }

    #[test]
    fn loss_is_per_segment_and_rate_is_the_maximum() {
        let one = Info { data_segs_out: 90, total_retrans: 3, delivery_rate: 1000, ..Info::default() };
        let other = Info { data_segs_out: 30, total_retrans: 0, delivery_rate: 9000, ..Info::default() };
        let both = TcpStats::of(&one).merge(TcpStats::of(&other));
        assert_eq!((both.loss(), both.throughput()), (0.025, Some(72_000)));
        assert_eq!(TcpStats::of(&Info { data_segs_out: 1, ..Info::default() }).throughput(), None);
    }
}
