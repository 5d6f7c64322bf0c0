//! How much of interim responses (1xx) a request takes before its final response has to come.

use hyper::HeaderMap;

use crate::{Failure, limits};

/// Bytes of one request's interim responses so far: a server that sends nothing else has its request given up, whatever time is left.
#[derive(Debug, Default)]
pub(super) struct Interims(usize);

impl Interims {
    /// Counts one with this header.
    pub(super) fn count(&mut self, headers: &HeaderMap) -> Result<(), Failure> {
        let fields = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + AROUND);
        self.0 += STATUS + fields.sum::<usize>();
        if self.0 <= limits::HEADER_BYTES { Ok(()) } else { Err(Failure::TooLarge) }
    }
}

/// A status line and an empty line, and what stands between a name and a value and behind that, in HTTP/1.1. The same is counted where it is
/// written shorter, as it takes the same room once it is read.
const STATUS: usize = "HTTP/1.1 103 Early Hints\r\n\r\n".len();
const AROUND: usize = ": \r\n".len();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_may_be_as_long_as_one_header_together() {
        let headers = HeaderMap::from_iter([("link".parse().unwrap(), "x".repeat(1000).parse().unwrap())]);
        let mut interims = Interims::default();
        let accepted = (0..100).take_while(|_| interims.count(&headers).is_ok()).count();
        assert_eq!(accepted, limits::HEADER_BYTES / (28 + 4 + 1000 + 4));
    }
}
