//! Frames as a TUN device gives and takes them: a virtio header and an IP packet, which may be a super-packet.
//!
//! Nothing here allocates, and nothing trusts the frame: any program in the planet can write any bytes into its device.
//! The virtio header goes through verbatim wherever possible. Its flag NEEDS_CSUM says that the transport checksum holds
//! only the sum of the pseudo-header; the receiving kernel trusts the rest, so no payload is ever summed.
//!
//! A super-packet of which only some segments are due is cut by writing new headers for a range of its payload.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    ops::Range,
};

use link::Packet;

/// Length of `struct virtio_net_hdr` (virtio 1.2, section 5.1.6), little endian as TUNSETVNETLE asks.
pub const VIRTIO_HEADER: usize = 10;

/// The largest IP packet, and so the largest super-packet, behind its virtio header.
pub const LARGEST_FRAME: usize = VIRTIO_HEADER + 65_535;

/// What the switch must know of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// Where the packet wants to go.
    pub to: IpAddr,
    /// Its shape on the wire.
    pub packet: Packet,
    headers: usize,
    transport: Transport,
}

/// The transport of a super-packet, with where its header starts in the packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transport {
    /// Not a super-packet.
    Any,
    Tcp {
        at: usize,
        segment: u16,
    },
    Udp {
        at: usize,
        segment: u16,
    },
}

/// Why a frame cannot be forwarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// Shorter than its own headers say, or no IP packet at all.
    Truncated,
    /// A super-packet without a checksum to complete, or of a kind that was not asked for.
    Offload,
}

impl Frame {
    /// Reads the headers of a frame, virtio header first.
    pub fn parse(frame: &[u8]) -> Result<Self, Malformed> {
        let (virtio, packet) = frame.split_at_checked(VIRTIO_HEADER).ok_or(Malformed::Truncated)?;
        let (to, network_header, protocol) = network(packet)?;
        let total = u32::try_from(packet.len()).map_err(|_| Malformed::Truncated)?;
        let gso_type = virtio[1] & !GSO_ECN;
        let segment = u16::from_le_bytes([virtio[4], virtio[5]]);
        if gso_type == GSO_NONE || segment == 0 {
            return Ok(Self {
                to,
                packet: Packet::single(total),
                headers: packet.len(),
                transport: Transport::Any,
            });
        }
        if virtio[0] & NEEDS_CSUM == 0 {
            return Err(Malformed::Offload);
        }
        let at = usize::from(u16::from_le_bytes([virtio[6], virtio[7]]));
        if at < network_header {
            return Err(Malformed::Offload);
        }
        let (transport, length) = match (gso_type, protocol) {
            (GSO_TCPV4 | GSO_TCPV6, _) => {
                let offset = packet.get(at + 12).ok_or(Malformed::Truncated)? >> 4;
                (Transport::Tcp { at, segment }, usize::from(offset) * 4)
            }
            (GSO_UDP_L4, _) => (Transport::Udp { at, segment }, UDP_HEADER),
            _ => return Err(Malformed::Offload),
        };
        let headers = at + length;
        let is_short = matches!(transport, Transport::Tcp { .. }) && length < TCP_HEADER;
        if is_short || headers > packet.len() || headers > LONGEST_HEADERS {
            return Err(Malformed::Truncated);
        }
        let header_bytes = u32::try_from(headers).map_err(|_| Malformed::Truncated)?;
        let packet = Packet::segmented(header_bytes, total - header_bytes, u32::from(segment));
        Ok(Self { to, packet, headers, transport })
    }

    /// Some of a packet's segments as a frame of their own: headers, and the bytes of `frame` that follow them. All of them
    /// are the frame as it came.
    pub fn slice<'f>(&self, frame: &'f [u8], segments: &Range<u32>) -> (Headers, &'f [u8]) {
        if *segments == (0..self.packet.segments()) {
            let mut virtio = Headers { bytes: [0; VIRTIO_HEADER + LONGEST_HEADERS], length: VIRTIO_HEADER };
            virtio.bytes[..VIRTIO_HEADER].copy_from_slice(&frame[..VIRTIO_HEADER]);
            return (virtio, &frame[VIRTIO_HEADER..]);
        }
        let start = VIRTIO_HEADER + self.headers;
        let range = self.packet.payload_range(segments);
        let payload = &frame[start + range.start as usize..start + range.end as usize];
        let mut headers = Headers { bytes: [0; VIRTIO_HEADER + LONGEST_HEADERS], length: start };
        headers.bytes[..start].copy_from_slice(&frame[..start]);
        let (virtio, ip) = headers.bytes[..start].split_at_mut(VIRTIO_HEADER);

        if segments.len() == 1 {
            virtio[1] = GSO_NONE;
            put(virtio, 4, 0_u16.to_le_bytes());
        }
        put(virtio, 2, low16(self.headers).to_le_bytes());
        set_length(ip, self.headers + payload.len(), segments.start);
        match self.transport {
            Transport::Any => {}
            Transport::Tcp { at, segment } => {
                let tcp = &mut ip[at..];
                let sequence = u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]]);
                let sequence = sequence.wrapping_add(segments.start.wrapping_mul(u32::from(segment)));
                put(tcp, 4, sequence.to_be_bytes());
                if segments.end < self.packet.segments() {
                    tcp[13] &= !(FIN | PSH);
                }
                if segments.start > 0 {
                    tcp[13] &= !CWR;
                }
                let sum = pseudo_sum(ip, IPPROTO_TCP, self.headers - at + payload.len());
                put(ip, at + 16, sum.to_be_bytes());
            }
            Transport::Udp { at, .. } => {
                let length = UDP_HEADER + payload.len();
                put(ip, at + 4, low16(length).to_be_bytes());
                let sum = pseudo_sum(ip, IPPROTO_UDP, length);
                put(ip, at + 6, sum.to_be_bytes());
            }
        }
        (headers, payload)
    }
}

