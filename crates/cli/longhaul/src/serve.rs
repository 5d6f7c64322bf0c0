//! `longhaul serve`: a small origin for experiments.

use std::{net::SocketAddr, path::PathBuf, process::ExitCode};

use clap::Args;
use probe::{
    ShutdownSignal,
    serve::{self, Config, ServiceTime, Tls},
};
use units::Bytes;

use crate::{interrupt::Interrupt, output::say};

/// Serve a small origin for experiments
///
/// Responds to every GET with a body of the given size after a service time. HTTP/1.1 and HTTP/2; with
/// --http3 also HTTP/3.
///
/// Example: longhaul serve --body 20KB --service-time exp:5ms
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Listen address; may be given several times [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDRESS")]
    listen: Vec<SocketAddr>,
    /// Size of each body
    #[arg(long, default_value_t = Config::default().body, value_name = "SIZE")]
    body: Bytes,
    /// Service time of a request: 5ms, uniform:1ms..9ms, exp:5ms, lognormal:5ms,0.5 or pareto:1ms,1.5
    #[arg(long, default_value_t = Config::default().service_time, value_name = "TIME")]
    service_time: ServiceTime,
    /// Send a 103 Early Hints when a request arrives
    #[arg(long)]
    early_hints: bool,
    /// Send the version of the content as ETag: "1" at first, incremented by each POST or PUT
    #[arg(long)]
    versions: bool,
    /// A header field of each response, such as "Cache-Control: max-age=60"; may be given several times
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
    /// Seed of the service times
    #[arg(long, default_value_t = Config::default().seed)]
    seed: u64,
    /// Use TLS, with a generated certificate
    #[arg(long)]
    tls: bool,
    /// Also serve HTTP/3, on the UDP port of the same number
    #[arg(long, requires = "tls")]
    http3: bool,
    /// Accept requests in 0-RTT data of QUIC, from clients that resume a session
    #[arg(long, requires = "http3")]
    early_data: bool,
    /// An additional name in the certificate; may be given several times
    #[arg(long, requires = "tls")]
    name: Vec<String>,
    /// Write the certificate that a probe must trust (probe --ca) to this file
    #[arg(long, requires = "tls", value_name = "FILE")]
    write_ca: Option<PathBuf>,
}

impl Serve {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let is_tls = self.tls;
        let stop = ShutdownSignal::new();
        Interrupt::listen()?.ask(&stop);
        let defaults = Config::default();
        let config = Config {
            listen: if self.listen.is_empty() { defaults.listen } else { self.listen },
            body: self.body,
            service_time: self.service_time,
            early_hints: self.early_hints,
            versions: self.versions,
            headers: defaults.headers,
            seed: self.seed,
            tls: self.tls.then_some(Tls {
                names: self.name,
                write_ca: self.write_ca,
                http3: self.http3,
                early_data: self.early_data,
            }),
        };
        let config = self.headers.iter().try_fold(config, |config, line| config.header_line(line))?;
        let scheme = if is_tls { "https" } else { "http" };
        let served = serve::serve(
            &config,
            |ready| {
                for address in &ready.addresses {
                    say(&format!("listening on {scheme}://{address}/"));
                }
            },
            &stop,
        )?;
        say(&format!("{} requests served", served.requests));
        Ok(ExitCode::SUCCESS)
    }
}
