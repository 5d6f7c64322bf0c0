//! What OpenTelemetry's collectors take, as JSON over HTTP (<https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>).
//!
//! - [`Span`]: a step of a request, and [`spans`], what is sent to `/v1/traces`.
//! - [`metrics`]: what is sent to `/v1/metrics`.
//! - [`Context`]: the trace that a request belongs to, as it travels in the request (`traceparent` of W3C's Trace Context).
//! - [`Answer`]: what became of what was sent.
//!
//! Nothing is sent here, and no time is read: whoever measures has both.

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
