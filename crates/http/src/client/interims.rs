//! Interim responses (1xx) to one request: who is told of them, and how much of them it takes before its final response has to come.

use hyper::{HeaderMap, StatusCode, http::Extensions};

use super::informed::Informed;
use crate::{Failure, http1::head, limits};

/// Those of one request so far.
#[derive(Debug, Default)]
pub(super) struct Interims {
    /// A server that sends nothing else has its request given up, whatever time is left.
    bytes: usize,
    whom: Option<Informed>,
}

impl Interims {
    /// Those to a request with these extensions.
    pub(super) fn to(extensions: &Extensions) -> Self {
        Self { bytes: 0, whom: extensions.get().cloned() }
    }

    /// Those that somebody is told of, if anybody is.
    pub(super) fn told(whom: Option<Informed>) -> Self {
        Self { bytes: 0, whom }
    }

    /// Takes one.
    pub(super) fn take(&mut self, status: StatusCode, headers: &HeaderMap) -> Result<(), Failure> {
        self.bytes += head::interim_length(headers);
        if self.bytes > limits::HEADER_BYTES {
            return Err(Failure::TooLarge);
        }
        if let Some(whom) = &self.whom {
            whom.tell(status, headers);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_may_be_as_long_as_one_header_together() {
        let headers = HeaderMap::from_iter([("link".parse().unwrap(), "x".repeat(1000).parse().unwrap())]);
        let mut interims = Interims::default();
        let accepted =
            (0..100).take_while(|_| interims.take(StatusCode::EARLY_HINTS, &headers).is_ok()).count();
        assert_eq!(accepted, limits::HEADER_BYTES / (28 + 4 + 1000 + 4));
    }
}
