//! A message's body on its way in, whichever framing it has: pieces out of the bytes that have come.

use bytes::BytesMut;

use super::{Framing, Malformed, Piece, chunked, piece::take};

/// Where a body stands that comes in.
#[derive(Debug)]
pub enum Incoming {
    /// It is whole, or there is none.
    Done,
    /// So many bytes are still to come; more than none.
    Length(u64),
    /// Chunks are.
    Chunked(chunked::Decoder),
    /// Whatever comes until the connection ends.
    UntilClose,
}

impl Incoming {
    /// A body that has not begun.
    pub fn new(framing: Framing) -> Self {
        match framing {
            Framing::None | Framing::Tunnel => Self::Done,
            Framing::Length(length) => Self::Length(length),
            Framing::Chunked => Self::Chunked(chunked::Decoder::new()),
            Framing::UntilClose => Self::UntilClose,
        }
    }

    /// Takes the next piece from the front of `bytes`: data as what is there of it, without a copy.
    ///
    /// # Errors
    /// When the bytes are no chunks. What follows is nobody's message.
    pub fn next(&mut self, bytes: &mut BytesMut) -> Result<Piece, Malformed> {
        match self {
            Self::Done => Ok(Piece::End),
            Self::Length(_) | Self::UntilClose if bytes.is_empty() => Ok(Piece::Wanting),
            Self::UntilClose => Ok(Piece::Data(bytes.split().freeze())),
            Self::Length(left) => {
                let data = take(bytes, left);
                if *left == 0 {
                    *self = Self::Done;
                }
                Ok(Piece::Data(data))
            }
            Self::Chunked(decoder) => {
                let piece = decoder.next(bytes)?;
                if piece == Piece::End {
                    *self = Self::Done;
                }
                Ok(piece)
            }
        }
    }

    /// So many bytes of a body whose length is known, and not more than it has, came and were not looked at.
    pub fn pass_over(&mut self, bytes: u64) {
        if let Self::Length(left) = self {
            *left = left.saturating_sub(bytes);
            if *left == 0 {
                *self = Self::Done;
            }
        }
    }

    /// The connection has ended: whether the body is whole.
    pub fn close(&mut self) -> bool {
        let is_whole = matches!(self, Self::Done | Self::UntilClose);
        if is_whole {
            *self = Self::Done;
        }
        is_whole
    }

    /// Whether it is known to be whole.
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Done)
    }

    /// How many bytes of data are still to come, if the length says.
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
        assert_eq!((body.left(), body.next(&mut bytes)), (Some(4), Ok(Piece::Data("abcd".into()))));
        assert!(body.is_done());
        assert_eq!((body.next(&mut bytes), &bytes[..]), (Ok(Piece::End), &b"ef"[..]));
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
        assert_eq!(body.next(&mut bytes), Ok(Piece::Data("ef".into())));
        assert_eq!((body.next(&mut bytes), body.left()), (Ok(Piece::Wanting), None));
    }
}
