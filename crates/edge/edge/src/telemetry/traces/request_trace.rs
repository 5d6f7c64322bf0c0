//! Trace of one request: a span for the request, for each origin request, and for each phase of
//! these, by OpenTelemetry's conventions
//! (<https://opentelemetry.io/docs/specs/semconv/http/http-spans/>).

use std::sync::{Arc, Mutex, PoisonError};

use http_stack::{
    Body, Failure, HeaderName, HeaderValue, Method, Origin, Request, Response, StatusCode, Version,
    client::Trace,
    clock::{Clock, wall_ns},
    header,
    server::{Delivery, Peer},
};
use otlp::{Attribute, Context, Event, Kind, Span, SpanId, TraceId};

use super::{new_span, queue::Queue};

#[derive(Debug)]
pub(crate) struct RequestTrace {
    queue: Arc<Queue>,
    clock: Clock,
    began: Timestamp,
    trace: TraceId,
    id: SpanId,
    parent: ParentSpan,
    open: Mutex<Option<OpenSpan>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParentSpan {
    None(TraceId),
    Visitor(Context),
}

#[derive(Debug)]
struct OpenSpan {
    name: String,
    attributes: Vec<Attribute>,
    answered_ns: Option<i64>,
    is_error: bool,
}

#[derive(Debug, Clone, Copy)]
struct Timestamp {
    at: u64,
    wall_ns: i64,
}

pub(crate) struct ActiveTrace(Option<Arc<RequestTrace>>);

pub(crate) struct UpstreamSpan<'t> {
    traced: &'t RequestTrace,
    id: SpanId,
    /// The clock is that of the HTTP client.
    began: Timestamp,
    attributes: Vec<Attribute>,
    name: String,
}

impl RequestTrace {
    pub(super) fn begin(
        queue: Arc<Queue>,
        clock: Clock,
        parent: ParentSpan,
        request: &Request<Body>,
    ) -> Option<Self> {
        let trace = match parent {
            ParentSpan::None(trace) => trace,
            ParentSpan::Visitor(context) => context.trace,
        };
        let open = OpenSpan {
            name: name(request.method()),
            attributes: record_request(request),
            answered_ns: None,
            is_error: false,
        };
        let began = Timestamp { at: clock.now(), wall_ns: wall_ns() };
        Some(Self { queue, clock, began, trace, id: new_span()?, parent, open: Mutex::new(Some(open)) })
    }

    fn answered(&self, status: StatusCode, about: impl IntoIterator<Item = (&'static str, String)>) {
        let now = self.now_ns();
        if let Some(open) = &mut *self.open.lock().unwrap_or_else(PoisonError::into_inner) {
            open.answered_ns = Some(now);
            open.attributes.push(status_code(status));
            open.attributes.extend(about.into_iter().map(|(key, value)| Attribute::text(key, value)));
            // 4xx is not an error of a server span.
            if status.is_server_error() {
                open.is_error = true;
                open.attributes.push(Attribute::text("error.type", status.as_str()));
            }
        }
    }

    pub(crate) fn sent(&self, delivery: Delivery) {
        let bytes = i64::try_from(delivery.body_bytes).unwrap_or(i64::MAX);
        let size = Attribute::number("http.response.body.size", bytes);
        self.end(Some(size), (!delivery.is_whole).then_some("broke off"));
    }

    fn end(&self, last: Option<Attribute>, error: Option<&str>) {
        let end_ns = self.now_ns();
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(OpenSpan { name, mut attributes, answered_ns, mut is_error }) = open else { return };
        attributes.extend(last);
        if let Some(error) = error.filter(|_| !is_error) {
            is_error = true;
            attributes.push(Attribute::text("error.type", error));
        }
        let answered = answered_ns.map(|at_ns| Event { at_ns, name: "response header" });
        self.queue.put([Span {
            trace: self.trace,
            id: self.id,
            parent: match self.parent {
                ParentSpan::None(_) => None,
                ParentSpan::Visitor(context) => Some(context.span),
            },
            name,
            kind: Kind::Server,
            start_ns: self.began.wall_ns,
            end_ns,
            attributes,
            events: answered.into_iter().collect(),
            is_error,
        }]);
    }

    /// `now` is on the client's clock. Adds the trace context to the request.
    pub(crate) fn begin_upstream(
        &self,
        origin: &Origin,
        request: &mut Request<Body>,
        now: u64,
    ) -> Option<UpstreamSpan<'_>> {
        let id = new_span()?;
        let context = Context { trace: self.trace, span: id, is_sampled: true };
        let headers = request.headers_mut();
        headers.insert(TRACEPARENT, HeaderValue::from_str(&context.to_string()).ok()?);
        // `tracestate` belongs to the trace of the client.
        if let ParentSpan::None(_) = self.parent {
            headers.remove(TRACESTATE);
        }
        let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
        let url = format!("{origin}{target}");
        let mut attributes = vec![method(request.method())];
        attributes.extend([
            Attribute::text("server.address", &origin.host),
            Attribute::number("server.port", origin.port.into()),
            Attribute::text("url.full", truncate(&url, MAX_URL_BYTES)),
        ]);
        let began = Timestamp { at: now, wall_ns: self.now_ns() };
        Some(UpstreamSpan { traced: self, id, began, attributes, name: name(request.method()) })
    }

