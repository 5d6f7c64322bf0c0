//! Access log: a recording of client requests, for `longhaul compare`.
//! Each core appends lines to its own buffer. A thread writes the buffers to the file, so no request waits
//! for it.

mod at_origin;
mod file;
mod line;
mod writer;

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError, atomic::Ordering::Relaxed},
    thread::JoinHandle,
};

use http::{
    Body, Method, Request, StatusCode, Version,
    clock::Clock,
    header,
    server::{Delivery, Glance, Peer},
};

pub(crate) use self::{at_origin::AtOrigin, line::Note};
use self::{
    at_origin::Times,
    file::File,
    line::{Ending, about},
    writer::{Shared, Writer},
};
use crate::{Error, counts::Word, operator::LogStatus, visit::Visit};

pub(crate) struct Log {
    clock: Clock,
    centre: String,
    shared: Arc<Shared>,
    writing: Mutex<Option<JoinHandle<()>>>,
}

/// Result of a request, for its line. Stored in the response's extensions until the note is created.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    pub(crate) word: Word,
    /// Name of the zone, if the request matched one.
    pub(crate) zone: Option<String>,
    /// Duration of origin requests.
    pub(crate) at_origin: Option<Times>,
    /// Source of the response, if another data centre sent it.
    pub(crate) tier: Option<String>,
}

/// A request before its response. Dropping it logs that the client has left.
pub(crate) struct Asked<'l> {
    log: &'l Log,
    core: usize,
    began: u64,
    peer: Option<Peer>,
    method: Method,
    version: Version,
    url: String,
    is_answered: bool,
}

impl Outcome {
    /// Returns cache status, source and zone as trace attributes.
    pub(crate) fn told(&self, centre: &str) -> impl Iterator<Item = (&'static str, String)> {
        let tier = self.tier.as_deref().or_else(|| tier(self.word, centre)).map(ToOwned::to_owned);
        let told = [
            ("longhaul.cache", Some(self.word.name().to_owned())),
            ("longhaul.tier", tier),
            ("longhaul.zone", self.zone.clone()),
        ];
        told.into_iter().filter_map(|(name, value)| Some((name, value?)))
    }
}

impl Log {
    /// Opens the log of a data centre with this number of cores.
    pub(crate) fn open(path: &Path, centre: &str, cores: usize) -> Result<Self, Error> {
        let clock = Clock::start();
        let file =
            File::begin(path, centre).map_err(|source| Error::Log { path: path.to_owned(), source })?;
        let shared = Arc::new(Shared::new(cores));
        let writing = Writer::new(file, clock, Arc::clone(&shared)).start().map_err(Error::Runtime)?;
        Ok(Self { clock, centre: centre.to_owned(), shared, writing: Mutex::new(Some(writing)) })
    }

    /// Nanoseconds since the log began.
    pub(crate) fn now(&self) -> u64 {
        self.clock.now()
    }

    /// Records the start of a request.
    pub(crate) fn asked(&self, core: usize, request: &Request<Body>) -> Asked<'_> {
        Asked {
            log: self,
            core,
            began: self.now(),
            peer: request.extensions().get().copied(),
            method: request.method().clone(),
            version: request.version(),
            url: url(request),
            is_answered: false,
        }
    }

    /// Records the start of a request on the fast path.
    pub(crate) fn glanced_at(&self, core: usize, request: &Glance<'_>) -> Asked<'_> {
        let Glance { peer, target, .. } = request;
        let host = String::from_utf8_lossy(request.host);
        Asked {
            log: self,
            core,
            began: self.now(),
            peer: Some(*peer),
            method: if request.is_head { Method::HEAD } else { Method::GET },
            version: Version::HTTP_11,
            url: format!("{}://{host}{target}", peer.scheme.name()),
            is_answered: false,
        }
    }

    /// Returns the part of the line that is the same for all hits of similar requests on an object.
    pub(crate) fn of_hit(&self, visit: &Visit, status: u16) -> Arc<[u8]> {
        let outcome =
            Outcome { word: Word::Hit, zone: Some(visit.zone().name.clone()), at_origin: None, tier: None };
        let request = (&visit.method, visit.version, &visit.url.to_string()[..]);
        about(request, Some(status), Some(&outcome), tier(Word::Hit, &self.centre))
    }

    /// Creates the note of a hit on the fast path.
    pub(crate) fn note_of_hit(&self, began: u64, peer: Peer, about: Arc<[u8]>) -> Note {
        Note { began, answered: self.now(), at_origin: None, remote: Some(peer.address), about }
    }

    /// Writes the line of a response that was sent completely or in part.
    pub(crate) fn sent(&self, core: usize, note: &Note, delivery: Delivery) {
        self.put(core, note, &Ending::Sent { delivery, at: self.now() });
    }

    /// Continues in a new file if the current one was renamed.
    pub(crate) fn reopen(&self) {
        self.shared.reopens.store(true, Relaxed);
    }

    pub(crate) fn report(&self) -> LogStatus {
        LogStatus { lost: self.shared.lost.load(Relaxed), error: self.shared.error().clone() }
    }

    /// Flushes and closes the file. Later lines are lost.
    pub(crate) fn close(&self) {
        self.shared.closes.store(true, Relaxed);
        if let Some(writing) = self.writing.lock().unwrap_or_else(PoisonError::into_inner).take() {
            writing.thread().unpark();
            let _ = writing.join();
        }
    }

    fn put(&self, core: usize, note: &Note, ending: &Ending) {
        let mut lines = self.shared.lines(core);
        if lines.text.len() < MOST_WAITING {
            note.write(ending, &mut lines.text);
            lines.count += 1;
            lines.failed += u64::from(ending.is_failure());
        } else {
            self.shared.lost.fetch_add(1, Relaxed);
        }
    }
}

impl Asked<'_> {
    /// Creates the note that the server returns after sending the response.
    pub(crate) fn noted(mut self, status: StatusCode, outcome: Option<&Outcome>) -> Note {
        self.is_answered = true;
        self.note(Some(status.as_u16()), outcome)
    }

    fn note(&self, status: Option<u16>, outcome: Option<&Outcome>) -> Note {
        let told = outcome.and_then(|outcome| outcome.tier.as_deref());
        let tier = told.or_else(|| outcome.and_then(|outcome| tier(outcome.word, &self.log.centre)));
        Note {
            began: self.began,
            answered: self.log.now(),
            at_origin: outcome.and_then(|outcome| outcome.at_origin),
            remote: self.peer.map(|peer| peer.address),
            about: about((&self.method, self.version, &self.url), status, outcome, tier),
        }
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        if !self.is_answered {
            self.log.put(self.core, &self.note(None, None), &Ending::Left);
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.close();
    }
}

/// Source of the response: this data centre or the origin.
fn tier(word: Word, centre: &str) -> Option<&str> {
    match word {
        Word::Hit | Word::Stale => Some(centre),
        Word::Miss | Word::Revalidated | Word::Bypass | Word::Collapsed => Some("origin"),
        Word::Refused => None,
    }
}

/// The request's URL, completed with scheme and Host field if the target lacks them.
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

/// Maximum bytes of lines of one core that wait for the file. If the file is slower, lines are lost and
/// counted.
const MOST_WAITING: usize = 16 << 20;
