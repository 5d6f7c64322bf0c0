//! Trace context propagation with the header field `traceparent`
//! (<https://www.w3.org/TR/trace-context/>).

use std::fmt;

/// A trace id. Never all zeros.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceId([u8; 16]);

/// A span id. Never all zeros.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SpanId([u8; 8]);

/// The trace context of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Context {
    /// The trace.
    pub trace: TraceId,
    /// The span that sent the request.
    pub span: SpanId,
    /// Whether the sender records the trace.
    pub is_sampled: bool,
}

impl TraceId {
    /// `None` if all bytes are zero.
    pub fn new(bytes: [u8; 16]) -> Option<Self> {
        (bytes != [0; 16]).then_some(Self(bytes))
    }
}

impl SpanId {
    /// `None` if all bytes are zero.
    pub fn new(bytes: [u8; 8]) -> Option<Self> {
        (bytes != [0; 8]).then_some(Self(bytes))
    }
}

impl Context {
    /// Parses a `traceparent`; `None` if it is invalid. Of later versions, the part that is common
    /// with version 00.
    pub fn parse(field: &[u8]) -> Option<Self> {
        let (front, rest) = field.split_at_checked(LENGTH)?;
        let [version, trace, span, flags] =
            [0..2, 3..35, 36..52, 53..55].map(|range| front.get(range).unwrap_or_default());
        let has_hyphens = [2, 35, 52].iter().all(|&at| front.get(at) == Some(&b'-'));
        let is_other_version = match (digits::<1>(version)?, rest) {
            ([0xff], _) => return None,
            ([0], rest) => !rest.is_empty(),
            (_, rest) => !rest.is_empty() && rest.first() != Some(&b'-'),
        };
        if !has_hyphens || is_other_version {
            return None;
        }
        let [flags] = digits(flags)?;
        let (trace, span) = (TraceId::new(digits(trace)?)?, SpanId::new(digits(span)?)?);
        Some(Self { trace, span, is_sampled: flags & SAMPLED != 0 })
    }
}

/// Lower-case hexadecimal digits only.
fn digits<const N: usize>(text: &[u8]) -> Option<[u8; N]> {
    let digit = |letter: u8| match letter {
        b'0'..=b'9' => Some(letter - b'0'),
        b'a'..=b'f' => Some(letter - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    if text.len() != 2 * N {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = if self.is_sampled { SAMPLED } else { 0 };
        write!(f, "00-{}-{}-{flags:02x}", self.trace, self.span)
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Length of version 00, and of the common part of later versions.
const LENGTH: usize = 55;
const SAMPLED: u8 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_read_and_written() {
        let written = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let context = Context::parse(written.as_bytes()).unwrap();
        assert_eq!(context.trace.to_string(), "0af7651916cd43dd8448eb211c80319c");
        assert_eq!((context.span.to_string(), context.is_sampled), ("b7ad6b7169203331".into(), true));
        assert_eq!(context.to_string(), written);
        // Examples from the specification: unknown flags, and additions of later versions.
        for (field, is_sampled) in [
            (written.replace("-01", "-00"), Some(false)),
            (written.replace("-01", "-02"), Some(false)),
            (written.replace("-01", "-ff"), Some(true)),
            (written.replacen("00-", "cc-", 1), Some(true)),
            (written.replacen("00-", "cc-", 1) + "-what", Some(true)),
            (written.replacen("00-", "cc-", 1) + ".what", None),
            (format!("{written}-what"), None),
            (written.replacen("00-", "ff-", 1), None),
            (written.to_uppercase(), None),
            (written.replace("b7ad6b7169203331", "0000000000000000"), None),
            (written.replace("0af7651916cd43dd8448eb211c80319c", &"0".repeat(32)), None),
            (written.replace("-b7", "_b7"), None),
            (written[..54].to_owned(), None),
            (String::new(), None),
        ] {
            let found = Context::parse(field.as_bytes()).map(|context| context.is_sampled);
            assert_eq!(found, is_sampled, "{field}");
        }
    }
}
