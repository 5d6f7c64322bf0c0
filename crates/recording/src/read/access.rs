//! Reads access logs of nginx, Envoy and whatever else writes lines by a format string.
//!
//! What the server measures is not what the client waits: it begins with the first bytes of the request that the server
//! has read and ends when the last are handed to its kernel, so it has no part of the handshakes and little of the
//! network to the client.

use super::{
    Frame, Input, Labels, Options, json,
    lines::{Line, Lines},
    seconds::Seconds,
};
use crate::{Error, Event, Metric, Sample, Sink, Unit, error::Unknown, unit::nanoseconds};

mod clock;
mod format;
mod object;

pub(super) use object::read as read_json;

use format::{Field, Kind, Piece, Stamped};

/// How the lines of an access log are made: a log_format string of nginx, a format string of Envoy, or the name of one.
///
/// - `nginx` is `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer"
///   "$http_user_agent" $request_time`: the predefined `combined`, which has no time that a request took, with the one
///   that it took at its end.
/// - `envoy` is Envoy's default: `[%START_TIME%] "%REQ(:METHOD)%
///   %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" %RESPONSE_CODE% %RESPONSE_FLAGS% %BYTES_RECEIVED% %BYTES_SENT%
///   %DURATION% ...`.
///
/// These variables become what a sample has, all others labels of their names (`%REQ(X-Y)%` becomes `x-y`); `-` is
/// absent:
///
/// | nginx | Envoy | |
/// | --- | --- | --- |
/// | `$request_time` | `%DURATION%` | latency: the whole request, as the server saw it |
/// | `$upstream_connect_time` | | connect, of the server to its upstream |
/// | `$upstream_header_time` | `%RESPONSE_DURATION%` | ttfb: until the first byte came from the upstream |
/// | `$upstream_response_time` | | total, of the server's own request to its upstream |
/// | | `%REQUEST_DURATION%` | send: until the request was read |
/// | | `%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)%` | wait, unless `%RESPONSE_DURATION%` is there |
/// | | `%RESPONSE_TX_DURATION%` | load: from the upstream's first byte to the last that was sent |
/// | `$time_local`, `$time_iso8601`, `$msec` | `%START_TIME%` | the start; nginx writes at the end, so its time is subtracted |
/// | `$status` | `%RESPONSE_CODE%` | status; 499 of nginx and 0 of Envoy are failed: nobody waited for the end |
/// | `$body_bytes_sent` | `%BYTES_SENT%` | bytes of the body |
/// | `$connection_requests` | | whether the connection had carried a request before |
/// | `$request`, `$request_method`, `$uri`, `$request_uri` | `%REQ(:METHOD)%`, `%REQ(:PATH)%` | labels method and path |
/// | `$host`, `$http_host` | `%REQ(:AUTHORITY)%` | label host |
///
/// nginx writes seconds with three decimals: integers have another unit, which the user must give.
/// It writes several times where it asked several upstreams in turn ("0.1, 0.2"): they add up.
///
/// ```
/// use recording::AccessLog;
///
/// let log: AccessLog = "$msec $status $request_time".parse()?;
/// let said = "$status $request_time$host".parse::<AccessLog>().unwrap_err().to_string();
/// assert!(said.contains("\"$host\"; expected some text"), "{said}");
/// # let _ = log;
/// # Ok::<(), recording::Unknown>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessLog {
    pieces: Vec<Piece>,
}

impl std::str::FromStr for AccessLog {
    type Err = Unknown;

    /// The error quotes the format from where it is wrong.
    fn from_str(text: &str) -> Result<Self, Unknown> {
        Ok(Self { pieces: format::parse(text)? })
    }
}

/// Puts all lines of a log into a sink.
pub(super) fn read(input: Input<'_>, options: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    let mut lines = Lines::new(input.reader, input.path);
    let Some(log) = &options.access_log else {
        let found = "an access log".to_owned();
        return Err(Error::NotARecording {
            place: lines.place(1, 1),
            found,
            expected: "a format string for it",
        });
    };
    let mut found = Fields::new(options);
    let (mut events, mut warnings) = (0_u64, Vec::new());
    while let Some(line) = lines.next()? {
        let Line { number, terminated, .. } = line;
        if line.text.trim_ascii().is_empty() {
            continue;
        }
        let taken = log.take(line.text, &mut found);
        match taken {
            Ok(()) => {
                events += 1;
                for (offset, whole) in found.plain.drain(..) {
                    found.seconds.look(&whole, || lines.place(number, offset + 1));
                }
                found.finish();
                sink.event(&Event { number, sample: &found.sample, exact: &found.exact })?;
            }
            Err(_) if !terminated && events > 0 => warnings.push(json::cut_off(number)),
            Err(Problem { offset, found, expected }) => {
                return Err(Error::Metric { place: lines.place(number, offset + 1), found, expected });
            }
        }
    }
    if events == 0 {
        let (place, found) = (lines.place(1, 1), "there is no line".to_owned());
        return Err(Error::Empty { place, found, expected: "at least one line of the log's format" });
    }
    warnings.extend(found.seconds.finish()?);
    warnings.push(SERVERS_OWN.to_owned());
    if found.resolution_ns >= 1_000_000_000 {
        warnings
            .push("The log's times are in whole seconds; percentiles over time cannot be finer.".to_owned());
    }
    Ok(Frame { warnings, ..Frame::default() })
}

