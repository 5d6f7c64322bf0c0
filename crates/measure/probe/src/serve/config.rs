//! Listen addresses and behaviour of the origin. The only place of its defaults.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use http_stack::{HeaderMap, HeaderName, HeaderValue, header};
use units::Bytes;

use super::service_time::ServiceTime;
use crate::Error;

/// Listen addresses and behaviour of the origin.
#[derive(Debug, Clone)]
pub struct Config {
    /// Listen addresses; port 0 is any free one. Default: loopback.
    pub listen: Vec<SocketAddr>,
    /// Size of each response's body.
    pub body: Bytes,
    /// Service time of a request.
    pub service_time: ServiceTime,
    /// Send a 103 Early Hints when a request arrives, except over HTTP/1.0
    /// ([`http_stack::server::Interim`]).
    pub early_hints: bool,
    /// Send the version of the content as ETag: "1", incremented by each POST or PUT. A GET has the
    /// version when the request arrived; If-None-Match is supported.
    pub versions: bool,
    /// Fields of each response. They replace default fields, except Server-Timing and the ETag of
    /// versions ([`Config::header_line`]).
    pub headers: HeaderMap,
    /// Seed of the service times; the same seed makes the same sequence.
    pub seed: u64,
    /// Use TLS on every address, with a generated certificate. Without it, clear text.
    pub tls: Option<Tls>,
}

/// TLS with a generated certificate.
#[derive(Debug, Clone, Default)]
pub struct Tls {
    /// Names and addresses in the certificate, in addition to `localhost`, 127.0.0.1, ::1 and the
    /// listen addresses.
    pub names: Vec<String>,
    /// The file for the certificate of the authority that signed it (PEM), for probes to trust.
    pub write_ca: Option<PathBuf>,
    /// Also serve HTTP/3, on the UDP ports of the same numbers.
    pub http3: bool,
    /// Accept requests in 0-RTT data of QUIC ([`http_stack::server::Identity::with_early_data`]).
    pub early_data: bool,
}

impl Config {
    /// Adds a response field in the form "Name: value".
    ///
    /// # Errors
    ///
    /// It is not a header field, or sets the body's length, which follows from the body.
    pub fn header_line(mut self, line: &str) -> Result<Self, Error> {
        let refused = |what| Error::Request { text: line.to_owned(), what };
        let form =
            "a header field; expected a name, a colon and a value, such as \"Cache-Control: max-age=60\"";
        let (name, value) = line.split_once(':').ok_or_else(|| refused(form))?;
        let name: HeaderName = name.trim().parse().map_err(|_| refused(form))?;
        let value = HeaderValue::from_str(value.trim()).map_err(|_| refused(form))?;
        if [header::CONTENT_LENGTH, header::TRANSFER_ENCODING].contains(&name) {
            return Err(refused("a header field that can be set; it follows from the body"));
        }
        self.headers.append(name, value);
        Ok(self)
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 8080))],
            body: Bytes(1000),
            service_time: ServiceTime::Constant(Duration::ZERO),
            early_hints: false,
            versions: false,
            headers: HeaderMap::new(),
            seed: 1,
            tls: None,
        }
    }
}
