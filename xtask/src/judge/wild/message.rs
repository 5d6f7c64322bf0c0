//! HTTP/1.1 messages for the scripted origin and the clients.

use std::io::Read;

use super::clock::since_epoch;

#[derive(Debug, Clone, Default)]
pub(super) struct Head {
    pub(super) start: String,
    pub(super) fields: Vec<(String, String)>,
}

impl Head {
    fn parse(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let mut lines = text.split("\r\n");
        let start = lines.next().unwrap_or_default().to_owned();
        let field = |line: &str| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_owned(), value.trim().to_owned()))
        };
        Self { start, fields: lines.filter_map(field).collect() }
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.values(name).next()
    }

    /// All values of a field, in their order.
    pub(super) fn values<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        self.fields
            .iter()
            .filter(move |(own, _)| own.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unframed {
    Empty,
    UntilClose,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Content {
    pub(super) bytes: Vec<u8>,
    pub(super) is_complete: bool,
}

pub(super) struct Reader<S> {
    source: S,
    buffer: Vec<u8>,
}

impl<S: Read> Reader<S> {
    pub(super) fn new(source: S) -> Self {
        Self { source, buffer: Vec::new() }
    }

    /// Returns `None` at the end of the connection.
    pub(super) fn head(&mut self) -> Option<Head> {
        self.until(b"\r\n\r\n").map(|bytes| Head::parse(&bytes))
    }

    pub(super) fn content(&mut self, head: &Head, unframed: Unframed) -> Content {
        if head
            .get("transfer-encoding")
            .is_some_and(|coding| coding.to_ascii_lowercase().ends_with("chunked"))
        {
            return self.chunks();
        }
        match head.get("content-length").and_then(|length| length.parse().ok()) {
            Some(length) => self.take(length),
            None if unframed == Unframed::Empty => Content { bytes: Vec::new(), is_complete: true },
            None => {
                while self.more() {}
                Content { bytes: std::mem::take(&mut self.buffer), is_complete: true }
            }
        }
    }

    fn chunks(&mut self) -> Content {
        let mut content = Content::default();
        while let Some(line) = self.until(b"\r\n") {
            let text = String::from_utf8_lossy(&line);
            let Ok(length) = usize::from_str_radix(text.trim(), 16) else { break };
            let chunk = self.take(length);
            content.bytes.extend(&chunk.bytes);
            let is_ended = self.until(b"\r\n").is_some();
            if length == 0 || !chunk.is_complete || !is_ended {
                content.is_complete = length == 0 && is_ended;
                break;
            }
        }
        content
    }

    fn take(&mut self, length: usize) -> Content {
        while self.buffer.len() < length && self.more() {}
        let is_complete = self.buffer.len() >= length;
        let bytes = self.buffer.drain(..length.min(self.buffer.len())).collect();
        Content { bytes, is_complete }
    }

    fn until(&mut self, end: &[u8]) -> Option<Vec<u8>> {
        loop {
            if let Some(at) = self.buffer.windows(end.len()).position(|window| window == end) {
                return Some(self.buffer.drain(..at + end.len()).collect());
            }
            if !self.more() {
                return None;
            }
        }
    }

    fn more(&mut self) -> bool {
        let mut piece = [0; 16 * 1024];
        match self.source.read(&mut piece) {
            Ok(length) if length > 0 => {
                self.buffer.extend_from_slice(&piece[..length]);
                true
            }
            _ => false,
        }
    }
}

/// The IMF-fixdate of a number of seconds before now (RFC 9110 section 5.6.7).
pub(super) fn date_before_now(seconds: u64) -> String {
    date(since_epoch().as_secs().saturating_sub(seconds))
}

/// The IMF-fixdate of a number of seconds after now, which may be negative.
pub(super) fn date_from_now(seconds: i64) -> String {
    date(since_epoch().as_secs().saturating_add_signed(seconds))
}

/// The civil calendar repeats every 146 097 days; years are counted from March.
fn date(second: u64) -> String {
    let days = second / 86_400;
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let name = "MarAprMayJunJulAugSepOctNovDecJanFeb";
    let place = usize::try_from(month * 3).unwrap_or_default();
    let weekday = usize::try_from(days % 7 * 3).unwrap_or_default();
    let year = year + era * 400 + u64::from(month >= 10);
    let (hour, minute, second) = (second / 3600 % 24, second / 60 % 60, second % 60);
    format!(
        "{}, {of_month:02} {} {year} {hour:02}:{minute:02}:{second:02} GMT",
        &"ThuFriSatSunMonTueWed"[weekday..weekday + 3],
        &name[place..place + 3],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_becomes_the_date_of_the_rfc() {
        assert_eq!(date(784_111_777), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(date(951_782_400), "Tue, 29 Feb 2000 00:00:00 GMT");
        assert_eq!(date(0), "Thu, 01 Jan 1970 00:00:00 GMT");
    }

    #[test]
    fn chunks_are_joined_and_a_missing_end_is_seen() {
        let read = |bytes: &[u8]| {
            let mut reader = Reader::new(bytes);
            let head = reader.head().unwrap();
            reader.content(&head, Unframed::UntilClose)
        };
        let whole =
            read(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n");
        assert_eq!((whole.bytes.as_slice(), whole.is_complete), (&b"abcd"[..], true));
        let torn = read(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
        assert!(!torn.is_complete);
        let short = read(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc");
        assert!(!short.is_complete);
    }
}
