//! Incoming message bodies of any framing: pieces from the received bytes.

use bytes::BytesMut;

use super::{Chunk, Framing, Malformed, chunk::take, chunked};

/// The progress of an incoming body.
#[derive(Debug)]
pub enum Incoming {
    /// The body is complete, or the message has none.
    Done,
    /// This many bytes remain; more than 0.
    Length(u64),
    /// A chunked body.
    Chunked(chunked::Decoder),
    /// All bytes until the connection is closed.
    UntilClose,
}

impl Incoming {
    /// Starts a body.
    pub fn new(framing: Framing) -> Self {
        match framing {
            Framing::None | Framing::Tunnel => Self::Done,
            Framing::Length(length) => Self::Length(length),
            Framing::Chunked => Self::Chunked(chunked::Decoder::new()),
            Framing::UntilClose => Self::UntilClose,
        }
    }

    /// Takes the next piece from the front of `bytes`; data is returned as available, without a copy.
    ///
    /// # Errors
    /// The chunked coding is invalid. The rest of the connection is unusable.
    pub fn next(&mut self, bytes: &mut BytesMut) -> Result<Chunk, Malformed> {
        match self {
            Self::Done => Ok(Chunk::End),
            Self::Length(_) | Self::UntilClose if bytes.is_empty() => Ok(Chunk::Wanting),
            Self::UntilClose => Ok(Chunk::Data(bytes.split().freeze())),
            Self::Length(left) => {
                let data = take(bytes, left);
                if *left == 0 {
                    *self = Self::Done;
                }
                Ok(Chunk::Data(data))
            }
            Self::Chunked(decoder) => {
                let piece = decoder.next(bytes)?;
                if piece == Chunk::End {
                    *self = Self::Done;
                }
                Ok(piece)
            }
        }
    }

    /// Skips bytes of a body with a known length; `bytes` is at most the rest of the body.
    pub fn pass_over(&mut self, bytes: u64) {
        if let Self::Length(left) = self {
            *left = left.saturating_sub(bytes);
            if *left == 0 {
                *self = Self::Done;
            }
        }
    }

    /// The connection has ended; returns whether the body is complete.
    pub fn close(&mut self) -> bool {
        let is_whole = matches!(self, Self::Done | Self::UntilClose);
        if is_whole {
            *self = Self::Done;
        }
        is_whole
    }

    /// Whether the body is known to be complete.
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Done)
    }

    /// The number of remaining bytes, if known.
    pub fn left(&self) -> Option<u64> {
        match self {
            Self::Done => Some(0),
            Self::Length(left) => Some(*left),
            Self::Chunked(_) | Self::UntilClose => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_takes_its_own_bytes_and_no_more() {
        let mut bytes = BytesMut::from("abcdef");
        let mut body = Incoming::new(Framing::Length(4));
        assert_eq!((body.left(), body.next(&mut bytes)), (Some(4), Ok(Chunk::Data("abcd".into()))));
        assert!(body.is_done());
        assert_eq!((body.next(&mut bytes), &bytes[..]), (Ok(Chunk::End), &b"ef"[..]));
        for (framing, is_whole) in [
            (Framing::None, true),
            (Framing::Tunnel, true),
            (Framing::UntilClose, true),
            (Framing::Length(1), false),
            (Framing::Chunked, false),
        ] {
            let mut body = Incoming::new(framing);
            assert_eq!((body.close(), body.is_done()), (is_whole, is_whole), "{framing:?}");
        }
        let mut body = Incoming::new(Framing::Length(4));
        body.pass_over(3);
        assert_eq!(body.left(), Some(1));
        body.pass_over(1);
        assert!(body.is_done());
        let mut body = Incoming::new(Framing::UntilClose);
        assert_eq!(body.next(&mut bytes), Ok(Chunk::Data("ef".into())));
        assert_eq!((body.next(&mut bytes), body.left()), (Ok(Chunk::Wanting), None));
    }
}