/// Where a line departs from its format.
struct Problem {
    offset: usize,
    found: String,
    expected: String,
}

/// The content of a line.
struct Fields<'o> {
    sample: Sample,
    exact: Vec<(Metric, f64)>,
    labels: &'o Labels,
    /// When the line was written, or when the request began, ns since 1970.
    time: Option<(u64, Stamped)>,
    /// How finely the log tells time.
    resolution_ns: u64,
    /// Whether durations in seconds are that.
    seconds: Seconds,
    /// The numbers of the line without a fraction, as written, with their positions.
    plain: Vec<(usize, String)>,
    /// Where in the line the value begins that is looked at.
    at: usize,
}

impl<'o> Fields<'o> {
    fn new(options: &'o Options) -> Self {
        Self {
            sample: Sample::default(),
            exact: Vec::new(),
            labels: &options.labels,
            time: None,
            resolution_ns: 0,
            seconds: Seconds::new(options.unit),
            plain: Vec::new(),
            at: 0,
        }
    }

    fn clear(&mut self) {
        self.sample = Sample::default();
        self.exact.clear();
        self.plain.clear();
        self.time = None;
    }

    /// The unit of a duration that is in seconds where its server writes it; which its fraction may prove.
    fn unit(&mut self, value: &[u8]) -> Unit {
        if value.contains(&b'.') {
            self.seconds.prove();
        } else {
            self.plain.push((self.at, String::from_utf8_lossy(value).into_owned()));
        }
        self.seconds.unit()
    }

    fn duration(&mut self, metric: Metric, milliseconds: f64) {
        self.exact.push((metric, milliseconds));
        self.sample.set(metric, Some(nanoseconds(milliseconds)));
    }

    /// A label that somebody looks at and that is there.
    fn label(&mut self, name: &str, value: &[u8]) {
        if self.labels.wants(name) && !is_absent(value) {
            self.sample.labels.insert(name.to_owned(), unescaped(value));
        }
    }

    /// Values that follow only from the whole line.
    fn finish(&mut self) {
        let took = self.exact.iter().map(|&(_, ms)| ms).fold(0.0, f64::max);
        self.sample.started_ns = self.time.map(|(ns, stamped)| match stamped {
            Stamped::Start => ns,
            Stamped::End => ns.saturating_sub(nanoseconds(took)),
        });
        self.sample.error = match self.sample.status {
            Some(499) => Some("the client closed the connection (499)".to_owned()),
            Some(0) => Some("no response (0)".to_owned()),
            _ => None,
        };
    }
}

impl AccessLog {
    fn take(&self, line: &[u8], found: &mut Fields<'_>) -> Result<(), Problem> {
        found.clear();
        let mut at = 0;
        let mut before = None;
        for (index, piece) in self.pieces.iter().enumerate() {
            let rest = &line[at..];
            match piece {
                Piece::Text(text) => {
                    if !rest.starts_with(text.as_bytes()) {
                        let behind = before
                            .map_or_else(|| "at the line's start".to_owned(), |name| format!("after {name}"));
                        return Err(departs(at, rest, format!("{text:?} {behind}")));
                    }
                    at += text.len();
                }
                Piece::Field(field) => {
                    found.at = at;
                    let next = self.pieces.get(index + 1);
                    at += take_field(field, rest, next, found)
                        .map_err(|expected| departs(at, rest, expected))?;
                    before = Some(field.name.as_str());
                }
            }
        }
        match line.len() - at {
            0 => Ok(()),
            _ => Err(departs(at, &line[at..], "the end of the line".to_owned())),
        }
    }
}

fn departs(offset: usize, rest: &[u8], expected: String) -> Problem {
    if rest.is_empty() {
        return Problem { offset, found: "the end of the line".to_owned(), expected };
    }
    let text = String::from_utf8_lossy(&rest[..rest.len().min(4 * SHOWN)]);
    let short: String = text.chars().take(SHOWN).collect();
    let dots = if short.len() < rest.len() { "..." } else { "" };
    Problem { offset, found: format!("{short:?}{dots}"), expected }
}

