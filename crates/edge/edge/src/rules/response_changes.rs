//! Changes of the response to one client: CORS, HSTS and header fields.

use http_stack::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

use super::{cors::CorsGrant, header_changes::HeaderChange};

/// Stored responses do not contain these changes, and responses to peers neither.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ResponseChanges {
    pub(super) cors: Option<CorsGrant>,
    pub(super) hsts: Option<HeaderValue>,
    pub(super) headers: Vec<StatusChanges>,
}

/// The changes of one rule. Without statuses they apply to all responses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StatusChanges {
    pub(super) statuses: Option<Vec<StatusCode>>,
    pub(super) changes: Vec<HeaderChange>,
}

impl ResponseChanges {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn apply(&self, status: StatusCode, headers: &mut HeaderMap) {
        if let Some(cors) = &self.cors {
            cors.apply(headers);
        }
        if let Some(hsts) = &self.hsts {
            headers.insert(header::STRICT_TRANSPORT_SECURITY, hsts.clone());
        }
        self.for_status(status).for_each(|change| change.apply(headers));
    }

    pub(crate) fn has_field(&self, status: StatusCode, name: &HeaderName) -> bool {
        self.for_status(status).any(|change| change.name() == name)
    }

    fn for_status(&self, status: StatusCode) -> impl Iterator<Item = &HeaderChange> {
        let applies =
            move |rule: &&StatusChanges| rule.statuses.as_ref().is_none_or(|own| own.contains(&status));
        self.headers.iter().filter(applies).flat_map(|rule| &rule.changes)
    }
}
