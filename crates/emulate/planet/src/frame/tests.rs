//! Frames in the form of the kernel, malformed frames, and slices compared with a plain
//! segmentation.

use proptest::prelude::*;

use super::{
    sample::{SEQUENCE, Sample, TCP, TCP_FLAGS, UDP, fault},
    *,
};

/// All kinds of super-packets, one of them with an extension header.
const KINDS: [(u8, u8, bool); 5] =
    [(4, TCP, false), (6, TCP, false), (4, UDP, false), (6, UDP, false), (6, TCP, true)];

fn sample(kind: usize, payload: usize, segment: u16) -> Sample {
    let (version, protocol, extended) = KINDS[kind];
    Sample { extended, ..Sample::new(version, protocol, payload, segment) }
}

fn slice(frame: &[u8], segments: Range<u32>, treatment: Treatment) -> Vec<u8> {
    let (headers, payload) = Frame::parse(frame).unwrap().slice(frame, &segments, treatment);
    [&headers, &*payload].concat()
}

fn on_wire(bytes: &[u8]) -> Vec<Vec<u8>> {
    let frame = Frame::parse(bytes).unwrap();
    let segment = |segment| {
        let mut packet = Vec::new();
        frame.write_segment(bytes, segment, Treatment::default(), &mut packet);
        packet
    };
    (0..frame.packet.segments()).map(segment).collect()
}

#[test]
fn a_frame_says_who_and_what_it_is() {
    let one = |version, class| {
        Frame::parse(&Sample { class, ttl: 7, ..Sample::new(version, UDP, 100, 0) }.frame()).unwrap()
    };
    for (version, from, to) in [(4, "10.0.0.1", "10.0.0.2"), (6, "fd00::1", "fd00::2")] {
        let frame = one(version, 0);
        assert_eq!((frame.from, frame.to), (from.parse().unwrap(), to.parse().unwrap()));
        assert_eq!((frame.ttl, frame.protocol), (7, UDP));
        let ecn = [0xfc, 0xfd, 0xfe, 0xff].map(|class| one(version, class).ecn);
        assert_eq!(ecn, [Ecn::NotCapable, Ecn::Capable, Ecn::Capable, Ecn::Capable]);
    }
}

#[test]
fn a_flow_is_addresses_protocol_and_ports() {
    let flow = |sample: Sample, change: &dyn Fn(&mut [u8])| {
        let mut frame = sample.frame();
        change(&mut frame[VIRTIO_HEADER..]);
        Frame::parse(&frame).unwrap().flow
    };
    let same = |_: &mut [u8]| {};
    for version in [4, 6] {
        let udp = Sample::new(version, UDP, 100, 0);
        let at = udp.transport();
        let first = flow(udp, &same);
        assert_eq!(
            flow(Sample { payload: 9, ttl: 3, class: 1, ..udp }, &same),
            first,
            "same flow, other packet"
        );
        assert_ne!(flow(udp, &|ip| ip[at + 1] += 1), first, "other port");
        assert_ne!(flow(udp, &|ip| ip[at - 1] += 1), first, "other destination");
        assert_ne!(flow(Sample { protocol: TCP, ..udp }, &same), first, "other protocol");
    }
    let extended = Sample { extended: true, ..Sample::new(6, UDP, 100, 0) };
    assert_eq!(flow(extended, &same), flow(Sample { extended: false, ..extended }, &same));
    // Fragments of one packet are one flow, whether they have the ports or not. The first has
    // "more" set.
    let udp = Sample::new(4, UDP, 100, 0);
    let [first, later] = [0x20, 0x01].map(|flags| flow(udp, &|ip| ip[6] = flags));
    assert_eq!(first, later);
    // Computed with another implementation of SplitMix64, over the addresses, protocol and ports.
    assert_eq!(flow(udp, &same), PINNED);
}

