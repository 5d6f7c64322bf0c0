//! Lines that end with a lone carriage return, as in spreadsheets of old Macintoshes.

use std::io::{self, Read};

/// A carriage return, and neither line feeds nor bytes of no text.
pub(super) fn is_lone(head: &[u8]) -> bool {
    memchr::memchr2(b'\n', 0, head).is_none() && memchr::memchr(b'\r', head).is_some()
}

pub(super) fn replace(bytes: &mut [u8]) {
    bytes.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
}

pub(super) struct LineFeeds<R>(pub R);

impl<R: Read> Read for LineFeeds<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(buffer)?;
        replace(&mut buffer[..read]);
        Ok(read)
    }
}
