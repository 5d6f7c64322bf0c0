//! The shared state of a server's connections.

use std::{net::SocketAddr, sync::Arc};

use tokio_rustls::TlsAcceptor;
use tracing::debug;

use super::{
    config::Config,
    connection_limit::{Counted, PerIpLimit},
    mtls_rejections::MtlsRejections,
    tls_handshakes::TlsHandshakes,
};
use crate::ShutdownSignal;

pub(super) struct Context<H> {
    pub(super) handler: Arc<H>,
    pub(super) tls: Option<TlsAcceptor>,
    pub(super) members: Option<MtlsRejections>,
    pub(super) has_http3: bool,
    pub(super) per_address: Arc<PerIpLimit>,
    pub(super) handshakes: Arc<TlsHandshakes>,
    pub(super) config: Config,
    pub(super) stop: ShutdownSignal,
}

impl<H> Context<H> {
    pub(super) fn admit(&self, client: SocketAddr) -> Option<Counted> {
        let counted = self.per_address.admit(client);
        if counted.is_none() {
            debug!(%client, "a connection was refused: too many from its address");
        }
        counted
    }

    pub(super) async fn idle_ended(&self) {
        self.stop.asked().await;
        tokio::time::sleep(self.config.idle_grace).await;
    }
}
