//! Request fingerprints: the exact bytes of all request data that the response depends on.

use http_cache::overrides_request;
use http_stack::{HeaderMap, HeaderName, HeaderValue, Method, Scheme, Version, server::RequestView};

use crate::request::context::{CDN_LOOP, RequestContext};

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RequestFingerprint {
    scheme: Scheme,
    is_head: bool,
    host: Box<str>,
    target: Box<str>,
    /// The rule, the cache key or the variant depends on these fields, as received.
    fields: Box<[(HeaderName, Option<HeaderValue>)]>,
    /// Many origins treat these fields as overrides of the URL or the method.
    overrides: Box<[(HeaderName, HeaderValue)]>,
}

impl RequestFingerprint {
    /// The response depends on the fields `names` and on the fields that the rules of its zone match.
    /// `None` if the request repeats one of these fields.
    pub(crate) fn of<'n>(
        context: &'n RequestContext,
        names: impl Iterator<Item = &'n HeaderName>,
    ) -> Option<Self> {
        let mut fields: Vec<(HeaderName, Option<HeaderValue>)> = Vec::new();
        let headers = context.original_headers();
        for name in names.chain(context.zone().rules.looks_at()) {
            if fields.iter().all(|(known, _)| known != name) {
                fields.push((name.clone(), single_value(headers, name)?.cloned()));
            }
        }
        let mut overrides: Vec<(HeaderName, HeaderValue)> = Vec::new();
        for (name, value) in headers {
            if overrides_request(name.as_str(), value.as_bytes()) {
                single_value(headers, name)?;
                overrides.push((name.clone(), value.clone()));
            }
        }
        Some(Self {
            scheme: context.peer.scheme,
            is_head: context.method == Method::HEAD,
            host: context.original_url().authority()?.as_str().into(),
            target: context.original_url().path_and_query()?.as_str().into(),
            fields: fields.into(),
            overrides: overrides.into(),
        })
    }

    pub(crate) fn matches(&self, request: &RequestView<'_>) -> bool {
        let has = |(name, value): &(HeaderName, Option<HeaderValue>)| {
            let mut lines = request.fields().filter(|(other, _)| other.eq_ignore_ascii_case(name.as_str()));
            let line = lines.next().map(|(_, value)| value);
            line == value.as_ref().map(HeaderValue::as_bytes) && lines.next().is_none()
        };
        self.scheme == request.peer.scheme
            && self.is_head == request.is_head
            && self.host() == request.host
            && *self.target == *request.target
            && self.fields.iter().all(has)
            && self.has_same_overrides(request)
    }

    fn has_same_overrides(&self, request: &RequestView<'_>) -> bool {
        let is_known = |name: &str, value: &[u8]| {
            let mut known = self.overrides.iter();
            known.any(|(own, its)| name.eq_ignore_ascii_case(own.as_str()) && its.as_bytes() == value)
        };
        let mut count = 0;
        for (name, value) in request.fields().filter(|(name, value)| overrides_request(name, value)) {
            if !is_known(name, value) {
                return false;
            }
            count += 1;
        }
        count == self.overrides.len()
    }

    pub(crate) fn scheme(&self) -> Scheme {
        self.scheme
    }

    pub(crate) fn host(&self) -> &[u8] {
        self.host.as_bytes()
    }

    pub(crate) fn bytes(&self) -> usize {
        let text =
            |(_, value): &(HeaderName, Option<HeaderValue>)| value.as_ref().map_or(0, HeaderValue::len);
        let fields = size_of_val(&*self.fields) + self.fields.iter().map(text).sum::<usize>();
        let overrides = self.overrides.iter().map(|(_, value)| value.len()).sum::<usize>();
        let overrides = size_of_val(&*self.overrides) + overrides;
        size_of::<Self>() + self.host.len() + self.target.len() + fields + overrides
    }

    pub(crate) fn target(&self) -> &str {
        &self.target
    }
}

fn single_value<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<Option<&'h HeaderValue>> {
    let mut values = headers.get_all(name).iter();
    let value = values.next();
    values.next().is_none().then_some(value)
}

/// The response is the complete object if that is fresh, whatever other fields the request has.
pub(crate) fn is_plain(request: &RequestView<'_>) -> bool {
    !request.fields().any(|(name, _)| is_cache_relevant(name) || name.eq_ignore_ascii_case("cdn-loop"))
}

impl RequestContext {
    pub(crate) fn is_plain(&self) -> bool {
        // For a peer's request, the loop check is done separately each time.
        (self.forwarded.is_some() || !self.headers.contains_key(CDN_LOOP))
            && self.version >= Version::HTTP_11
            && matches!(self.method, Method::GET | Method::HEAD)
            && !self.headers.keys().any(|name| is_cache_relevant(name.as_str()))
            && !self.original_headers().keys().any(|name| is_cache_relevant(name.as_str()))
    }
}

pub(crate) const MAX_ENTRIES_PER_URL: usize = 8;

pub(crate) fn is_cache_relevant(name: &str) -> bool {
    let is = |other: &str| name.eq_ignore_ascii_case(other);
    match name.len() {
        5 => is("range"),
        6 => is("pragma"),
        8 => is("if-match") || is("if-range"),
        13 => is("if-none-match") || is("cache-control") || is("authorization"),
        17 => is("if-modified-since"),
        19 => is("if-unmodified-since"),
        _ => false,
    }
}
