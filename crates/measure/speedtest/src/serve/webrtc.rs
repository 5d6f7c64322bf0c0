//! The loss test of a web page: a WebRTC data channel without retransmission and ordering, because
//! browsers cannot send plain datagrams. The server only responds to connectivity checks (ICE lite,
//! RFC 8445 section 2.5).

mod crypto;
pub mod offer;
mod session;
#[cfg(test)]
mod tests;

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use str0m::change::SdpAnswer;
use tokio::{net::UdpSocket, sync::Notify};

use self::{
    offer::Offer,
    session::{Identity, Next, Sending, Session},
};
use crate::{
    Error,
    client_prefix::household,
    wire::{Token, plain},
};

/// The connections of one socket. Their number and lifetime are bounded.
pub(crate) struct Webrtc {
    bound: SocketAddr,
    /// Addresses announced to browsers, if they differ from the socket's.
    told: Vec<IpAddr>,
    identity: Identity,
    sessions: Mutex<Vec<Session>>,
    pub(crate) begun: Notify,
}

#[derive(Debug)]
pub(crate) enum Refused {
    Full,
    Offer(String),
}

impl Webrtc {
    pub(crate) fn of(sockets: &[UdpSocket], told: &[IpAddr]) -> Result<Vec<Arc<Self>>, Error> {
        let failed = |source| Error::System { what: "make a certificate for WebRTC", source };
        let certificate = crypto::certificate().map_err(|error| failed(io::Error::other(error)))?;
        let identity = Identity { certificate, crypto: Arc::new(crypto::provider()) };
        let of = |socket: &UdpSocket| {
            let bound = socket.local_addr().map_err(failed)?;
            let (told, identity) = (told.to_vec(), identity.clone());
            let (sessions, begun) = (Mutex::default(), Notify::new());
            Ok(Arc::new(Self { bound, told, identity, sessions, begun }))
        };
        sockets.iter().map(of).collect()
    }

    pub(crate) fn reaches(&self, client: IpAddr) -> bool {
        let Some(local) = toward(client) else { return false };
        let bound = plain(self.bound.ip());
        bound == local || (bound.is_unspecified() && (bound.is_ipv6() || local.is_ipv4()))
    }

    pub(crate) fn begin(
        &self,
        offer: Offer,
        test: Token,
        client: IpAddr,
        now: Instant,
    ) -> Result<SdpAnswer, Refused> {
        let client = plain(client);
        let port = self.bound.port();
        let reachable: Vec<_> = match &self.told[..] {
            [] => toward(client).map(|local| SocketAddr::new(local, port)).into_iter().collect(),
            told => told.iter().map(|address| SocketAddr::new(*address, port)).collect(),
        };
        let mut sessions = self.lock();
        let of_one = |session: &Session| session.is_of(household(client));
        if sessions.iter().filter(|session| of_one(session)).count() >= MOST_OF_ONE {
            // Evict the household's oldest connection: its page was closed or restarted.
            let oldest = sessions.iter().position(of_one);
            oldest.map(|oldest| sessions.remove(oldest));
        }
        if sessions.len() >= MOST {
            return Err(Refused::Full);
        }
        let begun = Session::begin(offer, &self.identity, (test, client), &reachable, now);
        let (session, answer) = begun.map_err(|error| Refused::Offer(error.to_string()))?;
        sessions.push(session);
        drop(sessions);
        self.begun.notify_one();
        Ok(answer)
    }

    pub(crate) fn take(&self, now: Instant, source: SocketAddr, bytes: &[u8]) -> bool {
        let source = SocketAddr::new(plain(source.ip()), source.port());
        self.lock().iter_mut().any(|session| session.take(now, source, bytes))
    }

    /// Returns the packets to send, and when to advance again.
    pub(crate) fn advance(
        &self,
        now: Instant,
        mut may: impl FnMut(Token, IpAddr) -> bool,
    ) -> (Vec<Sending>, Option<Instant>) {
        let (mut sending, mut next) = (Vec::new(), None);
        self.lock().retain_mut(|session| match session.advance(now, &mut may, &mut sending) {
            Next::At(at) => {
                next = Some(next.map_or(at, |next: Instant| next.min(at)));
                true
            }
            Next::Over => false,
        });
        // An IPv6 socket that also receives IPv4 uses IPv4-mapped addresses.
        if self.bound.is_ipv6() {
            for (to, _) in &mut sending {
                if let SocketAddr::V4(v4) = *to {
                    *to = (v4.ip().to_ipv6_mapped(), v4.port()).into();
                }
            }
        }
        (sending, next)
    }

    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Session>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The source address of packets to a client from an unspecified socket.
fn toward(client: IpAddr) -> Option<IpAddr> {
    let client = plain(client);
    let any: SocketAddr = if client.is_ipv4() { ([0; 4], 0).into() } else { ([0; 16], 0).into() };
    let socket = std::net::UdpSocket::bind(any).ok()?;
    // connect() sends nothing on a UDP socket; the kernel looks up the route.
    socket.connect((client, 9)).ok()?;
    Some(plain(socket.local_addr().ok()?.ip()))
}

/// A connection uses about 25 KB, up to 1.1 MB if its client exhausts the library's buffers.
const MOST: usize = 128;
const MOST_OF_ONE: usize = 8;