#[test]
fn ipv6_fragments_are_read_through_their_header() {
    // Fragment header: next UDP, offset and "more", identification.
    for (offset, has_ports) in [([0, 0], true), ([0, 1], false), ([5, 1], false), ([5, 0], false)] {
        let mut frame = Sample { extended: true, ..Sample::new(6, UDP, 100, 0) }.frame();
        frame[VIRTIO_HEADER + 6] = 44;
        frame[VIRTIO_HEADER + 42..VIRTIO_HEADER + 44].copy_from_slice(&offset);
        let one = Frame::parse(&frame).unwrap();
        frame[VIRTIO_HEADER + 48] ^= 1;
        let other_port = Frame::parse(&frame).unwrap();
        assert_eq!(one.protocol, UDP);
        assert_eq!(one.flow != other_port.flow, has_ports, "offset {offset:?}");
    }
}

#[test]
fn a_super_packet_is_counted_by_segment() {
    for (kind, headers) in [(0, 52), (1, 72), (2, 28), (3, 48), (4, 80)] {
        let frame = Frame::parse(&sample(kind, 3000, 1448).frame()).unwrap();
        assert_eq!(frame.packet, Packet::segmented(headers, 3000, 1448), "{:?}", KINDS[kind]);
    }
}

#[test]
fn a_whole_packet_is_the_frame_as_it_came() {
    let mut ping = vec![0; VIRTIO_HEADER + 1200];
    ping[VIRTIO_HEADER] = 0x45;
    for frame in [sample(0, 3000, 1448).frame(), ping] {
        let all = 0..Frame::parse(&frame).unwrap().packet.segments();
        assert_eq!(slice(&frame, all, Treatment::default()), frame);
    }
}

#[test]
fn slices_are_the_packets_a_card_would_send() {
    for kind in [0, 1, 4] {
        let sample = sample(kind, 5000, 1448);
        let at = sample.transport();
        for (segment, packet) in (0..).zip(on_wire(&sample.frame())) {
            let tcp = &packet[at..];
            let sequence = u32::from_be_bytes(tcp[4..8].try_into().unwrap());
            assert_eq!(sequence, SEQUENCE.wrapping_add(segment * 1448));
            let without = [FIN | PSH, FIN | PSH | CWR, FIN | PSH | CWR, CWR][segment as usize];
            assert_eq!(tcp[13], TCP_FLAGS & !without, "segment {segment}");
        }
    }
}

#[test]
fn a_slice_stays_a_super_packet_for_the_kernel() {
    let frame = sample(0, 5000, 1448).frame();
    let run = slice(&frame, 2..4, Treatment::default());
    let ip = &run[VIRTIO_HEADER..];
    assert_eq!(run[1], GSO_TCPV4, "two segments are still a super-packet");
    assert_eq!(word(ip, 4), 0x1236, "the identification counts segments");
    // The kernel expects the sum of the pseudo-header in the field: 10.0.0.1, 10.0.0.2, protocol 6, and a TCP
    // header of 32 followed by 5000 - 2 * 1448 = 2104 bytes.
    assert_eq!(word(ip, 36), 0x0a00 + 0x0001 + 0x0a00 + 0x0002 + 6 + 2136);
    let one = slice(&frame, 3..4, Treatment::default());
    assert_eq!((one[1], word(&one, 4)), (GSO_NONE, 0), "one segment is none");
}

#[test]
fn checksums_are_those_of_the_standards() {
    // RFC 1071, section 3.
    assert_eq!(checksum::fold(checksum::sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7])), 0xddf2);
    // RFC 1624, section 4: 0x5555 becomes 0x3285 in a header whose checksum is 0xdd2f, which becomes 0.
    let mut header = [0_u8; 20];
    header[0] = 0x40;
    put(&mut header, 2, 0x5555_u16.to_be_bytes());
    put(&mut header, 10, 0xdd2f_u16.to_be_bytes());
    checksum::replace(&mut header, 2, 0x3285);
    assert_eq!((word(&header, 2), word(&header, 10)), (0x3285, 0));
    // Lengths that are not a multiple of 4: 0x0001 + 0x0200 + 0x0003, and a last byte that is the upper half
    // of a word.
    assert_eq!(checksum::fold(checksum::sum(&[0, 1, 2, 0, 0, 3])), 0x0204);
    assert_eq!(checksum::fold(checksum::sum(&[0, 1, 2])), 0x0201);
}

