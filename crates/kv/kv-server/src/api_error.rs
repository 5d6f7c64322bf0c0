//! Error responses: a status, an error code of the Workers KV API, and a message.

use http_stack::{Body, HeaderValue, Response, StatusCode, header, server::ReasonPhrase};
use kv::{CursorError, ExpirationError, KeyError, MetadataError, PageError, Version};
use tokio::task::JoinError;

/// An error response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    /// The status of the response.
    pub status: StatusCode,
    /// The error code, as in the Workers KV API.
    pub code: u32,
    /// The message, with a remedy where there is one.
    pub message: String,
    /// The newer version of the key that made the store reject a write.
    pub known: Option<Version>,
    /// Whether the write may have been applied despite the error.
    pub is_unsure: bool,
}

/// A response extension: the write may have been applied despite the error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MaybeApplied;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    NoToken,
    WrongToken,
    OtherNamespace,
    NoNamespace,
    TitleTaken,
    NoKey,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let code = 10_000 + u32::from(status.as_u16());
        Self { status, code, message: message.into(), known: None, is_unsure: false }
    }

    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    pub(crate) fn of(kind: Kind, message: impl Into<String>) -> Self {
        let (status, code) = match kind {
            Kind::NoToken | Kind::WrongToken => (StatusCode::UNAUTHORIZED, 10_000),
            Kind::OtherNamespace => (StatusCode::FORBIDDEN, 10_000),
            Kind::NoNamespace => (StatusCode::NOT_FOUND, 10_013),
            Kind::TitleTaken => (StatusCode::BAD_REQUEST, 10_014),
            Kind::NoKey => (StatusCode::NOT_FOUND, 10_009),
        };
        Self { status, code, message: message.into(), known: None, is_unsure: false }
    }

    fn older(known: Version) -> Self {
        let message = "a newer version of the key is known";
        Self { known: Some(known), ..Self::new(StatusCode::CONFLICT, message) }
    }

    pub(crate) fn method(allowed: &str) -> Self {
        Self::method_not_allowed(format!("expected {allowed}"))
    }

    pub(crate) fn method_not_allowed(message: impl Into<String>) -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, message)
    }

    pub(crate) fn too_large(bytes: u64, largest: u64) -> Self {
        let message = format!("Value length of {bytes} exceeds limit of {largest}.");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, message)
    }

    /// The message is also the reason phrase, which a Worker can read.
    pub(crate) fn plain(self) -> Response<Body> {
        let reason = ReasonPhrase::new(&self.message);
        let mut response = Response::new(Body::whole(self.message.clone()));
        *response.status_mut() = self.status;
        self.challenge(&mut response);
        let text = HeaderValue::from_static("text/plain; charset=utf-8");
        response.headers_mut().insert(header::CONTENT_TYPE, text);
        response.extensions_mut().insert(reason);
        self.tell_beside(&mut response);
        response
    }

    /// RFC 9110 section 11.6.1.
    pub(crate) fn challenge(&self, response: &mut Response<Body>) {
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
    }

    /// The newer version, and whether the write may have been applied, for another data centre.
    pub(crate) fn tell_beside(&self, response: &mut Response<Body>) {
        if let Some(known) = &self.known {
            response.extensions_mut().insert(known.clone());
        }
        if self.is_unsure {
            response.extensions_mut().insert(MaybeApplied);
        }
    }
}

impl From<KeyError> for ApiError {
    fn from(error: KeyError) -> Self {
        let status = match error {
            KeyError::TooLong { .. } => StatusCode::URI_TOO_LONG,
            _ => StatusCode::BAD_REQUEST,
        };
        Self::new(status, error.to_string())
    }
}

impl From<MetadataError> for ApiError {
    fn from(error: MetadataError) -> Self {
        let status = match error {
            MetadataError::TooLong { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            MetadataError::NotJson { .. } => StatusCode::BAD_REQUEST,
        };
        Self::new(status, error.to_string())
    }
}

impl From<ExpirationError> for ApiError {
    fn from(error: ExpirationError) -> Self {
        Self::bad(error.to_string())
    }
}

impl From<CursorError> for ApiError {
    fn from(error: CursorError) -> Self {
        Self::bad(error.to_string())
    }
}

impl From<PageError> for ApiError {
    fn from(error: PageError) -> Self {
        match error {
            PageError::Prefix(error) => error.into(),
            PageError::Cursor(error) => error.into(),
            error => Self::bad(error.to_string()),
        }
    }
}

impl From<kv_redb::Error> for ApiError {
    fn from(error: kv_redb::Error) -> Self {
        if !matches!(error, kv_redb::Error::Older { .. }) {
            tracing::warn!(%error, "the store failed");
        }
        // The file's path is for the operator only.
        let (status, message) = match error {
            kv_redb::Error::Released => (
                StatusCode::SERVICE_UNAVAILABLE,
                "another process is taking over the store: try again in a moment",
            ),
            kv_redb::Error::Older { known } => return Self::older(known),
            kv_redb::Error::Full { .. } => {
                (StatusCode::INSUFFICIENT_STORAGE, "the store's disk is full, and nothing was written")
            }
            _ => (StatusCode::INTERNAL_SERVER_ERROR, "the store failed; see the operator's log"),
        };
        Self::new(status, message)
    }
}

impl From<kv_nats::Error> for ApiError {
    fn from(error: kv_nats::Error) -> Self {
        let status = match &error {
            kv_nats::Error::TooLarge { .. } => {
                return Self::new(StatusCode::PAYLOAD_TOO_LARGE, error.to_string());
            }
            // The addresses of the servers are for the operator only.
            kv_nats::Error::NotReady(_) => {
                let message =
                    "the store's NATS cannot be used now, and nothing was done; see the operator's log";
                return Self::new(StatusCode::SERVICE_UNAVAILABLE, message);
            }
            kv_nats::Error::Incomplete(loss) => {
                return Self::new(StatusCode::SERVICE_UNAVAILABLE, loss.to_string());
            }
            kv_nats::Error::Older { known } => return Self::older(known.clone()),
            kv_nats::Error::Partly { written, of, why } => {
                let mut problem = Self::from(kv_nats::Error::clone(why));
                problem.message =
                    format!("{written} of {of} keys were written, then one failed: {}", problem.message);
                return problem;
            }
            kv_nats::Error::Full(_) => StatusCode::INSUFFICIENT_STORAGE,
            kv_nats::Error::NotConfirmed(_) | kv_nats::Error::NotAnswered(_) | kv_nats::Error::Busy => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        tracing::warn!(%error, "the store failed");
        let message = match &error {
            kv_nats::Error::Full(_) => "the store's stream in NATS is full, and nothing was written",
            kv_nats::Error::NotConfirmed(_) => {
                "the store's NATS has not confirmed the write: it may have been done"
            }
            kv_nats::Error::NotAnswered(_) => "the store's NATS does not respond: try again",
            kv_nats::Error::Busy => "other clients write the same key concurrently: try again",
            _ => "the store failed; see the operator's log",
        };
        let is_unsure = matches!(error, kv_nats::Error::NotConfirmed(_));
        Self { is_unsure, ..Self::new(status, message) }
    }
}

pub(crate) fn ended(error: &JoinError) -> ApiError {
    tracing::error!(%error, "a task of the store panicked or was cancelled");
    ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "the store failed; see the operator's log")
}
