//! Kernel statistics of the connections that sent uploads.

use std::net::SocketAddr;

use tcp::diag::Diag;
use tracing::debug;

use crate::bottleneck::Times;

pub(crate) struct Sender(Option<Diag>);

impl Sender {
    pub(crate) fn new() -> Self {
        let diag =
            Diag::open().inspect_err(|error| debug!(%error, "TCP statistics are unavailable (sock_diag)"));
        Self(diag.ok())
    }

    pub(crate) fn times(&self, ends: &[(SocketAddr, SocketAddr)]) -> Option<Times> {
        let diag = self.0.as_ref()?;
        let times = ends.iter().filter_map(|(local, remote)| {
            Times::of(diag.between(*local, *remote).ok().flatten()?.info.as_ref()?)
        });
        times.reduce(Times::and)
    }
}
