//! Reads access logs of servers, proxies and CDNs.
//!
//! A server measures from the first bytes of the request until the last bytes of the response are
//! written to its kernel. This excludes the handshakes and most of the network latency to the
//! client.

use std::{borrow::Cow, collections::BTreeSet};

use super::{Frame, Input, Options};
use crate::{Error, Sink, error::Unknown};

mod caddy;
mod clock;
mod cloudflare;
mod detect;
mod elb;
mod envoy;
mod fastly;
mod fields;
mod format;
mod format_string;
mod haproxy;
mod log;
mod mapping;
mod object;
mod of_requests;
mod traefik;
mod w3c;

pub(super) use detect::{detect, detect_json, refused};

use fields::Fields;
use format::{Dialect, Parsed};

/// Which access log a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessFormat {
    /// Lines by a format string of nginx.
    Nginx,
    /// JSON with the names of nginx's variables as keys.
    NginxJson,
    /// Lines by a format string of Envoy.
    Envoy,
    /// Lines by a format string of Apache.
    Apache,
    /// Lines of Tomcat's AccessLogValve.
    Tomcat,
    /// Lines of varnishncsa.
    Varnish,
    /// Envoy's or Istio's default format.
    EnvoyDefault,
    /// Envoy's JSON.
    EnvoyJson,
    /// Traefik's common format.
    Traefik,
    /// Traefik's JSON.
    TraefikJson,
    /// HAProxy's HTTP log.
    Haproxy,
    /// An AWS load balancer's.
    Elb,
    /// Amazon CloudFront's.
    CloudFront,
    /// IIS's, in the W3C extended format.
    Iis,
    /// Cloudflare's Logpush.
    Cloudflare,
    /// Fastly's real-time logs as JSON.
    Fastly,
    /// Caddy's JSON.
    Caddy,
}

impl AccessFormat {
    pub(super) fn has_names(self) -> bool {
        !matches!(self, Self::EnvoyDefault | Self::Traefik | Self::Haproxy | Self::Elb | Self::Caddy)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Nginx => "nginx access log",
            Self::NginxJson => "nginx JSON access log",
            Self::Envoy => "Envoy access log",
            Self::Apache => "Apache access log",
            Self::Tomcat => "Tomcat access log",
            Self::Varnish => "Varnish access log",
            Self::EnvoyDefault => "Envoy access log",
            Self::EnvoyJson => "Envoy JSON access log",
            Self::Traefik => "Traefik access log",
            Self::TraefikJson => "Traefik JSON access log",
            Self::Haproxy => "HAProxy HTTP log",
            Self::Elb => "AWS load balancer access log",
            Self::CloudFront => "CloudFront access log",
            Self::Iis => "IIS access log",
            Self::Cloudflare => "Cloudflare Logpush",
            Self::Fastly => "Fastly log",
            Self::Caddy => "Caddy access log",
        }
    }
}

/// The format of the lines of an access log: a format string of nginx, Envoy, Apache, Tomcat or
/// varnishncsa, or the name of one. `docs/recording-logs.md` lists the names and the variables.
///
/// ```
/// use recording::AccessLog;
///
/// let log: AccessLog = "$msec $status $request_time".parse()?;
/// let said = "$status $request_time$host".parse::<AccessLog>().unwrap_err().to_string();
/// assert!(said.contains("\"$host\"; expected some text"), "{said}");
/// # let _ = log;
/// # Ok::<(), recording::Unknown>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessLog {
    parsed: Parsed,
}

impl AccessLog {
    pub(super) fn format(&self) -> AccessFormat {
        match self.parsed.dialect {
            Dialect::Nginx => AccessFormat::Nginx,
            Dialect::Envoy => AccessFormat::Envoy,
            Dialect::Apache => AccessFormat::Apache,
            Dialect::Tomcat9 | Dialect::Tomcat10 => AccessFormat::Tomcat,
            Dialect::Varnish => AccessFormat::Varnish,
            Dialect::Traefik => AccessFormat::Traefik,
        }
    }
}

impl std::str::FromStr for AccessLog {
    type Err = Unknown;

    /// The error quotes the format from the invalid part on.
    fn from_str(text: &str) -> Result<Self, Unknown> {
        Ok(Self { parsed: format::parse(text)? })
    }
}

pub(super) fn read(
    format: AccessFormat,
    input: Input<'_>,
    options: &Options,
    sink: &mut dyn Sink,
) -> Result<Frame, Error> {
    let columns = &options.columns;
    let mut parser: Box<dyn Parser + '_> = match format {
        AccessFormat::NginxJson => Box::new(object::Objects::new(&object::NGINX, columns)),
        AccessFormat::EnvoyJson => Box::new(object::Objects::new(&envoy::KEYS, columns)),
        AccessFormat::TraefikJson => Box::new(object::Objects::new(&traefik::KEYS, columns)),
        AccessFormat::Cloudflare => Box::new(object::Objects::new(&cloudflare::KEYS, columns)),
        AccessFormat::Fastly => Box::new(object::Objects::new(&fastly::KEYS, columns)),
        AccessFormat::Haproxy => Box::new(haproxy::Haproxy::new()),
        AccessFormat::Elb => Box::new(elb::Elb),
        AccessFormat::Caddy => Box::new(caddy::Caddy),
        AccessFormat::CloudFront | AccessFormat::Iis => Box::new(w3c::Columns::new(format, columns)),
        AccessFormat::Traefik => Box::new(Cow::<Parsed>::Owned(traefik::common())),
        AccessFormat::EnvoyDefault => Box::new(envoy::Defaults::new()),
        _ => match &options.access_log {
            Some(log) if columns.is_empty() => Box::new(Cow::Borrowed(&log.parsed)),
            Some(log) => Box::new(Cow::<Parsed>::Owned(log.parsed.clone().mapped(columns))),
            None => return Err(without_format(&input)),
        },
    };
    let expected = "at least one line of the log's format";
    log::read(input, options, sink, parser.as_mut(), expected)
}

fn without_format(input: &Input<'_>) -> Error {
    let place = crate::Place { path: input.path.clone(), line: 1, column: 1 };
    Error::NotARecording { place, found: "an access log".to_owned(), expected: "a format string for it" }
}

trait Parser {
    fn take(&mut self, line: &[u8], found: &mut Fields<'_>) -> Result<Taken, Problem>;

    /// `None` if variables have no names.
    fn names(&self) -> Option<BTreeSet<String>> {
        None
    }

    fn warnings(&self, found: &Fields<'_>) -> Vec<String> {
        let _ = found;
        Vec::new()
    }
}

enum Taken {
    Request,
    Other,
    Header,
    Unreadable(Problem),
}

#[derive(Debug, Default)]
struct Problem {
    offset: usize,
    found: String,
    expected: String,
}

#[cfg(test)]
mod tests;
