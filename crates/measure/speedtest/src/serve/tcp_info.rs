//! Kernel statistics of the server's connections.

use std::{
    net::SocketAddr,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tcp::diag::{Diag, Socket, States};
use tracing::debug;

use super::test_registry::Seen;
use crate::bottleneck::Times;

#[derive(Debug)]
pub(crate) struct Kernel {
    diag: Option<Mutex<Diag>>,
    listens: Vec<SocketAddr>,
}

impl Kernel {
    pub(crate) fn new(listens: Vec<SocketAddr>) -> Self {
        let diag =
            Diag::open().inspect_err(|error| debug!(%error, "TCP statistics are unavailable (sock_diag)"));
        Self { diag: diag.ok().map(Mutex::new), listens }
    }

    pub(crate) fn first_seen(&self, remote: SocketAddr) -> Option<Seen> {
        let diag = self.diag.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        let named = self.listens.iter().filter(|address| !address.ip().is_unspecified());
        let found = named
            .filter_map(|local| diag.between(*local, remote).ok().flatten())
            .find(|socket| socket.info.is_some());
        // A server on the unspecified address does not know the local address of the connection.
        let socket = found.or_else(|| self.to_any_address(&diag, remote))?;
        let then = socket.info.as_ref().and_then(Times::of)?;
        Some(Seen { local: socket.local, remote: socket.remote, then })
    }

    fn to_any_address(&self, diag: &Diag, remote: SocketAddr) -> Option<Socket> {
        let ports: Vec<u16> = self
            .listens
            .iter()
            .filter(|address| address.ip().is_unspecified())
            .map(SocketAddr::port)
            .collect();
        if ports.is_empty() {
            return None;
        }
        let mut found = None;
        let wanted = (remote.ip().to_canonical(), remote.port());
        let look = diag.all(States::CONNECTED, |socket| {
            let here = (socket.remote.ip().to_canonical(), socket.remote.port());
            if here == wanted && ports.contains(&socket.local.port()) {
                found = Some(socket);
            }
        });
        look.ok().and(found)
    }

    /// Also the minimum round-trip time; `None` if the connection has closed.
    pub(crate) fn delivered(&self, seen: &Seen) -> Option<(u64, Option<Duration>)> {
        let diag = self.diag.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        let socket = diag.between(seen.local, seen.remote).ok().flatten()?;
        let info = socket.info?;
        let selectively = u64::from(info.sacked) * u64::from(info.snd_mss);
        let round_trip = info.least_rtt_us().map(|us| Duration::from_micros(us.into()));
        Some((info.bytes_acked.saturating_add(selectively), round_trip))
    }

    pub(crate) fn unread(&self, seen: &Seen) -> Option<u64> {
        let diag = self.diag.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        let socket = diag.between(seen.local, seen.remote).ok().flatten()?;
        Some(socket.receive_queue.into())
    }

    /// Closed connections contribute nothing.
    pub(crate) fn since(&self, connections: &[Seen]) -> Option<Times> {
        let diag = self.diag.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        let since = connections.iter().filter_map(|seen| {
            let socket = diag.between(seen.local, seen.remote).ok().flatten()?;
            Some(Times::of(socket.info.as_ref()?)?.since(seen.then))
        });
        since.reduce(Times::and)
    }
}
