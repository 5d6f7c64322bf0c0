//! Frames of a TUN device: a virtio header and an IP packet, which may be a super-packet.
//!
//! Frames are untrusted input. The virtio header is passed through unchanged if possible;
//! NEEDS_CSUM means that the transport checksum contains only the sum of the pseudo-header.

mod checksum;
pub mod icmp;
mod ip;

use std::{borrow::Cow, net::IpAddr, ops::Range};

use link::{Ecn, Packet};

use ip::{Fragment, Header};

/// `struct virtio_net_hdr` (virtio 1.2, section 5.1.6), little endian.
pub const VIRTIO_HEADER: usize = 10;

/// The largest IP packet, and thus the largest super-packet, with its virtio header.
pub const LARGEST_FRAME: usize = VIRTIO_HEADER + 65_535;

/// The parsed headers of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// Source address.
    pub from: IpAddr,
    /// Destination address.
    pub to: IpAddr,
    /// Remaining hops: time to live, or hop limit.
    pub ttl: u8,
    /// Whether the packet may be marked instead of dropped.
    pub ecn: Ecn,
    /// The protocol after the IP header and its extension headers.
    pub protocol: u8,
    /// A hash of addresses, protocol and ports, the same in every run.
    pub flow: u64,
    /// The lower one of its two ports; 0 for fragments and protocols without ports.
    pub port: u16,
    /// Its shape on the wire.
    pub packet: Packet,
    network: usize,
    transport: usize,
    fragment: Fragment,
    headers: usize,
    segment: u16,
}

/// Changes of a path to the packets that it delivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Treatment {
    /// Routers passed: subtracted from the time to live, which stops at 0.
    pub hops: u8,
    /// Whether to mark "congestion experienced", for senders that support ECN.
    pub mark: bool,
    /// Random bits that select the bit to invert, only of single segments.
    pub corrupt: Option<u64>,
}

/// The reason why a frame cannot be forwarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// It is shorter than its headers claim, or is not an IP packet.
    Truncated,
    /// A super-packet of a kind that is not enabled, or with contradictory headers.
    Offload,
}

impl Frame {
    /// Parses the headers of a frame, virtio header first.
    pub fn parse(frame: &[u8]) -> Result<Self, Malformed> {
        let (virtio, packet) = frame.split_at_checked(VIRTIO_HEADER).ok_or(Malformed::Truncated)?;
        let header = Header::read(packet)?;
        let total = u32::try_from(packet.len()).map_err(|_| Malformed::Truncated)?;
        let mut parsed = Self {
            from: header.from,
            to: header.to,
            ttl: header.ttl,
            ecn: header.ecn,
            protocol: header.protocol,
            flow: header.flow(packet),
            port: header.ports(packet).map_or(0, |[from, to]| from.min(to)),
            packet: Packet::single(total),
            network: header.length,
            transport: header.transport,
            fragment: header.fragment,
            headers: packet.len(),
            segment: 0,
        };
        let segment = u16::from_le_bytes([virtio[4], virtio[5]]);
        if virtio[1] & !GSO_ECN != GSO_NONE && segment != 0 {
            parsed.headers = parsed.repeated_headers(virtio, packet)?;
            parsed.segment = segment;
            let headers = u32::try_from(parsed.headers).map_err(|_| Malformed::Truncated)?;
            parsed.packet = Packet::segmented(headers, total - headers, u32::from(segment));
        }
        Ok(parsed)
    }

    /// A range of a packet's segments as a separate packet.
    pub fn part(&self, segments: &Range<u32>) -> Packet {
        if self.segment == 0 {
            return self.packet;
        }
        let payload = self.packet.payload_range(segments);
        let headers = u32::try_from(self.headers).expect("bounded by LONGEST_HEADERS");
        Packet::segmented(headers, payload.end - payload.start, u32::from(self.segment))
    }

    fn repeated_headers(&self, virtio: &[u8], packet: &[u8]) -> Result<usize, Malformed> {
        let [start, offset] = [6, 8].map(|at| usize::from(u16::from_le_bytes([virtio[at], virtio[at + 1]])));
        let is_known = match (virtio[1] & !GSO_ECN, self.protocol) {
            (GSO_TCPV4 | GSO_TCPV6, ip::TCP) => offset == TCP_CHECKSUM,
            (GSO_UDP_L4, ip::UDP) => offset == UDP_CHECKSUM,
            _ => false,
        };
        let is_whole = self.fragment == Fragment::Whole;
        if virtio[0] & NEEDS_CSUM == 0 || !is_known || start != self.transport || !is_whole {
            return Err(Malformed::Offload);
        }
        let headers = start + self.transport_header(packet);
        let is_short = self.protocol == ip::TCP && headers < start + TCP_HEADER;
        if is_short || headers > packet.len() || headers > LONGEST_HEADERS {
            return Err(Malformed::Truncated);
        }
        Ok(headers)
    }

    fn transport_header(&self, packet: &[u8]) -> usize {
        match (self.fragment, self.protocol) {
            (Fragment::Later, _) => 0,
            (_, ip::TCP) => packet.get(self.transport + 12).map_or(0, |offset| usize::from(offset >> 4) * 4),
            (_, ip::UDP) => UDP_HEADER,
            (_, ip::ICMP | ip::ICMPV6) => icmp::HEADER,
            _ => 0,
        }
    }

