//! Unpacks .gz, .zst, .bz2 and .xz, recognised by their first bytes, with a limit for the output.

mod xz;

use std::{
    cell::Cell,
    io::{self, BufReader, Cursor, Read},
    path::Path,
    rc::Rc,
};

use crate::{Error, Place};

pub(crate) fn unpack<'i>(
    mut input: impl Read + 'i,
    path: &Path,
) -> Result<(Vec<u8>, Box<dyn Read + 'i>), Error> {
    let failed = |source| Error::Read { place: Place { path: path.to_owned(), line: 1, column: 1 }, source };
    let head = head(&mut input).map_err(failed)?;
    let packings = [(GZIP, "gzip"), (ZSTD, "zstd"), (BZIP2, "bzip2"), (xz::MAGIC, "xz")];
    let Some((magic, format)) = packings.into_iter().find(|(magic, _)| head.starts_with(magic)) else {
        return Ok((head, Box::new(input)));
    };
    let taken = Rc::new(Taken::default());
    let packed = BufReader::new(Counted { input: Cursor::new(head).chain(input), taken: Rc::clone(&taken) });
    let inner: Box<dyn Read + 'i> = match magic {
        GZIP => Box::new(flate2::bufread::MultiGzDecoder::new(packed)),
        BZIP2 => Box::new(bzip2::bufread::MultiBzDecoder::new(packed)),
        ZSTD => {
            let frame = next_frame(packed).map_err(|error| failed(taken.explain("zstd", error)))?;
            Box::new(Zstd { frame: Some(frame) })
        }
        _ => Box::new(xz::Xz::new(packed)),
    };
    let mut unpacked = Bounded { inner, format, taken, given: 0 };
    let head = self::head(&mut unpacked).map_err(failed)?;
    Ok((head, Box::new(unpacked)))
}

pub(super) fn head(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(HEAD);
    input.take(HEAD as u64).read_to_end(&mut head)?;
    Ok(head)
}

#[derive(Default)]
struct Taken {
    bytes: Cell<u64>,
    is_at_end: Cell<bool>,
    /// Reading failed, which is not an error of the packing.
    has_failed: Cell<bool>,
}

impl Taken {
    fn explain(&self, format: &str, error: io::Error) -> io::Error {
        if self.has_failed.get() || error.kind() == io::ErrorKind::Unsupported {
            return error;
        }
        let bytes = self.bytes.get();
        let problem = match self.is_at_end.get() || error.kind() == io::ErrorKind::UnexpectedEof {
            true => format!(
                "the {format} data is truncated: it ends after {bytes} compressed bytes, in the middle of its content"
            ),
            false => format!("the {format} data is damaged in the first {bytes} compressed bytes: {error}"),
        };
        io::Error::new(io::ErrorKind::InvalidData, problem)
    }
}

struct Counted<R> {
    input: R,
    taken: Rc<Taken>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer);
        let taken = &self.taken;
        match &read {
            Ok(read) => taken.bytes.set(taken.bytes.get() + *read as u64),
            Err(error) => taken.has_failed.set(error.kind() != io::ErrorKind::Interrupted),
        }
        taken.is_at_end.set(matches!(read, Ok(0)) && !buffer.is_empty());
        read
    }
}

