//! What the origin listens on and how it behaves. The only home of its defaults.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use http::{HeaderMap, HeaderName, HeaderValue, header};
use units::Bytes;

use super::service_time::ServiceTime;
use crate::Error;

/// What the origin listens on and how it behaves.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where to listen; port 0 is any free one. Loopback unless told otherwise.
    pub listen: Vec<SocketAddr>,
    /// Size of each response's body.
    pub body: Bytes,
    /// How long a request is worked on before it is answered.
    pub service_time: ServiceTime,
    /// Send a 103 Early Hints as soon as a request is there, over all but HTTP/1.0 ([`http::server::Interim`]).
    pub early_hints: bool,
    /// Each response has the version of the content as its ETag: "1", and after each POST or PUT the next number. That of a GET is of the
    /// moment when the request was there, and If-None-Match is heeded.
    pub versions: bool,
    /// Fields of each response, in place of those of the same names that it has by itself, but for Server-Timing, and ETag of versions
    /// ([`Config::header_line`]).
    pub headers: HeaderMap,
    /// Seed of the service times; the same seed makes the same sequence.
    pub seed: u64,
    /// Speak TLS on every address, with a certificate made on the spot. Without it, clear text.
    pub tls: Option<Tls>,
}

/// TLS with a certificate that the origin makes itself.
#[derive(Debug, Clone, Default)]
pub struct Tls {
    /// Names and addresses that the certificate is for, besides `localhost`, 127.0.0.1, ::1 and those
    /// listened on.
    pub names: Vec<String>,
    /// Where to write the certificate of the authority that signed it (PEM), for probes to trust.
    pub write_ca: Option<PathBuf>,
    /// Speak HTTP/3 as well, on the UDP ports of the same numbers.
    pub http3: bool,
    /// Accept requests ahead of QUIC's handshake ([`http::server::Identity::with_early_data`]).
    pub early_data: bool,
}

impl Config {
    /// With a field of responses as people write it: "Name: value".
    ///
    /// # Errors
    /// When it is not a header field, or is about the body's length, which follows from the body.
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
