//! The content of a line, and how the values in it are written.

use super::{
    Problem,
    format::{Field, Kind, Scale, Stamped},
};
use crate::{
    Metric, Sample, Unit,
    read::{Labels, Options, number, rfc3339, seconds::Seconds},
    unit::nanoseconds,
};

pub(super) struct Fields<'o> {
    pub sample: Sample,
    pub exact: Vec<(Metric, f64)>,
    pub labels: &'o Labels,
    /// When the line was written, or when the request began, ns since 1970.
    pub time: Option<(u64, Stamped)>,
    pub resolution_ns: u64,
    /// Whether durations in seconds are really seconds.
    pub seconds: Seconds,
    /// Numbers without a fraction, as written, with their positions.
    pub plain: Vec<(usize, String)>,
    pub at: usize,
    pub escapes: Escapes,
    given: Option<Unit>,
    /// Durations in seconds: without a fraction, and with one.
    pub whole_seconds: u64,
    pub fractions: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escapes {
    None,
    /// `\x22`, as nginx.
    Hex,
    /// Also `\"` and `\\`, as Apache.
    Backslash,
    /// `%22`, and `+` for a blank.
    Percent,
}

impl<'o> Fields<'o> {
    pub fn new(options: &'o Options) -> Self {
        Self {
            sample: Sample::default(),
            exact: Vec::new(),
            labels: &options.labels,
            time: None,
            resolution_ns: 0,
            seconds: Seconds::new(options.unit),
            plain: Vec::new(),
            at: 0,
            escapes: Escapes::Hex,
            given: options.unit,
            whole_seconds: 0,
            fractions: 0,
        }
    }

    pub fn clear(&mut self) {
        self.sample = Sample::default();
        self.exact.clear();
        self.plain.clear();
        self.time = None;
    }

    /// Where a server writes seconds, a fraction proves them.
    pub fn unit(&mut self, scale: Scale, value: &[u8]) -> Unit {
        let is_whole = !value.contains(&b'.');
        match scale {
            Scale::Proven if is_whole => {
                self.plain.push((self.at, String::from_utf8_lossy(value).into_owned()));
                self.seconds.unit()
            }
            Scale::Proven => {
                self.seconds.prove();
                self.seconds.unit()
            }
            Scale::Fixed(unit) => self.noted(unit, is_whole),
            Scale::Default(unit) => self.noted(self.given.unwrap_or(unit), is_whole),
        }
    }

    pub fn is_unit_given(&self) -> bool {
        self.given.is_some()
    }

    fn noted(&mut self, unit: Unit, is_whole: bool) -> Unit {
        if unit == Unit::S {
            *if is_whole { &mut self.whole_seconds } else { &mut self.fractions } += 1;
        }
        unit
    }

    pub fn duration(&mut self, metric: Metric, milliseconds: f64) {
        self.exact.push((metric, milliseconds));
        self.sample.set(metric, Some(nanoseconds(milliseconds)));
    }

    /// Of several times the finest counts.
    pub fn moment(&mut self, ns: u64, resolution_ns: u64, stamped: Stamped) {
        if self.time.is_none() || resolution_ns < self.resolution_ns {
            self.time = Some((ns, stamped));
            self.resolution_ns = resolution_ns;
        }
    }

    /// Ignores unwanted and absent labels.
    pub fn label(&mut self, name: &str, value: &[u8]) {
        if self.labels.wants(name) && !is_absent(value) {
            self.sample.labels.insert(name.to_owned(), self.escapes.undo(value));
        }
    }

    pub fn fail(&mut self, reason: impl Into<String>) {
        self.sample.error.get_or_insert_with(|| reason.into());
    }

    /// Values that follow only from the whole line.
    pub fn finish(&mut self) {
        let took = self.exact.iter().map(|&(_, ms)| ms).fold(0.0, f64::max);
        self.sample.started_ns = self.time.map(|(ns, stamped)| match stamped {
            Stamped::Start => ns,
            Stamped::End => ns.saturating_sub(nanoseconds(took)),
        });
        match self.sample.status {
            Some(499) => self.fail("the client closed the connection (499)"),
            Some(0) => self.fail("no response (0)"),
            _ => {}
        }
    }
}