    fn now_ns(&self) -> i64 {
        self.began.wall(self.clock.now())
    }
}

impl Timestamp {
    fn wall(self, at: u64) -> i64 {
        let since = i64::try_from(at.abs_diff(self.at)).unwrap_or(i64::MAX);
        if at < self.at { self.wall_ns.saturating_sub(since) } else { self.wall_ns.saturating_add(since) }
    }
}

impl ActiveTrace {
    pub(super) fn new(traced: Arc<RequestTrace>) -> Self {
        Self(Some(traced))
    }

    /// The span ends later, when the response was sent.
    pub(crate) fn answered(
        mut self,
        status: StatusCode,
        about: impl IntoIterator<Item = (&'static str, String)>,
    ) -> Option<Arc<RequestTrace>> {
        let traced = self.0.take()?;
        traced.answered(status, about);
        Some(traced)
    }
}

impl Drop for ActiveTrace {
    fn drop(&mut self) {
        if let Some(traced) = &self.0 {
            traced.end(None, Some("the client left"));
        }
    }
}

impl UpstreamSpan<'_> {
    pub(crate) fn answered(mut self, trace: &Trace, answered: Result<&Response<Body>, &Failure>, now: u64) {
        let error = match answered {
            Ok(response) => {
                let status = response.status();
                self.attributes.push(status_code(status));
                (status.as_u16() >= 400).then(|| status.as_str().to_owned())
            }
            Err(failure) => Some(failure.to_string()),
        };
        if let Some(remote) = trace.remote {
            self.attributes.push(Attribute::text("network.peer.address", remote.ip().to_string()));
            self.attributes.push(Attribute::number("network.peer.port", remote.port().into()));
        }
        let version =
            trace.protocol.map(|protocol| protocol.trim_start_matches("http/").trim_start_matches('h'));
        self.attributes.extend(version.map(|version| Attribute::text("network.protocol.version", version)));
        let is_error = error.is_some();
        self.attributes.extend(error.map(|error| Attribute::text("error.type", error)));
        let end = trace.final_headers.unwrap_or(now);
        let span = |parent, (name, from, to): (&str, u64, u64)| Span {
            trace: self.traced.trace,
            id: self.id,
            parent: Some(parent),
            name: name.to_owned(),
            kind: Kind::Internal,
            start_ns: self.began.wall(from),
            end_ns: self.began.wall(to),
            attributes: Vec::new(),
            events: Vec::new(),
            is_error: false,
        };
        let phases = phases(trace, end);
        let phases =
            phases.into_iter().filter_map(|phase| Some(Span { id: new_span()?, ..span(self.id, phase) }));
        let phases: Vec<_> = phases.collect();
        let own = span(self.traced.id, (&self.name, self.began.at, end));
        let own = Span { kind: Kind::Client, attributes: self.attributes, is_error, ..own };
        self.traced.queue.put([own].into_iter().chain(phases));
    }
}

