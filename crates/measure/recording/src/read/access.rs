//! Reads access logs of servers, proxies and CDNs.
//!
//! The server's measurement is not the client's latency: it starts when the server has read the first bytes
//! of the request and ends when the last bytes of the response are written to its kernel. It excludes the
//! handshakes and most of the network latency to the client.

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
    /// Whether its variables have names, for which the user may specify a meaning.
    pub(super) fn has_names(self) -> bool {
        !matches!(self, Self::EnvoyDefault | Self::Traefik | Self::Haproxy | Self::Elb | Self::Caddy)
    }

    /// The name in messages and results.
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

/// The format of the lines of an access log: a format string of nginx, Envoy, Apache, Tomcat or varnishncsa, or the name of one.
///
/// - `nginx` is `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer"
///   "$http_user_agent" $request_time`: the predefined `combined`, which has no duration of the request, with that duration
///   at its end.
/// - `envoy` is Envoy's default: `[%START_TIME%] "%REQ(:METHOD)%
///   %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" %RESPONSE_CODE% %RESPONSE_FLAGS% %BYTES_RECEIVED% %BYTES_SENT%
///   %DURATION% ...`; `istio` is that of Istio's proxies.
/// - `apache`, `tomcat9`, `tomcat10` and `varnishncsa` are Apache's `combined` with `%D` at its end. `combined` and `common` may begin
///   a format (`combined %{ms}T`), and a name and a colon choose the server: `tomcat9:%t "%r" %s %D`.
///
/// These variables become fields of a sample, all others labels of their names (`%REQ(X-Y)%` becomes `x-y`); `-` is
/// absent:
///
/// | nginx | Envoy | |
/// | --- | --- | --- |
/// | `$request_time` | `%DURATION%` | latency: the whole request, as the server saw it |
/// | `$upstream_connect_time` | | connect, of the server to its upstream |
/// | `$upstream_header_time` | `%RESPONSE_DURATION%` | ttfb: until the first byte from the upstream |
/// | `$upstream_response_time` | | total, of the server's own request to its upstream |
/// | | `%REQUEST_DURATION%` | send: until the request was read |
/// | | `%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)%` | wait, unless `%RESPONSE_DURATION%` is there |
/// | | `%RESPONSE_TX_DURATION%` | load: from the upstream's first byte to the last that was sent |
/// | `$time_local`, `$time_iso8601`, `$msec` | `%START_TIME%` | the start; nginx writes at the end, so its time is subtracted |
/// | `$status` | `%RESPONSE_CODE%` | status; 499 of nginx and 0 of Envoy are failed: the client left before the end |
/// | `$body_bytes_sent` | `%BYTES_SENT%` | bytes of the body |
/// | `$connection_requests` | | whether the connection had carried a request before |
/// | `$request`, `$request_method`, `$uri`, `$request_uri` | `%REQ(:METHOD)%`, `%REQ(:PATH)%` | labels method and path |
/// | `$host`, `$http_host` | `%REQ(:AUTHORITY)%` | label host |
///
/// nginx writes seconds with three decimals: integers have another unit, which the user must give.
/// It writes several times if it tried several upstreams in turn ("0.1, 0.2"): they are added up.
///
/// Of the others, `%D` and `%T` are the latency: `%D` in microseconds, but in milliseconds in Tomcat up to version 9, and `%T` in seconds.
/// `%{ms}T`, `%{us}T` and `%{s}T` name their unit. `%^FB`, Tomcat's `%F` and `%{Varnish:time_firstbyte}x` are the ttfb. `%t` is the
/// start, and in Tomcat the end.
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
    /// The format of a file with such lines.
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

/// Reads all lines of a log into a sink.
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

/// Parses the lines of one format.
trait Parser {
    /// Parses a line into empty fields.
    fn take(&mut self, line: &[u8], found: &mut Fields<'_>) -> Result<Taken, Problem>;

    /// The names of variables so far. `None` if they have no names.
    fn names(&self) -> Option<BTreeSet<String>> {
        None
    }

    /// Notes on the values of the whole file.
    fn warnings(&self, found: &Fields<'_>) -> Vec<String> {
        let _ = found;
        Vec::new()
    }
}

/// The result of parsing a line.
enum Taken {
    Request,
    /// A message of the server, or a request of another protocol.
    Other,
    /// A line that describes the following lines.
    Header,
    /// A header that makes the lines unreadable.
    Unreadable(Problem),
}

/// The position where a line deviates from its format.
#[derive(Debug, Default)]
struct Problem {
    offset: usize,
    found: String,
    expected: String,
}

#[cfg(test)]
mod tests;