impl Escapes {
    fn undo(self, value: &[u8]) -> String {
        let mut bytes = Vec::with_capacity(value.len());
        let mut rest = value;
        while let [first, after @ ..] = rest {
            let (byte, length) = self.one(rest).unwrap_or((*first, 1));
            bytes.push(byte);
            rest = after.get(length - 1..).unwrap_or_default();
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn one(self, rest: &[u8]) -> Option<(u8, usize)> {
        let hex = |digits: &[u8]| {
            let digits = std::str::from_utf8(digits.first_chunk::<2>()?).ok()?;
            u8::from_str_radix(digits, 16).ok()
        };
        match (self, rest) {
            (Self::Hex | Self::Backslash, [b'\\', b'x', after @ ..]) => Some((hex(after)?, 4)),
            (Self::Backslash, [b'\\', letter, ..]) => {
                let byte = match letter {
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    other => *other,
                };
                Some((byte, 2))
            }
            (Self::Percent, [b'%', after @ ..]) => Some((hex(after)?, 3)),
            (Self::Percent, [b'+', ..]) => Some((b' ', 1)),
            _ => None,
        }
    }
}

/// The value ends where the text after it begins.
pub(super) fn take_value(
    Field { name, kind }: &Field,
    value: &[u8],
    found: &mut Fields<'_>,
) -> Result<(), String> {
    match kind {
        Kind::Duration(metric, scale) => {
            if !is_absent(value) {
                let unit = found.unit(*scale, value);
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
        Kind::Request => request(value, found),
        Kind::Path => found.label("path", path(value)),
        Kind::Cache => {
            let text = found.escapes.undo(value).to_ascii_lowercase();
            found.sample.cache = Some(text).filter(|_| !is_absent(value));
        }
        Kind::Tier => {
            found.sample.tier = Some(found.escapes.undo(value)).filter(|_| !is_absent(value));
        }
        Kind::Connection if value == b"X" => found.fail("the connection broke off (X)"),
        Kind::Connection => {}
        Kind::Flags => {
            let has = |flag: &[u8]| value.split(|&byte| byte == b',').any(|part| part == flag);
            if has(b"DC") || has(b"DR") {
                let flags = String::from_utf8_lossy(value).into_owned();
                found.fail(format!("the client closed the connection ({flags})"));
            }
            found.label("response_flags", value);
        }
        Kind::Label(label) => found.label(label, value),
        Kind::Time { .. } | Kind::Durations(..) => {}
    }
    Ok(())
}

/// "GET /a?b HTTP/1.1". Invalid requests, such as a TLS handshake, have no parts.
pub(super) fn request(value: &[u8], found: &mut Fields<'_>) {
    found.label("request", value);
    let Some(first) = memchr::memchr(b' ', value) else { return };
    let (method, rest) = (&value[..first], &value[first + 1..]);
    // A client may put blanks into a path.
    let last = memchr::memrchr(b' ', rest).filter(|last| !rest[last + 1..].is_empty());
    let Some(last) = last else { return };
    if !method.is_empty() && last > 0 {
        found.label("method", method);
        found.label("path", path(&rest[..last]));
        found.label("protocol", &rest[last + 1..]);
    }
}

pub(super) fn is_absent(value: &[u8]) -> bool {
    value.is_empty() || value == b"-"
}

/// Without the query; also of a URL.
pub(super) fn path(value: &[u8]) -> &[u8] {
    let value = match memchr::memmem::find(value, b"://") {
        Some(at) if value[..at].iter().all(u8::is_ascii_alphabetic) => {
            let after = &value[at + 3..];
            let Some(slash) = memchr::memchr(b'/', after) else { return b"/" };
            &after[slash..]
        }
        _ => value,
    };
    &value[..memchr::memchr(b'?', value).unwrap_or(value.len())]
}

pub(super) fn whole<T: std::str::FromStr>(value: &[u8], what: &str, name: &str) -> Result<Option<T>, String> {
    if is_absent(value) {
        return Ok(None);
    }
    let parsed = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
    parsed.map(Some).ok_or_else(|| format!("{what}, or \"-\", for {name}"))
}

pub(super) fn number(text: &[u8]) -> Option<f64> {
    let is_of_numbers = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    let text = std::str::from_utf8(text).ok().filter(|text| text.bytes().all(|byte| is_of_numbers(&byte)))?;
    text.parse().ok()
}

/// Times of successive upstreams, separated by ", ", or by " : " at an internal redirect. Returns
/// their sum, `None` if all are absent, and the length of the list.
pub(super) fn list(rest: &[u8]) -> Option<(Option<f64>, usize)> {
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

/// Ns since 1970 and the resolution: RFC 3339, or a number whose size determines its unit.
pub(super) fn instant(text: &str) -> Option<(u64, u64)> {
    const SECOND: u64 = 1_000_000_000;
    const FINE: u64 = 1_000_000;
    let Some(whole) = text.split('.').next().and_then(|whole| whole.parse::<u64>().ok()) else {
        let ns = rfc3339(text).or_else(|| crate::read::time::date(text))?;
        return Some((ns, if text.contains(['.', ',']) { FINE } else { SECOND }));
    };
    let unit = match whole {
        100_000_000..100_000_000_000 => Unit::S,
        100_000_000_000..100_000_000_000_000 => Unit::Ms,
        100_000_000_000_000..100_000_000_000_000_000 => Unit::Us,
        100_000_000_000_000_000.. => Unit::Ns,
        _ => return None,
    };
    let ns = number::nanoseconds(text.as_bytes(), unit)?;
    Some((ns, if unit == Unit::S && !text.contains('.') { SECOND } else { FINE }))
}

pub(super) fn departs(offset: usize, rest: &[u8], expected: String) -> Problem {
    if rest.is_empty() {
        return Problem { offset, found: "the end of the line".to_owned(), expected };
    }
    let text = String::from_utf8_lossy(&rest[..rest.len().min(4 * SHOWN)]);
    let short: String = text.chars().take(SHOWN).collect();
    let dots = if short.len() < rest.len() { "..." } else { "" };
    Problem { offset, found: format!("{short:?}{dots}"), expected }
}

const SHOWN: usize = 40;
