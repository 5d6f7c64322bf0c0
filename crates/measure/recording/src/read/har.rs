//! Reads HAR 1.2: the entries of `log`, one by one.
//!
//! `ssl` is part of `connect`; Firefox writes it in addition, which `time` shows. -1 means absent,
//! and so does 0 for a connect (Firefox). `blocked` is a part of the total and of no phase.
//! Playwright counts `ssl` twice in `time`: its total is the sum of the phases.
//!
//! An entry with an impossible value is skipped and counted: in long sessions about one in a
//! thousand is invalid.

use std::{collections::HashMap, fmt};

use serde::{
    Deserialize,
    de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor},
};

use super::{
    Frame, Input, Labels, Options,
    json::{Document, Elements, Loose, Taker, host, label, length, status},
    time::date,
};
use crate::{Error, Event, Metric, Sample, Sink, Unit, unit::MOST_MS};

pub(super) fn read(input: Input<'_>, options: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    let mut document = Document::new(input, EXPECTED)?;
    let (labels, sample) = (&options.labels, Sample::default());
    let mut reader = Reader {
        labels,
        sink,
        sample,
        pages: HashMap::new(),
        writer: Writer::Other,
        read: 0,
        blocked: 0,
        left_out: None,
    };
    let mut taker = Taker::new(|part| reader.take(part));
    if let Err(error) = document.next(File(&mut taker)) {
        return Err(taker.stopped(error, &document));
    }
    document.end()?;
    let left_out = reader.left_out.take();
    if let Some(LeftOut { why, .. }) = left_out.as_ref().filter(|left_out| left_out.count == reader.read) {
        let found = format!("no entry that can be read: {why}");
        return Err(Error::Empty { place: document.start(), found, expected: EXPECTED });
    }
    if reader.read == 0 {
        let found = "there is no request in log.entries".to_owned();
        return Err(Error::Empty { place: document.start(), found, expected: EXPECTED });
    }
    let mut warnings: Vec<String> = left_out.map(LeftOut::warning).into_iter().collect();
    if reader.blocked > 0 {
        warnings.push(format!(
            "{} in the browser's queue below 0, as Chrome writes it where its clocks differ: it counts as absent.",
            if reader.blocked == 1 { "1 entry has a time".to_owned() } else { format!("{} entries have a time", reader.blocked) }
        ));
    }
    Ok(Frame { warnings, ..Frame::default() })
}

/// Their number, and the error of the first.
struct LeftOut {
    count: u64,
    why: String,
}

impl LeftOut {
    fn warning(self) -> String {
        let (count, s) = (self.count, if self.count == 1 { "y is" } else { "ies are" });
        format!("{count} entr{s} left out: {}.", self.why)
    }
}

#[derive(Deserialize)]
#[serde(from = "Entry")]
enum Part {
    Page(String),
    Creator(String),
    // An entry is much larger than an id.
    Entry(Box<Entry>),
}

