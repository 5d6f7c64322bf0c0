//! One connection of a server: which protocol it speaks, and its life until it ends or the server does.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use hyper::header::HeaderValue;
use tokio::net::TcpStream;
use tracing::debug;

use super::{
    context::Context, handler::Handler, http1::Http1, peer::Peer, per_address::reset,
    proxied::read_proxy_header, wire::Wire,
};
use crate::{Caller, Scheme, waited};

/// Version of HTTP on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    Http1,
    Http2,
}

impl<H: Handler> Context<H> {
    /// Serves a connection to its end. How it ended is the client's business.
    pub(super) async fn serve(self: &Arc<Self>, mut stream: TcpStream, mut address: SocketAddr) {
        let _ = stream.set_nodelay(true);
        if self.config.tells_waits {
            waited::note(&stream);
        }
        let _counted;
        if self.config.proxy_protocol {
            let Some(client) = self.opened(read_proxy_header(&mut stream, address), address).await else {
                return;
            };
            let Some(admitted) = self.admit(client) else {
                return reset(&stream);
            };
            (address, _counted) = (client, admitted);
        }
        let port = self.has_http3.then(|| stream.local_addr().ok()).flatten();
        let alternative = port.and_then(|local| alternative(local.port()));
        match &self.tls {
            None => {
                if let Some(version) = self.opened(first_words(&stream), address).await {
                    self.speak(version, stream, (Peer { address, scheme: Scheme::Http }, None), None).await;
                }
            }
            Some(tls) => {
                let handshake = async {
                    let accepted = tls.accept(stream).await;
                    if let (Some(refused), Err(error)) = (&self.members, &accepted) {
                        refused.tell(address, error);
                    }
                    accepted
                };
                if let Some(stream) = self.opened(handshake, address).await {
                    let session = stream.get_ref().1;
                    let is_http2 = session.alpn_protocol() == Some(b"h2");
                    let shown = self.members.as_ref().and(session.peer_certificates());
                    let caller = shown.and_then(Caller::of);
                    // Whoever serves members does not serve one who has not said which.
                    if self.members.is_some() && (caller.is_none() || !is_http2) {
                        return;
                    }
                    let version = if is_http2 { Version::Http2 } else { Version::Http1 };
                    let peer = Peer { address, scheme: Scheme::Https };
                    self.speak(version, stream, (peer, caller), alternative).await;
                }
            }
        }
    }

    /// What `opening` comes to, if it does in time and before the server is stopped.
    pub(super) async fn opened<T>(
        &self,
        opening: impl Future<Output = io::Result<T>>,
        client: SocketAddr,
    ) -> Option<T> {
        let opened = tokio::select! {
            biased;
            opened = tokio::time::timeout(self.config.read_timeout, opening) => opened,
            () = self.idle_ended() => return None,
        };
        match opened {
            Ok(Ok(opened)) => Some(opened),
            Ok(Err(error)) => {
                debug!(%client, %error, "a connection was not opened");
                None
            }
            Err(_) => {
                debug!(%client, "a connection was not opened in time");
                None
            }
        }
    }

    /// Serves requests until the connection ends; `alternative` tells of another protocol.
    async fn speak(
        self: &Arc<Self>,
        version: Version,
        stream: impl Wire,
        (peer, caller): (Peer, Option<Caller>),
        alternative: Option<HeaderValue>,
    ) {
        if version == Version::Http1 {
            return Http1::new(stream, (peer, caller), alternative, self).serve(self).await;
        }
        // In a box, as it takes more room than a connection of HTTP/1.1.
        Box::pin(self.serve_http2(stream, (peer, caller), alternative)).await;
    }
}

/// What tells that HTTP/3 is spoken on a UDP port of this server (RFC 7838).
fn alternative(port: u16) -> Option<HeaderValue> {
    HeaderValue::from_str(&format!("h3=\":{port}\"; ma={ALTERNATIVE_S}")).ok()
}

/// How long a client may remember that: a day, as is common.
const ALTERNATIVE_S: u32 = 86_400;

/// Tells HTTP/2 with prior knowledge by its preface, "PRI * HTTP/2.0" (RFC 9113 section 3.4): no method
/// begins like it.
async fn first_words(stream: &TcpStream) -> io::Result<Version> {
    let mut words = [0; PREFACE.len()];
    loop {
        let seen = stream.peek(&mut words).await?;
        if seen == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if !PREFACE.starts_with(&words[..seen]) {
            return Ok(Version::Http1);
        }
        if seen == PREFACE.len() {
            return Ok(Version::Http2);
        }
        // The rest is on its way. A socket with something to read is always ready, so there is no event to
        // wait for.
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

const PREFACE: &[u8; 4] = b"PRI ";
