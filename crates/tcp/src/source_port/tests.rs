//! The strategies on loopback, each case with an address of 127.0.0.0/8 to itself: nobody else takes its ports, and no run
//! meets what an earlier one left in `TIME_WAIT`.

use std::net::{TcpListener, UdpSocket};

use super::*;

/// A source that nobody else uses, and this many ports that no socket has on all addresses.
fn alone(ports: u16) -> (Range, Option<IpAddr>) {
    let random = || RandomState::new().build_hasher().finish().to_ne_bytes();
    let is_free =
        |port| TcpListener::bind(("0.0.0.0", port)).is_ok() && UdpSocket::bind(("0.0.0.0", port)).is_ok();
    let all = Range::of_namespace().unwrap();
    let range = loop {
        let [a, b, ..] = random();
        let low = all.low() + u16::from_ne_bytes([a, b]) % (all.high() - all.low() - ports);
        if (low..low + ports).all(is_free) {
            break all.narrowed(&Range::new(low, low + ports - 1).unwrap()).unwrap();
        }
    };
    let [a, b, c, ..] = random();
    (range, Some(Ipv4Addr::new(127, a.clamp(1, 254), b, c.clamp(1, 254)).into()))
}

const STRATEGIES: [Strategy; 4] =
    [Strategy::KernelDefault, Strategy::RandomBind, Strategy::RandomWindow { size: 8 }, Strategy::FullRange];

#[test]
fn every_strategy_connects_over_both_versions_of_ip_with_and_without_a_source() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let listener = TcpListener::bind(address).unwrap();
        let destination = listener.local_addr().unwrap();
        let range = Range::of_namespace().unwrap();
        for strategy in STRATEGIES {
            let mut chooser = Chooser::new(strategy).unwrap();
            for source in [None, Some(destination.ip())] {
                let tcp = chooser.connect(destination, source).unwrap().local_addr().unwrap();
                let udp = chooser.connect_udp(destination, source).unwrap().local_addr().unwrap();
                for local in [tcp, udp] {
                    assert_eq!(local.ip(), destination.ip(), "{strategy}");
                    assert!((range.low()..=range.high()).contains(&local.port()), "{strategy}: {local}");
                }
            }
        }
    }
}

#[test]
fn the_port_is_one_of_the_range() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let destination = listener.local_addr().unwrap();
    for strategy in &STRATEGIES[1..] {
        let (range, source) = alone(20);
        let mut chooser = Chooser::within(*strategy, range.clone());
        let streams: Vec<_> = (0..5).map(|_| chooser.connect(destination, source).unwrap()).collect();
        for stream in streams {
            let port = stream.local_addr().unwrap().port();
            assert!((range.low()..=range.high()).contains(&port), "{strategy}: {port} of {range}");
        }
    }
}

#[test]
fn when_all_ports_are_used_it_says_so() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let destination = listener.local_addr().unwrap();
    let cases = [
        (Strategy::RandomBind, io::ErrorKind::AddrInUse),
        (Strategy::RandomWindow { size: 2 }, io::ErrorKind::AddrNotAvailable),
        (Strategy::FullRange, io::ErrorKind::AddrNotAvailable),
    ];
    for (strategy, expected) in cases {
        let (range, source) = alone(4);
        let mut chooser = Chooser::within(strategy, range);
        let streams: Vec<_> = (0..4).map(|_| chooser.connect(destination, source)).collect();
        // With 1 of 4 ports free, 256 random ones miss it in 1 case of 10^32 (0.75^256).
        assert!(streams.iter().all(Result::is_ok), "{strategy}: {streams:?}");
        assert_eq!(chooser.connect(destination, source).unwrap_err().kind(), expected, "{strategy}");
    }
}

#[test]
fn a_port_serves_several_destinations_unless_it_was_bound() {
    let listeners = [0, 0].map(|port| TcpListener::bind(("127.0.0.1", port)).unwrap());
    let [one, other] = listeners.each_ref().map(|listener| listener.local_addr().unwrap());
    let both = |strategy| {
        let (range, source) = alone(1);
        let mut chooser = Chooser::within(strategy, range);
        let _held = chooser.connect(one, source).unwrap();
        chooser.connect(other, source).map(drop).map_err(|error| error.kind())
    };
    assert_eq!(both(Strategy::RandomWindow { size: 1 }), Ok(()));
    assert_eq!(both(Strategy::FullRange), Ok(()));
    assert_eq!(both(Strategy::RandomBind), Err(io::ErrorKind::AddrInUse));
}

#[test]
fn sockets_of_others_are_readied() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let destination = listener.local_addr().unwrap();
    for strategy in STRATEGIES {
        let mut chooser = Chooser::new(strategy).unwrap();
        let socket = socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_NONBLOCK, None).unwrap();
        chooser.prepare(&socket, destination, None).unwrap();
        let begun = connect_to(socket.as_raw_fd(), &SockaddrStorage::from(destination));
        assert_eq!(begun, Err(Errno::EINPROGRESS), "{strategy}");
    }
}

#[test]
fn windows_reach_every_port_equally_often() {
    let range = Range::new(100, 109).unwrap();
    let mut chooser = Chooser::within(Strategy::RandomWindow { size: 4 }, range);
    let mut times = [0_u32; 10];
    for _ in 0..13_000 {
        let (first, last) = chooser.window(4).unwrap();
        assert!((100..=109).contains(&first) && (first..first + 4).contains(&last) && last <= 109);
        (first..=last).for_each(|port| times[usize::from(port - 100)] += 1);
    }
    // Of 10 + 4 - 1 places 4 have a given port: 13 000 x 4 / 13 = 4000 times, with a standard deviation of
    // sqrt(13 000 x 4/13 x 9/13) = 52.6. Six of them are passed in one case of 10^9.
    assert!(times.iter().all(|&times| times.abs_diff(4000) < 316), "{times:?}");
}

#[test]
fn the_largest_windows_and_ranges() {
    let mut chooser = Chooser::within(Strategy::FullRange, Range::new(1, 65535).unwrap());
    for size in [0, 1, 65535] {
        let (first, last) = chooser.window(size).unwrap();
        assert!(first >= 1 && first <= last && last - first < size.max(1));
    }
}

#[test]
fn udp_sockets_do_not_share_a_port_unless_asked() {
    let server = UdpSocket::bind("127.0.0.1:0").unwrap();
    let destination = server.local_addr().unwrap();
    let (range, source) = alone(1);
    let mut chooser = Chooser::within(Strategy::FullRange, range);
    let _held = chooser.connect_udp(destination, source).unwrap();
    let refused = chooser.connect_udp(destination, source).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::WouldBlock);
}

#[test]
fn the_best_strategy_by_kernel() {
    let window = Strategy::RandomWindow { size: 500 };
    for (kernel, expected) in [
        (Version::new(4, 9), Strategy::RandomBind),
        (Version::new(6, 2), Strategy::RandomBind),
        (Version::new(6, 3), window),
        (Version::new(6, 7), window),
        (Version::new(6, 8), Strategy::FullRange),
        (Version::new(6, 18), Strategy::FullRange),
    ] {
        assert_eq!(Strategy::best_for(kernel), expected, "{kernel}");
    }
    // What is best here is there.
    Strategy::best().unwrap().check().unwrap();
}