/// Fails if the compression ratio is implausible.
struct Bounded<R> {
    inner: R,
    format: &'static str,
    taken: Rc<Taken>,
    given: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match self.inner.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
            read => read.map_err(|error| self.taken.explain(self.format, error))?,
        };
        self.given += read as u64;
        let taken = self.taken.bytes.get();
        if self.given > FREE && self.given / MOST_RATIO > taken {
            let (packed, given) = (taken >> 10, self.given >> 20);
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
const BZIP2: &[u8] = b"BZh";

/// Enough to see a HAR's first entries, or a page of text before a table.
const HEAD: usize = 64 << 10;

/// Text of numbers packs 3 to 50 times, a file of equal numbers perhaps 200 times; deflate's limit
/// is 1032.
const MOST_RATIO: u64 = 400;

/// Up to here no ratio is too large, bytes.
const FREE: u64 = 64 << 20;

#[cfg(test)]
mod tests {
    use std::{error::Error as _, io::Write};

    use flate2::{Compression, write::GzEncoder};
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;
    use crate::{Wanted, decode_series};

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut packer = GzEncoder::new(Vec::new(), Compression::default());
        packer.write_all(text).unwrap();
        packer.finish().unwrap()
    }

    fn bzip2(text: &[u8]) -> Vec<u8> {
        let mut packer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
        packer.write_all(text).unwrap();
        packer.finish().unwrap()
    }

    /// [`rows`] of 100 as `xz` packs them.
    const XZ: &[u8] = include_bytes!("unpack/rows.csv.xz");

    fn rows(count: u32) -> Vec<u8> {
        let row = |i: u32| {
            format!("{}.{:06}\n", i.wrapping_mul(2_654_435_761) % 97, i.wrapping_mul(40_503) % 999_983)
        };
        ("latency_ms\n".to_owned() + &(0..count).map(row).collect::<String>()).into_bytes()
    }

    fn read(packed: &[u8]) -> Result<u64, String> {
        let series = decode_series(packed, Path::new("a.csv.gz"), &Wanted::default());
        let said = |error: Error| {
            format!("{error}: {}", error.source().map_or_else(String::new, ToString::to_string))
        };
        series.map(|series| series.read).map_err(said)
    }

    #[test]
    fn what_is_cut_off_or_damaged_is_named_so() {
        for count in [100_u32, 60_000] {
            let text = rows(count);
            let mut all = vec![
                ("gzip", gzip(&text)),
                ("zstd", compress_to_vec(text.as_slice(), CompressionLevel::Fastest)),
                ("bzip2", bzip2(&text)),
            ];
            if count == 100 {
                all.push(("xz", XZ.to_vec()));
            }
            for (name, packed) in all {
                assert_eq!(read(&packed), Ok(u64::from(count)), "{name}");
                for length in [12, packed.len() / 2, packed.len() - 9, packed.len() - 1] {
                    let said = read(&packed[..length]).unwrap_err();
                    let cut_off =
                        format!("the {name} data is truncated: it ends after {length} compressed bytes");
                    assert!(
                        said.contains(&cut_off) && said.starts_with("a.csv.gz:"),
                        "{count} {length}: {said}"
                    );
                }
                let mut damaged = packed.clone();
                let middle = damaged.len() / 2;
                damaged[middle..middle + 8].iter_mut().for_each(|byte| *byte ^= 0x5A);
                let said = read(&damaged).unwrap_err();
                assert!(
                    said.contains(&format!("the {name} data is damaged")) || said.contains("found"),
                    "{said}"
                );
            }
        }
    }

    #[test]
    fn a_dictionary_beyond_that_of_presets_is_refused() {
        // Three rows, packed with a dictionary of 128 MiB.
        let said = read(include_bytes!("unpack/large-dictionary.csv.xz")).unwrap_err();
        assert!(
            said.contains("cannot read on: unpacking it takes 128 MiB of memory, more than `xz -9` makes"),
            "{said}"
        );
    }

    #[test]
    fn members_one_after_the_other_are_one_text() {
        let packed = [gzip(&rows(10)), gzip(b"1\n2\n")].concat();
        assert_eq!(read(&packed), Ok(12));
        assert_eq!(read(&[bzip2(&rows(10)), bzip2(b"1\n2\n")].concat()), Ok(12));
        let twice = [XZ, &[0; 8], XZ, &[0; 4]].concat();
        assert!(read(&twice).unwrap_err().contains("found \"latency_ms\""), "{:?}", read(&twice));
        let said = read(&[gzip(&rows(10)), b"garbage".to_vec()].concat());
        assert!(
            said.as_ref().is_ok_and(|&read| read == 10)
                || said.as_ref().is_err_and(|said| said.contains("gzip")),
            "{said:?}"
        );
    }
}
