//! Parses bytes of a client as HTTP/1.1. Shared by the fuzz target and a test of the crate `http`.

use bytes::BytesMut;
use http_stack::{
    http1::{
        Chunk, Framing, Incoming, Malformed,
        head::{self, HeadEnd, Lines},
    },
    limits,
};

/// Method, target, body and completeness of each request, and whether the input ends with an error.
type Requests = (Vec<(String, String, Vec<u8>, bool)>, bool);

/// The first byte determines the length of the pieces into which the rest is split.
pub fn requests_are_the_same_in_any_pieces(bytes: &[u8]) {
    let Some((&piece, sent)) = bytes.split_first() else { return };
    let at_once = read([sent]);
    let in_pieces = read(sent.chunks(usize::from(piece) + 1));
    assert_eq!(at_once, in_pieces);
}

fn read<'p>(pieces: impl IntoIterator<Item = &'p [u8]>) -> Requests {
    let (mut reader, mut bytes) = (Reader::default(), BytesMut::new());
    for piece in pieces {
        bytes.extend_from_slice(piece);
        if reader.take(&mut bytes).is_err() {
            return (reader.requests, true);
        }
        assert!(bytes.len() < limits::HEADER_BYTES, "no more is kept than a head may be long");
    }
    (reader.requests, false)
}

#[derive(Default)]
struct Reader {
    end: HeadEnd,
    body: Option<Incoming>,
    requests: Vec<(String, String, Vec<u8>, bool)>,
}

impl Reader {
    /// Parses the available bytes.
    fn take(&mut self, bytes: &mut BytesMut) -> Result<(), Malformed> {
        loop {
            let Some(body) = &mut self.body else {
                let Some(length) = self.end.find(bytes, Lines::Strict)? else { return Ok(()) };
                let head = head::request(&bytes.split_to(length).freeze())?;
                assert_ne!(head.framing, Framing::UntilClose, "a request has an end");
                let request = head.request;
                self.requests.push((request.method().to_string(), request.uri().to_string(), vec![], false));
                self.body = Some(Incoming::new(head.framing));
                continue;
            };
            let Some((.., data, is_whole)) = self.requests.last_mut() else { return Ok(()) };
            match body.next(bytes)? {
                Chunk::Data(some) => data.extend_from_slice(&some),
                Chunk::Trailers(_) => {}
                Chunk::Wanting => return Ok(()),
                Chunk::End => (*is_whole, self.body) = (true, None),
            }
        }
    }
}
