//! `longhaul speed serve`: the server of speed tests.

use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    process::ExitCode,
    time::Duration,
};

use clap::Args;
use probe::ShutdownSignal;
use speedtest::{
    serve::{self, Config, Limits, LossPort, Tls},
    stored_results::{self, TokenHash},
};
use units::{Bytes, show};

use crate::{interrupt::Interrupt, output::say, quick_build};

/// Serve speed tests: `longhaul speed test URL` from anywhere
///
/// The server generates and discards bodies on the fly. It stores nothing of a test unless --keep names a
/// file for results that users choose to save. With TLS it also serves HTTP/3, on the UDP port of the same
/// number. The loss test echoes datagrams only to addresses with a running test.
///
/// Example: longhaul speed serve --listen 0.0.0.0:8090
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Listen address; may be given several times [default: 127.0.0.1:8090]
    #[arg(long, value_name = "ADDRESS")]
    listen: Vec<SocketAddr>,
    /// The UDP port of the loss test; 10000 higher by default if it would be below 1024, which browsers block
    /// [default: the one after that of --listen]
    #[arg(long, value_name = "PORT")]
    loss_port: Option<u16>,
    /// The public address of the loss test's port, if it is not an address of this machine; may be given
    /// several times
    #[arg(long, value_name = "IP")]
    loss_address: Vec<IpAddr>,
    /// Use TLS, with a generated certificate
    #[arg(long)]
    tls: bool,
    /// Use TLS, with this certificate and its chain (PEM)
    #[arg(long, requires = "key", conflicts_with = "tls", value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// The certificate's key (PEM)
    #[arg(long, requires = "certificate", value_name = "FILE")]
    key: Option<PathBuf>,
    /// An additional name in a generated certificate; may be given several times
    #[arg(long, requires = "tls")]
    name: Vec<String>,
    /// Write the certificate that clients must trust (test --ca) to this file
    #[arg(long, requires = "tls", value_name = "FILE")]
    write_ca: Option<PathBuf>,
    /// Serve metrics for Prometheus at this address, under /metrics; may be given several times
    #[arg(long, value_name = "ADDRESS")]
    metrics: Vec<SocketAddr>,
    /// Maximum number of concurrent transfers
    #[arg(long, value_name = "N", default_value_t = Limits::default().transfers)]
    transfers: usize,
    /// Maximum number of concurrent transfers per address, or per IPv6 /64 network
    #[arg(long, value_name = "N", default_value_t = Limits::default().transfers_per_address)]
    transfers_per_address: usize,
    /// The largest body, in either direction
    #[arg(long, value_name = "SIZE", default_value_t = Limits::default().largest)]
    largest: Bytes,
    /// Store results that users choose to save in this file: with their network, without their address
    #[arg(long, value_name = "FILE")]
    keep: Option<PathBuf>,
    /// How long results are stored, a minute at least [default: 30d]
    #[arg(long, requires = "keep", value_name = "TIME", value_parser = keep_for)]
    keep_for: Option<Duration>,
    /// Show all results at /operator to clients with the token of this SHA-256; `longhaul speed token` makes
    /// both
    #[arg(long, requires = "keep", value_name = "SHA256")]
    operator: Option<TokenHash>,
}

impl Serve {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let stop = ShutdownSignal::new();
        Interrupt::listen()?.ask(&stop);
        let defaults = Config::default();
        let tls = match (self.certificate, self.key) {
            (Some(certificate), Some(key)) => Some(Tls::Files { certificate, key }),
            _ => self.tls.then_some(Tls::Made { names: self.name, write_ca: self.write_ca }),
        };
        let scheme = if tls.is_some() { "https" } else { "http" };
        let config = Config {
            listen: if self.listen.is_empty() { defaults.listen } else { self.listen },
            loss: self.loss_port.map_or(LossPort::Next, LossPort::At),
            loss_addresses: self.loss_address,
            tls,
            metrics: self.metrics,
            limits: Limits {
                transfers: self.transfers,
                transfers_per_address: self.transfers_per_address,
                largest: self.largest,
            },
            keep: self.keep.map(|path| {
                let keep_for = self.keep_for.unwrap_or(stored_results::Config::KEEP_FOR);
                stored_results::Config { path, keep_for }
            }),
            operator: self.operator,
        };
        let has_operator = config.operator.is_some();
        let ready = |ready: &serve::Ready| {
            quick_build::print_note();
            for address in &ready.addresses {
                say(&format!("listening on {scheme}://{address}/"));
            }
            if let (true, Some(address)) = (has_operator, ready.addresses.first()) {
                say(&format!("results at {scheme}://{address}/operator"));
                if scheme == "http" && !address.ip().is_loopback() {
                    say(
                        "the operator's token goes to that page in clear text: --tls keeps it from others on the way",
                    );
                }
            }
            if let Some(port) = ready.loss_port {
                say(&format!("datagrams of the loss test at UDP port {port}"));
            }
            for address in &ready.metrics {
                say(&format!("metrics at http://{address}/metrics"));
            }
        };
        let served = serve::serve(&config, ready, &stop)?;
        say(&format!(
            "{}, {} sent, {} received",
            show::plural(served.tests, "test"),
            show::bytes(served.bytes_down),
            show::bytes(served.bytes_up)
        ));
        Ok(ExitCode::SUCCESS)
    }
}

fn keep_for(text: &str) -> Result<Duration, String> {
    let time = units::duration::parse(text).map_err(|error| error.to_string())?;
    if time < LEAST_KEPT { Err("results are kept for a minute at least".to_owned()) } else { Ok(time) }
}

const LEAST_KEPT: Duration = Duration::from_secs(60);
