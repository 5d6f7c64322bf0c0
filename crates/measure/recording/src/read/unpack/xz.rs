//! Unpacks .xz: all streams of a file, with zeros between them (section 2.2 of its format).

use std::io::{self, BufRead, Read};

use xz4rust::{DICT_SIZE_PROFILE_0, DICT_SIZE_PROFILE_9, XzDecoder, XzError, XzNextBlockResult};

pub(super) const MAGIC: &[u8] = &[0xFD, b'7', b'z', b'X', b'Z', 0];

pub(super) struct Xz<R> {
    input: R,
    decoder: Box<XzDecoder<'static>>,
    is_within: bool,
}

impl<R: BufRead> Xz<R> {
    pub(super) fn new(input: R) -> Self {
        // A file can demand gigabytes; the largest preset of `xz` needs this much.
        let decoder = XzDecoder::in_heap_with_alloc_dict_size(DICT_SIZE_PROFILE_0, DICT_SIZE_PROFILE_9);
        Self { input, decoder, is_within: true }
    }

    fn begins_again(&mut self) -> io::Result<bool> {
        loop {
            let bytes = self.input.fill_buf()?;
            let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
            let (is_end, rest) = (bytes.is_empty(), bytes.len() - zeros);
            self.input.consume(zeros);
            if is_end || rest > 0 {
                return Ok(!is_end);
            }
        }
    }
}

impl<R: BufRead> Read for Xz<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.is_within {
                if !self.begins_again()? {
                    return Ok(0);
                }
                self.decoder.reset();
                self.is_within = true;
            }
            let bytes = self.input.fill_buf()?;
            if bytes.is_empty() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let decoded = self.decoder.decode(bytes, buffer).map_err(refused)?;
            let (taken, given) = match decoded {
                XzNextBlockResult::NeedMoreData(taken, given) => (taken, given),
                XzNextBlockResult::EndOfStream(taken, given) => {
                    self.is_within = false;
                    (taken, given)
                }
            };
            self.input.consume(taken);
            if given > 0 {
                return Ok(given);
            }
        }
    }
}

fn refused(error: XzError) -> io::Error {
    match error {
        XzError::DictionaryTooLarge(bytes) => io::Error::new(
            io::ErrorKind::Unsupported,
            format!(
                "unpacking it takes {} MiB of memory, more than `xz -9` makes: unpack it yourself",
                bytes >> 20
            ),
        ),
        other => io::Error::new(io::ErrorKind::InvalidData, other.to_string()),
    }
}
