//! Reads entries of the W3C interfaces Resource Timing and Navigation Timing in the form of
//! `toJSON`, in milliseconds: `JSON.stringify(performance.getEntries())`, an object with an array
//! `entries`, an array of such arrays, or any of these line by line.
//!
//! An array is one page view; so are the entries outside of arrays, up to the next navigation
//! entry. A timestamp of 0 is unknown (Timing-Allow-Origin). The total ends with the response. A
//! `responseStatus` of 0 is a request without a response, or hidden: one to another origin without
//! CORS.

use std::{collections::BTreeMap, fmt};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{
    Frame, Input, Labels, Options,
    json::{self, Document, Loose, Taker, between, host, label, length, status},
};
use crate::{Error, Event, Sample, Sink, Unit};

pub(super) fn read(input: Input<'_>, options: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    let mut document = Document::new(input, EXPECTED)?;
    let mut reader = Reader::new(&options.labels, sink);
    let mut cut = None;
    let mut taker = Taker::new(|found| reader.take(found));
    while !document.is_at_end()? {
        let mut is_array = false;
        if let Err(error) = document.next(Value { taker: &mut taker, is_array: &mut is_array }) {
            if !error.is_eof() || is_array {
                return Err(taker.stopped(error, &document));
            }
            cut = Some(json::cut_off(error.line() as u64));
            break;
        }
    }
    let mut warnings = reader.warnings();
    warnings.extend(cut);
    Ok(Frame { warnings, ..Frame::default() })
}

enum Token {
    Array,
    // Much larger than the other.
    Entry(Box<Entry>),
}

#[derive(Default)]
struct Entry {
    /// In the order of [`STAMPS`].
    stamps: [Option<u64>; STAMPS.len()],
    duration: Option<u64>,
    entry_type: Loose,
    name: Loose,
    initiator_type: Loose,
    protocol: Loose,
    delivery_type: Loose,
    transfer_size: Option<f64>,
    encoded_body_size: Option<f64>,
    decoded_body_size: Option<f64>,
    status: Option<i64>,
}

struct Reader<'r> {
    labels: &'r Labels,
    sink: &'r mut dyn Sink,
    sample: Sample,
    read: u64,
    page: u64,
    is_new_page: bool,
    has_navigation: bool,
    origin: Option<String>,
    hidden: u64,
    doubtful: u64,
    /// Entries that are not requests, by their types.
    others: BTreeMap<String, u64>,
}

impl<'r> Reader<'r> {
    fn new(labels: &'r Labels, sink: &'r mut dyn Sink) -> Self {
        Self {
            labels,
            sink,
            sample: Sample::default(),
            read: 0,
            page: 0,
            is_new_page: false,
            has_navigation: false,
            origin: None,
            hidden: 0,
            doubtful: 0,
            others: BTreeMap::new(),
        }
    }

    fn take(&mut self, found: Token) -> Result<(), Error> {
        let entry = match found {
            Token::Array => {
                self.is_new_page = self.read > 0;
                return Ok(());
            }
            Token::Entry(entry) => entry,
        };
        let is_navigation = match entry.entry_type.text() {
            Some("navigation") => true,
            Some("resource") => false,
            other => {
                self.count_other(other.unwrap_or("without a type"));
                return Ok(());
            }
        };
        if self.is_new_page || (is_navigation && self.has_navigation) {
            self.page += 1;
            self.has_navigation = false;
            self.origin = None;
        }
        self.is_new_page = false;
        self.has_navigation |= is_navigation;
        if is_navigation {
            self.origin = entry.name.text().and_then(origin).map(str::to_owned);
        }
        self.read += 1;
        entry.fill(&mut self.sample, is_navigation);
        let is_hidden =
            entry.status == Some(0) && self.origin.as_deref().is_some_and(|of| entry.is_hidden_from(of));
        self.hidden += u64::from(is_hidden);
        self.doubtful += u64::from(entry.status == Some(0) && self.origin.is_none());
        self.sample.error = (entry.status == Some(0) && !is_hidden).then(|| "no response".to_owned());
        self.sample.page = Some(self.page);
        if self.page > 0 {
            self.sample.started_ns = None;
        }
        entry.label(&mut self.sample, self.labels);
        self.sink.event(&Event { number: self.read, sample: &self.sample, exact: &[] })
    }

