//! OpenTelemetry data as JSON over HTTP (<https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>).
//!
//! - [`Span`]: a span of a trace; [`spans`]: the body of a request to `/v1/traces`.
//! - [`metrics`]: the body of a request to `/v1/metrics`.
//! - [`Context`]: the trace context of a request (`traceparent` of W3C's Trace Context).
//! - [`Answer`]: the outcome of a request.
//!
//! The crate has no clock and no sockets.

mod answer;
mod attribute;
mod context;
mod metrics;
mod span;

pub use self::{
    answer::Answer,
    attribute::{Attribute, Resource},
    context::{Context, SpanId, TraceId},
    metrics::{histogram, metrics, sum},
    span::{Event, Kind, Span, spans},
};
