//! Lines of a file, in bounded memory and without copying them.

use std::{
    io::{self, Read},
    path::PathBuf,
};

use super::number;
use crate::{Error, Place};

pub(crate) struct Lines<R> {
    input: R,
    path: PathBuf,
    buffer: Box<[u8]>,
    /// Bytes that were read and not yet returned: `buffer[start..end]`.
    start: usize,
    end: usize,
    line: u64,
    ended: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line<'b> {
    /// From 1.
    pub number: u64,
    /// Without "\n" or "\r\n"; the first line also without a byte order mark.
    pub text: &'b [u8],
    /// Only the last line may lack it.
    pub terminated: bool,
}

impl<R: Read> Lines<R> {
    /// `path` is for messages; nothing is opened.
    pub(crate) fn new(input: R, path: PathBuf) -> Self {
        let buffer = vec![0; LONGEST_LINE + 1].into_boxed_slice();
        Self { input, path, buffer, start: 0, end: 0, line: 0, ended: false }
    }

    pub(crate) fn next(&mut self) -> Result<Option<Line<'_>>, Error> {
        let mut searched = 0;
        let (length, terminated) = loop {
            let unread = &self.buffer[self.start..self.end];
            if let Some(more) = memchr::memchr(b'\n', &unread[searched..]) {
                break (searched + more, true);
            }
            searched = unread.len();
            if self.ended {
                if searched == 0 {
                    return Ok(None);
                }
                break (searched, false);
            }
            self.fill()?;
        };
        self.line += 1;
        let text = &self.buffer[self.start..self.start + length];
        self.start += length + usize::from(terminated);
        let text = if self.line == 1 { text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text) } else { text };
        let text = if terminated { text.strip_suffix(b"\r").unwrap_or(text) } else { text };
        Ok(Some(Line { number: self.line, text, terminated }))
    }

    /// The next line, if it is a plain decimal number that is accepted and complete in the buffer;
    /// otherwise nothing is consumed.
    pub(crate) fn next_number(&mut self, accept: impl Fn(f64) -> Option<f64>) -> Option<f64> {
        let unread = &self.buffer[self.start..self.end];
        let (value, length) = number::short_line(unread).or_else(|| number::leading(unread))?;
        let value = accept(value)?;
        let ending = match unread.get(length..length + 2)? {
            [b'\n', _] => 1,
            b"\r\n" => 2,
            _ => return None,
        };
        self.start += length + ending;
        self.line += 1;
        Some(value)
    }

    /// Without consuming it; empty at the end.
    pub(crate) fn peek(&mut self) -> Result<&[u8], Error> {
        loop {
            let unread = &self.buffer[self.start..self.end];
            if let Some(length) = memchr::memchr(b'\n', unread) {
                let text = &self.buffer[self.start..self.start + length];
                return Ok(text.strip_suffix(b"\r").unwrap_or(text));
            }
            if self.ended {
                return Ok(&self.buffer[self.start..self.end]);
            }
            self.fill()?;
        }
    }

    /// `column` from 1.
    pub(crate) fn place(&self, line: u64, column: usize) -> Place {
        Place { path: self.path.clone(), line, column: column as u64 }
    }

    pub(crate) fn number(&self) -> u64 {
        self.line
    }

    fn fill(&mut self) -> Result<(), Error> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end == self.buffer.len() {
            let place = self.place(self.line + 1, LONGEST_LINE);
            return Err(Error::LineTooLong { place, limit: LONGEST_LINE });
        }
        let until = (self.end + CHUNK).min(self.buffer.len());
        match self.input.read(&mut self.buffer[self.end..until]) {
            Ok(0) => self.ended = true,
            Ok(read) => self.end += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => return Err(Error::Read { place: self.place(self.line + 1, 1), source }),
        }
        Ok(())
    }
}

/// A sample with every field takes a kilobyte.
pub(crate) const LONGEST_LINE: usize = 1 << 20;

/// System calls do not count, and it stays in a core's own cache.
const CHUNK: usize = 256 << 10;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// In pieces of `step` bytes.
    fn lines(text: &[u8], step: usize) -> Vec<(Vec<u8>, bool)> {
        struct Slow<'t>(&'t [u8], usize);
        impl Read for Slow<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let (now, later) = self.0.split_at(self.1.min(self.0.len()).min(buffer.len()));
                buffer[..now.len()].copy_from_slice(now);
                self.0 = later;
                Ok(now.len())
            }
        }
        let mut lines = Lines::new(Slow(text, step), PathBuf::from("x"));
        let mut found = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            assert_eq!(line.number, found.len() as u64 + 1);
            found.push((line.text.to_vec(), line.terminated));
        }
        found
    }

    #[test]
    fn ends_and_marks_are_taken_off() {
        let found = lines(b"\xEF\xBB\xBFa\r\n\n b\r\nc\r", 1);
        let expected: [(&[u8], bool); 4] = [(b"a", true), (b"", true), (b" b", true), (b"c\r", false)];
        assert_eq!(found, expected.map(|(text, terminated)| (text.to_vec(), terminated)));
        assert_eq!(lines(b"", 1), []);
    }

    #[test]
    fn a_line_that_never_ends_is_an_error() {
        let longest = vec![b'7'; LONGEST_LINE];
        let read = |text: Vec<u8>| Lines::new(text.as_slice(), PathBuf::from("x")).next().map(|_| ());
        assert!(read([longest.as_slice(), b"\n"].concat()).is_ok());
        let error = read([longest.as_slice(), b"77"].concat()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "x:1:1048576: the line is longer than 1048576 bytes; expected a line end before that"
        );
    }

    proptest! {
        #[test]
        fn the_size_of_reads_does_not_matter(text in "[a\\n\\r]{0,200}", step in 1_usize..50) {
            prop_assert_eq!(lines(text.as_bytes(), step), lines(text.as_bytes(), 1 << 20));
            let back: Vec<u8> = lines(text.replace('\r', "").as_bytes(), step)
                .into_iter()
                .flat_map(|(text, terminated)| text.into_iter().chain(terminated.then_some(b'\n')))
                .collect();
            prop_assert_eq!(back, text.replace('\r', "").into_bytes());
        }
    }
}
