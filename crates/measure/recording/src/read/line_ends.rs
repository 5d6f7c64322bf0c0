//! Lines that end with a lone carriage return, as some spreadsheets of old Macintoshes wrote them.

use std::io::{self, Read};

/// Whether a file that begins with these bytes has such lines: a carriage return, and neither line feeds nor bytes of no text.
pub(super) fn is_lone(head: &[u8]) -> bool {
    memchr::memchr2(b'\n', 0, head).is_none() && memchr::memchr(b'\r', head).is_some()
}

/// Makes line feeds of carriage returns.
pub(super) fn replace(bytes: &mut [u8]) {
    bytes.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
}

/// A reader of the same with line feeds.
pub(super) struct LineFeeds<R>(pub R);

impl<R: Read> Read for LineFeeds<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(buffer)?;
        replace(&mut buffer[..read]);
        Ok(read)
    }
}
