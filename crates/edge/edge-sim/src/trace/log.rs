//! An access log of a data centre or of another server. Takes the cacheable requests of one zone.
//!
//! A separate thread reads the log, because the crate `recording` pushes events, and a simulation
//! pulls requests.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
    vec::IntoIter,
};

use edge::Network;
use http_stack::Uri;
use recording::{AccessLog as Format, Counts, Event, Labels, Options, Sample, Sink};

use super::{Written, by_rule};
use crate::{Error, skipped::LeftOut};

#[derive(Debug, Clone)]
pub(super) struct Of {
    pub network: Arc<Network>,
    /// The index of the zone in the network.
    pub zone: usize,
}

#[derive(Debug)]
pub(super) struct AccessLog {
    read: Receiver<Read>,
    ready: IntoIter<(u64, Written)>,
    path: PathBuf,
    line: u64,
    pub(super) left_out: LeftOut,
    pub(super) notes: Vec<String>,
}

enum Read {
    Requests(Vec<(u64, Written)>),
    End(LeftOut, Result<Vec<String>, recording::Error>),
}

impl AccessLog {
    pub(super) fn new(path: &Path, format: Option<Format>, of: Of) -> Result<Self, Error> {
        let (sender, read) = sync_channel(AHEAD);
        let owned = path.to_owned();
        let work = move || {
            let mut taker =
                Taker { of, sender, taken: Vec::new(), left_out: LeftOut::default(), path: owned };
            let options = Options { access_log: format, labels: Labels::All, ..Options::default() };
            let path = taker.path.clone();
            let result = recording::read(&path, &options, &mut taker).map(|origin| origin.warnings);
            // If the receiver is gone, it needs no more requests.
            let _ = taker.hand_over();
            let _ = taker.sender.send(Read::End(taker.left_out, result));
        };
        let unreadable = |source| Error::Unreadable { path: path.to_owned(), source };
        thread::Builder::new().name("log".into()).spawn(work).map_err(unreadable)?;
        Ok(Self {
            read,
            ready: Vec::new().into_iter(),
            path: path.to_owned(),
            line: 0,
            left_out: LeftOut::default(),
            notes: Vec::new(),
        })
    }

    pub(super) fn next(&mut self) -> Result<Option<Written>, Error> {
        loop {
            if let Some((line, written)) = self.ready.next() {
                self.line = line;
                return Ok(Some(written));
            }
            match self.read.recv() {
                Ok(Read::Requests(requests)) => self.ready = requests.into_iter(),
                Ok(Read::End(left_out, result)) => {
                    self.left_out = left_out;
                    // Warnings about durations do not concern a simulation.
                    self.notes = result?.into_iter().filter(|note| note.contains(LEFT_OUT)).collect();
                }
                Err(_) => return Ok(None),
            }
        }
    }

    pub(super) fn wrong(&self, what: String) -> Error {
        Error::Line { path: self.path.clone(), line: self.line, what }
    }
}

struct Taker {
    of: Of,
    sender: SyncSender<Read>,
    taken: Vec<(u64, Written)>,
    left_out: LeftOut,
    path: PathBuf,
}

impl Sink for Taker {
    fn event(&mut self, event: &Event<'_>) -> Result<(), recording::Error> {
        match self.of.written(event.sample) {
            Ok(written) => self.taken.push((event.number, written)),
            Err(why) => *why(&mut self.left_out) += 1,
        }
        if self.taken.len() < TOGETHER {
            return Ok(());
        }
        self.hand_over().map_err(|_| recording::Error::Stopped { path: self.path.clone() })
    }

    fn counts(&mut self, counts: &Counts) -> Result<(), recording::Error> {
        self.left_out.url += counts.events();
        Ok(())
    }
}

impl Taker {
    fn hand_over(&mut self) -> Result<(), ()> {
        self.sender.send(Read::Requests(std::mem::take(&mut self.taken))).map_err(drop)
    }
}

type Why = fn(&mut LeftOut) -> &mut u64;

impl Of {
    /// Only a complete 200 response to a GET reveals the length of the object.
    fn written(&self, sample: &Sample) -> Result<Written, Why> {
        let label = |name: &str| sample.labels.get(name).map(String::as_str);
        let request = label("request").and_then(request);
        if label("method").or(request.map(|(method, _)| method)).is_some_and(|method| method != "GET") {
            return Err(|left_out| &mut left_out.method);
        }
        if sample.status.is_some_and(|status| status != 200) || sample.error.is_some() {
            return Err(|left_out| &mut left_out.status);
        }
        let target = label("url").or(request.map(|(_, target)| target)).or_else(|| label("request_uri"));
        let target = target.or_else(|| label("path")).ok_or::<Why>(|left_out| &mut left_out.url)?;
        let target: Uri = target.parse().map_err(|_| -> Why { |left_out| &mut left_out.url })?;
        let host = target.host().or_else(|| HOSTS.into_iter().find_map(label)).map(host);
        if !self.is_ours(sample.zone.as_deref(), host.as_deref()) {
            return Err(|left_out| &mut left_out.zone);
        }
        let at_ns = sample.started_ns.ok_or::<Why>(|left_out| &mut left_out.time)?;
        let bytes = sample.body_bytes.ok_or::<Why>(|left_out| &mut left_out.size)?;
        let zone = &self.network.zones[self.zone];
        let url = match target.scheme_str() {
            Some(_) => target.to_string(),
            None => format!("http://{}{target}", host.as_deref().unwrap_or(NO_HOST)),
        };
        let (key, fresh_ns) = by_rule(zone, &url).ok_or::<Why>(|left_out| &mut left_out.url)?;
        Ok(Written { at_ns, key, bytes, city: None, fresh_ns })
    }

    /// By its zone, otherwise by its host. Without either, all requests belong to the zone.
    fn is_ours(&self, zone: Option<&str>, host: Option<&str>) -> bool {
        match (zone, host) {
            (Some(zone), _) => zone == self.network.zones[self.zone].name,
            (None, Some(host)) => self.network.zone_of(host) == Some(self.zone),
            (None, None) => true,
        }
    }
}

fn request(line: &str) -> Option<(&str, &str)> {
    let (method, rest) = line.split_once(' ')?;
    Some((method, rest.rsplit_once(' ').map_or(rest, |(target, _)| target)))
}

/// Without its port, in lower case.
fn host(host: &str) -> String {
    let port = host.rfind(':').filter(|&at| host[at + 1..].bytes().all(|byte| byte.is_ascii_digit()));
    host[..port.unwrap_or(host.len())].trim_end_matches('.').to_ascii_lowercase()
}

const HOSTS: [&str; 4] = ["host", "http_host", "authority", "server_name"];

const NO_HOST: &str = "host";

/// Requests per message, and the number of messages that are buffered.
const TOGETHER: usize = 4096;
const AHEAD: usize = 4;

const LEFT_OUT: &str = "left out";
