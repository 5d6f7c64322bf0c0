//! Decodes UTF-16 into UTF-8: spreadsheets and shells on Windows write it.

use std::{
    io::{self, Cursor, Read},
    path::Path,
};

use super::unpack;
use crate::{Error, Place};

/// Converted if they begin with the byte order mark of UTF-16.
pub(super) fn decode<'i>(
    head: Vec<u8>,
    rest: Box<dyn Read + 'i>,
    path: &Path,
) -> Result<(Vec<u8>, Box<dyn Read + 'i>), Error> {
    let unit: fn([u8; 2]) -> u16 = match head.get(..2) {
        Some(b"\xFF\xFE") => u16::from_le_bytes,
        Some(b"\xFE\xFF") => u16::from_be_bytes,
        _ => return Ok((head, rest)),
    };
    let mut decoded =
        Utf16 { input: Cursor::new(head).chain(rest), unit, raw: Vec::new(), text: Cursor::default() };
    let failed = |source| Error::Read { place: Place { path: path.to_owned(), line: 1, column: 1 }, source };
    let head = unpack::head(&mut decoded).map_err(failed)?;
    Ok((head, Box::new(decoded)))
}

struct Utf16<R> {
    input: R,
    unit: fn([u8; 2]) -> u16,
    raw: Vec<u8>,
    text: Cursor<String>,
}

impl<R: Read> Utf16<R> {
    /// Returns false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        let before = self.raw.len();
        self.raw.resize(before + CHUNK, 0);
        let read = self.input.read(&mut self.raw[before..])?;
        self.raw.truncate(before + read);
        let is_end = read == 0;
        let units: Vec<_> = self.raw.chunks_exact(2).map(|pair| (self.unit)([pair[0], pair[1]])).collect();
        // The second of a pair may follow.
        let is_open = !is_end && units.last().is_some_and(|unit| (0xD800..0xDC00).contains(unit));
        let whole = units.len() - usize::from(is_open);
        let mut text = String::new();
        for decoded in char::decode_utf16(units.into_iter().take(whole)) {
            text.push(
                decoded
                    .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "half of a pair of UTF-16"))?,
            );
        }
        self.raw.drain(..2 * whole);
        if is_end && !self.raw.is_empty() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the file ends within a character of UTF-16",
            ));
        }
        self.text = Cursor::new(text);
        Ok(!is_end)
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.text.read(buffer)?;
            if read > 0 || buffer.is_empty() || !self.fill()? {
                return if read > 0 { Ok(read) } else { self.text.read(buffer) };
            }
        }
    }
}

const CHUNK: usize = 8192;

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8]) -> io::Result<String> {
        let failed = |error: Error| match error {
            Error::Read { source, .. } => source,
            other => panic!("{other}"),
        };
        let rest = Box::new(io::empty());
        let (head, mut rest) = decode(bytes.to_vec(), rest, Path::new("x")).map_err(failed)?;
        let mut text = String::from_utf8(head).unwrap();
        rest.read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn both_byte_orders_and_pairs() {
        for text in [
            "a".to_owned(),
            "latency_ms\n12,5\u{e4}\u{1F30D}\n".repeat(2000),
            format!("a{}", "\u{1F30D}".repeat(9000)),
        ] {
            let marked = || std::iter::once(0xFEFF).chain(text.encode_utf16());
            let little: Vec<u8> = marked().flat_map(u16::to_le_bytes).collect();
            let big: Vec<u8> = marked().flat_map(u16::to_be_bytes).collect();
            let expected = format!("\u{FEFF}{text}");
            assert_eq!(decoded(&little).unwrap(), expected);
            assert_eq!(decoded(&big).unwrap(), expected);
        }
    }

    #[test]
    fn what_is_no_utf_16_is_left_or_refused() {
        assert_eq!(decoded(b"latency_ms\n1\n").unwrap(), "latency_ms\n1\n");
        assert_eq!(decoded(b"\xFF\xFE").unwrap(), "\u{FEFF}");
        for bytes in [&b"\xFF\xFEa\0b"[..], b"\xFF\xFE\x00\xDCa\0", b"\xFF\xFE\x00\xD8"] {
            assert!(decoded(bytes).is_err(), "{bytes:?}");
        }
    }
}
