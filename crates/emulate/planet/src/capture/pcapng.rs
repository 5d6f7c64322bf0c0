//! Serializes the blocks of a pcapng file (draft-ietf-opsawg-pcapng), little endian.
//!
//! Pure: each function appends one complete block to a buffer.

use std::time::Duration;

pub(super) fn section(out: &mut Vec<u8>) {
    block(out, SECTION, |body| {
        body.extend(BYTE_ORDER.to_le_bytes());
        // Version 1.0, and an unknown section length.
        body.extend([1, 0, 0, 0]);
        body.extend(u64::MAX.to_le_bytes());
        option(body, 4, concat!("longhaul ", env!("CARGO_PKG_VERSION")).as_bytes());
        end_of_options(body);
    });
}

/// The first has number 0. A `snap` of 0 means that packets are kept whole.
pub(super) fn interface(out: &mut Vec<u8>, name: &str, snap: u32) {
    block(out, 1, |body| {
        body.extend(LINKTYPE_NULL.to_le_bytes());
        body.extend([0, 0]);
        body.extend(if snap == 0 { 0 } else { snap.saturating_add(FAMILY) }.to_le_bytes());
        option(body, 2, name.as_bytes());
        option(body, 9, &[9]);
        end_of_options(body);
    });
}

pub(super) struct Packet<'a> {
    pub at: Duration,
    pub interface: u32,
    pub comment: Option<&'a str>,
}

pub(super) fn packet(out: &mut Vec<u8>, packet: &Packet, bytes: &[u8], length: u32) {
    block(out, PACKET, |body| {
        body.extend(packet.interface.to_le_bytes());
        body.extend(time(packet.at));
        body.extend(low32(bytes.len()).saturating_add(FAMILY).to_le_bytes());
        body.extend(length.saturating_add(FAMILY).to_le_bytes());
        body.extend(family(bytes).to_le_bytes());
        body.extend_from_slice(bytes);
        pad(body);
        if let Some(comment) = packet.comment {
            option(body, 1, comment.as_bytes());
            end_of_options(body);
        }
    });
}

/// Packets seen, and packets among them that are missing in the file.
pub(super) fn statistics(out: &mut Vec<u8>, at: Duration, interface: u32, seen: u64, missed: u64) {
    block(out, STATISTICS, |body| {
        body.extend(interface.to_le_bytes());
        body.extend(time(at));
        option(body, 4, &seen.to_le_bytes());
        option(body, MISSED, &missed.to_le_bytes());
        end_of_options(body);
    });
}

fn family(packet: &[u8]) -> u32 {
    if packet.first().is_some_and(|first| first >> 4 == 6) { INET6 } else { INET }
}

fn block(out: &mut Vec<u8>, kind: u32, write_body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend(kind.to_le_bytes());
    out.extend([0; 4]);
    // Padding is relative to the start of the block.
    write_body(out);
    let length = low32(out.len() - start + 4).to_le_bytes();
    out[start + 4..start + 8].copy_from_slice(&length);
    out.extend(length);
}

fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    let value = &value[..value.len().min(usize::from(u16::MAX))];
    body.extend(code.to_le_bytes());
    body.extend(u16::try_from(value.len()).unwrap_or(u16::MAX).to_le_bytes());
    body.extend_from_slice(value);
    pad(body);
}

fn end_of_options(body: &mut Vec<u8>) {
    body.extend([0; 4]);
}

fn pad(body: &mut Vec<u8>) {
    body.resize(body.len().next_multiple_of(4), 0);
}

fn time(at: Duration) -> [u8; 8] {
    let nanoseconds = u64::try_from(at.as_nanos()).unwrap_or(u64::MAX);
    nanoseconds.rotate_left(32).to_le_bytes()
}

/// A block is not longer than a packet and a comment.
fn low32(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

pub(super) const SECTION: u32 = 0x0a0d_0d0a;
pub(super) const BYTE_ORDER: u32 = 0x1a2b_3c4d;
pub(super) const PACKET: u32 = 6;
pub(super) const STATISTICS: u32 = 5;
pub(super) const MISSED: u16 = 5;

/// Each packet is prefixed by its address family, in the byte order of the file. libpcap rejects a
/// file with two interfaces of `LINKTYPE_RAW`.
const LINKTYPE_NULL: u16 = 0;
const FAMILY: u32 = 4;
const INET: u32 = 2;
/// IPv6 on macOS. tcpdump and Wireshark accept the numbers of all BSDs, but not that of Linux.
const INET6: u32 = 30;
