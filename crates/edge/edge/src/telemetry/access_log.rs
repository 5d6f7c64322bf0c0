//! Access log: a recording of client requests, for `longhaul compare`.
//!
//! Each worker appends lines to its own buffer. A thread writes the buffers to the file, so no
//! request waits for it.

mod combined;
mod entry;
mod file;
mod upstream_timing;
mod writer;

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError, atomic::Ordering::Relaxed},
    thread::JoinHandle,
};

use http_stack::{
    Body, Method, Request, StatusCode, Version,
    clock::Clock,
    header,
    server::{Delivery, Peer, RequestView},
};

pub(crate) use self::{entry::LogEntry, file::STDOUT, upstream_timing::UpstreamTiming};
use self::{
    entry::{Completion, suffix},
    file::LogFile,
    upstream_timing::PhaseTimes,
    writer::{SharedBuffers, Writer},
};
use crate::{
    Error,
    admin::api::LogStatus,
    config::LogFormat,
    request::context::RequestContext,
    telemetry::{counters::CacheResult, traffic::ZoneNumber},
};

pub(crate) struct AccessLog {
    clock: Clock,
    centre: String,
    format: LogFormat,
    shared: Arc<SharedBuffers>,
    writing: Mutex<Option<JoinHandle<()>>>,
}

/// Stored in the response's extensions until the log entry is created.
#[derive(Debug, Clone)]
pub(crate) struct RequestOutcome {
    pub(crate) result: CacheResult,
    pub(crate) zone: Option<String>,
    pub(crate) zone_number: ZoneNumber,
    pub(crate) upstream_timing: Option<PhaseTimes>,
    pub(crate) tier: Option<String>,
}

/// Dropping it logs that the client has left.
pub(crate) struct PendingEntry<'l> {
    log: &'l AccessLog,
    worker: usize,
    began: u64,
    peer: Option<Peer>,
    method: Method,
    version: Version,
    url: String,
    client_fields: Option<Box<[u8]>>,
    is_answered: bool,
}

impl RequestOutcome {
    pub(crate) fn trace_attributes(&self, centre: &str) -> impl Iterator<Item = (&'static str, String)> {
        let tier = self.tier.as_deref().or_else(|| answer_source(self.result, centre)).map(ToOwned::to_owned);
        let attributes = [
            ("longhaul.cache", Some(self.result.name().to_owned())),
            ("longhaul.tier", tier),
            ("longhaul.zone", self.zone.clone()),
        ];
        attributes.into_iter().filter_map(|(name, value)| Some((name, value?)))
    }
}

impl AccessLog {
    pub(crate) fn open(path: &Path, format: LogFormat, centre: &str, workers: usize) -> Result<Self, Error> {
        let clock = Clock::start();
        let file = LogFile::create(path, format, centre)
            .map_err(|source| Error::Log { path: path.to_owned(), source })?;
        let shared = Arc::new(SharedBuffers::new(workers));
        let writing = Writer::new(file, clock, Arc::clone(&shared)).start().map_err(Error::Runtime)?;
        Ok(Self { clock, centre: centre.to_owned(), format, shared, writing: Mutex::new(Some(writing)) })
    }

    /// Nanoseconds since the log began.
    pub(crate) fn now(&self) -> u64 {
        self.clock.now()
    }

