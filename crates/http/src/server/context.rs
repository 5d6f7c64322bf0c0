//! What all connections of a server share.

use std::sync::Arc;

use tokio_rustls::TlsAcceptor;

use super::{config::Config, refused::Refused};
use crate::Stop;

/// What all connections share.
pub(super) struct Context<H> {
    pub(super) handler: Arc<H>,
    pub(super) tls: Option<TlsAcceptor>,
    /// There if only members are served, whose certificates tell who they are.
    pub(super) members: Option<Refused>,
    /// Whether HTTP/3 is spoken on the UDP port of the same number, by this server or another.
    pub(super) has_http3: bool,
    pub(super) config: Config,
    pub(super) stop: Stop,
}

impl<H> Context<H> {
    /// Waits until the server is asked to stop, and those have had their time who may be sending a request.
    pub(super) async fn idle_ended(&self) {
        self.stop.asked().await;
        tokio::time::sleep(self.config.idle_grace).await;
    }
}
