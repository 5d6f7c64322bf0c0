//! Frames as the kernel makes them, frames as nobody should make them, and slices against a plain segmentation.

use proptest::prelude::*;

use super::*;

/// A TCP super-packet as the kernel hands it over: checksum partial, PSH, FIN and CWR set.
fn tcp_frame(version: u8, payload: usize, segment: u16) -> Vec<u8> {
    let tcp_header = 32;
    let mut ip = match version {
        4 => vec![0x45, 0, 0, 0, 0x12, 0x34, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2],
        _ => {
            let mut header = vec![0x60, 0, 0, 0, 0, 0, 6, 64];
            header.extend([0xfd; 15]);
            header.push(1);
            header.extend([0xfd; 15]);
            header.push(2);
            header
        }
    };
    let at = ip.len();
    ip.extend([0; 32]);
    put(&mut ip, at + 4, 0xffff_fff0_u32.to_be_bytes());
    ip[at + 12] = 0x80;
    ip[at + 13] = 0x10 | FIN | PSH | CWR;
    ip.extend((0..payload).map(|i| low16(i * 7).to_le_bytes()[0]));
    let total = ip.len();
    set_length(&mut ip, total, 0);
    let sum = pseudo_sum(&ip, IPPROTO_TCP, tcp_header + payload);
    put(&mut ip, at + 16, sum.to_be_bytes());
    let gso = if version == 4 { GSO_TCPV4 } else { GSO_TCPV6 };
    let mut frame = vec![NEEDS_CSUM, gso, 0xff, 0xff];
    frame.extend(segment.to_le_bytes());
    frame.extend(low16(at).to_le_bytes());
    frame.extend(16_u16.to_le_bytes());
    frame.extend(ip);
    frame
}

/// What a receiver checks: lengths, the IPv4 header's sum, and the pseudo-header's sum in the transport checksum.
fn assert_sound(written: &[u8]) {
    let ip = &written[VIRTIO_HEADER..];
    let at = if ip[0] >> 4 == 4 {
        assert_eq!(usize::from(u16::from_be_bytes([ip[2], ip[3]])), ip.len());
        assert_eq!(fold(sum_words(&ip[..20])), 0xffff, "the IPv4 header sums to all ones");
        20
    } else {
        assert_eq!(usize::from(u16::from_be_bytes([ip[4], ip[5]])), ip.len() - 40);
        40
    };
    let sum = u16::from_be_bytes([ip[at + 16], ip[at + 17]]);
    assert_eq!(sum, pseudo_sum(ip, IPPROTO_TCP, ip.len() - at));
}

fn slice(frame: &[u8], segments: Range<u32>) -> Vec<u8> {
    let (headers, payload) = Frame::parse(frame).unwrap().slice(frame, &segments, Treatment::default());
    [&headers, &*payload].concat()
}

#[test]
fn a_super_packet_is_counted_by_segment() {
    for (version, headers) in [(4, 52), (6, 72)] {
        let frame = Frame::parse(&tcp_frame(version, 3000, 1448)).unwrap();
        assert_eq!(frame.packet, Packet::segmented(headers, 3000, 1448), "IPv{version}");
    }
}

#[test]
fn a_whole_packet_is_the_frame_as_it_came() {
    let mut ping = vec![0; VIRTIO_HEADER + 1200];
    ping[VIRTIO_HEADER] = 0x45;
    for frame in [tcp_frame(4, 3000, 1448), ping] {
        let all = 0..Frame::parse(&frame).unwrap().packet.segments();
        assert_eq!(slice(&frame, all), frame);
    }
}

#[test]
fn slices_are_the_packets_a_card_would_send() {
    for version in [4, 6] {
        let frame = tcp_frame(version, 5000, 1448);
        let header = if version == 4 { 20 } else { 40 };
        let mut payload = Vec::new();
        for segment in 0..4 {
            let one = slice(&frame, segment..segment + 1);
            assert_sound(&one);
            assert_eq!(one[1], GSO_NONE);
            let tcp = &one[VIRTIO_HEADER + header..];
            let sequence = u32::from_be_bytes(tcp[4..8].try_into().unwrap());
            assert_eq!(sequence, 0xffff_fff0_u32.wrapping_add(segment * 1448));
            assert_eq!(tcp[13] & CWR != 0, segment == 0, "CWR on the first only");
            assert_eq!(tcp[13] & (FIN | PSH) != 0, segment == 3, "FIN and PSH on the last only");
            payload.extend_from_slice(&tcp[32..]);
        }
        assert_eq!(payload, &frame[frame.len() - 5000..], "no byte is lost or moved");
    }
}

