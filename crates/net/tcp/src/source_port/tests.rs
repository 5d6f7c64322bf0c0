//! The strategies on loopback of a separate network namespace.

use std::net::TcpListener;

use super::*;
use crate::alone::alone;

const STRATEGIES: [Strategy; 4] =
    [Strategy::KernelDefault, Strategy::RandomBind, Strategy::RandomWindow { size: 8 }, Strategy::FullRange];

#[test]
fn every_strategy_connects_over_both_versions_of_ip_with_and_without_a_source() {
    alone(
        "source_port::tests::every_strategy_connects_over_both_versions_of_ip_with_and_without_a_source",
        || {
            for address in ["127.0.0.1:0", "[::1]:0"] {
                let listener = TcpListener::bind(address).unwrap();
                let destination = listener.local_addr().unwrap();
                let range = Range::of_namespace().unwrap();
                let both = |strategy| [(strategy, None), (strategy, Some(destination.ip()))];
                for (strategy, source) in STRATEGIES.into_iter().flat_map(both) {
                    let mut chooser = Chooser::new(strategy).unwrap();
                    let tcp = chooser.connect(destination, source).unwrap().local_addr().unwrap();
                    let udp = chooser.connect_udp(destination, source).unwrap().local_addr().unwrap();
                    for local in [tcp, udp] {
                        assert_eq!(local.ip(), destination.ip(), "{strategy}");
                        assert!((range.low()..=range.high()).contains(&local.port()), "{strategy}: {local}");
                    }
                }
            }
        },
    );
}

#[test]
fn the_port_is_one_of_the_range_until_all_are_used() {
    alone("source_port::tests::the_port_is_one_of_the_range_until_all_are_used", || {
        let listener = TcpListener::bind("127.0.0.1:80").unwrap();
        let destination = listener.local_addr().unwrap();
        // Bound ports are unavailable to later sockets, so each case has a separate range.
        for (strategy, range, expected) in [
            (Strategy::RandomBind, "41000-41003", io::ErrorKind::AddrInUse),
            (Strategy::RandomWindow { size: 2 }, "41010-41013", io::ErrorKind::AddrNotAvailable),
            (Strategy::FullRange, "41020-41023", io::ErrorKind::AddrNotAvailable),
        ] {
            let range: Range = range.parse().unwrap();
            let mut chooser = Chooser::within(strategy, range.clone());
            // With 1 of 4 ports free, 256 random ones miss it in 1 case of 10^32 (0.75^256).
            let streams: Vec<_> = (0..4).map(|_| chooser.connect(destination, None).unwrap()).collect();
            let mut ports: Vec<_> =
                streams.iter().map(|stream| stream.local_addr().unwrap().port()).collect();
            ports.sort_unstable();
            assert!(ports.into_iter().eq(range.low()..=range.high()), "{strategy}");
            assert_eq!(chooser.connect(destination, None).unwrap_err().kind(), expected, "{strategy}");
        }
    });
}

#[test]
fn a_port_serves_several_destinations_unless_it_was_bound() {
    alone("source_port::tests::a_port_serves_several_destinations_unless_it_was_bound", || {
        let listeners = [80, 81].map(|port| TcpListener::bind(("127.0.0.1", port)).unwrap());
        let [one, other] = listeners.each_ref().map(|listener| listener.local_addr().unwrap());
        let both = |strategy, port| {
            let mut chooser = Chooser::within(strategy, Range::new(port, port).unwrap());
            let _held = chooser.connect(one, Some(one.ip())).unwrap();
            chooser.connect(other, Some(one.ip())).map(drop).map_err(|error| error.kind())
        };
        assert_eq!(both(Strategy::RandomWindow { size: 1 }, 41000), Ok(()));
        assert_eq!(both(Strategy::FullRange, 41001), Ok(()));
        assert_eq!(both(Strategy::RandomBind, 41002), Err(io::ErrorKind::AddrInUse));
    });
}

#[test]
fn a_bound_port_is_lost_for_who_does_not_bind_on_every_address() {
    alone("source_port::tests::a_bound_port_is_lost_for_who_does_not_bind_on_every_address", || {
        let listener = TcpListener::bind("127.0.0.1:80").unwrap();
        let destination = listener.local_addr().unwrap();
        let [one, other] = [2, 3].map(|last| Some(Ipv4Addr::new(127, 0, 0, last).into()));
        let range = Range::new(41000, 41000).unwrap();
        let _held = Chooser::within(Strategy::RandomBind, range.clone()).connect(destination, one).unwrap();
        let refused = Chooser::within(Strategy::FullRange, range.clone()).connect(destination, other);
        assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::AddrNotAvailable);
        assert!(Chooser::within(Strategy::RandomBind, range).connect(destination, other).is_ok());
    });
}

#[test]
fn sockets_of_others_are_readied() {
    alone("source_port::tests::sockets_of_others_are_readied", || {
        let listener = TcpListener::bind("127.0.0.1:80").unwrap();
        let destination = listener.local_addr().unwrap();
        for strategy in STRATEGIES {
            let mut chooser = Chooser::new(strategy).unwrap();
            let socket =
                socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_NONBLOCK, None).unwrap();
            chooser.prepare(&socket, destination, None).unwrap();
            let begun = connect_to(socket.as_raw_fd(), &SockaddrStorage::from(destination));
            assert_eq!(begun, Err(Errno::EINPROGRESS), "{strategy}");
        }
    });
}

#[test]
fn udp_sockets_do_not_share_a_port_unless_asked() {
    alone("source_port::tests::udp_sockets_do_not_share_a_port_unless_asked", || {
        let destination = SocketAddr::from((Ipv4Addr::LOCALHOST, 53));
        let mut chooser = Chooser::within(Strategy::FullRange, Range::new(41000, 41000).unwrap());
        let _held = chooser.connect_udp(destination, None).unwrap();
        let refused = chooser.connect_udp(destination, None).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::WouldBlock);
        let other = SocketAddr::from((Ipv4Addr::LOCALHOST, 54));
        assert!(chooser.connect_udp(other, None).is_err(), "whatever the destination");
    });
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
    // Of 10 + 4 - 1 places 4 contain a given port: 13 000 x 4 / 13 = 4000 times, with a standard deviation of
    // sqrt(13 000 x 4/13 x 9/13) = 52.6. Six of them are exceeded in one case of 10^9.
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
    Strategy::best().unwrap().check().unwrap();
}
