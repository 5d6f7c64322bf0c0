//! One connection of a server: protocol detection, TLS, and serving it to its end.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use hyper::header::HeaderValue;
use tokio::net::TcpStream;
use tracing::debug;

use super::{
    certificate::is_challenge, connection_limit::reset, context::Context, handler::Handler, http1::Http1,
    peer::Peer, proxy_protocol::read_proxy_header, wire::Wire,
};
use crate::{PeerIdentity, Scheme, kernel_timestamp};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    Http1,
    Http2,
}

impl<H: Handler> Context<H> {
    pub(super) async fn serve(self: &Arc<Self>, mut stream: TcpStream, mut address: SocketAddr) {
        let _ = stream.set_nodelay(true);
        if self.config.tells_waits {
            kernel_timestamp::note(&stream);
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
                let opened = self.opened(handshake, address).await;
                let version = opened.as_ref().and_then(|stream| stream.get_ref().1.protocol_version());
                self.handshakes.add(version);
                if let Some(stream) = opened {
                    let session = stream.get_ref().1;
                    if is_challenge(session.alpn_protocol()) {
                        return;
                    }
                    let is_http2 = session.alpn_protocol() == Some(b"h2");
                    let shown = self.members.as_ref().and(session.peer_certificates());
                    let caller = shown.and_then(PeerIdentity::of);
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
                debug!(%client, %error, "a connection failed before its first request");
                None
            }
            Err(_) => {
                debug!(%client, "a connection timed out before its first request");
                None
            }
        }
    }

    async fn speak(
        self: &Arc<Self>,
        version: Version,
        stream: impl Wire,
        (peer, caller): (Peer, Option<PeerIdentity>),
        alternative: Option<HeaderValue>,
    ) {
        if version == Version::Http1 {
            return Http1::new(stream, (peer, caller), alternative, self).serve(self).await;
        }
        // Boxed to keep the future of HTTP/1.1 connections small.
        Box::pin(self.serve_http2(stream, (peer, caller), alternative)).await;
    }
}

/// The lifetime of an alternative is in seconds (RFC 7838 section 3).
fn alternative(port: u16) -> Option<HeaderValue> {
    HeaderValue::from_str(&format!("h3=\":{port}\"; ma={ALTERNATIVE_S}")).ok()
}

const ALTERNATIVE_S: u32 = 86_400;

/// Detects HTTP/2 with prior knowledge by its preface, "PRI * HTTP/2.0" (RFC 9113 section 3.4), which is
/// not an HTTP/1.1 method.
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
        // The rest has not arrived. A socket with unread data is always readable, so no event signals
        // more data.
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

const PREFACE: &[u8; 4] = b"PRI ";
