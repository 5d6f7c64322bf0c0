//! Max-Forwards of TRACE and OPTIONS (RFC 9110 section 7.6.2).

use http_types::{HeaderMap, HeaderName, HeaderValue, Method};

/// The effect of Max-Forwards on a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaxForwards {
    /// No limit applies to the request.
    Unlimited,
    /// The request is forwarded with this value.
    Forward(u64),
    /// This server is the final recipient.
    Final,
}

impl MaxForwards {
    /// The field's name.
    pub const FIELD: HeaderName = HeaderName::from_static("max-forwards");

    /// Reads the field of a request. Numbers above 2^64 - 1 are clamped.
    pub fn of(method: &Method, request: &HeaderMap) -> Self {
        if !matches!(*method, Method::TRACE | Method::OPTIONS) {
            return Self::Unlimited;
        }
        let mut lines = request.get_all(Self::FIELD).iter();
        let (Some(line), None) = (lines.next(), lines.next()) else { return Self::Unlimited };
        let digits = line.to_str().unwrap_or_default();
        if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return Self::Unlimited;
        }
        match digits.parse().unwrap_or(u64::MAX) {
            0 => Self::Final,
            left => Self::Forward(left - 1),
        }
    }

    /// Writes the decremented value into the request to forward.
    pub fn write(self, request: &mut HeaderMap) {
        if let Self::Forward(left) = self {
            request.insert(Self::FIELD, HeaderValue::from(left));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trace_and_options_are_forwarded_so_many_times_and_other_methods_always() {
        use MaxForwards::{Final, Forward, Unlimited};
        let cases: &[(Method, &[&str], MaxForwards)] = &[
            (Method::OPTIONS, &["0"], Final),
            (Method::TRACE, &["0"], Final),
            (Method::OPTIONS, &["000"], Final),
            (Method::OPTIONS, &["5"], Forward(4)),
            (Method::TRACE, &["1"], Forward(0)),
            (Method::OPTIONS, &["18446744073709551616"], Forward(u64::MAX - 1)),
            (Method::OPTIONS, &[], Unlimited),
            (Method::OPTIONS, &[""], Unlimited),
            (Method::OPTIONS, &["-1"], Unlimited),
            (Method::OPTIONS, &["+1"], Unlimited),
            (Method::OPTIONS, &["1.0"], Unlimited),
            (Method::OPTIONS, &["0x0"], Unlimited),
            (Method::OPTIONS, &["5, 5"], Unlimited),
            (Method::OPTIONS, &["0", "5"], Unlimited),
            (Method::GET, &["0"], Unlimited),
            (Method::HEAD, &["0"], Unlimited),
            (Method::POST, &["0"], Unlimited),
        ];
        for (method, lines, expected) in cases {
            let mut request = HeaderMap::new();
            for line in *lines {
                request.append(MaxForwards::FIELD, line.parse().unwrap());
            }
            let found = MaxForwards::of(method, &request);
            assert_eq!(found, *expected, "{method} {lines:?}");
            let before = request.clone();
            found.write(&mut request);
            match found {
                Forward(left) => assert_eq!(request[MaxForwards::FIELD], left.to_string()),
                Unlimited | Final => assert_eq!(request, before),
            }
        }
    }
}
