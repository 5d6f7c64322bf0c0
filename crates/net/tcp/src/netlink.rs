//! Minimal netlink: requests, replies with several messages, nested attributes.
//!
//! Replies are treated as untrusted input: a length that exceeds its message ends the parsing, and nothing
//! panics.

use std::io;

use netlink_sys::{Socket, SocketAddr};

#[derive(Debug)]
pub(crate) struct Netlink(Socket);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    One,
    All,
}

impl Netlink {
    pub(crate) fn open(protocol: isize) -> io::Result<Self> {
        let mut socket = Socket::new(protocol)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self(socket))
    }

    /// `each` gets each message of the reply, without its header.
    pub(crate) fn ask(
        &self,
        kind: u16,
        answer: Answer,
        body: &[u8],
        mut each: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        let flags = NLM_F_REQUEST | if answer == Answer::All { NLM_F_DUMP } else { NLM_F_ACK };
        self.0.send(&message(kind, flags, body), 0)?;
        let mut datagram = Vec::with_capacity(LARGEST_DATAGRAM);
        loop {
            datagram.clear();
            self.0.recv(&mut datagram, 0)?;
            for Message { kind, body } in messages(&datagram) {
                match (kind, code(body)) {
                    // An acknowledgement is an error with number 0.
                    (NLMSG_ERROR | NLMSG_DONE, None | Some(0)) => return Ok(()),
                    (NLMSG_ERROR | NLMSG_DONE, Some(code)) => {
                        return Err(io::Error::from_raw_os_error(code.saturating_neg()));
                    }
                    _ => each(body),
                }
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Message<'a> {
    pub kind: u16,
    pub body: &'a [u8],
}

pub(crate) fn messages(datagram: &[u8]) -> impl Iterator<Item = Message<'_>> {
    let mut rest = datagram;
    std::iter::from_fn(move || {
        let length = usize::try_from(u32::from_ne_bytes(array(rest, 0)?)).ok()?;
        let kind = u16::from_ne_bytes(array(rest, 4)?);
        let body = rest.get(MESSAGE_HEADER..length)?;
        rest = rest.get(aligned(length)..).unwrap_or_default();
        Some(Message { kind, body })
    })
}

pub(crate) fn attributes(bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let length = usize::from(u16::from_ne_bytes(array(rest, 0)?));
        let kind = u16::from_ne_bytes(array(rest, 2)?) & NLA_TYPE_MASK;
        let value = rest.get(ATTRIBUTE_HEADER..length)?;
        rest = rest.get(aligned(length)..).unwrap_or_default();
        Some((kind, value))
    })
}

pub(crate) fn array<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..)?.first_chunk().copied()
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Attributes(Vec<u8>);

impl Attributes {
    /// # Panics
    /// If the value has 64 KiB or more; no request of this crate does.
    pub(crate) fn with(mut self, kind: u16, value: &[u8]) -> Self {
        let length = u16::try_from(ATTRIBUTE_HEADER + value.len()).expect("what we send is short");
        self.0.extend(length.to_ne_bytes());
        self.0.extend(kind.to_ne_bytes());
        self.0.extend(value);
        self.0.resize(aligned(self.0.len()), 0);
        self
    }

    pub(crate) fn with_nested(self, kind: u16, inner: &Self) -> Self {
        self.with(kind | NLA_F_NESTED, &inner.0)
    }

    /// `header` is a multiple of four bytes.
    pub(crate) fn after(&self, header: &[u8]) -> Vec<u8> {
        [header, &self.0].concat()
    }
}

fn message(kind: u16, flags: u16, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(MESSAGE_HEADER + body.len()).expect("what we send is short");
    // A private socket has one request in flight, so sequence number and address are not needed.
    [&length.to_ne_bytes()[..], &kind.to_ne_bytes(), &flags.to_ne_bytes(), &[0; 8], body].concat()
}

fn code(body: &[u8]) -> Option<i32> {
    array(body, 0).map(i32::from_ne_bytes)
}

fn aligned(length: usize) -> usize {
    length.next_multiple_of(4)
}

// linux/netlink.h
const MESSAGE_HEADER: usize = 16;
const ATTRIBUTE_HEADER: usize = 4;
/// The kernel fills datagrams up to this size, and splits a list only between messages.
const LARGEST_DATAGRAM: usize = 32 * 1024;
const NLM_F_REQUEST: u16 = 0x1;
const NLM_F_ACK: u16 = 0x4;
const NLM_F_DUMP: u16 = 0x300;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const NLA_F_NESTED: u16 = 0x8000;
const NLA_TYPE_MASK: u16 = 0x3fff;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_written_can_be_read() {
        let inner = Attributes::default().with(1, b"odd").with(2, &[]);
        let body = Attributes::default().with(7, &9_u32.to_ne_bytes()).with_nested(8, &inner).after(&[1; 4]);
        let datagram = [message(16, NLM_F_ACK, &body), message(17, 0, &[])].concat();
        let all: Vec<_> = messages(&datagram).collect();
        assert_eq!(all, [Message { kind: 16, body: &body }, Message { kind: 17, body: &[] }]);
        let outer: Vec<_> = attributes(&body[4..]).collect();
        assert_eq!((outer.len(), outer[0]), (2, (7, &9_u32.to_ne_bytes()[..])));
        assert_eq!(attributes(outer[1].1).collect::<Vec<_>>(), [(1, &b"odd"[..]), (2, &[])]);
    }

    #[test]
    fn a_length_beyond_the_end_ends_the_reading() {
        let mut whole = message(16, 0, &[1; 8]);
        assert_eq!(messages(&whole[..20]).count(), 0);
        whole[0] = 3;
        assert_eq!(messages(&whole).count(), 0, "shorter than its own header");
        let attribute = Attributes::default().with(1, &[1; 8]).0;
        assert_eq!(attributes(&attribute[..8]).count(), 0);
        assert_eq!(attributes(&[0; 4]).count(), 0, "shorter than its own header");
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            // Each step consumes at least a header, so the parsing terminates.
            prop_assert!(messages(&bytes).count() <= bytes.len() / MESSAGE_HEADER);
            prop_assert!(attributes(&bytes).count() <= bytes.len() / ATTRIBUTE_HEADER);
        }
    }
}
