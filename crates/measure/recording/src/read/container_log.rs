//! Extracts a program's lines from the log of a container runtime: Docker's `json-file`
//! (`{"log":"...\n","stream":"stdout","time":"..."}`) and the format of Kubernetes' runtimes (CRI:
//! time, stream, `F` or `P`, text).

use std::{
    borrow::Cow,
    io::{self, Cursor, Read},
    path::Path,
};

use serde::Deserialize;

use super::{lines::Lines, unpack};
use crate::{Error, Place};

/// The first bytes of a file and a reader of the rest, without the envelopes.
pub(super) fn decode<'i>(
    head: Vec<u8>,
    rest: Box<dyn Read + 'i>,
    path: &Path,
) -> Result<(Vec<u8>, Box<dyn Read + 'i>), Error> {
    let first = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let take: fn(&[u8]) -> Option<Vec<u8>> = match () {
        () if docker(first).is_some() => docker,
        () if cri(first).is_some() => cri,
        () => return Ok((head, rest)),
    };
    let lines = Lines::new(Cursor::new(head).chain(rest), path.to_owned());
    let mut inner = Inner { lines, take, text: Vec::new(), given: 0 };
    let failed = |source| Error::Read { place: Place { path: path.to_owned(), line: 1, column: 1 }, source };
    let head = unpack::head(&mut inner).map_err(failed)?;
    Ok((head, Box::new(inner)))
}

/// A line without an envelope is passed on unchanged.
struct Inner<R> {
    lines: Lines<R>,
    take: fn(&[u8]) -> Option<Vec<u8>>,
    text: Vec<u8>,
    given: usize,
}

impl<R: Read> Read for Inner<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.text.len() {
            let Some(line) = self.lines.next().map_err(io::Error::other)? else { return Ok(0) };
            self.text = (self.take)(line.text).unwrap_or_else(|| {
                let end: &[u8] = if line.terminated { b"\n" } else { b"" };
                [line.text, end].concat()
            });
            self.given = 0;
        }
        let length = buffer.len().min(self.text.len() - self.given);
        buffer[..length].copy_from_slice(&self.text[self.given..self.given + length]);
        self.given += length;
        Ok(length)
    }
}

/// With the line end; a part of a longer line has none.
fn docker(line: &[u8]) -> Option<Vec<u8>> {
    #[derive(Deserialize)]
    struct Line<'l> {
        #[serde(borrow)]
        log: Cow<'l, str>,
        #[serde(borrow)]
        #[expect(dead_code, reason = "without it this is another kind of object")]
        stream: Cow<'l, str>,
    }
    if !line.starts_with(b"{\"log\":\"") {
        return None;
    }
    let line: Line<'_> = serde_json::from_slice(line).ok()?;
    Some(line.log.into_owned().into_bytes())
}

/// `P` marks a part of a longer line.
fn cri(line: &[u8]) -> Option<Vec<u8>> {
    let mut parts = line.splitn(4, |&byte| byte == b' ');
    let (time, stream, tag) = (parts.next()?, parts.next()?, parts.next()?);
    let text = parts.next()?;
    let is_time = std::str::from_utf8(time).is_ok_and(|time| super::rfc3339(time).is_some());
    if !is_time || !matches!(stream, b"stdout" | b"stderr") {
        return None;
    }
    match tag.split(|&byte| byte == b':').next()? {
        b"F" => Some([text, b"\n"].concat()),
        b"P" => Some(text.to_vec()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unwrapped(text: &str) -> String {
        let (mut head, mut rest) =
            decode(text.as_bytes().to_vec(), Box::new(io::empty()), Path::new("x")).unwrap();
        rest.read_to_end(&mut head).unwrap();
        String::from_utf8(head).unwrap()
    }

    #[test]
    fn lines_are_taken_out() {
        let docker = |text: &str| {
            format!("{{\"log\":\"{text}\",\"stream\":\"stdout\",\"time\":\"2025-03-14T09:26:53.1Z\"}}\n")
        };
        let text = docker("a \\\"b\\\" \\u003c\\n") + &docker("half ") + &docker("a line\\n");
        assert_eq!(unwrapped(&text), "a \"b\" <\nhalf a line\n");
        assert_eq!(unwrapped(&(docker("a\\n") + "{\"log\":\"b")), "a\n{\"log\":\"b");
        let cri = "2025-03-14T09:26:53.123456789Z stdout P half \n2025-03-14T09:26:53.2Z stdout F a line\n";
        assert_eq!(unwrapped(cri), "half a line\n");
    }

    #[test]
    fn other_files_stay_as_they_are() {
        for text in [
            "{\"log\":{\"version\":\"1.2\"}}\n",
            "{\"log\":\"x\"}\n",
            "2025-03-14T09:26:53Z GET / 200\n",
            "2025-03-14T09:26:53Z stdout x y\n",
            "",
        ] {
            assert_eq!(unwrapped(text), text);
        }
    }
}