    fn count_other(&mut self, name: &str) {
        // Bounds the memory for files with invented types.
        let name = if self.others.len() < MOST_TYPES { name } else { "others" };
        *self.others.entry(name.to_owned()).or_default() += 1;
    }

    fn warnings(&self) -> Vec<String> {
        let count: u64 = self.others.values().sum();
        let types: Vec<&str> = self.others.keys().map(String::as_str).collect();
        let others = || format!("{} left out that are no requests ({}).", entries(count), types.join(", "));
        let hidden = || {
            format!(
                "{} of other origins with a responseStatus of 0: browsers hide whether these failed; they are \
                 not counted as failed.",
                entries(self.hidden)
            )
        };
        let doubtful = || {
            format!(
                "{} with a responseStatus of 0 counted as failed. If an entry has another origin than its page, browsers \
                 hide whether it failed, and only the page's navigation entry shows which entries these \
                 are: record performance.getEntries().",
                entries(self.doubtful)
            )
        };
        let said =
            [(count > 0).then(others), (self.hidden > 0).then(hidden), (self.doubtful > 0).then(doubtful)];
        said.into_iter().flatten().collect()
    }
}

fn entries(count: u64) -> String {
    if count == 1 { "1 entry".to_owned() } else { format!("{count} entries") }
}

impl Entry {
    fn fill(&self, sample: &mut Sample, is_navigation: bool) {
        let [
            start,
            lookup_start,
            lookup_end,
            connect_start,
            connect_end,
            secure_start,
            request,
            interim,
            headers,
            response,
            end,
        ] = self.stamps;
        let set = |stamp: Option<u64>| stamp.filter(|&nanos| nanos > 0);
        let happened = |from, to| between(set(from), set(to)).filter(|&nanos| nanos > 0);
        // The earliest entry starts at 0.
        let started = start.unwrap_or(0);
        let since = |stamp| between(Some(started), set(stamp));
        sample.started_ns = start;
        sample.dns_ns = happened(lookup_start, lookup_end);
        let connected = happened(connect_start, connect_end);
        // It is earlier only if it is of an older connection.
        let secure = set(secure_start).filter(|&secure| Some(secure) >= connect_start);
        let handshake = |secure| (happened(connect_start, secure), happened(secure, connect_end));
        (sample.connect_ns, sample.tls_ns, sample.quic_ns) = match (connected, secure) {
            (Some(_), Some(_)) => match handshake(secure) {
                // QUIC's begins with the connection.
                (None, quic) => (None, None, quic),
                (tcp, tls) => (tcp, tls, None),
            },
            (connected, _) => (connected, None, None),
        };
        let first_byte = set(headers).or(set(response));
        sample.wait_ns = between(set(request), first_byte);
        sample.load_ns = between(first_byte, set(end));
        sample.first_interim_ns = since(interim);
        sample.final_headers_ns = since(headers);
        sample.last_byte_ns = since(end).or(self.duration.filter(|_| !is_navigation));
        sample.status = status(self.status);
        let is_hit = self.is_cache_hit();
        sample.reused = match connected {
            Some(_) => Some(false),
            None => set(request).filter(|_| !is_hit && connect_start.is_some()).map(|_| true),
        };
        sample.body_bytes = self.encoded_body_size.filter(|&size| size > 0.0 && !is_hit).map(bytes);
    }

