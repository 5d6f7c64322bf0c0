//! Builds a message head from the lines of another one. Retained lines are copied verbatim,
//! adjacent ones together.

use std::ops::Range;

pub(super) struct Head<'h> {
    other: &'h [u8],
    run: Range<usize>,
    written: Vec<u8>,
}

impl<'h> Head<'h> {
    pub(super) fn new(other: &'h [u8], first: &[&[u8]]) -> Self {
        let mut written = Vec::with_capacity(INITIAL_CAPACITY);
        first.iter().for_each(|part| written.extend_from_slice(part));
        Self { other, run: 0..0, written }
    }

    pub(super) fn keep(&mut self, name: &str, value: &[u8]) {
        match self.place(name, value) {
            Some(line) if line.start == self.run.end => self.run.end = line.end,
            Some(line) => {
                self.copy();
                self.run = line;
            }
            None => self.put(name, [value]),
        }
    }

    pub(super) fn put<P: AsRef<[u8]>>(&mut self, name: &str, value: impl IntoIterator<Item = P>) {
        self.copy();
        self.written.extend_from_slice(name.as_bytes());
        self.written.extend_from_slice(b": ");
        value.into_iter().for_each(|part| self.written.extend_from_slice(part.as_ref()));
        self.written.extend_from_slice(b"\r\n");
    }

    pub(super) fn written(mut self) -> Vec<u8> {
        self.copy();
        self.written
    }

    fn place(&self, name: &str, value: &[u8]) -> Option<Range<usize>> {
        let start = name.as_ptr().addr().checked_sub(self.other.as_ptr().addr())?;
        let end = start + name.len() + b": ".len() + value.len() + b"\r\n".len();
        let behind_name = self.other.get(start..end)?.get(name.len()..)?;
        let is_usual = behind_name.starts_with(b": ")
            && behind_name[b": ".len()..].as_ptr() == value.as_ptr()
            && behind_name.ends_with(b"\r\n");
        is_usual.then_some(start..end)
    }

    fn copy(&mut self) {
        self.written.extend_from_slice(&self.other[self.run.clone()]);
        self.run = 0..0;
    }
}

const INITIAL_CAPACITY: usize = 1536;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_keeps_order_and_usual_spelling_of_lines() {
        let other = b"GET / HTTP/1.1\r\nA: 1\r\nB: 2\r\nc:3\r\nd:  4 \r\nE: 5\r\nF: \r\nG: 7\nh: 8\r\n\r\n";
        let text = str::from_utf8(other).unwrap();
        let lines: Vec<(&str, &[u8])> = text
            .lines()
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name, value.trim().as_bytes()))
            .collect();
        assert_eq!(lines.len(), 8);
        // Each subset of the lines.
        for stay in 0..1 << lines.len() {
            let mut head = Head::new(other, &[b"first", b"\r\n"]);
            let mut expected = String::from("first\r\n");
            for (place, (name, value)) in lines.iter().enumerate().filter(|(place, _)| stay >> place & 1 == 1)
            {
                head.keep(name, value);
                expected += &format!("{name}: {}\r\n", str::from_utf8(value).unwrap());
                if place == 4 {
                    head.put("x", ["y", "z"]);
                    expected += "x: yz\r\n";
                }
            }
            assert_eq!(String::from_utf8(head.written()).unwrap(), expected);
        }
        let mut head = Head::new(other, &[]);
        head.keep("A", b"1");
        assert_eq!(head.written(), b"A: 1\r\n");
    }
}
