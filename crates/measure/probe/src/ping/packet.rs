//! Echo requests and replies as bytes (RFC 792, RFC 4443 section 4).

use std::hash::{BuildHasher, RandomState};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Format {
    pub(super) request: u8,
    pub(super) reply: u8,
    pub(super) has_ip_header: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reply<'b> {
    pub(super) ident: u16,
    pub(super) sequence: u16,
    pub(super) payload: &'b [u8],
}

impl Format {
    pub(super) const V4_RAW: Self = Self { request: 8, reply: 0, has_ip_header: true };
    pub(super) const V4_DATAGRAM: Self = Self { has_ip_header: false, ..Self::V4_RAW };
    pub(super) const V6: Self = Self { request: 128, reply: 129, has_ip_header: false };

    /// The sequence number is the low 16 bits of `number`.
    pub(super) fn write(
        self,
        ident: u16,
        number: u64,
        payload: impl Iterator<Item = u8>,
        packet: &mut Vec<u8>,
    ) {
        packet.clear();
        packet.extend([self.request, 0, 0, 0]);
        packet.extend(ident.to_be_bytes());
        packet.extend(sequence(number).to_be_bytes());
        packet.extend(payload);
        // A kernel that computes the checksum overwrites the field: its sum includes more data.
        let sum = checksum(packet);
        packet[2..4].copy_from_slice(&sum.to_be_bytes());
    }

    pub(super) fn read(self, packet: &[u8]) -> Option<Reply<'_>> {
        let message = if self.has_ip_header {
            // The low half of the first byte is the header's length in words of 4 bytes.
            packet.get(usize::from(packet.first()? & 0x0f) * 4..)?
        } else {
            packet
        };
        let (header, payload) = message.split_first_chunk::<8>()?;
        let &[kind, code, _, _, ident_high, ident_low, high, low] = header;
        (kind == self.reply && code == 0).then_some(Reply {
            ident: u16::from_be_bytes([ident_high, ident_low]),
            sequence: u16::from_be_bytes([high, low]),
            payload,
        })
    }
}

pub(super) fn sequence(number: u64) -> u16 {
    let [.., high, low] = number.to_be_bytes();
    u16::from_be_bytes([high, low])
}

/// Unpredictable payloads, so that a reply that was sent before its request has a wrong one.
#[derive(Debug)]
pub(super) struct Payloads {
    /// SipHash with a key that only this process has.
    token: RandomState,
    size: u16,
}

impl Payloads {
    /// Fewer than 8 bytes are easier to guess.
    pub(super) fn new(size: u16) -> Self {
        Self { token: RandomState::new(), size }
    }

    /// The token of the number, followed by a byte counter.
    pub(super) fn of(&self, number: u64) -> impl Iterator<Item = u8> + use<> {
        let token = self.token.hash_one(number).to_be_bytes();
        token.into_iter().chain((0..=u8::MAX).cycle()).take(self.size.into())
    }

    pub(super) fn is_of(&self, number: u64, echoed: &[u8]) -> bool {
        self.of(number).eq(echoed.iter().copied())
    }
}

/// RFC 1071: the complement of the one's complement sum of 16-bit words.
fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|word| u64::from(word[0]) << 8 | u64::from(*word.get(1).unwrap_or(&0)));
    let mut sum: u64 = words.sum();
    while sum > u64::from(u16::MAX) {
        sum = (sum >> 16) + (sum & u64::from(u16::MAX));
    }
    !sequence(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_of_rfc_1071() {
        // RFC 1071 section 3: the sum of the words 0001 f203 f4f5 f6f7 is ddf2.
        assert_eq!(checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
        let mut packet = Vec::new();
        Format::V4_RAW.write(7, 70_000, 0..13, &mut packet);
        assert_eq!(checksum(&packet), 0);
    }

    #[test]
    fn a_reply_is_the_request_with_another_type() {
        let mut packet = Vec::new();
        let payloads = Payloads::new(56);
        Format::V6.write(0x1234, 65_536 + 5, payloads.of(65_536 + 5), &mut packet);
        assert_eq!((packet.len(), Format::V6.read(&packet)), (64, None));
        packet[0] = 129;
        let reply = Format::V6.read(&packet).unwrap();
        assert_eq!((reply.ident, reply.sequence), (0x1234, 5));
        assert!(payloads.is_of(65_536 + 5, reply.payload));
        assert!(!payloads.is_of(5, reply.payload), "another ping with the same sequence");
        assert!(!payloads.is_of(65_536 + 5, &reply.payload[..55]), "truncated on its way");
        assert!(!Payloads::new(56).is_of(65_536 + 5, reply.payload), "another run's ping");
    }

    #[test]
    fn an_ip_header_is_as_long_as_it_says() {
        let mut echo = Vec::new();
        Format::V4_DATAGRAM.write(1, 2, 0..3, &mut echo);
        echo[0] = 0;
        // 0x46: version 4, six words: 24 bytes, the last four of them options.
        let mut packet = vec![0x46; 24];
        packet.extend(&echo);
        assert_eq!(Format::V4_RAW.read(&packet), Format::V4_DATAGRAM.read(&echo));
        for length in 0..packet.len() {
            let cut = Format::V4_RAW.read(&packet[..length]);
            assert_eq!(cut.is_some(), length >= 24 + 8, "{length}");
        }
    }
}
