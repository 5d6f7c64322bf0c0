//! Responses of a collector (<https://opentelemetry.io/docs/specs/otlp/#otlphttp-response>).

use serde_json::Value;

/// The outcome of a request to a collector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The data was accepted, possibly in part.
    Taken {
        /// Number of spans or metric points that were rejected.
        refused: u64,
    },
    /// The request may be retried.
    Later,
    /// The request must not be retried.
    Refused,
}

impl Answer {
    /// Evaluates the status and the body of a response. An invalid body is ignored.
    pub fn read(status: u16, body: &[u8]) -> Self {
        match status {
            200..=299 => {
                let value: Value = serde_json::from_slice(body).unwrap_or_default();
                let refused = &value["partialSuccess"];
                let refused = ["rejectedSpans", "rejectedDataPoints"].map(|name| number(&refused[name]));
                Self::Taken { refused: refused.into_iter().flatten().next().unwrap_or(0) }
            }
            429 | 502 | 503 | 504 => Self::Later,
            _ => Self::Refused,
        }
    }
}

/// Protocol Buffers JSON writes 64-bit integers as numbers or as strings.
fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_says_what_to_do() {
        for (status, body, expected) in [
            (200, "{}", Answer::Taken { refused: 0 }),
            (200, "", Answer::Taken { refused: 0 }),
            (200, "{\"partialSuccess\":{\"rejectedSpans\":\"3\"}}", Answer::Taken { refused: 3 }),
            (200, "{\"partialSuccess\":{\"rejectedSpans\":3}}", Answer::Taken { refused: 3 }),
            (202, "{\"partialSuccess\":{\"rejectedDataPoints\":\"2\"}}", Answer::Taken { refused: 2 }),
            (200, "{\"partialSuccess\":[1]}", Answer::Taken { refused: 0 }),
            (429, "", Answer::Later),
            (503, "{}", Answer::Later),
            (400, "{}", Answer::Refused),
            (500, "", Answer::Refused),
            (301, "", Answer::Refused),
        ] {
            assert_eq!(Answer::read(status, body.as_bytes()), expected, "{status} {body}");
        }
    }
}
