//! ICMP messages of routers against known packets, and the cases in which a router must not reply.

use proptest::prelude::*;

use super::{
    super::sample::{Sample, TCP, UDP, fault},
    *,
};

const ROUTER4: &str = "198.51.100.1";
const ROUTER6: &str = "2001:db8::1";

fn router(version: u8) -> IpAddr {
    if version == 4 { ROUTER4 } else { ROUTER6 }.parse().unwrap()
}

fn icmp(version: u8, message: &[u8]) -> Vec<u8> {
    let [from, to] = if version == 4 { ["10.0.0.1", "10.0.0.2"] } else { ["fd00::1", "fd00::2"] };
    let frame = packet_of(from.parse().unwrap(), to.parse().unwrap(), ROUTINE, message.to_vec()).unwrap();
    assert_eq!(fault(&frame[VIRTIO_HEADER..]), None);
    frame
}

fn message(frame: &[u8], version: u8) -> &[u8] {
    &frame[VIRTIO_HEADER + if version == 4 { 20 } else { 40 }..]
}

fn quote(error: &[u8], version: u8) -> &[u8] {
    &message(error, version)[8..]
}

#[test]
fn a_ping_of_windows_is_answered_with_the_checksum_that_everybody_has_seen() {
    // Identifier 1, sequence number 1 and 32 bytes a..w, a..i: checksums 0x4d5a and 0x555a in any capture of
    // it.
    let request = [&[8, 0, 0x4d, 0x5a, 0, 1, 0, 1][..], b"abcdefghijklmnopqrstuvwabcdefghi"].concat();
    let frame = icmp(4, &request);
    assert_eq!(message(&frame, 4), request);
    let reply = echo_reply(&frame).unwrap();
    assert_eq!(&reply[VIRTIO_HEADER + 12..][..8], [10, 0, 0, 2, 10, 0, 0, 1]);
    assert_eq!(&message(&reply, 4)[..8], [0, 0, 0x55, 0x5a, 0, 1, 0, 1]);
    assert_eq!(&message(&reply, 4)[8..], &request[8..]);
    assert_eq!(fault(&reply[VIRTIO_HEADER..]), None);
}

#[test]
fn a_ping_over_ipv6_is_answered() {
    let frame = icmp(6, &[&[128, 0, 0, 0, 0, 9, 0, 3][..], &[7; 56]].concat());
    let reply = echo_reply(&frame).unwrap();
    let asked = Frame::parse(&frame).unwrap();
    let answered = Frame::parse(&reply).unwrap();
    assert_eq!((answered.from, answered.to), (asked.to, asked.from));
    assert_eq!(&message(&reply, 6)[..2], [129, 0]);
    assert_eq!(&message(&reply, 6)[4..], &message(&frame, 6)[4..]);
    assert_eq!(fault(&reply[VIRTIO_HEADER..]), None);
}

#[test]
fn what_is_no_sound_ping_is_not_answered() {
    for (version, request, reply) in [(4, 8, 0), (6, 128, 129)] {
        let ping = icmp(version, &[request, 0, 0, 0, 0, 1, 0, 1, 99]);
        assert!(echo_reply(&ping).is_some());
        let mut damaged = ping.clone();
        *damaged.last_mut().unwrap() ^= 1;
        assert_eq!(echo_reply(&damaged), None);
        assert_eq!(echo_reply(&ping[..ping.len() - 2]), None, "cut within its header");
        assert_eq!(echo_reply(&icmp(version, &[reply, 0, 0, 0, 0, 1, 0, 1])), None, "an answer");
        assert_eq!(echo_reply(&Sample::new(version, UDP, 30, 0).frame()), None, "something else");
    }
    let mut fragment = icmp(4, &[8, 0, 0, 0, 0, 1, 0, 1]);
    fragment[VIRTIO_HEADER + 6] = 0x20;
    assert_eq!(echo_reply(&fragment), None);
}

#[test]
fn traceroute_gets_the_packet_it_sent() {
    for (version, kind) in [(4, 11), (6, 3)] {
        let probe = Sample { ttl: 3, ..Sample::new(version, UDP, 32, 0) };
        let error = time_exceeded(router(version), &probe.frame()).unwrap();
        assert_eq!(fault(&error[VIRTIO_HEADER..]), None);
        assert_eq!(error[..VIRTIO_HEADER], [0; VIRTIO_HEADER]);
        let frame = Frame::parse(&error).unwrap();
        assert_eq!((frame.from, frame.to), (router(version), Frame::parse(&probe.frame()).unwrap().from));
        assert_eq!(&message(&error, version)[..2], [kind, 0]);
        assert_eq!(&message(&error, version)[4..8], [0; 4]);
        assert_eq!(quote(&error, version), Sample { ttl: 1, ..probe }.complete());
    }
}

