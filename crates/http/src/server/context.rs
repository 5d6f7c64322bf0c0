//! What all connections of a server share.

use std::{net::SocketAddr, sync::Arc};

use tokio_rustls::TlsAcceptor;
use tracing::debug;

use super::{
    config::Config,
    per_address::{Counted, PerAddress},
    refused::Refused,
};
use crate::Stop;

/// What all connections share.
pub(super) struct Context<H> {
    pub(super) handler: Arc<H>,
    pub(super) tls: Option<TlsAcceptor>,
    /// There if only members are served, whose certificates tell who they are.
    pub(super) members: Option<Refused>,
    /// Whether HTTP/3 is spoken on the UDP port of the same number, by this server or another.
    pub(super) has_http3: bool,
    pub(super) per_address: Arc<PerAddress>,
    pub(super) config: Config,
    pub(super) stop: Stop,
}

impl<H> Context<H> {
    /// Counts a connection of this client until the result is dropped; `None` if it has too many.
    pub(super) fn admit(&self, client: SocketAddr) -> Option<Counted> {
        let counted = self.per_address.admit(client);
        if counted.is_none() {
            debug!(%client, "a connection was refused, as its address has too many");
        }
        counted
    }

    /// Waits until the server is asked to stop, and those have had their time who may be sending a request.
    pub(super) async fn idle_ended(&self) {
        self.stop.asked().await;
        tokio::time::sleep(self.config.idle_grace).await;
    }
}
