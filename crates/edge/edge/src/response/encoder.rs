//! Streaming content coding: all input received so far is flushed before a wait for more.

use std::{
    io::{self, Write as _},
    pin::Pin,
    task::{Context, Poll, ready},
};

use brotli::CompressorWriter;
use flate2::{Compression, write::GzEncoder};
use http_cache::Coding;
use http_stack::{
    Body, Bytes, Failure,
    body::{Frame, Frames, SizeHint},
};

pub(crate) fn encode_body(body: Body, coding: Coding, permit: Option<EncoderPermit>) -> Body {
    match ContentEncoder::new(coding) {
        Ok(coder) => Body::stream(EncodedBody {
            body,
            encoder: Some((coder, permit)),
            rest: Bytes::new(),
            is_flushed: true,
            trailers: None,
        }),
        Err(error) => {
            tracing::warn!(%error, "a body was not compressed");
            let (_, broken) = Body::channel(1);
            broken
        }
    }
}

struct EncodedBody {
    body: Body,
    encoder: Option<(ContentEncoder, Option<EncoderPermit>)>,
    rest: Bytes,
    is_flushed: bool,
    trailers: Option<Frame<Bytes>>,
}

impl Frames for EncodedBody {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        let encoded = &mut *self;
        loop {
            let Some((coder, _)) = &mut encoded.encoder else {
                return Poll::Ready(encoded.trailers.take().map(Ok));
            };
            if !encoded.rest.is_empty() {
                let slice = encoded.rest.split_to(encoded.rest.len().min(MAX_SLICE));
                encoded.is_flushed = false;
                if let Some(data) = coder.write(&slice).map_err(|error| broken(&error))? {
                    return data_frame(data);
                }
                if slice.len() == MAX_SLICE {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                continue;
            }
            let next = match Pin::new(&mut encoded.body).poll_frame(cx) {
                Poll::Pending if !encoded.is_flushed => {
                    encoded.is_flushed = true;
                    match coder.flush().map_err(|error| broken(&error))? {
                        Some(data) => return data_frame(data),
                        None => return Poll::Pending,
                    }
                }
                next => ready!(next).transpose()?,
            };
            match next.map(Frame::into_data) {
                Some(Ok(data)) => encoded.rest = data,
                last => {
                    encoded.trailers = last.and_then(Result::err);
                    if let Some((coder, _)) = encoded.encoder.take() {
                        return data_frame(coder.finish().map_err(|error| broken(&error))?);
                    }
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.encoder.is_none() && self.trailers.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

fn data_frame(data: Bytes) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
    Poll::Ready(Some(Ok(Frame::data(data))))
}

fn broken(error: &io::Error) -> Failure {
    tracing::warn!(%error, "a body was not compressed to its end");
    Failure::Source
}

pub(crate) type EncoderPermit = tokio::sync::OwnedSemaphorePermit;

enum ContentEncoder {
    Gzip(GzEncoder<Vec<u8>>),
    Brotli(Box<CompressorWriter<Vec<u8>>>),
    Zstd(zstd::stream::write::Encoder<'static, Vec<u8>>),
}

impl ContentEncoder {
    fn new(coding: Coding) -> io::Result<Self> {
        Ok(match coding {
            Coding::Gzip => Self::Gzip(GzEncoder::new(Vec::new(), Compression::new(GZIP_LEVEL))),
            Coding::Brotli => {
                let writer = CompressorWriter::new(Vec::new(), MIN_FRAME, BROTLI_QUALITY, WINDOW);
                Self::Brotli(Box::new(writer))
            }
            Coding::Zstd => {
                let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), ZSTD_LEVEL)?;
                encoder.window_log(WINDOW)?;
                Self::Zstd(encoder)
            }
        })
    }

    fn write(&mut self, piece: &[u8]) -> io::Result<Option<Bytes>> {
        match self {
            Self::Gzip(encoder) => encoder.write_all(piece)?,
            Self::Brotli(encoder) => encoder.write_all(piece)?,
            Self::Zstd(encoder) => encoder.write_all(piece)?,
        }
        Ok(if self.output().len() < MIN_FRAME { None } else { self.take_output() })
    }

    fn flush(&mut self) -> io::Result<Option<Bytes>> {
        match self {
            Self::Gzip(encoder) => encoder.flush()?,
            Self::Brotli(encoder) => encoder.flush()?,
            Self::Zstd(encoder) => encoder.flush()?,
        }
        Ok(self.take_output())
    }

    /// Never empty, because each coding has an end marker.
    fn finish(self) -> io::Result<Bytes> {
        Ok(Bytes::from(match self {
            Self::Gzip(encoder) => encoder.finish()?,
            Self::Brotli(encoder) => encoder.into_inner(),
            Self::Zstd(encoder) => encoder.finish()?,
        }))
    }

    fn output(&mut self) -> &mut Vec<u8> {
        match self {
            Self::Gzip(encoder) => encoder.get_mut(),
            Self::Brotli(encoder) => encoder.get_mut(),
            Self::Zstd(encoder) => encoder.get_mut(),
        }
    }

    fn take_output(&mut self) -> Option<Bytes> {
        let out = std::mem::take(self.output());
        (!out.is_empty()).then(|| Bytes::from(out))
    }
}

/// 1 ms at the 35 MB/s of brotli, the slowest coding.
const MAX_SLICE: usize = 32 << 10;
/// Less output is buffered until more input arrives, the source blocks, or the body ends.
const MIN_FRAME: usize = 8 << 10;

/// Further bodies are sent uncoded. An encoder takes up to 5 MB, and exists as long as the client
/// takes to read a body that is not stored.
pub(crate) const ENCODERS_PER_WORKER: usize = 16;

// Chosen by size and speed on 1.5 MB of Rust, 60 KB of Markdown and 350 KB of JSON (one core at 3
// GHz).

/// 45 to 90 MB/s; level 6 saves 1 to 4 % and takes half as long again.
const GZIP_LEVEL: u32 = 5;
/// 35 to 95 MB/s and 1 to 24 % smaller than gzip; quality 6 saves 1 to 3 % more.
const BROTLI_QUALITY: u32 = 5;
/// 85 to 180 MB/s, between gzip and brotli in size; level 3 is up to 16 % larger.
const ZSTD_LEVEL: i32 = 6;
/// 256 KiB, for brotli and zstd; with twice that an encoder takes 8 MB instead of 5.
const WINDOW: u32 = 18;

#[cfg(test)]
pub(crate) mod tests {
    use std::io::Read as _;

    use super::*;

    pub(crate) fn decoded(coding: Coding, bytes: &[u8]) -> Vec<u8> {
        let mut decoder: Box<dyn io::Read> = match coding {
            Coding::Gzip => Box::new(flate2::read::GzDecoder::new(bytes)),
            Coding::Brotli => Box::new(brotli::Decompressor::new(bytes, 4096)),
            Coding::Zstd => Box::new(zstd::stream::read::Decoder::new(bytes).unwrap()),
        };
        let (mut plain, mut piece) = (Vec::new(), [0; 4096]);
        while let Ok(length @ 1..) = decoder.read(&mut piece) {
            plain.extend_from_slice(&piece[..length]);
        }
        plain
    }

    pub(crate) fn text(length: usize) -> Vec<u8> {
        let mut state = 1_u32;
        let mut word = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ["cache ", "origin ", "edge ", "visitor ", "purge ", "fresh\n", "stale "]
                [(state >> 24) as usize % 7]
        };
        std::iter::repeat_with(|| word().bytes()).flatten().take(length).collect()
    }

    #[tokio::test]
    async fn encoding_round_trips_any_chunking() {
        for coding in Coding::ALL {
            for length in [0, 1, 600, MAX_SLICE + 1, 3 << 20] {
                for piece in [997, 1 << 20] {
                    let text = text(length);
                    let (sender, body) = Body::channel(1);
                    let pieces: Vec<_> = text.chunks(piece).map(Bytes::copy_from_slice).collect();
                    let sent = tokio::spawn(async move {
                        for piece in pieces {
                            sender.send(piece).await.unwrap();
                        }
                        sender.finish().await.unwrap();
                    });
                    let received = encode_body(body, coding, None).collect(1 << 24).await.unwrap();
                    sent.await.unwrap();
                    assert_eq!(decoded(coding, &received), text, "{coding:?}, {length} bytes by {piece}");
                    assert!(
                        length < 600 || received.len() < length,
                        "{coding:?} of {length}: {}",
                        received.len()
                    );
                }
            }
        }
    }

    #[tokio::test]
    async fn encoder_flushes_before_next_chunk() {
        for coding in Coding::ALL {
            let (sender, body) = Body::channel(1);
            let mut body = encode_body(body, coding, None);
            let mut received = Vec::new();
            for number in 1..=3 {
                sender.send(Bytes::from_static(b"a line\n")).await.unwrap();
                while decoded(coding, &received).len() < 7 * number {
                    received.extend_from_slice(&body.data().await.unwrap().unwrap());
                }
                assert_eq!(decoded(coding, &received), b"a line\n".repeat(number));
            }
            drop(sender);
            assert_eq!(body.data().await, Err(Failure::Source));
        }
    }

    #[tokio::test]
    async fn trailers_follow_encoded_body() {
        struct WithTrailers(usize);
        impl Frames for WithTrailers {
            type Data = Bytes;
            type Error = Failure;

            fn poll_frame(
                mut self: Pin<&mut Self>,
                _: &mut Context<'_>,
            ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
                self.0 += 1;
                Poll::Ready(match self.0 {
                    1 => Some(Ok(Frame::data(Bytes::from_static(b"abc")))),
                    2 => Some(Ok(Frame::trailers(
                        [(http_stack::header::ETAG, "\"a\"".parse().unwrap())].into_iter().collect(),
                    ))),
                    _ => None,
                })
            }
        }
        let mut body = encode_body(Body::stream(WithTrailers(0)), Coding::Gzip, None);
        let data = body.frame().await.unwrap().unwrap().into_data().unwrap();
        assert_eq!(decoded(Coding::Gzip, &data), b"abc");
        let trailers = body.frame().await.unwrap().unwrap().into_trailers().unwrap();
        assert_eq!(trailers.len(), 1);
        assert!(body.frame().await.is_none());
    }
}