    /// Requests to another origin without CORS, such as images, have the status 0 even on success.
    fn is_hidden_from(&self, page: &str) -> bool {
        let is_scripted = matches!(self.initiator_type.text(), Some("fetch" | "xmlhttprequest" | "beacon"));
        !is_scripted && self.name.text().and_then(origin).is_some_and(|own| own != page)
    }

    fn is_cache_hit(&self) -> bool {
        let is_nothing_transferred = self.transfer_size.is_some_and(|size| size == 0.0);
        self.delivery_type.text() == Some("cache")
            || (is_nothing_transferred && self.decoded_body_size.is_some_and(|size| size > 0.0))
    }

    fn label(&self, sample: &mut Sample, labels: &Labels) {
        let url = self.name.text();
        for (name, value) in [
            ("url", url),
            ("host", url.and_then(host)),
            ("protocol", self.protocol.text()),
            ("type", self.initiator_type.text()),
            ("cache", self.is_cache_hit().then_some("hit")),
        ] {
            label(sample, labels, name, value);
        }
    }

    /// Returns `false` if it is not a field of an entry.
    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, object: &mut A) -> Result<bool, A::Error> {
        if let Some(at) = STAMPS.iter().position(|stamp| *stamp == key) {
            self.stamps[at] = object.next_value::<Option<f64>>()?.and_then(|ms| length(Unit::Ms, ms));
            return Ok(true);
        }
        match key {
            "duration" => {
                self.duration = object.next_value::<Option<f64>>()?.and_then(|ms| length(Unit::Ms, ms));
            }
            "entryType" => self.entry_type = object.next_value()?,
            "name" => self.name = object.next_value()?,
            "initiatorType" => self.initiator_type = object.next_value()?,
            "nextHopProtocol" => self.protocol = object.next_value()?,
            "deliveryType" => self.delivery_type = object.next_value()?,
            "transferSize" => self.transfer_size = object.next_value()?,
            "encodedBodySize" => self.encoded_body_size = object.next_value()?,
            "decodedBodySize" => self.decoded_body_size = object.next_value()?,
            "responseStatus" => self.status = object.next_value()?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn origin(url: &str) -> Option<&str> {
    let scheme = url.find("://")?;
    let rest = url[scheme + 3..].find(['/', '?', '#']);
    Some(&url[..rest.map_or(url.len(), |at| scheme + 3 + at)])
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturating; no body is that large"
)]
fn bytes(size: f64) -> u64 {
    size as u64
}

struct Value<'t, F> {
    taker: &'t mut Taker<F>,
    is_array: &'t mut bool,
}

impl<'de, F: FnMut(Token) -> Result<(), Error>> DeserializeSeed<'de> for Value<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, F: FnMut(Token) -> Result<(), Error>> Visitor<'de> for Value<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an entry or an array of entries")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<(), A::Error> {
        *self.is_array = true;
        self.taker.take(Token::Array)?;
        while array.next_element_seed(Value { taker: self.taker, is_array: self.is_array })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        let (mut entry, mut has_entries) = (Entry::default(), false);
        while let Some(key) = object.next_key::<String>()? {
            if key == "entries" {
                has_entries = true;
                object.next_value_seed(Value { taker: self.taker, is_array: self.is_array })?;
            } else if !entry.field(&key, &mut object)? {
                object.next_value::<IgnoredAny>()?;
            }
        }
        // The container of the entries may have its own name and start.
        if has_entries { Ok(()) } else { self.taker.take(Token::Entry(Box::new(entry))) }
    }
}

/// In the order in which they are set.
const STAMPS: [&str; 11] = [
    "startTime",
    "domainLookupStart",
    "domainLookupEnd",
    "connectStart",
    "connectEnd",
    "secureConnectionStart",
    "requestStart",
    "firstInterimResponseStart",
    "finalResponseHeadersStart",
    "responseStart",
    "responseEnd",
];

const MOST_TYPES: usize = 32;

const EXPECTED: &str =
    "entries of Resource Timing or Navigation Timing, as performance.getEntries() gives them";

#[cfg(test)]
mod tests;
