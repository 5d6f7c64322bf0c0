//! Records of CSV of Go's encoding/csv: quoted fields may hold line ends, and some fields may be of
//! any size.

use std::{
    io::{self, BufRead, BufReader, Read},
    path::PathBuf,
};

use crate::{Error, Place, read::LONGEST_LINE};

/// For unused fields, only the position is kept.
pub(super) struct Records<R> {
    input: BufReader<R>,
    path: PathBuf,
    skipped: &'static [usize],
    fields: Vec<Field>,
    count: usize,
    line: u64,
    column: u64,
    start: u64,
    is_whole: bool,
}

#[derive(Debug, Default)]
pub(super) struct Field {
    pub text: Vec<u8>,
    /// From 1.
    pub line: u64,
    pub column: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Begin,
    Plain,
    Quoted,
    Quote,
}

impl<R: Read> Records<R> {
    pub(super) fn new(input: R, path: PathBuf, skipped: &'static [usize]) -> Self {
        let input = BufReader::with_capacity(CHUNK, input);
        let (fields, line, column) = (Vec::new(), 1, 1);
        Self { input, path, skipped, fields, count: 0, line, column, start: 1, is_whole: true }
    }

    /// Returns `false` at the end. Empty lines are skipped.
    pub(super) fn next(&mut self) -> Result<bool, Error> {
        (self.count, self.start, self.is_whole) = (0, self.line, true);
        let mut state = State::Begin;
        loop {
            let Some(byte) = self.byte()? else { return self.end(state) };
            let (line, column) = (self.line, self.column);
            (self.line, self.column) = if byte == b'\n' { (line + 1, 1) } else { (line, column + 1) };
            if state == State::Begin && byte == b'\n' && self.count == 0 {
                self.start = self.line;
                continue;
            }
            if state == State::Begin {
                self.begin_field(line, column)?;
            }
            state = match (state, byte) {
                (State::Begin, b'"') => State::Quoted,
                (State::Quoted, b'"') => State::Quote,
                (State::Quote, b'"') | (State::Quoted, _) => self.push(byte, State::Quoted)?,
                (_, b',') => State::Begin,
                (_, b'\n') => {
                    self.trim();
                    return Ok(true);
                }
                (_, byte) => self.push(byte, State::Plain)?,
            };
        }
    }

    pub(super) fn fields(&self) -> &[Field] {
        &self.fields[..self.count]
    }

    pub(super) fn begins(&self) -> u64 {
        self.start
    }

    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }

    pub(super) fn place(&self, line: u64, column: u64) -> Place {
        Place { path: self.path.clone(), line, column }
    }

    fn byte(&mut self) -> Result<Option<u8>, Error> {
        let place = || Place { path: self.path.clone(), line: self.line, column: 1 };
        loop {
            match self.input.fill_buf() {
                Ok(bytes) => {
                    let byte = bytes.first().copied();
                    self.input.consume(usize::from(byte.is_some()));
                    return Ok(byte);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(Error::Read { place: place(), source }),
            }
        }
    }

    fn end(&mut self, state: State) -> Result<bool, Error> {
        self.is_whole = false;
        if state == State::Begin && self.count == 0 {
            return Ok(false);
        }
        let is_open = state == State::Quoted;
        if is_open && self.line > self.fields[self.count - 1].line {
            // The record spans several lines, so it is not truncated: a quote is misplaced.
            let Field { line, column, .. } = self.fields[self.count - 1];
            return Err(Error::Number {
                place: self.place(line, column),
                found: "a double quote that is not closed before the file's end".to_owned(),
                expected: "another double quote at the field's end",
            });
        }
        if state == State::Begin {
            self.begin_field(self.line, self.column)?;
        }
        Ok(true)
    }

    fn begin_field(&mut self, line: u64, column: u64) -> Result<(), Error> {
        if self.count == MOST_FIELDS {
            let (found, expected) = (MOST_FIELDS + 1, MOST_FIELDS);
            return Err(Error::Columns { place: self.place(line, column), found, expected });
        }
        if self.count == self.fields.len() {
            self.fields.push(Field::default());
        }
        let field = &mut self.fields[self.count];
        field.text.clear();
        (field.line, field.column) = (line, column);
        self.count += 1;
        Ok(())
    }

    /// Unless the field is ignored.
    fn push(&mut self, byte: u8, state: State) -> Result<State, Error> {
        if !self.skipped.contains(&(self.count - 1)) {
            let field = &mut self.fields[self.count - 1];
            field.text.push(byte);
            if field.text.len() > LONGEST_LINE {
                let (line, column) = (field.line, field.column);
                return Err(Error::LineTooLong { place: self.place(line, column), limit: LONGEST_LINE });
            }
        }
        Ok(state)
    }

    fn trim(&mut self) {
        if let Some(field) = self.fields[..self.count].last_mut() {
            field.text.truncate(field.text.trim_ascii_end().len());
        }
    }
}

/// System calls do not count from here on.
const CHUNK: usize = 256 << 10;

const MOST_FIELDS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &str) -> Result<Vec<Vec<String>>, String> {
        let mut records = Records::new(text.as_bytes(), PathBuf::from("x"), &[1]);
        let mut all = Vec::new();
        while records.next().map_err(|error| error.to_string())? {
            let text = |field: &Field| String::from_utf8(field.text.clone()).unwrap();
            all.push(records.fields().iter().map(text).collect());
        }
        Ok(all)
    }

    #[test]
    fn fields_in_quotes_and_without() {
        let all = records("a,b,c\r\n\n\"d \"\"e\"\",\nf\",\"b\nb\",\n").unwrap();
        assert_eq!(all, [vec!["a", "", "c"], vec!["d \"e\",\nf", "", ""]]);
        assert_eq!(records("a,b").unwrap(), [["a", ""]]);
        assert_eq!(records("").unwrap(), Vec::<Vec<String>>::new());
    }

    #[test]
    fn a_quote_that_is_not_closed_is_where_it_began() {
        let said = records("a,b\n1,2,\"x\n3,4\n").unwrap_err();
        assert!(said.starts_with("x:2:5: found a double quote that is not closed"), "{said}");
        assert_eq!(records("a,b\n1,2,\"x").unwrap().len(), 2);
    }

    #[test]
    fn only_fields_that_somebody_wants_have_a_limit() {
        let long = "x".repeat(LONGEST_LINE + 1);
        assert_eq!(records(&format!("1,{long},2\n")).unwrap(), [["1", "", "2"]]);
        assert!(records(&format!("1,2,{long}\n")).unwrap_err().starts_with("x:1:5: the line is longer"));
    }
}
