//! The Internet checksum (RFC 1071): of a header, of a transport with its pseudo-header, and its
//! incremental update.

use super::{IPV4_HEADER, put, word};

/// The sum of 16-bit words, the last one padded with zero. Adding four bytes at once gives the same
/// result: 2^16 is 1 in ones' complement arithmetic.
pub(super) fn sum(bytes: &[u8]) -> u64 {
    let words = bytes.chunks_exact(4);
    let mut last = [0; 4];
    last[..words.remainder().len()].copy_from_slice(words.remainder());
    let whole: u64 =
        words.map(|word| u64::from(u32::from_be_bytes(word.try_into().expect("four bytes")))).sum();
    whole + u64::from(u32::from_be_bytes(last))
}

pub(super) fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    u16::try_from(sum).expect("folded to 16 bits")
}

/// RFC 9293, section 3.1; RFC 8200, section 8.1.
pub(super) fn pseudo_header(ip: &[u8], protocol: u8, length: usize) -> u64 {
    let addresses = if ip[0] >> 4 == 6 { &ip[8..40] } else { &ip[12..IPV4_HEADER] };
    sum(addresses) + u64::from(protocol) + length as u64
}

/// Updates the IPv4 checksum incrementally (RFC 1624, equation 3), so that a wrong checksum remains
/// wrong.
pub(super) fn replace(ip: &mut [u8], at: usize, new: u16) {
    if ip[0] >> 4 == 4 {
        let old = word(ip, at);
        let mended = fold(u64::from(!word(ip, 10)) + u64::from(!old) + u64::from(new));
        put(ip, 10, (!mended).to_be_bytes());
    }
    put(ip, at, new.to_be_bytes());
}

/// Completes the checksum that a virtio header requests: the field contains the sum of the
/// pseudo-header, and all bytes from `csum_start` are added, which is `transport` or later in a
/// tunnel. A request beyond the packet is ignored, as in the kernel.
pub(super) fn complete(virtio: &[u8], packet: &mut [u8], transport: usize) {
    if virtio[0] & super::NEEDS_CSUM == 0 {
        return;
    }
    let start = usize::from(u16::from_le_bytes([virtio[6], virtio[7]]));
    let field = start + usize::from(u16::from_le_bytes([virtio[8], virtio[9]]));
    if start < transport || field + 2 > packet.len() {
        return;
    }
    // 0 would mean "no checksum" in UDP (RFC 768).
    let checksum = match !fold(sum(&packet[start..])) {
        0 => 0xffff,
        checksum => checksum,
    };
    put(packet, field, checksum.to_be_bytes());
}