    pub(crate) fn begin_request(&self, worker: usize, request: &Request<Body>) -> PendingEntry<'_> {
        PendingEntry {
            log: self,
            worker,
            began: self.now(),
            peer: request.extensions().get().copied(),
            method: request.method().clone(),
            version: request.version(),
            url: url(request),
            client_fields: self.client_fields(|| {
                request.headers().iter().map(|(name, value)| (name.as_str(), value.as_bytes()))
            }),
            is_answered: false,
        }
    }

    pub(crate) fn begin_raw_request(&self, worker: usize, request: &RequestView<'_>) -> PendingEntry<'_> {
        let RequestView { peer, target, .. } = request;
        let host = String::from_utf8_lossy(request.host);
        PendingEntry {
            log: self,
            worker,
            began: self.now(),
            peer: Some(*peer),
            method: if request.is_head { Method::HEAD } else { Method::GET },
            version: Version::HTTP_11,
            url: format!("{}://{host}{target}", peer.scheme.name()),
            client_fields: self.client_fields(|| request.fields()),
            is_answered: false,
        }
    }

    pub(crate) fn hit_suffix(&self, context: &RequestContext, status: u16) -> Arc<[u8]> {
        let outcome = RequestOutcome {
            result: CacheResult::Hit,
            zone: Some(context.zone().name.clone()),
            zone_number: ZoneNumber::default(),
            upstream_timing: None,
            tier: None,
        };
        let request = (&context.method, context.version, &context.original_url().to_string()[..]);
        self.suffix(request, Some(status), Some(&outcome), answer_source(CacheResult::Hit, &self.centre))
    }

    fn suffix(
        &self,
        (method, version, url): (&Method, Version, &str),
        status: Option<u16>,
        outcome: Option<&RequestOutcome>,
        tier: Option<&str>,
    ) -> Arc<[u8]> {
        match self.format {
            LogFormat::Recording => suffix((method, version, url), status, outcome, tier),
            LogFormat::Combined => combined::request_line(method, version, url, status).into(),
        }
    }

    fn client_fields<'f, F: Iterator<Item = (&'f str, &'f [u8])>>(
        &self,
        fields: impl FnOnce() -> F,
    ) -> Option<Box<[u8]>> {
        (self.format == LogFormat::Combined).then(|| combined::client_fields(fields()))
    }

    pub(crate) fn hit_entry(&self, began: u64, request: &RequestView<'_>, about: Arc<[u8]>) -> LogEntry {
        LogEntry {
            began,
            answered: self.now(),
            upstream_times: None,
            remote: Some(request.peer.address),
            suffix: about,
            client_fields: self.client_fields(|| request.fields()),
        }
    }

    pub(crate) fn write_entry(&self, worker: usize, note: &LogEntry, delivery: Delivery) {
        self.put(worker, note, &Completion::Sent { delivery, at: self.now() });
    }

    pub(crate) fn reopen(&self) {
        self.shared.reopens.store(true, Relaxed);
    }

    pub(crate) fn report(&self) -> LogStatus {
        LogStatus { lost: self.shared.lost.load(Relaxed), error: self.shared.error().clone() }
    }

    /// Later lines are lost.
    pub(crate) fn close(&self) {
        self.shared.closes.store(true, Relaxed);
        if let Some(writing) = self.writing.lock().unwrap_or_else(PoisonError::into_inner).take() {
            writing.thread().unpark();
            let _ = writing.join();
        }
    }

    fn put(&self, worker: usize, note: &LogEntry, ending: &Completion) {
        let mut lines = self.shared.lines(worker);
        if lines.text.len() < MAX_BUFFERED_BYTES {
            note.write(ending, self.now(), &mut lines.text);
            lines.count += 1;
            lines.failed += u64::from(ending.is_failure());
        } else {
            self.shared.lost.fetch_add(1, Relaxed);
        }
    }
}

impl PendingEntry<'_> {
    pub(crate) fn into_entry(mut self, status: StatusCode, outcome: Option<&RequestOutcome>) -> LogEntry {
        self.is_answered = true;
        self.entry(Some(status.as_u16()), outcome)
    }

    fn entry(&self, status: Option<u16>, outcome: Option<&RequestOutcome>) -> LogEntry {
        let attributes = outcome.and_then(|outcome| outcome.tier.as_deref());
        let tier = attributes
            .or_else(|| outcome.and_then(|outcome| answer_source(outcome.result, &self.log.centre)));
        LogEntry {
            began: self.began,
            answered: self.log.now(),
            upstream_times: outcome.and_then(|outcome| outcome.upstream_timing),
            remote: self.peer.map(|peer| peer.address),
            suffix: self.log.suffix((&self.method, self.version, &self.url), status, outcome, tier),
            client_fields: self.client_fields.clone(),
        }
    }
}

impl Drop for PendingEntry<'_> {
    fn drop(&mut self) {
        if !self.is_answered {
            self.log.put(self.worker, &self.entry(None, None), &Completion::Aborted);
        }
    }
}

impl Drop for AccessLog {
    fn drop(&mut self) {
        self.close();
    }
}

fn answer_source(result: CacheResult, centre: &str) -> Option<&str> {
    match result {
        CacheResult::Hit | CacheResult::Stale => Some(centre),
        CacheResult::Miss | CacheResult::Revalidated | CacheResult::Bypass | CacheResult::Collapsed => {
            Some("origin")
        }
        CacheResult::Refused => None,
    }
}

fn url(request: &Request<Body>) -> String {
    let uri = request.uri();
    if uri.scheme().is_some() {
        return uri.to_string();
    }
    let scheme = request.extensions().get::<Peer>().map_or("http", |peer| peer.scheme.name());
    let host = uri.authority().map(|authority| authority.as_str());
    let field = || request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let target = uri.path_and_query().map_or("", |target| target.as_str());
    host.or_else(field).map_or_else(|| target.to_owned(), |host| format!("{scheme}://{host}{target}"))
}

/// The limit per worker. If the file is slower, lines are lost and counted.
const MAX_BUFFERED_BYTES: usize = 16 << 20;
