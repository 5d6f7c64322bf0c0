//! The shared state of a server's connections.

use std::{net::SocketAddr, sync::Arc};

use tokio_rustls::TlsAcceptor;
use tracing::debug;

use super::{
    config::Config,
    connection_limit::{Counted, PerIpLimit},
    mtls_rejections::MtlsRejections,
};
use crate::ShutdownSignal;

pub(super) struct Context<H> {
    pub(super) handler: Arc<H>,
    pub(super) tls: Option<TlsAcceptor>,
    /// Set if only members are served, by their certificates.
    pub(super) members: Option<MtlsRejections>,
    /// Whether HTTP/3 is served on the same port number, by this server or another one.
    pub(super) has_http3: bool,
    pub(super) per_address: Arc<PerIpLimit>,
    pub(super) config: Config,
    pub(super) stop: ShutdownSignal,
}

impl<H> Context<H> {
    /// Counts a connection of this client until the result is dropped; `None` if the limit is reached.
    pub(super) fn admit(&self, client: SocketAddr) -> Option<Counted> {
        let counted = self.per_address.admit(client);
        if counted.is_none() {
            debug!(%client, "a connection was refused: too many from its address");
        }
        counted
    }

    /// Waits for the stop signal and the grace period of idle connections.
    pub(super) async fn idle_ended(&self) {
        self.stop.asked().await;
        tokio::time::sleep(self.config.idle_grace).await;
    }
}