impl From<Entry> for Part {
    fn from(entry: Entry) -> Self {
        Self::Entry(Box::new(entry))
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Creator {
    name: Loose,
}

#[derive(Deserialize)]
struct Page {
    #[serde(default)]
    id: Loose,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    #[serde(default)]
    started_date_time: Loose,
    #[serde(default)]
    time: Took,
    timings: Option<Timings>,
    request: Option<Request>,
    response: Option<Response>,
    #[serde(default)]
    pageref: Loose,
    #[serde(default, rename = "serverIPAddress")]
    server_ip_address: Loose,
    #[serde(default, rename = "_resourceType")]
    resource_type: Loose,
    #[serde(default, rename = "_fromCache")]
    from_cache: Loose,
    #[serde(rename = "_error")]
    error: Option<Problem>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Problem {
    Object { message: Loose },
    Text(Loose),
}

impl Problem {
    fn text(&self) -> Option<&str> {
        let (Self::Object { message: text } | Self::Text(text)) = self;
        text.text()
    }
}

/// Exporters that count `ssl` in different ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writer {
    /// `ssl` is within `connect`, and in `time` a second time.
    Playwright,
    /// `ssl` may be in addition to `connect`.
    Firefox,
    Other,
}

impl Writer {
    fn of(creator: &str) -> Self {
        match creator {
            "Playwright" => Self::Playwright,
            "Firefox" => Self::Firefox,
            _ => Self::Other,
        }
    }
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
struct Timings {
    blocked: Took,
    dns: Took,
    connect: Took,
    send: Took,
    wait: Took,
    receive: Took,
    ssl: Took,
}

/// Milliseconds; absent as -1 or null.
#[derive(Debug, Clone, Copy, Default)]
struct Took(Option<f64>);

impl<'de> Deserialize<'de> for Took {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::deserialize(deserializer).map(Self)
    }
}

impl Took {
    fn is_valid(self) -> bool {
        self.0.is_none_or(|ms| ms == ABSENT || (0.0..=MOST_MS).contains(&ms))
    }

    fn measured(self) -> Option<f64> {
        self.0.filter(|&ms| ms != ABSENT)
    }
}

/// The rounding error of the sum of seven parts in whole milliseconds.
const ROUNDING_MS: f64 = 2.0;

const ABSENT: f64 = -1.0;

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Request {
    #[serde(default)]
    method: Loose,
    #[serde(default)]
    url: Loose,
    #[serde(default)]
    http_version: Loose,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Response {
    status: Option<i64>,
    #[serde(default)]
    http_version: Loose,
    body_size: Option<f64>,
    content: Option<Content>,
    #[serde(rename = "_error")]
    error: Option<Problem>,
    #[serde(rename = "_failureText")]
    failure_text: Option<Problem>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Content {
    #[serde(default)]
    mime_type: Loose,
}

struct Reader<'r> {
    labels: &'r Labels,
    sink: &'r mut dyn Sink,
    sample: Sample,
    /// First those of `log.pages` in its order, then others as entries name them.
    pages: HashMap<String, u64>,
    writer: Writer,
    read: u64,
    /// Entries whose `blocked` is below 0.
    blocked: u64,
    left_out: Option<LeftOut>,
}

impl Reader<'_> {
    fn take(&mut self, part: Part) -> Result<(), Error> {
        match part {
            Part::Page(id) => {
                self.page(id);
                Ok(())
            }
            Part::Creator(name) => {
                self.writer = Writer::of(&name);
                Ok(())
            }
            Part::Entry(entry) => self.entry(&entry),
        }
    }

    fn page(&mut self, id: String) -> u64 {
        let next = self.pages.len() as u64;
        *self.pages.entry(id).or_insert(next)
    }

    fn entry(&mut self, entry: &Entry) -> Result<(), Error> {
        self.read += 1;
        let started = match entry.started() {
            Ok(started) => started,
            Err(wrong) => {
                let why = format!("entry {} has {wrong}", self.read);
                self.left_out.get_or_insert(LeftOut { count: 0, why }).count += 1;
                return Ok(());
            }
        };
        let missing = (Request::default(), Response::default(), Timings::default());
        let request = entry.request.as_ref().unwrap_or(&missing.0);
        let response = entry.response.as_ref().unwrap_or(&missing.1);
        let timings = entry.timings.as_ref().unwrap_or(&missing.2);
        self.blocked += u64::from(timings.blocked.0.is_some_and(|ms| ms < 0.0 && ms != ABSENT));
        let page = entry.pageref.text().map(|id| match self.pages.get(id) {
            Some(&page) => page,
            None => self.page(id.to_owned()),
        });
        let is_cached = entry.from_cache.text().is_some_and(|cache| cache != "false");
        let sample = &mut self.sample;
        sample.started_ns = started;
        // Its own sum counts the handshake twice.
        let time = if self.writer == Writer::Playwright { Took::default() } else { entry.time };
        let protocol = response.http_version.text().or(request.http_version.text());
        let is_http3 = protocol.is_some_and(is_http3);
        // Playwright writes a TLS time even without TLS.
        let is_clear = request.url.text().is_some_and(|url| url.starts_with("http://"));
        let timings = &if is_clear { timings.without_tls() } else { *timings };
        let total = timings.fill(sample, time, self.writer, is_http3);
        sample.last_byte_ns = total.and_then(milliseconds);
        sample.reused = match (sample.connect_ns.or(sample.tls_ns).or(sample.quic_ns), sample.wait_ns) {
            (Some(_), _) => Some(false),
            // No connect phase, although the response is not from a cache.
            (None, Some(1..)) if !is_cached && timings.connect.0.is_some() => Some(true),
            _ => None,
        };
        sample.status = status(response.status);
        sample.body_bytes = response.body_size.and_then(bytes);
        sample.page = page;
        let errors = [&response.error, &response.failure_text, &entry.error];
        sample.error = errors.into_iter().flatten().find_map(Problem::text).map(str::to_owned);
        if sample.error.is_none() && sample.status.is_none() {
            sample.error = Some("no response".to_owned());
        }
        let url = request.url.text();
        let mime = response.content.as_ref().and_then(|content| content.mime_type.text());
        for (name, value) in [
            ("url", url),
            ("host", url.and_then(host)),
            ("method", request.method.text()),
            ("protocol", protocol),
            ("type", entry.resource_type.text()),
            ("mime", mime.and_then(|mime| mime.split(';').next()).map(str::trim)),
            ("remote_ip", entry.server_ip_address.text()),
            ("cache", is_cached.then_some("hit")),
            ("page", entry.pageref.text()),
        ] {
            label(sample, self.labels, name, value);
        }
        let exact = total.map(|ms| (Metric::Total, ms));
        self.sink.event(&Event { number: self.read, sample, exact: exact.as_slice() })
    }
}

impl Entry {
    /// An error is an invalid value.
    fn started(&self) -> Result<Option<u64>, String> {
        let timings = self.timings.iter().flat_map(|timings| timings.named());
        for (name, took) in timings.chain([("time", self.time)]) {
            if let Some(ms) = took.0.filter(|_| !took.is_valid()) {
                return Err(format!("the {name} {ms}, where {TOOK} is expected"));
            }
        }
        let Some(text) = self.started_date_time.text() else { return Ok(None) };
        let short: String = text.chars().take(40).collect();
        date(text).map(Some).ok_or_else(|| format!("the startedDateTime {short:?}, where a date is expected"))
    }
}

impl Timings {
    /// Without `blocked`, which Chrome writes a little below 0 where its clocks differ.
    fn named(&self) -> [(&'static str, Took); 6] {
        let Self { dns, connect, send, wait, receive, ssl, .. } = *self;
        [
            ("dns", dns),
            ("connect", connect),
            ("send", send),
            ("wait", wait),
            ("receive", receive),
            ("ssl", ssl),
        ]
    }

    fn without_tls(self) -> Self {
        Self { ssl: Took::default(), ..self }
    }

    /// Returns the total: `time` if the file contains it, or else the sum of its parts.
    fn fill(&self, sample: &mut Sample, time: Took, writer: Writer, is_http3: bool) -> Option<f64> {
        let positive = |took: Took| took.measured().filter(|&ms| ms > 0.0);
        let (connect, ssl) = (positive(self.connect), positive(self.ssl));
        let blocked = Took(positive(self.blocked));
        let parts = [blocked, self.dns, self.connect, self.send, self.wait, self.receive];
        let inside: f64 = parts.into_iter().filter_map(Took::measured).sum();
        let beside = inside + ssl.unwrap_or(0.0);
        let time = positive(time);
        let is_beside = match (time, connect, ssl) {
            _ if writer == Writer::Playwright => false,
            (_, Some(connect), Some(ssl)) if ssl > connect => true,
            (Some(time), _, Some(_)) => {
                let distance = (time - beside).abs();
                distance < (time - inside).abs() && (writer == Writer::Firefox || distance <= ROUNDING_MS)
            }
            _ => false,
        };
        let total = time.or_else(|| positive(Took(Some(if is_beside { beside } else { inside }))));
        // Without any time, as Firefox writes for its cache, nothing was measured.
        let measured = |took: Took| took.measured().filter(|_| total.is_some()).and_then(milliseconds);
        sample.dns_ns = measured(self.dns).filter(|&dns| dns > 0 || connect.is_some());
        sample.tls_ns = ssl.and_then(milliseconds);
        sample.connect_ns = connect.and_then(milliseconds);
        sample.quic_ns = None;
        if !is_beside {
            let tcp = sample.connect_ns.map(|connect| connect.saturating_sub(sample.tls_ns.unwrap_or(0)));
            sample.connect_ns = tcp.filter(|&tcp| tcp > 0);
            // A QUIC handshake is all of both.
            if tcp == Some(0) && is_http3 {
                sample.quic_ns = sample.tls_ns.take();
            }
        }
        sample.send_ns = measured(self.send);
        sample.wait_ns = measured(self.wait);
        sample.load_ns = measured(self.receive);
        total.filter(|&ms| milliseconds(ms).is_some())
    }
}

fn milliseconds(ms: f64) -> Option<u64> {
    length(Unit::Ms, ms)
}

/// -1 stands for an unknown size.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative, and no file is that large"
)]
fn bytes(size: f64) -> Option<u64> {
    (size >= 0.0).then_some(size as u64)
}

struct File<'t, F>(&'t mut Taker<F>);

