//! A small origin for experiments: bodies of one size, after service times from a distribution.
//!
//! HTTP/1.1 and HTTP/2 on the same port, told apart by ALPN under TLS and by the preface in clear text. Each
//! response says in Server-Timing how long it was worked on, so that a probe can tell the network's share
//! from the origin's. GET, HEAD, POST and PUT of any path are answered alike; other methods get 405.

mod certificate;
mod config;
mod connection;
mod listen;
mod respond;
mod service_time;
mod sleeper;

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use tokio::{net::TcpListener, sync::Semaphore};
use tokio_rustls::TlsAcceptor;

use self::{
    certificate::{Certified, certify},
    connection::Context,
    respond::Responder,
};
pub use self::{
    config::{Config, Tls},
    service_time::ServiceTime,
};
use crate::{Error, Stop, clock::Clock, limits, sys, timer::Timer};

/// What an origin that is ready says of itself.
#[derive(Debug, Clone)]
pub struct Ready {
    /// Where it listens, in the configuration's order, with the ports that were free where it said 0.
    pub addresses: Vec<SocketAddr>,
    /// The certificate to trust, in PEM, if it speaks TLS.
    pub ca_pem: Option<String>,
}

/// What an origin did in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Served {
    /// Requests begun.
    pub requests: u64,
}

/// Serves until asked to stop; calls `ready` once connections can be made. Blocks; to be called outside of
/// any tokio runtime.
///
/// Asked to stop, it finishes the requests in flight, for [`limits::STOP_GRACE`] at most.
///
/// # Errors
/// When an address cannot be listened on, or no certificate made and written.
pub fn serve(config: &Config, ready: impl FnOnce(&Ready), stop: &Stop) -> Result<Served, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| Error::System { what: "start a runtime", source })?;
    let served = runtime.block_on(run(config, ready, stop));
    runtime.shutdown_background();
    served
}

async fn run(config: &Config, ready: impl FnOnce(&Ready), stop: &Stop) -> Result<Served, Error> {
    let listeners = listen::listen(&config.listen)?;
    let addresses = listeners
        .iter()
        .map(TcpListener::local_addr)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|source| Error::System { what: "tell a socket's own address", source })?;
    let certified = config.tls.as_ref().map(|tls| certified(tls, &addresses)).transpose()?;

    let clock = Clock::start();
    let responder = Arc::new(Responder::new(config, clock));
    let timer = Timer::new().map_err(|source| Error::System { what: "set a timer", source })?;
    let sleeping = Arc::clone(&responder);
    tokio::spawn(async move { sleeping.sleeper.run(timer).await });

    // Each connection is one file; a few are for listeners, timers and standard streams.
    let room = limits::CONNECTIONS.min(sys::open_files().saturating_sub(64)).max(1);
    let places = Arc::new(Semaphore::new(room));
    let tls = certified.as_ref().map(|certified| TlsAcceptor::from(Arc::clone(&certified.server)));
    let context = Context { responder: Arc::clone(&responder), tls, stop: stop.clone() };
    for listener in listeners {
        tokio::spawn(accept(listener, context.clone(), Arc::clone(&places)));
    }

    ready(&Ready { addresses, ca_pem: certified.map(|certified| certified.ca_pem) });
    stop.asked().await;
    let all = u32::try_from(room).unwrap_or(u32::MAX);
    tokio::select! {
        _ = places.acquire_many(all) => {}
        () = tokio::time::sleep(limits::STOP_GRACE) => {}
        () = stop.insisted() => {}
    }
    Ok(Served { requests: responder.requests.load(Relaxed) })
}

/// Accepts connections until asked to stop. With all places taken, new ones wait in the kernel's queue.
async fn accept(listener: TcpListener, context: Context, places: Arc<Semaphore>) {
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = context.stop.asked() => return,
        };
        match accepted {
            Ok((stream, _)) => {
                let context = context.clone();
                tokio::spawn(async move {
                    context.serve(stream).await;
                    drop(place);
                });
            }
            // The connection is gone already, or the machine is short of something: other connections may
            // give it back.
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
}

fn certified(tls: &Tls, addresses: &[SocketAddr]) -> Result<Certified, Error> {
    let loopback = [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)];
    let listened = addresses.iter().map(SocketAddr::ip).filter(|address| !address.is_unspecified());
    let mut names = tls.names.clone();
    names.push("localhost".to_owned());
    names.extend(loopback.into_iter().chain(listened).map(|address| address.to_string()));
    names.sort();
    names.dedup();
    let certified = certify(&names)?;
    if let Some(path) = &tls.write_ca {
        recording::write_whole(path, certified.ca_pem.as_bytes())
            .map_err(|source| Error::WriteCa { path: path.clone(), source })?;
    }
    Ok(certified)
}

/// Short beside a person's patience, long beside a loop that would only find out again that there is no file
/// descriptor.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests;