    /// A range of a packet's segments as a separate frame. The payload is borrowed from `frame`
    /// unless it is corrupted.
    pub fn slice<'f>(
        &self,
        frame: &'f [u8],
        segments: &Range<u32>,
        treatment: Treatment,
    ) -> (Headers, Cow<'f, [u8]>) {
        if let (Some(random), 1) = (treatment.corrupt, segments.len()) {
            let mut packet = Vec::new();
            self.write_segment(frame, segments.start, Treatment { corrupt: None, ..treatment }, &mut packet);
            self.corrupt(&mut packet, random);
            // Zeros: a plain packet whose checksum the receiver has to verify.
            return (Headers::copied(&[0; VIRTIO_HEADER]), Cow::Owned(packet));
        }
        let (mut headers, payload) = if *segments != (0..self.packet.segments()) {
            self.cut(frame, segments)
        } else {
            let changed = if treatment == Treatment::default() { 0 } else { self.network };
            let (headers, payload) = frame.split_at(VIRTIO_HEADER + changed);
            (Headers::copied(headers), payload)
        };
        if treatment.hops > 0 {
            ip::take_hops(headers.ip(), treatment.hops);
        }
        if treatment.mark {
            ip::mark(headers.ip());
        }
        (headers, Cow::Borrowed(payload))
    }

    pub(crate) fn write_segment(&self, frame: &[u8], segment: u32, treatment: Treatment, to: &mut Vec<u8>) {
        let start = to.len();
        let (headers, payload) = self.slice(frame, &(segment..segment + 1), treatment);
        let (virtio, ip) = headers.split_at(VIRTIO_HEADER);
        to.extend_from_slice(ip);
        to.extend_from_slice(&payload);
        checksum::complete(virtio, &mut to[start..], self.transport);
    }

    fn cut<'f>(&self, frame: &'f [u8], segments: &Range<u32>) -> (Headers, &'f [u8]) {
        let start = VIRTIO_HEADER + self.headers;
        let range = self.packet.payload_range(segments);
        let payload = &frame[start + range.start as usize..start + range.end as usize];
        let mut headers = Headers::copied(&frame[..start]);
        let (virtio, ip) = headers.bytes[..start].split_at_mut(VIRTIO_HEADER);
        if segments.len() == 1 {
            virtio[1] = GSO_NONE;
            put(virtio, 4, 0_u16.to_le_bytes());
        }
        put(virtio, 2, low16(self.headers).to_le_bytes());
        ip::set_length(ip, self.headers + payload.len(), segments.start);

        let transport = &mut ip[self.transport..];
        let length = transport.len() + payload.len();
        let field = if self.protocol == ip::TCP {
            let sequence = u32::from_be_bytes(transport[4..8].try_into().expect("four bytes"));
            let sequence = sequence.wrapping_add(segments.start.wrapping_mul(u32::from(self.segment)));
            put(transport, 4, sequence.to_be_bytes());
            if segments.end < self.packet.segments() {
                transport[13] &= !(FIN | PSH);
            }
            if segments.start > 0 {
                transport[13] &= !CWR;
            }
            TCP_CHECKSUM
        } else {
            put(transport, 4, low16(length).to_be_bytes());
            UDP_CHECKSUM
        };
        let sum = checksum::fold(checksum::pseudo_header(ip, self.protocol, length));
        put(ip, self.transport + field, sum.to_be_bytes());
        (headers, payload)
    }

    /// Inverts one bit of the payload, or of the transport header if there is no payload. The
    /// transport checksum detects it; UDP without a checksum accepts the error.
    fn corrupt(&self, packet: &mut [u8], random: u64) {
        let payload = self.transport + self.transport_header(packet);
        let covered = if payload < packet.len() {
            payload..packet.len()
        } else if self.protocol == ip::UDP {
            // One inverted bit could make the checksum 0, which means "no checksum".
            self.transport..packet.len().min(self.transport + UDP_CHECKSUM)
        } else {
            self.transport..packet.len()
        };
        if let Some(bit) = random.checked_rem(covered.len() as u64 * 8) {
            let byte = covered.start + usize::try_from(bit / 8).expect("a packet is shorter than memory");
            packet[byte] ^= 1 << (bit % 8);
        }
    }
}

/// The headers of a slice: virtio, and the rewritten part of IP and transport.
pub struct Headers {
    bytes: [u8; VIRTIO_HEADER + LONGEST_HEADERS],
    length: usize,
}

impl Headers {
    fn copied(headers: &[u8]) -> Self {
        let mut bytes = [0; VIRTIO_HEADER + LONGEST_HEADERS];
        bytes[..headers.len()].copy_from_slice(headers);
        Self { bytes, length: headers.len() }
    }

    fn ip(&mut self) -> &mut [u8] {
        &mut self.bytes[VIRTIO_HEADER..self.length]
    }
}

impl std::ops::Deref for Headers {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn put<const N: usize>(bytes: &mut [u8], at: usize, value: [u8; N]) {
    bytes[at..at + N].copy_from_slice(&value);
}

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

const IPV4_HEADER: usize = 20;
const TCP_HEADER: usize = 20;
const TCP_CHECKSUM: usize = 16;
const UDP_HEADER: usize = 8;
const UDP_CHECKSUM: usize = 6;
const FIN: u8 = 0x01;
const PSH: u8 = 0x08;
const CWR: u8 = 0x80;

/// IPv4 with options and TCP with options are 60 bytes each; IPv6 extension headers of a local
/// sender are few.
const LONGEST_HEADERS: usize = 256;

#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;