#[test]
fn unreachable_has_a_code_for_each_version() {
    for (version, what, kind) in [
        (4, Unreachable::Net, [3, 0]),
        (4, Unreachable::Host, [3, 1]),
        (6, Unreachable::Net, [1, 0]),
        (6, Unreachable::Host, [1, 3]),
    ] {
        let sample = Sample::new(version, TCP, 0, 0);
        let error = unreachable(router(version), &sample.frame(), 3, what).unwrap();
        assert_eq!(&message(&error, version)[..2], kind);
        let ttl = sample.ttl - 3;
        assert_eq!(unreachable(router(10 - version), &sample.frame(), 3, what), None, "the other version");
        assert_eq!(quote(&error, version), Sample { ttl, ..sample }.complete(), "after three other routers");
    }
}

#[test]
fn a_quote_is_of_one_segment_and_fits() {
    for (version, longest, header) in [(4, 576, 20), (6, 1280, 40)] {
        let error = time_exceeded(router(version), &Sample::new(version, TCP, 50_000, 1400).frame()).unwrap();
        assert_eq!(error.len(), VIRTIO_HEADER + longest);
        let quote = quote(&error, version);
        // 32 bytes of TCP header and 1400 of payload, independent of the quoted length.
        let length = if version == 4 { &quote[2..4] } else { &quote[4..6] };
        assert_eq!(u16::from_be_bytes([length[0], length[1]]), if version == 4 { 20 } else { 0 } + 1432);
        assert_eq!(quote[header + 13] & 1, 0, "FIN is on the last segment");
        assert_eq!(fault(&error[VIRTIO_HEADER..]), None);
    }
}

#[test]
fn errors_are_about_what_one_host_sent_to_another() {
    let ask = |frame: &[u8]| time_exceeded(router(if frame[VIRTIO_HEADER] >> 4 == 4 { 4 } else { 6 }), frame);
    for (version, errors, queries) in
        [(4, [3, 4, 5, 11, 12, 40], [0, 8, 13]), (6, [1, 2, 3, 4, 127, 137], [128, 129, 130])]
    {
        for kind in errors {
            assert_eq!(ask(&icmp(version, &[kind, 0, 0, 0, 0, 0, 0, 0])), None, "an error of type {kind}");
        }
        for kind in queries {
            assert!(ask(&icmp(version, &[kind, 0, 0, 0, 0, 0, 0, 0])).is_some(), "a query of type {kind}");
        }
    }
    let with = |at: usize, bytes: &[u8]| {
        let mut frame = Sample::new(4, UDP, 32, 0).frame();
        frame[VIRTIO_HEADER + at..][..bytes.len()].copy_from_slice(bytes);
        ask(&frame)
    };
    for nobody in [[0, 0, 0, 0], [127, 0, 0, 1], [224, 0, 0, 1], [255, 255, 255, 255]] {
        assert_eq!(with(12, &nobody), None, "from {nobody:?}");
        assert_eq!(with(16, &nobody), None, "to {nobody:?}");
    }
    assert!(with(6, &[0x20, 0]).is_some(), "the first fragment");
    assert_eq!(with(6, &[0, 9]), None, "a later one");
    let mut multicast = Sample::new(6, UDP, 32, 0).frame();
    multicast[VIRTIO_HEADER + 24] = 0xff;
    assert_eq!(ask(&multicast), None);
}

proptest! {
    #[test]
    fn answers_to_anything_are_sound(
        mut bytes in prop::collection::vec(any::<u8>(), 40..1600),
        version in prop_oneof![Just(4_u8), Just(6_u8)],
    ) {
        bytes[..VIRTIO_HEADER].fill(0);
        bytes[VIRTIO_HEADER] = if version == 4 { 0x45 } else { 0x60 };
        for answer in [
            time_exceeded(router(version), &bytes),
            unreachable(router(version), &bytes, 1, Unreachable::Net),
            echo_reply(&bytes),
        ].into_iter().flatten() {
            prop_assert_eq!(fault(&answer[VIRTIO_HEADER..]), None);
            prop_assert!(Frame::parse(&answer).is_ok());
        }
    }
}