struct Log<'t, F>(&'t mut Taker<F>);

impl<'de, F: FnMut(Part) -> Result<(), Error>> DeserializeSeed<'de> for File<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, F: FnMut(Part) -> Result<(), Error>> Visitor<'de> for File<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with \"log\"")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        while let Some(key) = object.next_key::<String>()? {
            match key.as_str() {
                "log" => object.next_value_seed(Log(&mut *self.0))?,
                _ => drop(object.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

impl<'de, F: FnMut(Part) -> Result<(), Error>> DeserializeSeed<'de> for Log<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, F: FnMut(Part) -> Result<(), Error>> Visitor<'de> for Log<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with \"entries\"")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        while let Some(key) = object.next_key::<String>()? {
            match key.as_str() {
                "creator" => {
                    let creator = object.next_value::<Option<Creator>>()?.unwrap_or_default();
                    if let Loose(Some(name)) = creator.name {
                        self.0.take::<_, A::Error>(Part::Creator(name))?;
                    }
                }
                "pages" => object.next_value_seed(Pages(&mut *self.0))?,
                "entries" => object.next_value_seed(Elements::<Part, F>::new(&mut *self.0))?,
                _ => drop(object.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

struct Pages<'t, F>(&'t mut Taker<F>);

impl<'de, F: FnMut(Part) -> Result<(), Error>> DeserializeSeed<'de> for Pages<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'de, F: FnMut(Part) -> Result<(), Error>> Visitor<'de> for Pages<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of pages")
    }

    fn visit_none<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<(), A::Error> {
        while let Some(Page { id: Loose(id) }) = array.next_element()? {
            id.map_or(Ok(()), |id| self.0.take(Part::Page(id)))?;
        }
        Ok(())
    }
}

const TOOK: &str = "milliseconds from 0 to 1e15, or -1 for what did not happen";
const EXPECTED: &str = "HAR: an object with log.entries, an array of requests with their timings";

/// "h3", "h3-29" or "HTTP/3".
fn is_http3(protocol: &str) -> bool {
    let protocol = protocol.to_ascii_lowercase();
    protocol.starts_with("h3") || protocol.starts_with("http/3")
}

#[cfg(test)]
mod tests;