#[test]
fn udp_never_says_that_it_has_no_checksum() {
    // A packet whose words sum to 0xffff would have checksum 0.
    let mut frame = Sample::new(4, UDP, 2, 0).frame();
    let sum = sample::ones_complement_sum(0, &frame[VIRTIO_HEADER + 20..VIRTIO_HEADER + 28]);
    frame[VIRTIO_HEADER + 28..].copy_from_slice(&(!sum).to_be_bytes());
    let packet = on_wire(&frame).remove(0);
    assert_eq!(word(&packet, 26), 0xffff);
    assert_eq!(fault(&packet), None);
}

#[test]
fn a_checksum_is_completed_where_it_can_be() {
    let mut tunnel = Sample::new(4, UDP, 100, 0).frame();
    tunnel[6..10].copy_from_slice(&[28, 0, 2, 0]);
    let packet = on_wire(&tunnel).remove(0);
    assert_eq!(packet[..30], tunnel[VIRTIO_HEADER..][..30]);
    assert_eq!(word(&packet, 30), !sample::ones_complement_sum(0, &tunnel[VIRTIO_HEADER + 28..]));
    for nonsense in [[0, 0, 0, 0], [12, 0, 4, 0], [28, 0, 99, 0], [255, 255, 255, 255]] {
        tunnel[6..10].copy_from_slice(&nonsense);
        assert_eq!(on_wire(&tunnel), [&tunnel[VIRTIO_HEADER..]], "{nonsense:?}");
    }
}

#[test]
fn a_way_takes_hops_and_marks() {
    let treatment = |hops, mark| Treatment { hops, mark, corrupt: None };
    for kind in 0..KINDS.len() {
        let sample = Sample { ttl: 10, class: 0xb9, ..sample(kind, 3000, 1448) };
        let bytes = sample.frame();
        for segments in [0..3, 1..2] {
            let far = slice(&bytes, segments.clone(), treatment(3, true));
            let frame = Frame::parse(&far).unwrap();
            assert_eq!(frame.ttl, 7);
            let class = if sample.version == 4 { far[11] } else { far[10] << 4 | far[11] >> 4 };
            assert_eq!(class, 0xbb, "ECT(1) becomes CE, and DSCP stays");
            assert!(on_wire(&far).iter().all(|packet| fault(packet).is_none()));
            let farther = slice(&bytes, segments, treatment(200, false));
            assert_eq!(Frame::parse(&farther).unwrap().ttl, 0, "it does not start again at 255");
        }
        let deaf = Sample { class: 0xb8, ..sample }.frame();
        assert_eq!(slice(&deaf, 0..3, treatment(0, true)), deaf, "no marks for who does not know them");
    }
}

#[test]
fn a_wrong_header_checksum_is_not_made_right() {
    let mut bytes = Sample { class: 1, ..Sample::new(4, TCP, 3000, 1448) }.frame();
    bytes[VIRTIO_HEADER + 10] ^= 1;
    let cut = slice(&bytes, 1..2, Treatment { hops: 1, mark: true, corrupt: None });
    assert_eq!(fault(&cut[VIRTIO_HEADER..]), Some("IPv4 header checksum"));
}

#[test]
fn only_what_is_corrupted_is_copied() {
    let bytes = sample(0, 3000, 1448).frame();
    let frame = Frame::parse(&bytes).unwrap();
    let borrowed = |treatment| matches!(frame.slice(&bytes, &(1..2), treatment).1, Cow::Borrowed(_));
    assert!(borrowed(Treatment { hops: 1, mark: true, corrupt: None }));
    assert!(!borrowed(Treatment { corrupt: Some(0), ..Treatment::default() }));
}

#[test]
fn an_empty_datagram_keeps_its_checksum() {
    let sample = Sample::new(4, UDP, 0, 0);
    let right = sample.complete();
    for random in 0..64 {
        let wrong = slice(&sample.frame(), 0..1, Treatment { corrupt: Some(random), ..Treatment::default() });
        let wrong = &wrong[VIRTIO_HEADER..];
        assert_eq!(wrong[26..], right[26..], "bit {random}: a wrong checksum may be 0, which is none");
        assert_ne!(wrong[20..26], right[20..26]);
    }
}

