//! OpenTelemetry data as JSON over HTTP
//! (<https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>).
//!
//! - [`Span`]: a span of a trace; [`spans`]: the body of a request to `/v1/traces`.
//! - [`metrics`]: the body of a request to `/v1/metrics`.
//! - [`Context`]: the trace context of a request (`traceparent` of W3C's Trace Context).
//! - [`Answer`]: the outcome of a request.
//!
//! The crate has no clock and no sockets.

mod attribute;
mod metrics;
mod response;
mod span;
mod trace_context;

pub use self::{
    attribute::{Attribute, Resource},
    metrics::{histogram, metrics, sum},
    response::Answer,
    span::{Event, Kind, Span, spans},
    trace_context::{Context, SpanId, TraceId},
};
