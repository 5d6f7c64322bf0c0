//! The chunked transfer coding (RFC 9112 section 7.1), reading and writing.
//!
//! Sizes are hexadecimal digits, optionally padded with spaces, as some old servers do; lines end
//! only with CR LF.

use bytes::BytesMut;
use hyper::{
    HeaderMap,
    header::{HeaderName, HeaderValue},
};

use super::{Chunk, Malformed, chunk::take, clear_trailers, head, may_trail};
use crate::limits;

/// A decoder of the chunked coding.
#[derive(Debug)]
pub struct Decoder {
    state: State,
    extensions: usize,
    trailers: head::HeadEnd,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Size,
    /// In a chunk's data with this many bytes remaining; more than 0.
    Data(u64),
    DataEnd,
    Trailers,
    End,
}

impl Decoder {
    /// Starts at the beginning of a body.
    #[expect(clippy::new_without_default, reason = "it is where a body begins, and no value of its own")]
    pub fn new() -> Self {
        Self { state: State::Size, extensions: 0, trailers: head::HeadEnd::default() }
    }

    /// Whether these bytes can be the beginning of a chunked body.
    pub fn can_begin(bytes: &[u8]) -> bool {
        let (mut decoder, mut bytes) = (Self::new(), BytesMut::from(bytes));
        loop {
            match decoder.next(&mut bytes) {
                Ok(Chunk::Wanting | Chunk::End) => return true,
                Ok(Chunk::Data(_) | Chunk::Trailers(_)) => {}
                Err(_) => return false,
            }
        }
    }

    /// Takes the next piece from the front of `bytes`.
    ///
    /// # Errors
    /// The coding is invalid, or a line, the extensions or the trailers exceed their limits.
    pub fn next(&mut self, bytes: &mut BytesMut) -> Result<Chunk, Malformed> {
        loop {
            match &mut self.state {
                State::Size => {
                    let Some(line) = line(bytes)? else { return Ok(Chunk::Wanting) };
                    let (size, extension) = size(&line)?;
                    self.extensions += extension;
                    if self.extensions > EXTENSION_BYTES {
                        return Err(Malformed::TooLarge);
                    }
                    self.state = if size == 0 { State::Trailers } else { State::Data(size) };
                }
                State::Data(_) if bytes.is_empty() => return Ok(Chunk::Wanting),
                State::Data(left) => {
                    let data = take(bytes, left);
                    if *left == 0 {
                        self.state = State::DataEnd;
                    }
                    return Ok(Chunk::Data(data));
                }
                State::DataEnd => match &bytes[..] {
                    [b'\r', b'\n', ..] => {
                        drop(bytes.split_to(2));
                        self.state = State::Size;
                    }
                    [] | [b'\r'] => return Ok(Chunk::Wanting),
                    _ => return Err(Malformed::Framing),
                },
                State::Trailers => {
                    let Some(trailers) = self.trailers(bytes)? else { return Ok(Chunk::Wanting) };
                    self.state = State::End;
                    if !trailers.is_empty() {
                        return Ok(Chunk::Trailers(trailers));
                    }
                }
                State::End => return Ok(Chunk::End),
            }
        }
    }

    fn trailers(&mut self, bytes: &mut BytesMut) -> Result<Option<HeaderMap>, Malformed> {
        match &bytes[..] {
            [b'\r', b'\n', ..] => {
                drop(bytes.split_to(2));
                return Ok(Some(HeaderMap::new()));
            }
            [] | [b'\r'] => return Ok(None),
            _ => {}
        }
        let Some(end) = self.trailers.find(bytes, head::Lines::Strict)? else { return Ok(None) };
        let mut fields = head::fields(&bytes.split_to(end).freeze())?;
        clear_trailers(&mut fields);
        Ok(Some(fields))
    }
}

fn line(bytes: &mut BytesMut) -> Result<Option<BytesMut>, Malformed> {
    let most = bytes.len().min(LINE_BYTES);
    let Some(end) = memchr::memchr(b'\n', &bytes[..most]) else {
        return if most < LINE_BYTES { Ok(None) } else { Err(Malformed::TooLarge) };
    };
    let mut line = bytes.split_to(end + 1);
    line.truncate(end);
    if line.last() != Some(&b'\r') {
        return Err(Malformed::Framing);
    }
    line.truncate(end - 1);
    Ok(Some(line))
}

fn size(line: &[u8]) -> Result<(u64, usize), Malformed> {
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    if digits == 0 || digits > 16 {
        return Err(Malformed::Framing);
    }
    let (digits, extension) = line.split_at(digits);
    let size = digits.iter().fold(0, |size, &digit| size << 4 | u64::from(value(digit)));
    let is_padding = |byte: &u8| matches!(byte, b' ' | b'\t');
    let begins = extension.iter().find(|byte| !is_padding(byte));
    let is_text = extension.iter().all(|&byte| byte == b'\t' || (byte >= b' ' && byte != 0x7f));
    if begins.is_some_and(|&byte| byte != b';') || !is_text {
        return Err(Malformed::Framing);
    }
    Ok((size, extension.len()))
}

fn value(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    }
}

/// Writes the size line of a chunk, whose size must not be 0. [`LINE_END`] must follow its data.
pub fn write_size(to: &mut Vec<u8>, size: usize) {
    let digits = (size.max(1).ilog2() / 4 + 1) as usize;
    to.reserve(digits + LINE_END.len());
    for place in (0..digits).rev() {
        to.push(b"0123456789abcdef"[size >> (4 * place) & 0xf]);
    }
    to.extend_from_slice(LINE_END);
}

/// Writes the end of a body: the last chunk, and those trailers that are allowed.
pub fn write_end(to: &mut Vec<u8>, trailers: &HeaderMap) {
    to.extend_from_slice(b"0\r\n");
    let fit = |(name, _): &(&HeaderName, &HeaderValue)| may_trail(name);
    head::write_fields(to, trailers.iter().filter(fit));
    to.extend_from_slice(LINE_END);
}

/// The bytes after each chunk's data.
pub const LINE_END: &[u8] = b"\r\n";

/// The limit for a chunk's size line: up to sixteen digits, and extensions, which are practically
/// unused.
const LINE_BYTES: usize = 256;

/// Without it, each byte of data could be accompanied by a full line of extensions.
const EXTENSION_BYTES: usize = limits::HEADER_BYTES / 4;

#[cfg(test)]
mod tests;
