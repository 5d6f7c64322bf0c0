//! Unpacks .gz and .zst, recognised by their first bytes, without trusting how much comes out of them.

use std::{
    cell::Cell,
    io::{self, BufReader, Cursor, Read},
    path::Path,
    rc::Rc,
};

use crate::{Error, Place};

/// The first bytes of a file, unpacked, and a reader of all that follows them.
pub(crate) fn unpack<'i>(
    mut input: impl Read + 'i,
    path: &Path,
) -> Result<(Vec<u8>, Box<dyn Read + 'i>), Error> {
    let failed = |source| Error::Read { place: Place { path: path.to_owned(), line: 1, column: 1 }, source };
    let head = head(&mut input).map_err(failed)?;
    if !head.starts_with(GZIP) && !head.starts_with(ZSTD) {
        return Ok((head, Box::new(input)));
    }
    let is_gzip = head.starts_with(GZIP);
    let taken = Rc::new(Cell::new(0));
    let packed = BufReader::new(Counted { input: Cursor::new(head).chain(input), taken: Rc::clone(&taken) });
    let inner: Box<dyn Read + 'i> = if is_gzip {
        Box::new(flate2::bufread::MultiGzDecoder::new(packed))
    } else {
        Box::new(Zstd { frame: Some(next_frame(packed).map_err(failed)?) })
    };
    let mut unpacked = Bounded { inner, taken, given: 0 };
    let head = self::head(&mut unpacked).map_err(failed)?;
    Ok((head, Box::new(unpacked)))
}

/// As much as a look at the content needs, or all that there is.
fn head(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(HEAD);
    input.take(HEAD as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// Counts the packed bytes that were read.
struct Counted<R> {
    input: R,
    taken: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.taken.set(self.taken.get() + read as u64);
        Ok(read)
    }
}

/// Unpacked bytes, as long as they are in a proportion to the packed ones that data can have.
struct Bounded<R> {
    inner: R,
    taken: Rc<Cell<u64>>,
    given: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.given += read as u64;
        if self.given > FREE && self.given / MOST_RATIO > self.taken.get() {
            let (packed, given) = (self.taken.get() >> 10, self.given >> 20);
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!(
                    "{packed} KiB unpacked to {given} MiB so far, more than {MOST_RATIO} times as much, which no \
                     recording does: unpack it yourself if you trust it"
                ),
            ));
        }
        Ok(read)
    }
}

type Frame<R> = ruzstd::decoding::StreamingDecoder<R, ruzstd::decoding::FrameDecoder>;

/// All frames of a zstd file, one after the other.
struct Zstd<R: io::BufRead> {
    frame: Option<Frame<R>>,
}

impl<R: io::BufRead> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(frame) = &mut self.frame {
            let read = frame.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let mut rest = self.frame.take().map(Frame::into_inner);
            let is_end = rest.as_mut().map_or(Ok(true), |rest| rest.fill_buf().map(<[u8]>::is_empty))?;
            if !is_end {
                self.frame = rest.map(next_frame).transpose()?;
            }
        }
        Ok(0)
    }
}

fn next_frame<R: io::BufRead>(rest: R) -> io::Result<Frame<R>> {
    Frame::new(rest).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))
}

const GZIP: &[u8] = &[0x1F, 0x8B];
const ZSTD: &[u8] = &[0x28, 0xB5, 0x2F, 0xFD];

/// Enough to see a HAR's first entries, or a page of text before a table.
const HEAD: usize = 64 << 10;

/// Text of numbers packs 3 to 50 times, a file of equal numbers perhaps 200 times; deflate's limit is 1032.
const MOST_RATIO: u64 = 400;

/// Up to here no proportion is too large, bytes.
const FREE: u64 = 64 << 20;
