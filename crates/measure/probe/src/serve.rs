//! A small origin for experiments: bodies of one size, after service times from a distribution.
//!
//! HTTP/1.1, HTTP/2 and HTTP/3. Server-Timing reports the service time. GET, HEAD, POST and PUT of
//! any path have the same response; other methods get 405.

mod config;
mod content;
mod respond;
mod service_time;
mod timer_wheel;
mod zeros;

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::{Arc, atomic::Ordering::Relaxed},
};

use http_stack::{
    Server,
    server::{Identity, SelfSigned},
};

use self::respond::Responder;
pub use self::{
    config::{Config, Tls},
    service_time::ServiceTime,
};
use crate::{Error, ShutdownSignal, clock::Clock, timer::Timer};

/// The address of an origin that is ready, and how to trust it.
#[derive(Debug, Clone)]
pub struct Ready {
    /// Listen addresses, in the configuration's order, with the actual port where the configuration
    /// has 0.
    pub addresses: Vec<SocketAddr>,
    /// The certificate to trust, in PEM, with TLS.
    pub ca_pem: Option<String>,
}

/// Totals of an origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Totals {
    /// Requests started.
    pub requests: u64,
}

/// Serves until stopped; calls `ready` when it accepts connections. Blocks; call it outside of any
/// tokio runtime. A stop waits for requests in flight, for [`http_stack::limits::STOP_GRACE`] at
/// most.
///
/// # Errors
///
/// It cannot listen on an address, or cannot make and write a certificate.
pub fn serve(config: &Config, ready: impl FnOnce(&Ready), stop: &ShutdownSignal) -> Result<Totals, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| Error::System { what: "start a runtime", source })?;
    let served = runtime.block_on(run(config, ready, stop));
    runtime.shutdown_background();
    served
}

async fn run(config: &Config, ready: impl FnOnce(&Ready), stop: &ShutdownSignal) -> Result<Totals, Error> {
    let mut server = Server::listen(&config.listen)?;
    let addresses = server.addresses()?;
    let mut ca_pem = None;
    if let Some(tls) = &config.tls {
        let made = identity(tls, &addresses)?;
        let identity = if tls.early_data { made.identity.with_early_data() } else { made.identity };
        server = if tls.http3 { server.with_http3(&identity)? } else { server.with_tls(&identity) };
        ca_pem = Some(made.ca_pem);
    }

    let responder = Arc::new(Responder::new(config, Clock::start()));
    let timer = Timer::new().map_err(|source| Error::System { what: "set a timer", source })?;
    let sleeping = Arc::clone(&responder);
    tokio::spawn(async move { sleeping.sleeper.run(timer).await });

    ready(&Ready { addresses, ca_pem });
    let answering = Arc::clone(&responder);
    let handler = move |request| {
        let responder = Arc::clone(&answering);
        async move { Ok(responder.respond(request).await) }
    };
    server.serve(handler, stop).await;
    Ok(Totals { requests: responder.requests.load(Relaxed) })
}

fn identity(tls: &Tls, addresses: &[SocketAddr]) -> Result<SelfSigned, Error> {
    let loopback = [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)];
    let listened = addresses.iter().map(SocketAddr::ip).filter(|address| !address.is_unspecified());
    let mut names = tls.names.clone();
    names.push("localhost".to_owned());
    names.extend(loopback.into_iter().chain(listened).map(|address| address.to_string()));
    names.sort();
    names.dedup();
    let made = Identity::make(&names)?;
    if let Some(path) = &tls.write_ca {
        recording::write_whole(path, made.ca_pem.as_bytes())
            .map_err(|source| Error::WriteCa { path: path.clone(), source })?;
    }
    Ok(made)
}

#[cfg(test)]
mod tests;
