//! Prerendered responses. The fields that change over time are written when the response is sent.

use std::{
    io::Write as _,
    sync::{
        Arc, OnceLock,
        atomic::{
            AtomicU64,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
    time::Duration,
};

use ::segment_store::BlockRef;
use http_cache::{CacheStatus, Coding, Terms, Time};
use http_stack::{Body, Bytes, HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};

use crate::{rules::response_changes::ResponseChanges, util::compact_headers::FIELD};

#[derive(Debug)]
pub(crate) struct Prerendered {
    head: RenderedHead,
    cache_status: Vec<u8>,
    browser_ttl: Option<Duration>,
    changes: Option<Arc<ResponseChanges>>,
    body: Bytes,
}

#[derive(Debug)]
enum RenderedHead {
    Lines(Vec<u8>),
    /// Contains stale values of the changing fields, so that the map has room for them.
    Fields(StatusCode, HeaderMap),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeadFormat {
    Http1,
    HeaderMap,
}

impl Prerendered {
    pub(crate) fn new(
        response: &Response<Body>,
        body: Bytes,
        (browser_ttl, changes): (Option<Duration>, Option<Arc<ResponseChanges>>),
        head_format: HeadFormat,
    ) -> Option<Self> {
        let headers = response.headers();
        let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
        if length != Some(&body.len().to_string()) {
            return None;
        }
        let mut statuses = headers.get_all(CacheStatus::FIELD).iter();
        let (status, None) = (statuses.next()?, statuses.next()) else { return None };
        let cache_status = without_number(status.as_bytes());
        if !cache_status.ends_with(b"; hit; ttl=") {
            return None;
        }
        let head = match head_format {
            HeadFormat::Http1 => RenderedHead::Lines(lines(response, browser_ttl)),
            HeadFormat::HeaderMap => RenderedHead::Fields(response.status(), headers.clone()),
        };
        Some(Self { head, cache_status: cache_status.to_owned(), browser_ttl, changes, body })
    }

    pub(crate) fn without_body(self) -> Self {
        Self { body: Bytes::new(), ..self }
    }

    pub(crate) fn bytes(&self) -> usize {
        let head = match &self.head {
            RenderedHead::Lines(lines) => lines.capacity(),
            RenderedHead::Fields(_, fields) => fields.capacity() * FIELD,
        };
        size_of::<Self>() + head + self.cache_status.capacity()
    }

    pub(crate) fn format(&self) -> HeadFormat {
        match self.head {
            RenderedHead::Lines(_) => HeadFormat::Http1,
            RenderedHead::Fields(..) => HeadFormat::HeaderMap,
        }
    }

    pub(crate) fn matches_rules(
        &self,
        browser_ttl: Option<Duration>,
        changes: Option<&Arc<ResponseChanges>>,
    ) -> bool {
        self.browser_ttl == browser_ttl && self.changes.as_ref() == changes
    }

    pub(crate) fn body(&self) -> Bytes {
        self.body.clone()
    }

    pub(crate) fn write(&self, terms: &Terms, now: Time, to: &mut Vec<u8>) {
        let RenderedHead::Lines(lines) = &self.head else { return };
        let age = terms.age(now).as_secs();
        to.extend_from_slice(lines);
        let _ = write!(to, "age: {age}\r\ncache-status: ");
        to.extend_from_slice(&self.cache_status);
        let _ = write!(to, "{}\r\n", terms.seconds_left(now));
        if let Some(ttl) = self.browser_ttl {
            let _ = write!(to, "cache-control: max-age={}\r\n", ttl.as_secs() + age);
        }
    }

    pub(crate) fn response(&self, terms: &Terms, now: Time, body: Bytes) -> Option<Response<Bytes>> {
        let RenderedHead::Fields(status, fields) = &self.head else { return None };
        let mut response = Response::new(body);
        (*response.status_mut(), *response.headers_mut()) = (*status, fields.clone());
        let headers = response.headers_mut();
        let age = terms.age(now).as_secs();
        headers.insert(header::AGE, age.into());
        let mut cache_status = self.cache_status.clone();
        let _ = write!(cache_status, "{}", terms.seconds_left(now));
        headers.insert(CacheStatus::FIELD, HeaderValue::from_maybe_shared(Bytes::from(cache_status)).ok()?);
        if let Some(ttl) = self.browser_ttl {
            let value = HeaderValue::try_from(format!("max-age={}", ttl.as_secs() + age)).ok()?;
            headers.insert(header::CACHE_CONTROL, value);
        }
        Some(response)
    }
}

fn lines(response: &Response<Body>, browser_ttl: Option<Duration>) -> Vec<u8> {
    let mut lines = Vec::with_capacity(512);
    let status = response.status();
    let reason = status.canonical_reason().unwrap_or_default();
    let _ = write!(lines, "HTTP/1.1 {} {reason}\r\n", status.as_u16());
    for (name, value) in response.headers() {
        let changes = [header::AGE, CacheStatus::FIELD].contains(name)
            || *name == header::CACHE_CONTROL && browser_ttl.is_some();
        if !changes {
            for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
                lines.extend_from_slice(part);
            }
        }
    }
    lines
}

fn without_number(text: &[u8]) -> &[u8] {
    let digits = text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    &text[..text.len() - digits]
}

#[derive(Debug)]
pub(crate) struct DiskOnly {
    pub(crate) body: BlockRef,
    pub(crate) names: Vec<HeaderName>,
    pub(crate) epoch: u64,
}

#[derive(Debug, Default)]
pub(crate) struct PrerenderedSet {
    pub(crate) number: OnceLock<u64>,
    /// Entries with another version are invalid.
    version: AtomicU64,
    last_use: AtomicU64,
    /// Per shape: the identity coding, then each coding in the order of [`Coding::ALL`].
    ready: [[OnceLock<Box<Prerendered>>; 1 + Coding::ALL.len()]; 2],
    for_peers: OnceLock<Box<Prerendered>>,
    pub(crate) disk_only: Option<Box<DiskOnly>>,
}

impl PrerenderedSet {
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Acquire)
    }

    pub(crate) fn invalidate(&self) {
        self.version.fetch_add(1, Release);
    }

    pub(crate) fn record_use(&self, number: u64) {
        self.last_use.store(number, Relaxed);
    }

    pub(crate) fn last_use(&self) -> u64 {
        self.last_use.load(Relaxed)
    }

    pub(crate) fn get(&self, coding: Option<Coding>, head_format: HeadFormat) -> Option<&Prerendered> {
        self.slot(coding, head_format).get().map(|ready| &**ready)
    }

    pub(crate) fn get_or(
        &self,
        coding: Option<Coding>,
        head_format: HeadFormat,
        make: impl FnOnce() -> Option<Prerendered>,
    ) -> Option<&Prerendered> {
        init_or(self.slot(coding, head_format), make)
    }

    pub(crate) fn for_peers(&self) -> Option<&Prerendered> {
        self.for_peers.get().map(|ready| &**ready)
    }

    pub(crate) fn for_peers_or(&self, make: impl FnOnce() -> Option<Prerendered>) -> Option<&Prerendered> {
        init_or(&self.for_peers, make)
    }

    fn slot(&self, coding: Option<Coding>, head_format: HeadFormat) -> &OnceLock<Box<Prerendered>> {
        &self.ready[head_format as usize][coding.map_or(0, |coding| 1 + coding as usize)]
    }
}

fn init_or(
    place: &OnceLock<Box<Prerendered>>,
    make: impl FnOnce() -> Option<Prerendered>,
) -> Option<&Prerendered> {
    if place.get().is_none()
        && let Some(ready) = make()
    {
        let _ = place.set(Box::new(ready));
    }
    place.get().map(|ready| &**ready)
}

impl Clone for PrerenderedSet {
    fn clone(&self) -> Self {
        Self { last_use: self.last_use().into(), ..Self::default() }
    }
}