#[test]
fn a_packet_without_anything_to_corrupt_stays() {
    let header = Sample::new(4, UDP, 0, 0).frame()[..VIRTIO_HEADER + 20].to_vec();
    let corrupt = Treatment { corrupt: Some(99), ..Treatment::default() };
    assert_eq!(slice(&header, 0..1, corrupt)[VIRTIO_HEADER..], header[VIRTIO_HEADER..]);
}

#[test]
fn what_cannot_be_forwarded_is_refused() {
    let good = sample(0, 3000, 1448).frame();
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
    assert_eq!(with(1, 5), Err(Malformed::Offload), "a UDP super-packet of TCP");
    assert_eq!(with(6, 0), Err(Malformed::Offload), "the transport starts inside the IP header");
    assert_eq!(with(8, 6), Err(Malformed::Offload), "the checksum is where TCP has none");
    assert_eq!(with(VIRTIO_HEADER + 6, 0x20), Err(Malformed::Offload), "a fragment of several segments");
    assert_eq!(with(VIRTIO_HEADER + 32, 0x10), Err(Malformed::Truncated), "a TCP header of 4 bytes");
    assert_eq!(Frame::parse(&good[..VIRTIO_HEADER + 51]), Err(Malformed::Truncated), "half a TCP header");
}

proptest! {
    #[test]
    fn no_bytes_can_break_it(
        mut bytes in prop::collection::vec(any::<u8>(), 0..400),
        version in 0_usize..3,
        treatment in (any::<u8>(), any::<bool>(), any::<Option<u64>>()),
    ) {
        let first = [None, Some(0x45), Some(0x60)][version];
        if let (Some(byte), Some(first)) = (bytes.get_mut(VIRTIO_HEADER), first) {
            *byte = first;
        }
        let (hops, mark, corrupt) = treatment;
        if let Ok(frame) = Frame::parse(&bytes) {
            for segment in 0..frame.packet.segments().min(64) {
                let _ = frame.slice(&bytes, &(segment..segment + 1), Treatment { hops, mark, corrupt });
            }
        }
    }

    #[test]
    fn any_segments_are_what_they_would_be_alone(
        kind in 0..KINDS.len(),
        payload in 1_usize..60_000,
        segment in 500_u16..9000,
        from in any::<prop::sample::Index>(),
        length in any::<prop::sample::Index>(),
    ) {
        let sample = sample(kind, payload, segment);
        let bytes = sample.frame();
        let alone = on_wire(&bytes);
        for packet in &alone {
            prop_assert_eq!(fault(packet), None);
        }
        let headers = bytes.len() - VIRTIO_HEADER - payload;
        let carried: Vec<u8> = alone.iter().flat_map(|packet| packet[headers..].iter().copied()).collect();
        prop_assert_eq!(&carried, &bytes[bytes.len() - payload..], "no byte is lost or moved");

        let from = from.index(alone.len());
        let to = from + 1 + length.index(alone.len() - from);
        let run = slice(&bytes, u32::try_from(from).unwrap()..u32::try_from(to).unwrap(), Treatment::default());
        prop_assert_eq!(on_wire(&run), &alone[from..to], "cut at once or twice, it comes to the same");
    }

    #[test]
    fn one_wrong_bit_is_always_seen(
        kind in 0..KINDS.len(),
        payload in prop_oneof![Just(0_usize), 1..4000_usize],
        segment in prop_oneof![Just(0_u16), 500..1500_u16],
        random in any::<u64>(),
    ) {
        let bytes = sample(kind, payload, segment).frame();
        let right = on_wire(&bytes);
        let last = right.len() - 1;
        let run = u32::try_from(last).unwrap()..u32::try_from(last + 1).unwrap();
        let wrong = slice(&bytes, run, Treatment { corrupt: Some(random), ..Treatment::default() });
        prop_assert_eq!(&wrong[..VIRTIO_HEADER], &[0; VIRTIO_HEADER], "the receiver has to look itself");
        let wrong = &wrong[VIRTIO_HEADER..];
        let bits: u32 = wrong.iter().zip(&right[last]).map(|(a, b)| (a ^ b).count_ones()).sum();
        prop_assert_eq!((bits, wrong.len()), (1, right[last].len()));
        prop_assert!(fault(wrong).is_some());
        prop_assert_eq!(fault(&right[last]), None);
    }
}

const PINNED: u64 = 0x3a73_59be_d3cc_d56d;
