//! The loss test of a page: a browser sends no plain datagrams, so it sends them over a data channel that sends nothing again and puts nothing
//! in order (WebRTC). They come in at the port of the loss test, and go back as the others do: so many for a test, to where it was begun.
//!
//! A browser's offer comes over HTTP, so no third party is asked for anything: this end has one address that it is told in the answer, and
//! speaks when it is spoken to (ICE lite, RFC 8445 section 2.5).

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
    household::household,
    wire::{Token, plain},
};

/// The connections of one socket. Their number and life are bounded.
pub(crate) struct Webrtc {
    /// Where the socket is bound.
    bound: SocketAddr,
    /// Where browsers are told to send to, if not to where the socket is.
    told: Vec<IpAddr>,
    identity: Identity,
    sessions: Mutex<Vec<Session>>,
    /// Something has begun that wants to be advanced.
    pub(crate) begun: Notify,
}

/// Why there is no connection.
#[derive(Debug)]
pub(crate) enum Refused {
    /// There are as many as there may be.
    Full,
    /// Its offer cannot be taken.
    Offer(String),
}

impl Webrtc {
    /// Those of each socket.
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

    /// Whether what is sent to a client at this address can come from this socket.
    pub(crate) fn reaches(&self, client: IpAddr) -> bool {
        let Some(local) = toward(client) else { return false };
        let bound = plain(self.bound.ip());
        bound == local || (bound.is_unspecified() && (bound.is_ipv6() || local.is_ipv4()))
    }

    /// Begins a connection for a test of this client's.
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
            // The oldest of its own: its page was closed, or begins again.
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

    /// Takes what came from there; whether it was for one of these.
    pub(crate) fn take(&self, now: Instant, source: SocketAddr, bytes: &[u8]) -> bool {
        let source = SocketAddr::new(plain(source.ip()), source.port());
        self.lock().iter_mut().any(|session| session.take(now, source, bytes))
    }

    /// Lets all go on, and returns what is to be sent, and when to do it again. Those that are over go.
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
        // A socket of IPv6 that hears IPv4 as well has addresses of IPv4 in a form of its own.
        if self.bound.is_ipv6() {
            for (to, _) in &mut sending {
                if let SocketAddr::V4(v4) = *to {
                    *to = (v4.ip().to_ipv6_mapped(), v4.port()).into();
                }
            }
        }
        (sending, next)
    }

    /// How many there are.
    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Session>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// This machine's address on the way to a client: what is sent to it from a socket of any address has this one.
fn toward(client: IpAddr) -> Option<IpAddr> {
    let client = plain(client);
    let any: SocketAddr = if client.is_ipv4() { ([0; 4], 0).into() } else { ([0; 16], 0).into() };
    let socket = std::net::UdpSocket::bind(any).ok()?;
    // Nothing is sent: the kernel looks up the way.
    socket.connect((client, 9)).ok()?;
    Some(plain(socket.local_addr().ok()?.ip()))
}

/// Each has some 25 KB, and 1.1 MB if its client fills what the library takes of a message in pieces and sends back later.
const MOST: usize = 128;
/// Pages behind one address that count at once, or were closed a moment ago.
const MOST_OF_ONE: usize = 8;