/// The headers of a slice: virtio, IP and transport.
pub struct Headers {
    bytes: [u8; VIRTIO_HEADER + LONGEST_HEADERS],
    length: usize,
}

impl std::ops::Deref for Headers {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// Destination, length of the network header, and protocol. IPv6 extension headers count as payload: the virtio header
/// says where the transport starts.
fn network(packet: &[u8]) -> Result<(IpAddr, usize, u8), Malformed> {
    match packet.first().map(|byte| byte >> 4) {
        Some(4) if packet.len() >= IPV4_HEADER => {
            let to: [u8; 4] = packet[16..20].try_into().expect("four bytes");
            let header = usize::from(packet[0] & 0x0f) * 4;
            if header < IPV4_HEADER || header > packet.len() {
                return Err(Malformed::Truncated);
            }
            Ok((IpAddr::V4(Ipv4Addr::from(to)), header, packet[9]))
        }
        Some(6) if packet.len() >= IPV6_HEADER => {
            let to: [u8; 16] = packet[24..40].try_into().expect("sixteen bytes");
            Ok((IpAddr::V6(Ipv6Addr::from(to)), IPV6_HEADER, packet[6]))
        }
        _ => Err(Malformed::Truncated),
    }
}

/// Writes the packet's new length, and for IPv4 its identification (each segment counts) and header checksum.
fn set_length(ip: &mut [u8], total: usize, first_segment: u32) {
    if ip[0] >> 4 == 6 {
        put(ip, 4, low16(total - IPV6_HEADER).to_be_bytes());
        return;
    }
    put(ip, 2, low16(total).to_be_bytes());
    let identification = u16::from_be_bytes([ip[4], ip[5]]).wrapping_add(low16(first_segment as usize));
    put(ip, 4, identification.to_be_bytes());
    put(ip, 10, [0, 0]);
    let header = usize::from(ip[0] & 0x0f) * 4;
    let sum = !fold(sum_words(&ip[..header]));
    put(ip, 10, sum.to_be_bytes());
}

/// The sum of the pseudo-header (RFC 9293, section 3.1; RFC 8200, section 8.1), not inverted.
fn pseudo_sum(ip: &[u8], protocol: u8, length: usize) -> u16 {
    let addresses = if ip[0] >> 4 == 6 { &ip[8..40] } else { &ip[12..20] };
    fold(sum_words(addresses) + u64::from(protocol) + length as u64)
}

fn sum_words(bytes: &[u8]) -> u64 {
    bytes.chunks(2).map(|pair| u64::from(u16::from_be_bytes([pair[0], *pair.get(1).unwrap_or(&0)]))).sum()
}

fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    u16::try_from(sum).expect("folded to 16 bits")
}

fn put<const N: usize>(bytes: &mut [u8], at: usize, value: [u8; N]) {
    bytes[at..at + N].copy_from_slice(&value);
}

/// Length fields have 16 bits, and no frame is longer than [`LARGEST_FRAME`].
#[expect(clippy::cast_possible_truncation, reason = "the caller's value fits, or wraps as the field does")]
fn low16(value: usize) -> u16 {
    value as u16
}

const NEEDS_CSUM: u8 = 1;
const GSO_NONE: u8 = 0;
const GSO_TCPV4: u8 = 1;
const GSO_TCPV6: u8 = 4;
const GSO_UDP_L4: u8 = 5;
const GSO_ECN: u8 = 0x80;

const IPPROTO_TCP: u8 = 6;
const IPPROTO_UDP: u8 = 17;
const IPV4_HEADER: usize = 20;
const IPV6_HEADER: usize = 40;
const TCP_HEADER: usize = 20;
const UDP_HEADER: usize = 8;
const FIN: u8 = 0x01;
const PSH: u8 = 0x08;
const CWR: u8 = 0x80;

/// IPv4 with options and TCP with options are 60 bytes each; IPv6 extension headers of a local sender are few.
const LONGEST_HEADERS: usize = 256;

#[cfg(test)]
mod tests;
