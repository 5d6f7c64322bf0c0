//! ICMP messages of routers as complete frames: errors for packets that cannot be forwarded, and
//! echo replies.
//!
//! RFC 792 with RFC 1122 and RFC 1812, and RFC 4443. The caller limits their rate.

use std::net::IpAddr;

use super::{
    Frame, IPV4_HEADER, NEEDS_CSUM, Treatment, VIRTIO_HEADER, checksum,
    ip::{Fragment, ICMP, ICMPV6, IPV6_HEADER},
    low16, put,
};

/// The reason why a router cannot forward a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreachable {
    /// It has no route to the destination's network.
    Net,
    /// It has a route, but the host does not respond.
    Host,
}

/// The error that the time to live of the frame `original` expired. `None` if a router must not
/// send one.
pub fn time_exceeded(router: IpAddr, original: &[u8]) -> Option<Vec<u8>> {
    let frame = Frame::parse(original).ok()?;
    let treatment = Treatment { hops: frame.ttl.saturating_sub(1), ..Treatment::default() };
    let kind = if router.is_ipv4() { [11, 0] } else { [3, 0] };
    error(router, kind, &frame, original, treatment)
}

/// The error that `router`, after `hops` other routers, cannot reach the destination. `None` if a
/// router must not send one.
pub fn unreachable(router: IpAddr, original: &[u8], hops: u8, what: Unreachable) -> Option<Vec<u8>> {
    let frame = Frame::parse(original).ok()?;
    let kind = match (router, what) {
        (IpAddr::V4(_), Unreachable::Net) => [3, 0],
        (IpAddr::V4(_), Unreachable::Host) => [3, 1],
        (IpAddr::V6(_), Unreachable::Net) => [1, 0],
        (IpAddr::V6(_), Unreachable::Host) => [1, 3],
    };
    error(router, kind, &frame, original, Treatment { hops, ..Treatment::default() })
}

/// The reply to a ping; `None` for damaged and fragmented pings.
pub fn echo_reply(original: &[u8]) -> Option<Vec<u8>> {
    let frame = Frame::parse(original).ok()?;
    let packet = &original[VIRTIO_HEADER..];
    let message = &packet[frame.transport..];
    let reply = match (frame.to, frame.protocol, message.first_chunk::<HEADER>()?) {
        (IpAddr::V4(_), ICMP, [8, 0, ..]) => 0,
        (IpAddr::V6(_), ICMPV6, [128, 0, ..]) => 129,
        _ => return None,
    };
    let pseudo = if frame.to.is_ipv6() { checksum::pseudo_header(packet, ICMPV6, message.len()) } else { 0 };
    let is_right = original[0] & NEEDS_CSUM != 0 || checksum::fold(pseudo + checksum::sum(message)) == 0xffff;
    if !is_right || frame.fragment != Fragment::Whole || !is_host(frame.from) || !is_host(frame.to) {
        return None;
    }
    let mut message = message.to_vec();
    message[0] = reply;
    packet_of(frame.to, frame.from, ROUTINE, message)
}

fn error(
    router: IpAddr,
    kind: [u8; 2],
    frame: &Frame,
    original: &[u8],
    treatment: Treatment,
) -> Option<Vec<u8>> {
    if !may_be_told(frame, &original[VIRTIO_HEADER..]) {
        return None;
    }
    let mut message = vec![0; HEADER];
    put(&mut message, 0, kind);
    frame.write_segment(original, 0, treatment, &mut message);
    message.truncate(if router.is_ipv4() { LONGEST_V4 - IPV4_HEADER } else { LONGEST_V6 - IPV6_HEADER });
    packet_of(router, frame.from, CONTROL, message)
}

/// RFC 1122, section 3.2.2; RFC 4443, section 2.4 (e).
fn may_be_told(frame: &Frame, packet: &[u8]) -> bool {
    let kind = packet.get(frame.transport).copied();
    let is_query = match frame.protocol {
        // Unknown types may be errors.
        ICMP => kind.is_some_and(|kind| matches!(kind, 0 | 8..=10 | 13..=18)),
        // Errors are below 128; 137 is a redirect.
        ICMPV6 => kind.is_some_and(|kind| kind >= 128 && kind != 137),
        _ => true,
    };
    is_query && frame.fragment != Fragment::Later && is_host(frame.from) && is_host(frame.to)
}

fn is_host(address: IpAddr) -> bool {
    let is_single = match address {
        // 240.0.0.0/4 is reserved and contains the broadcast address.
        IpAddr::V4(address) => address.octets()[0] < 224,
        IpAddr::V6(address) => !address.is_multicast(),
    };
    is_single && !address.is_unspecified() && !address.is_loopback()
}

fn packet_of(from: IpAddr, to: IpAddr, class: u8, mut message: Vec<u8>) -> Option<Vec<u8>> {
    put(&mut message, 2, [0, 0]);
    let mut ip = Vec::with_capacity(IPV6_HEADER);
    let pseudo = match (from, to) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            // Don't fragment, and therefore no identification (RFC 6864, section 4.1).
            ip.extend([0x45, class, 0, 0, 0, 0, 0x40, 0, TTL, ICMP, 0, 0]);
            ip.extend(from.octets());
            ip.extend(to.octets());
            put(&mut ip, 2, low16(IPV4_HEADER + message.len()).to_be_bytes());
            let header = !checksum::fold(checksum::sum(&ip));
            put(&mut ip, 10, header.to_be_bytes());
            0
        }
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            ip.extend([0x60 | class >> 4, class << 4, 0, 0, 0, 0, ICMPV6, TTL]);
            ip.extend(from.octets());
            ip.extend(to.octets());
            put(&mut ip, 4, low16(message.len()).to_be_bytes());
            checksum::pseudo_header(&ip, ICMPV6, message.len())
        }
        _ => return None,
    };
    let sum = !checksum::fold(pseudo + checksum::sum(&message));
    put(&mut message, 2, sum.to_be_bytes());
    Some([&[0; VIRTIO_HEADER], ip.as_slice(), &message].concat())
}

pub(super) const HEADER: usize = 8;

/// RFC 1812, section 4.3.2.3: the quote fills the message up to 576 bytes.
const LONGEST_V4: usize = 576;
/// RFC 4443, section 2.4 (c): the smallest MTU of IPv6.
const LONGEST_V6: usize = 1280;

/// The initial value of most systems (RFC 1340).
const TTL: u8 = 64;

const ROUTINE: u8 = 0;
/// Traffic class of an error: internetwork control (RFC 1812, section 4.3.2.5).
const CONTROL: u8 = 0xc0;

#[cfg(test)]
mod tests;
