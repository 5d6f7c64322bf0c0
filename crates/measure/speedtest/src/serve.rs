//! The server of a speed test: generates download bodies, discards upload bodies, and echoes
//! datagrams.

mod admission;
mod answer;
pub(crate) mod browser;
mod config;
mod counts;
mod handler;
mod loss;
mod page;
mod results_api;
mod tcp_info;
mod test_registry;
#[cfg(test)]
pub(crate) mod tests;
mod webrtc;

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use http_stack::{
    Body, HeaderValue, Request, Server, ShutdownSignal, StatusCode,
    clock::Clock,
    header,
    server::{Identity, SelfSigned},
};
use tokio::runtime::Builder;

use self::{
    answer::text,
    handler::{Responder, moment},
    results_api::Keeping,
    tcp_info::Kernel,
    webrtc::Webrtc,
};
pub use self::{
    config::{Config, Limits, LossPort, Tls},
    counts::Totals,
    webrtc::offer,
};
use crate::{Error, stored_results::Store};

/// The addresses of a running server.
#[derive(Debug, Clone)]
pub struct Ready {
    /// The listening addresses in the configuration's order, with assigned ports instead of port 0.
    pub addresses: Vec<SocketAddr>,
    /// The UDP port of the loss test.
    pub loss_port: Option<u16>,
    /// The addresses of the metrics.
    pub metrics: Vec<SocketAddr>,
}

/// Serves until stopped. Calls `ready` when the server accepts tests. Blocks; call it outside of
/// any tokio runtime.
///
/// # Errors
///
/// An address cannot be listened on, or a certificate cannot be used, created or written.
pub fn serve(config: &Config, ready: impl FnOnce(&Ready), stop: &ShutdownSignal) -> Result<Totals, Error> {
    let runtime = Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|source| Error::System { what: "start a runtime", source })?;
    let served = runtime.block_on(run(config, ready, stop));
    runtime.shutdown_background();
    served
}

async fn run(config: &Config, ready: impl FnOnce(&Ready), stop: &ShutdownSignal) -> Result<Totals, Error> {
    let listeners = http_stack::server::listen(&config.listen)?;
    let limits = http_stack::server::Config {
        upload_window: UPLOAD_WINDOW,
        unsent: Some(UNSENT),
        tells_waits: true,
        ..http_stack::server::Config::default()
    };
    let mut server = Server::on(listeners)?.with_config(limits);
    let addresses = server.addresses()?;
    if let Some(tls) = &config.tls {
        server = server.with_http3(&identity(tls, &addresses)?)?;
    }
    let sockets = loss::bind(&addresses, config.loss).await?;
    let loss_port = loss::port(&sockets);
    let metrics = Server::listen(&config.metrics)?;
    let served_at = metrics.addresses()?;
    let (kernel, clock) = (Kernel::new(addresses.clone()), Clock::start());
    let keeping = keeping(config, clock)?;
    let webrtc = Webrtc::of(&sockets, &config.loss_addresses)?;
    let channels = webrtc.clone();
    let responder = Arc::new(Responder::new(config.limits, kernel, (loss_port, channels), clock, keeping));
    for (socket, webrtc) in sockets.into_iter().zip(webrtc) {
        tokio::spawn(loss::send_back(socket, webrtc, Arc::clone(&responder)));
    }
    let (told, ended) = (Arc::clone(&responder), stop.clone());
    tokio::spawn(async move { metrics.serve(for_prometheus(told), &ended).await });
    if config.keep.is_some() {
        tokio::spawn(sweep_now_and_then(Arc::clone(&responder)));
    }
    ready(&Ready { addresses, loss_port, metrics: served_at });
    let answering = Arc::clone(&responder);
    let handler = move |request| {
        let responder = Arc::clone(&answering);
        async move { Ok(responder.respond(request).await) }
    };
    server.serve(handler, stop).await;
    responder.close().await;
    Ok(responder.counts.totals())
}

fn keeping(config: &Config, clock: Clock) -> Result<Option<Keeping>, Error> {
    let Some(keep) = &config.keep else { return Ok(None) };
    let store = Store::open(keep, moment(clock))?;
    Ok(Some(Keeping::new(store, keep.keep_for.as_secs(), config.operator)))
}

async fn sweep_now_and_then(responder: Arc<Responder>) {
    loop {
        responder.sweep().await;
        tokio::time::sleep(BETWEEN_SWEEPS).await;
    }
}

/// An expired result may remain in the file for this time, but is no longer returned.
const BETWEEN_SWEEPS: Duration = Duration::from_secs(3600);

fn for_prometheus(responder: Arc<Responder>) -> impl http_stack::server::Handler {
    move |request: Request<Body>| {
        let mut response = match request.uri().path() {
            "/metrics" => text(StatusCode::OK, responder.metrics()),
            _ => text(StatusCode::NOT_FOUND, "metrics are at /metrics\n"),
        };
        let format = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
        response.headers_mut().insert(header::CONTENT_TYPE, format);
        async move { Ok(response) }
    }
}

/// 300 Mbit/s at 300 ms are 11 MB. Bodies are read immediately, so this memory is rarely used.
const UPLOAD_WINDOW: u32 = 16 << 20;

/// With HTTP/2 a response waits behind all unsent data, which would appear as network latency.
const UNSENT: Duration = Duration::from_millis(10);

fn identity(tls: &Tls, addresses: &[SocketAddr]) -> Result<Identity, Error> {
    let (names, write_ca) = match tls {
        Tls::Files { certificate, key } => return Ok(Identity::read(certificate, key)?),
        Tls::Made { names, write_ca } => (names, write_ca),
    };
    let loopback = [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)];
    let listened = addresses.iter().map(SocketAddr::ip).filter(|address| !address.is_unspecified());
    let mut all = names.clone();
    all.push("localhost".to_owned());
    all.extend(loopback.into_iter().chain(listened).map(|address| address.to_string()));
    all.sort();
    all.dedup();
    let SelfSigned { identity, ca_pem } = Identity::make(&all)?;
    if let Some(path) = write_ca {
        recording::write_whole(path, ca_pem.as_bytes())
            .map_err(|source| Error::WriteCa { path: path.clone(), source })?;
    }
    Ok(identity)
}
