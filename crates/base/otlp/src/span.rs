//! Spans of a trace.

use serde_json::{Value, json};

use crate::{
    attribute::{Attribute, Resource, all},
    trace_context::{SpanId, TraceId},
};

/// A finished span. Times are in nanoseconds since 1970.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// The trace.
    pub trace: TraceId,
    /// The id of the span.
    pub id: SpanId,
    /// The parent span; `None` for the root span.
    pub parent: Option<SpanId>,
    /// The operation, with low cardinality.
    pub name: String,
    /// The role in a request.
    pub kind: Kind,
    /// The start time.
    pub start_ns: i64,
    /// The end time.
    pub end_ns: i64,
    /// The attributes.
    pub attributes: Vec<Attribute>,
    /// The events.
    pub events: Vec<Event>,
    /// Whether the operation failed.
    pub is_error: bool,
}

/// The role of a span in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An internal operation.
    Internal,
    /// The server side of a request.
    Server,
    /// The client side of a request.
    Client,
}

/// An event in a span.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The time in nanoseconds since 1970.
    pub at_ns: i64,
    /// The name of the event.
    pub name: &'static str,
}

/// The body of a request to `/v1/traces`.
pub fn spans<'s>(resource: &Resource, spans: impl IntoIterator<Item = &'s Span>) -> Value {
    let spans: Vec<_> = spans.into_iter().map(span).collect();
    json!({ "resourceSpans": [{
        "resource": resource.resource(),
        "scopeSpans": [{ "scope": resource.scope(), "spans": spans }],
    }] })
}

fn span(span: &Span) -> Value {
    let event = |event: &Event| json!({ "timeUnixNano": event.at_ns.to_string(), "name": event.name });
    let mut value = json!({
        "traceId": span.trace.to_string(),
        "spanId": span.id.to_string(),
        "name": span.name,
        "kind": match span.kind {
            Kind::Internal => 1,
            Kind::Server => 2,
            Kind::Client => 3,
        },
        "startTimeUnixNano": span.start_ns.to_string(),
        // Collectors reject a span that ends before it begins.
        "endTimeUnixNano": span.end_ns.max(span.start_ns).to_string(),
        "attributes": all(&span.attributes),
        "events": span.events.iter().map(event).collect::<Value>(),
    });
    if let Some(parent) = span.parent {
        value["parentSpanId"] = parent.to_string().into();
    }
    if span.is_error {
        value["status"] = json!({ "code": ERROR });
    }
    value
}

/// `STATUS_CODE_ERROR`.
const ERROR: u8 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_has_the_fields_of_its_schema() {
        let id = |byte| SpanId::new([byte; 8]).unwrap();
        let one = Span {
            trace: TraceId::new([1; 16]).unwrap(),
            id: id(2),
            parent: Some(id(3)),
            name: "GET".into(),
            kind: Kind::Server,
            start_ns: 10,
            end_ns: 9,
            attributes: vec![Attribute::text("a", "b"), Attribute::number("c", 1 << 60)],
            events: vec![Event { at_ns: 10, name: "e" }],
            is_error: true,
        };
        let first = Span { parent: None, is_error: false, ..one.clone() };
        let resource =
            Resource { attributes: vec![Attribute::text("service.name", "s")], scope: "edge", version: "1" };
        let value = spans(&resource, [&one, &first]);
        let of_resource = &value["resourceSpans"][0];
        assert_eq!(of_resource["resource"]["attributes"][0]["value"]["stringValue"], "s");
        let of_scope = &of_resource["scopeSpans"][0];
        assert_eq!(of_scope["scope"], json!({ "name": "edge", "version": "1" }));
        assert_eq!(
            of_scope["spans"][0],
            json!({
                "traceId": "01010101010101010101010101010101",
                "spanId": "0202020202020202",
                "parentSpanId": "0303030303030303",
                "name": "GET",
                "kind": 2,
                "startTimeUnixNano": "10",
                "endTimeUnixNano": "10",
                "attributes": [
                    { "key": "a", "value": { "stringValue": "b" } },
                    { "key": "c", "value": { "intValue": "1152921504606846976" } },
                ],
                "events": [{ "timeUnixNano": "10", "name": "e" }],
                "status": { "code": 2 },
            })
        );
        assert!(of_scope["spans"][1].get("parentSpanId").is_none());
        assert!(of_scope["spans"][1].get("status").is_none());
    }
}
