//! What this machine's kernel has added up for the connections that sent uploads.

use std::net::SocketAddr;

use tcp::diag::Diag;
use tracing::debug;

use crate::limited::Times;

/// A way to ask the kernel.
pub(crate) struct Sender(Option<Diag>);

impl Sender {
    pub(crate) fn new() -> Self {
        let diag =
            Diag::open().inspect_err(|error| debug!(%error, "the kernel does not tell of connections"));
        Self(diag.ok())
    }

    /// Of all these connections together, since they were made for the test.
    pub(crate) fn times(&self, ends: &[(SocketAddr, SocketAddr)]) -> Option<Times> {
        let diag = self.0.as_ref()?;
        let times = ends.iter().filter_map(|(local, remote)| {
            Times::of(diag.between(*local, *remote).ok().flatten()?.info.as_ref()?)
        });
        times.reduce(Times::and)
    }
}