/// How many bytes a field takes. Its value goes into `found`; an error is what was expected.
fn take_field(
    field: &Field,
    rest: &[u8],
    next: Option<&Piece>,
    found: &mut Fields<'_>,
) -> Result<usize, String> {
    let name = &field.name;
    match &field.kind {
        // These may contain the text that follows them, so their own grammar ends them.
        Kind::Time { clock, stamped, is_best } => {
            if rest.first() == Some(&b'-') && !clock.may_begin_with_minus() {
                return Ok(1);
            }
            let (ns, length) =
                clock.read(rest).ok_or_else(|| format!("a time such as {} for {name}", clock.example()))?;
            if *is_best {
                found.time = Some((ns, *stamped));
                found.resolution_ns = clock.resolution_ns();
            }
            Ok(length)
        }
        Kind::Durations(metric) => {
            let expected = || format!("seconds, perhaps several such as \"0.1, 0.2\", or \"-\" for {name}");
            let (sum, length) = list(rest).ok_or_else(expected)?;
            if let Some(sum) = sum {
                let unit = found.unit(&rest[..length]);
                found.duration(*metric, unit.milliseconds(sum).ok_or_else(expected)?);
            }
            Ok(length)
        }
        _ => {
            let length = match next {
                Some(Piece::Text(text)) => memchr::memmem::find(rest, text.as_bytes())
                    .ok_or_else(|| format!("{text:?} somewhere after {name}"))?,
                _ => rest.len(),
            };
            take_value(field, &rest[..length], found)?;
            Ok(length)
        }
    }
}

/// The value of a field that ends where the text after it begins.
fn take_value(Field { name, kind }: &Field, value: &[u8], found: &mut Fields<'_>) -> Result<(), String> {
    match kind {
        Kind::Duration(metric, unit) => {
            if !is_absent(value) {
                let unit = if *unit == Unit::S { found.unit(value) } else { *unit };
                let ms = number(value).and_then(|value| unit.milliseconds(value));
                found.duration(
                    *metric,
                    ms.ok_or_else(|| format!("{}, or \"-\", for {name}", unit.expected()))?,
                );
            }
        }
        Kind::Status => found.sample.status = whole(value, "an HTTP status", name)?,
        Kind::Bytes => found.sample.body_bytes = whole(value, "a number of bytes", name)?,
        Kind::Requests => {
            let requests: Option<u64> = whole(value, "a number of requests", name)?;
            found.sample.reused = requests.map(|requests| requests > 1);
        }
        Kind::Request => {
            let mut words = value.split(|&byte| byte == b' ');
            let words = [words.next(), words.next(), words.next()].map(Option::unwrap_or_default);
            found.label("request", value);
            // Invalid requests, such as the bytes of a TLS handshake, have no parts.
            if words.iter().all(|word| !word.is_empty()) {
                found.label("method", words[0]);
                found.label("path", path(words[1]));
                found.label("protocol", words[2]);
            }
        }
        Kind::Path => found.label("path", path(value)),
        Kind::Label(label) => found.label(label, value),
        Kind::Time { .. } | Kind::Durations(_) => {}
    }
    Ok(())
}

fn is_absent(value: &[u8]) -> bool {
    value.is_empty() || value == b"-"
}

/// A path without its query.
fn path(value: &[u8]) -> &[u8] {
    &value[..memchr::memchr(b'?', value).unwrap_or(value.len())]
}

fn whole<T: std::str::FromStr>(value: &[u8], what: &str, name: &str) -> Result<Option<T>, String> {
    if is_absent(value) {
        return Ok(None);
    }
    let parsed = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
    parsed.map(Some).ok_or_else(|| format!("{what}, or \"-\", for {name}"))
}

fn number(text: &[u8]) -> Option<f64> {
    let is_of_numbers = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    let text = std::str::from_utf8(text).ok().filter(|text| text.bytes().all(|byte| is_of_numbers(&byte)))?;
    text.parse().ok()
}

/// Times of one upstream after the other, with ", " between two and " : " where an internal redirect lies between; their
/// sum, `None` if none of them is there. And how long the list is.
fn list(rest: &[u8]) -> Option<(Option<f64>, usize)> {
    let (mut sum, mut at) = (None, 0);
    loop {
        let item = &rest[at..];
        let length = match item.first()? {
            b'-' => 1,
            _ => item.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'.').unwrap_or(item.len()),
        };
        if item[0] != b'-' {
            sum = Some(sum.unwrap_or(0.0) + number(&item[..length])?);
        }
        at += length;
        let is_item = |byte: &u8| byte.is_ascii_digit() || *byte == b'-';
        let between = [&b", "[..], b" : "].into_iter().find(|between| {
            rest[at..].strip_prefix(*between).is_some_and(|after| after.first().is_some_and(is_item))
        });
        match between {
            Some(between) => at += between.len(),
            None => return Some((sum, at)),
        }
    }
}

/// nginx escapes characters that could end a quoted value, and bytes that are not text, as `\x22`.
fn unescaped(value: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value;
    while let [first, after @ ..] = rest {
        let code = rest.strip_prefix(b"\\x").and_then(|after| after.first_chunk::<2>());
        let byte = code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &rest[4..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

const SERVERS_OWN: &str =
    "The times are the server's own: without the handshakes, and without the network to the client.";

/// How much of a line a message shows.
const SHOWN: usize = 40;

#[cfg(test)]
mod tests;
