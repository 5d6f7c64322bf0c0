//! JSON of any size in little memory: a parser stores each string completely, and a byte for each
//! open bracket.
//!
//! After [`LONGEST_STRING`] bytes a string continues as [`MARK`] alone, and a reader of its text
//! detects the cut by that mark ([`is_cut`]). Brackets beyond [`DEEPEST`] become a byte that is
//! invalid in JSON.

use std::{
    cell::RefCell,
    io::{self, Read},
    rc::Rc,
};

use crate::read::LONGEST_LINE;

pub(super) struct Bounded<R> {
    input: R,
    state: State,
    length: usize,
    depth: usize,
    line: u64,
    column: u64,
    cuts: Rc<RefCell<Cuts>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Outside,
    String,
    Escape,
    Cutting,
    CuttingEscape,
}

#[derive(Debug, Default)]
pub(super) struct Cuts {
    /// Line, column after which something is missing as the parser counts, and how many bytes.
    missing: Vec<(u64, u64, u64)>,
    pub is_too_deep: bool,
}

impl Cuts {
    pub fn column(&self, line: u64, column: u64) -> u64 {
        let before = self.missing.iter().filter(|&&(at, behind, _)| at == line && behind < column);
        column + before.map(|(_, _, bytes)| bytes).sum::<u64>()
    }
}

impl<R: Read> Bounded<R> {
    pub fn new(input: R) -> Self {
        let cuts = Rc::default();
        Self { input, state: State::Outside, length: 0, depth: 0, line: 1, column: 0, cuts }
    }

    pub fn cuts(&self) -> Rc<RefCell<Cuts>> {
        Rc::clone(&self.cuts)
    }

    fn keep(&mut self, bytes: &mut [u8]) -> usize {
        let (mut from, mut kept) = (0, 0);
        while from < bytes.len() {
            let run = match self.state {
                State::String => self.plain(&bytes[from..]),
                _ => 0,
            };
            if run > 0 {
                bytes.copy_within(from..from + run, kept);
                (from, kept) = (from + run, kept + run);
                self.length += run;
                self.column += run as u64;
                continue;
            }
            let byte = bytes[from];
            from += 1;
            if let Some(byte) = self.step(byte) {
                bytes[kept] = byte;
                kept += 1;
                if byte == b'\n' {
                    (self.line, self.column) = (self.line + 1, 0);
                } else {
                    self.column += 1;
                }
            }
        }
        kept
    }

    /// How many bytes follow that are only text of a string and may stay.
    fn plain(&self, rest: &[u8]) -> usize {
        let room = LONGEST_STRING.saturating_sub(self.length).min(rest.len());
        memchr::memchr3(b'"', b'\\', b'\n', &rest[..room]).unwrap_or(room)
    }

    /// `None` drops the byte.
    fn step(&mut self, byte: u8) -> Option<u8> {
        match self.state {
            State::Outside => {
                match byte {
                    b'"' => (self.state, self.length) = (State::String, 0),
                    b'[' | b'{' => {
                        self.depth += 1;
                        if self.depth > DEEPEST {
                            self.cuts.borrow_mut().is_too_deep = true;
                            return Some(0);
                        }
                    }
                    b']' | b'}' => self.depth = self.depth.saturating_sub(1),
                    _ => {}
                }
                Some(byte)
            }
            State::String if byte == b'"' => {
                self.state = State::Outside;
                Some(byte)
            }
            // Nothing can be cut in the middle of a character.
            State::String if self.length >= LONGEST_STRING && !is_continuation(byte) => {
                self.state = if byte == b'\\' { State::CuttingEscape } else { State::Cutting };
                self.cuts.borrow_mut().missing.push((self.line, self.column + 1, 0));
                Some(MARK)
            }
            State::String => {
                self.length += 1;
                if byte == b'\\' {
                    self.state = State::Escape;
                }
                Some(byte)
            }
            // Bytes of one character count as one, so its digits are not separated.
            State::Escape => {
                self.length = if byte == b'u' { self.length.saturating_sub(4) } else { self.length };
                self.state = State::String;
                Some(byte)
            }
            State::Cutting if byte == b'"' => {
                self.state = State::Outside;
                Some(byte)
            }
            State::Cutting | State::CuttingEscape => {
                let is_escape = self.state == State::Cutting && byte == b'\\';
                self.state = if is_escape { State::CuttingEscape } else { State::Cutting };
                if let Some((_, _, bytes)) = self.cuts.borrow_mut().missing.last_mut() {
                    *bytes += 1;
                }
                None
            }
        }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.input.read(buffer)?;
            if read == 0 {
                return Ok(0);
            }
            let kept = self.keep(&mut buffer[..read]);
            if kept > 0 {
                return Ok(kept);
            }
        }
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// It ends in [`MARK`] and is as long as only such a text is.
pub(super) fn is_cut(text: &str) -> bool {
    text.len() >= LONGEST_STRING / 2 && text.ends_with(char::from(MARK))
}

pub(super) const LONGEST_STRING: usize = LONGEST_LINE;

/// The end of a string that was cut: the control character DEL, which JSON allows.
const MARK: u8 = 0x7F;

/// No recording nests more than ten.
const DEEPEST: usize = 1000;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// In pieces of `step` bytes.
    fn bounded(text: &[u8], step: usize) -> (Vec<u8>, Rc<RefCell<Cuts>>) {
        let mut reader = Bounded::new(text);
        let (mut all, mut buffer) = (Vec::new(), vec![0; step]);
        loop {
            match reader.read(&mut buffer).unwrap() {
                0 => return (all, reader.cuts()),
                read => all.extend_from_slice(&buffer[..read]),
            }
        }
    }

    #[test]
    fn a_long_string_goes_on_as_a_mark() {
        let text =
            |length: usize, more: &str| format!("{{\"a\":\n\"{}\",\"b\":1}}", "x".repeat(length) + more);
        let longest = text(LONGEST_STRING, "");
        assert_eq!(bounded(longest.as_bytes(), 4096).0, longest.as_bytes());
        for more in ["y", "yyyyyyy\\\"yyy", "\\u0041", "\u{e4}"] {
            for step in [1000, 1 << 20, 5 << 20] {
                let (cut, cuts) = bounded(text(LONGEST_STRING, more).as_bytes(), step);
                let value: serde_json::Value = serde_json::from_slice(&cut).unwrap();
                assert!(is_cut(value["a"].as_str().unwrap()), "{more}");
                assert_eq!(value["b"], 1);
                let behind = LONGEST_STRING as u64 + 3;
                assert_eq!(cuts.borrow().column(2, behind), behind + more.len() as u64 - 1, "{more}");
                assert_eq!((cuts.borrow().column(2, 5), cuts.borrow().column(1, behind)), (5, behind));
            }
        }
    }

    #[test]
    fn brackets_without_end() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert_eq!(bounded(nested(DEEPEST).as_bytes(), 64).0, nested(DEEPEST).as_bytes());
        let (cut, cuts) = bounded(nested(DEEPEST + 1).as_bytes(), 64);
        assert!(cuts.borrow().is_too_deep && cut[DEEPEST] == 0);
        let text = format!("\"{}\"", nested(DEEPEST + 1));
        assert_eq!(bounded(text.as_bytes(), 64).0, text.as_bytes());
    }

    proptest! {
        #[test]
        fn what_is_short_stays_as_it_is(text in "[\"\\\\\\[\\]{}:,a\u{e4}\n]{0,100}", step in 1_usize..40) {
            prop_assert_eq!(bounded(text.as_bytes(), step).0, text.into_bytes());
        }
    }
}