#[test]
fn ipv4_identification_counts_segments() {
    let one = slice(&tcp_frame(4, 5000, 1448), 2..4);
    assert_eq!(&one[VIRTIO_HEADER + 4..VIRTIO_HEADER + 6], &0x1236_u16.to_be_bytes());
    assert_eq!(one[1], GSO_TCPV4, "two segments are still a super-packet");
    assert_sound(&one);
}

#[test]
fn a_udp_super_packet_is_cut_into_datagrams() {
    let mut ip = vec![0x45, 0, 0, 0, 0, 7, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    ip.extend([0, 9, 0, 9, 0, 0, 0, 0]);
    ip.extend([1; 2500]);
    set_length(&mut ip, 2528, 0);
    let mut frame = vec![NEEDS_CSUM, GSO_UDP_L4, 28, 0];
    frame.extend(1000_u16.to_le_bytes());
    frame.extend([20, 0, 6, 0]);
    frame.extend(ip);
    let last = slice(&frame, 2..3);
    let ip = &last[VIRTIO_HEADER..];
    assert_eq!(ip.len(), 28 + 500);
    assert_eq!(u16::from_be_bytes([ip[24], ip[25]]), 508);
    assert_eq!(u16::from_be_bytes([ip[26], ip[27]]), pseudo_sum(ip, IPPROTO_UDP, 508));
}

#[test]
fn what_cannot_be_forwarded_is_refused() {
    let good = tcp_frame(4, 3000, 1448);
    let with = |at: usize, byte: u8| {
        let mut frame = good.clone();
        frame[at] = byte;
        Frame::parse(&frame)
    };
    assert_eq!(Frame::parse(&[]), Err(Malformed::Truncated));
    assert_eq!(Frame::parse(&good[..VIRTIO_HEADER]), Err(Malformed::Truncated));
    assert_eq!(Frame::parse(&good[..VIRTIO_HEADER + 12]), Err(Malformed::Truncated));
    assert_eq!(with(VIRTIO_HEADER, 0x15), Err(Malformed::Truncated), "IP version 1");
    assert_eq!(with(VIRTIO_HEADER, 0x44), Err(Malformed::Truncated), "an IPv4 header of 16 bytes");
    assert_eq!(with(0, 0), Err(Malformed::Offload), "no checksum to complete");
    assert_eq!(with(1, 3), Err(Malformed::Offload), "UDP fragmentation was not asked for");
    assert_eq!(with(6, 0), Err(Malformed::Offload), "the transport starts inside the IP header");
    assert_eq!(with(7, 0xff), Err(Malformed::Truncated), "the transport starts behind the end");
    assert_eq!(with(VIRTIO_HEADER + 32, 0x10), Err(Malformed::Truncated), "a TCP header of 4 bytes");
}

proptest! {
    #[test]
    fn no_bytes_can_break_it(mut bytes in prop::collection::vec(any::<u8>(), 0..400), version in 0_u8..3) {
        // Two thirds of the cases get a plausible first byte, so that parsing goes further.
        if let (Some(byte), Some(nibble)) = (bytes.get_mut(VIRTIO_HEADER), [None, Some(0x45), Some(0x60)][usize::from(version)]) {
            *byte = nibble;
        }
        if let Ok(frame) = Frame::parse(&bytes) {
            let segments = frame.packet.segments();
            for segment in 0..segments.min(64) {
                let _ = frame.slice(&bytes, &(segment..segment + 1), Treatment::default());
            }
        }
    }

    #[test]
    fn any_cut_is_sound(payload in 1_usize..60_000, segment in 500_u16..9000, from in 0_u32..100, length in 1_u32..100) {
        let frame = tcp_frame(4, payload, segment);
        let all = Frame::parse(&frame).unwrap().packet.segments();
        let from = from % all;
        let to = (from + length).min(all);
        assert_sound(&slice(&frame, from..to));
    }
}
