//! Interim responses (1xx) to one request: the callback for them and a limit on their total size.

use hyper::{HeaderMap, StatusCode, http::Extensions};

use super::on_interim::OnInterim;
use crate::{Failure, http1::head, limits};

#[derive(Debug, Default)]
pub(super) struct Interims {
    /// The limit fails a request whose server sends only interim responses.
    bytes: usize,
    whom: Option<OnInterim>,
}

impl Interims {
    pub(super) fn to(extensions: &Extensions) -> Self {
        Self { bytes: 0, whom: extensions.get().cloned() }
    }

    pub(super) fn told(whom: Option<OnInterim>) -> Self {
        Self { bytes: 0, whom }
    }

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