/// Only the duration of phases before the first byte is known: they are placed in sequence,
/// directly before it.
fn phases(trace: &Trace, end: u64) -> Vec<(&'static str, u64, u64)> {
    let before = [
        ("queue", trace.waited),
        ("dns", trace.dns),
        ("connect", trace.connect),
        ("tls", trace.tls),
        ("quic", trace.quic),
    ];
    let (first, sent) = (trace.first_write(), trace.last_write());
    let whole: u64 = before.iter().filter_map(|(_, took)| *took).sum();
    let mut at = first.map_or(trace.started, |first| first.saturating_sub(whole).max(trace.started));
    let mut phases = Vec::new();
    for (name, took) in before {
        if let Some(took) = took {
            let to = at.saturating_add(took).min(first.unwrap_or(end));
            phases.push((name, at, to));
            at = to;
        }
    }
    phases.extend(first.zip(sent).map(|(first, sent)| ("send", first, sent.max(first))));
    phases.extend(sent.map(|sent| ("wait", sent, end.max(sent))));
    phases
}

fn record_request(request: &Request<Body>) -> Vec<Attribute> {
    let (uri, headers) = (request.uri(), request.headers());
    let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let host = uri.authority().map(|authority| authority.as_str()).or_else(|| text(&header::HOST));
    let (host, port) = host.map_or((None, None), |host| match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (Some(name), port.parse().ok()),
        _ => (Some(host), None),
    });
    let mut attributes = vec![method(request.method())];
    attributes.extend([
        Attribute::text("url.path", truncate(uri.path(), MAX_URL_BYTES)),
        Attribute::text("network.protocol.version", version(request.version())),
    ]);
    attributes.extend(uri.query().map(|query| Attribute::text("url.query", truncate(query, MAX_URL_BYTES))));
    if let Some(Peer { address, scheme }) = request.extensions().get() {
        attributes.push(Attribute::text("url.scheme", scheme.name()));
        attributes.push(Attribute::text("client.address", address.ip().to_canonical().to_string()));
        attributes.push(Attribute::number("client.port", address.port().into()));
    }
    attributes.extend(host.map(|host| Attribute::text("server.address", truncate(host, MAX_NAME_BYTES))));
    attributes.extend(port.map(|port: u16| Attribute::number("server.port", port.into())));
    let agent = text(&header::USER_AGENT);
    attributes
        .extend(agent.map(|agent| Attribute::text("user_agent.original", truncate(agent, MAX_NAME_BYTES))));
    attributes
}

/// Other methods could have any value.
fn known(method: &Method) -> Option<&str> {
    let is_known = [
        Method::GET,
        Method::HEAD,
        Method::POST,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
        Method::OPTIONS,
        Method::TRACE,
        Method::CONNECT,
    ]
    .contains(method);
    is_known.then(|| method.as_str())
}

fn name(method: &Method) -> String {
    known(method).unwrap_or("HTTP").to_owned()
}

fn method(method: &Method) -> Attribute {
    Attribute::text("http.request.method", known(method).unwrap_or("_OTHER"))
}

fn status_code(status: StatusCode) -> Attribute {
    Attribute::number("http.response.status_code", status.as_u16().into())
}

fn version(version: Version) -> &'static str {
    match version {
        Version::HTTP_2 => "2",
        Version::HTTP_3 => "3",
        Version::HTTP_10 => "1.0",
        _ => "1.1",
    }
}

fn truncate(text: &str, max_bytes: usize) -> &str {
    let end = (0..=max_bytes.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

pub(super) const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");
const MAX_URL_BYTES: usize = 1024;
const MAX_NAME_BYTES: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_lie_end_to_end_before_the_first_byte() {
        let mut trace = Trace::start(100);
        (trace.dns, trace.connect, trace.tls) = (Some(5), Some(10), Some(20));
        // No byte was sent: the handshake failed.
        let expected = [("dns", 100, 105), ("connect", 105, 115), ("tls", 115, 135)];
        assert_eq!(phases(&trace, 200), expected);
        assert_eq!(phases(&trace, 120)[2], ("tls", 115, 120));
    }

    #[test]
    fn timestamp_is_converted_to_wall_clock() {
        let moment = Timestamp { at: 100, wall_ns: 1_000_000 };
        assert_eq!([50, 100, 150].map(|at| moment.wall(at)), [999_950, 1_000_000, 1_000_050]);
        assert_eq!(moment.wall(u64::MAX), i64::MAX);
    }
}
