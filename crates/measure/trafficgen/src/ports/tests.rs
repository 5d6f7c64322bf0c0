//! Measurements on loopback of a separate network namespace, of counts and ports but not of speed;
//! and statistics of synthetic connects.

use std::{
    io,
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use nix::{
    errno::Errno,
    sys::socket::{setsockopt, sockopt},
};
use tcp::source_port::Range;
use units::Probability;

use super::{
    acceptor::Acceptor,
    config::Plan,
    fill::{Connect, Filled, Outcome, Sharing, Task},
    summary::Ports,
    *,
};
use crate::alone::alone;

fn config(strategy: Strategy) -> Config {
    Config { range: Range::new(40000, 40399), strategies: vec![strategy], ..Config::default() }
}

fn all(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// With the remedies, the first half of 400 ports has 200 draws with probability 1/2: 100 odd ports, with a
/// standard deviation of at most sqrt(200 / 4) = 7.07. Six standard deviations are 42.4 ports or a share of
/// 0.212, exceeded in one of 5 x 10^8 cases.
#[track_caller]
fn assert_half_is_odd(run: &Run) {
    let odd = run.first_half.odd_share.unwrap();
    assert!((odd - 0.5).abs() < 0.212, "{}: {odd}", run.strategy);
}

#[test]
fn the_remedies_take_even_and_odd_ports_alike() {
    alone("ports::tests::the_remedies_take_even_and_odd_ports_alike", || {
        let strategies = [Strategy::RandomBind, Strategy::RandomWindow { size: 40 }, Strategy::FullRange];
        for strategy in strategies {
            let measurement = measure(&config(strategy), all).unwrap();
            let [run] = &measurement.strategies[..] else { panic!("{measurement:?}") };
            // 95 % of 400 ports; 200 before half of them were used, 180 after.
            assert_eq!((measurement.ports, run.reached_share), (400, 0.95), "{run:?}");
            assert_eq!((run.first_half.n, run.second_half.n, run.last.n), (200, 180, 20), "{run:?}");
            // The last 5 % start at 90 %: 19 intervals of 20 ports.
            assert!(run.by_fill.iter().map(|fill| fill.n).eq([20; 19]), "{run:?}");
            assert!(run.errors.is_empty() && !run.is_partial && run.duplicates.is_none(), "{run:?}");
            assert_half_is_odd(run);
        }
    });
}

#[test]
fn udp_sockets_with_reuse_address_get_ports_twice() {
    alone("ports::tests::udp_sockets_with_reuse_address_get_ports_twice", || {
        let config = Config { transport: Transport::Udp, ..config(Strategy::FullRange) };
        let target = Target::open(&config).unwrap();
        let range = config.ports().unwrap();
        let run = |sharing| {
            let chooser = Chooser::within(Strategy::FullRange, range.clone());
            let filled = fill(&target.task(&config, sharing, 400), chooser, |_| ControlFlow::Continue(()));
            Plan { strategy: Strategy::FullRange, sharing }.summary(&filled, free(400), Transport::Udp)
        };
        let (alone, shared) = (run(Sharing::No), run(Sharing::Yes));
        assert_eq!((alone.reached_share, alone.duplicates), (1.0, Some(0)), "every port once");
        assert_half_is_odd(&alone);
        // 400 draws with repetition out of 400 ports omit 400 x (1 - 1/400)^400 = 147 of them; sd
        // sqrt(400 x (1/e - 2/e^2)) = 6.2, and six of them are 37.
        let twice = shared.duplicates.unwrap();
        assert!(twice.abs_diff(147) < 37, "{twice}");
        assert!(shared.finding.contains(&format!("{twice} sockets have a port that another one has too")));
    });
}

#[test]
fn when_no_port_is_left_every_connect_is_an_error() {
    alone("ports::tests::when_no_port_is_left_every_connect_is_an_error", || {
        let mut config = config(Strategy::FullRange);
        config.range = Range::new(40000, 40039);
        let target = Target::open(&config).unwrap();
        let chooser = Chooser::within(Strategy::FullRange, config.ports().unwrap());
        let filled = fill(&target.task(&config, Sharing::No, 41), chooser, |_| ControlFlow::Continue(()));
        assert_eq!(filled.ending, Ending::Hopeless);
        let run = Plan { strategy: Strategy::FullRange, sharing: Sharing::No }.summary(
            &filled,
            free(40),
            Transport::Tcp,
        );
        assert_eq!((run.reached_share, run.errors["EADDRNOTAVAIL"]), (1.0, 100), "{run:?}");
        assert!(run.finding.ends_with("100 connects failed, with EADDRNOTAVAIL"), "{}", run.finding);
    });
}

#[test]
fn it_listens_on_no_port_that_is_counted() {
    alone("ports::tests::it_listens_on_no_port_that_is_counted", || {
        let counted = Range::new(40000, 40039).unwrap();
        let start = || Acceptor::start(Ipv4Addr::LOCALHOST.into(), Some(&counted)).unwrap();
        let acceptors = [start(), start()];
        assert_eq!(acceptors.each_ref().map(|acceptor| acceptor.address().port()), [39999, 39998]);
        let all = Range::new(1, u16::MAX).unwrap();
        assert!(Acceptor::start(Ipv4Addr::LOCALHOST.into(), Some(&all)).is_ok());
    });
}

#[test]
fn who_stops_it_keeps_what_was_measured() {
    alone("ports::tests::who_stops_it_keeps_what_was_measured", || {
        let before = measure(&config(Strategy::FullRange), |_| ControlFlow::Break(())).unwrap();
        assert!(before.strategies[0].is_partial && before.strategies[0].connects_per_s.is_none());
        let is_second = AtomicBool::new(false);
        // The second call of `watch` is at least 100 ms after the first, with some ports used and 28 000
        // left.
        let strategies = vec![Strategy::FullRange, Strategy::RandomBind];
        let config =
            Config { strategies, share: Probability::ONE, range: None, ..config(Strategy::FullRange) };
        let stopped = measure(&config, |_| {
            let is_second = is_second.fetch_or(true, Ordering::Relaxed);
            if is_second { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let stopped = stopped.unwrap();
        assert_eq!(stopped.strategies.len(), 1, "the other strategy was not begun");
        assert!(stopped.strategies[0].is_partial && stopped.strategies[0].reached_share < 1.0);
    });
}

#[test]
fn a_destination_that_resets_is_seen() {
    alone("ports::tests::a_destination_that_resets_is_seen", || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let destination = listener.local_addr().unwrap();
        let counted = Arc::new(AtomicU64::new(0));
        let config = Config { destination: Some(destination), ..config(Strategy::FullRange) };
        let target = Target { destination, acceptor: None };
        let task = Task { accepted: Some(Arc::clone(&counted)), ..target.task(&config, Sharing::No, 20) };
        let resets = std::thread::spawn(move || {
            for connection in listener.incoming().take(20) {
                let linger = libc::linger { l_onoff: 1, l_linger: 0 };
                setsockopt(&connection.unwrap(), sockopt::Linger, &linger).unwrap();
            }
            while occupied::count(Transport::Tcp, destination).unwrap() > 0 {}
            counted.store(20, Ordering::Relaxed);
        });
        let chooser = Chooser::within(Strategy::FullRange, config.ports().unwrap());
        let filled = fill(&task, chooser, |_| ControlFlow::Continue(()));
        resets.join().unwrap();
        let run = Plan { strategy: Strategy::FullRange, sharing: Sharing::No }.summary(
            &filled,
            free(400),
            Transport::Tcp,
        );
        let why = "the destination has reset 20 of 20 connections: fewer ports were in use than it seems";
        assert_eq!(run.invalid.as_deref(), Some(why));
    });
}

#[test]
fn the_listener_ends_with_the_measurement() {
    alone("ports::tests::the_listener_ends_with_the_measurement", || {
        let acceptor = Acceptor::start(Ipv4Addr::LOCALHOST.into(), None).unwrap();
        let address = acceptor.address();
        assert!(TcpStream::connect(address).is_ok());
        drop(acceptor);
        assert_eq!(TcpStream::connect(address).unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
    });
}

#[test]
fn mistakes_are_told_before_anything_is_measured() {
    alone("ports::tests::mistakes_are_told_before_anything_is_measured", || {
        let refuse = |config: Config| {
            let error = measure(&config, all).unwrap_err();
            (error.to_string(), error.hint().unwrap())
        };
        let good = || config(Strategy::FullRange);
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let (said, hint) = refuse(Config { destination: Some(closed), ..good() });
        assert_eq!(said, format!("cannot connect to {closed}: Connection refused (os error 111)"));
        assert!(hint.starts_with("no server listens there"));
        // TEST-NET-1 (RFC 5737) is assigned to no host.
        let (said, hint) = refuse(Config { source: "192.0.2.1".parse().ok(), ..good() });
        assert!(said.starts_with("cannot listen on 192.0.2.1: Cannot assign"), "{said}");
        assert!(hint.starts_with("use an address of this host"));
        let (said, _) = refuse(Config { source: "::1".parse().ok(), destination: Some(closed), ..good() });
        assert_eq!(said, format!("::1 cannot reach {closed}: one is IPv4, the other IPv6"));
        let (said, hint) = refuse(Config { range: Range::new(1, 100), ..good() });
        assert!(said.starts_with("the ports 1-100 are not all in"), "{said}");
        assert!(hint.contains("widen net.ipv4.ip_local_port_range"));
        let (said, _) = refuse(Config { range: Range::new(40000, 40018), ..good() });
        assert!(said.ends_with("has 19 ports; that is too few to see anything"), "{said}");
        let (said, _) = refuse(config(Strategy::KernelDefault));
        assert!(said.starts_with("the kernel's default takes the range of the network namespace"), "{said}");
    });
}

#[test]
fn what_one_kernel_lacks_does_not_stop_the_others() {
    alone("ports::tests::what_one_kernel_lacks_does_not_stop_the_others", || {
        let config = Config { strategies: Vec::new(), ..config(Strategy::FullRange) };
        let measurement = measure(&config, all).unwrap();
        assert_eq!(measurement.skipped[0].strategy, "kernel-default");
        let names: Vec<_> = measurement.strategies.iter().map(|run| run.strategy.as_str()).collect();
        assert_eq!(names, ["random-bind", "random-window", "full-range"]);
    });
}

fn made(held: usize, us: u64, port: u16) -> Connect {
    Connect { held, latency: Duration::from_micros(us), tries: 1, outcome: Outcome::Port(Some(port)) }
}

fn free(all: usize) -> Ports {
    Ports { all, taken: 0 }
}

fn summary(connects: Vec<Connect>, ports: usize) -> Run {
    summary_of(connects, free(ports))
}

fn summary_of(connects: Vec<Connect>, ports: Ports) -> Run {
    let (busy, waited) = (Duration::from_millis(10), Some(Duration::from_millis(2)));
    let filled = Filled { connects, busy, waited, ending: Ending::Goal };
    Plan { strategy: Strategy::KernelDefault, sharing: Sharing::No }.summary(&filled, ports, Transport::Tcp)
}

#[test]
fn the_step_of_parity_is_named() {
    // 50 even ports with 10 us each, then 50 odd ones with 190 us.
    let port = |held: usize| u16::try_from(if held < 50 { 2 * held } else { 2 * held - 99 }).unwrap();
    let connects = (0..100).map(|held| made(held, if held < 50 { 10 } else { 190 }, 1000 + port(held)));
    let run = summary(connects.collect(), 100);
    assert_eq!(
        run.finding,
        "when half the range is used a connect becomes 19.0x slower (median 10 us -> 190 us): all even ports are taken"
    );
    assert_eq!((run.first_half.odd_share, run.second_half.odd_share), (Some(0.0), Some(1.0)));
    // 100 in 10 ms.
    assert_eq!((run.connects_per_s, run.waited_for_cpu_share), (Some(10_000.0), Some(0.2)));
    assert_eq!(run.forecast.unwrap().exhausted_after_s, Some(0.01));
    assert_eq!(run.by_fill.len(), 20);
    assert!(run.by_fill[9].p50_us == Some(10.0) && run.by_fill[10].p50_us == Some(190.0));
    assert_eq!(run.by_fill[10].used_share, 0.55);
}

#[test]
fn ports_that_were_taken_before_count_as_used() {
    let connects = |n: usize| (0..n).map(|held| made(held, 10, 1)).collect();
    let run = summary_of(connects(35), Ports { all: 100, taken: 60 });
    assert_eq!((run.first_half.n, run.second_half.n, run.reached_share), (0, 35, 0.95));
    assert_eq!(
        run.finding,
        "half of the ports were taken before it began, so there is no first half; median 10 us in the second"
    );
    assert_eq!(run.by_fill[0].used_share, 0.65);
    let run = summary_of(connects(75), Ports { all: 100, taken: 20 });
    assert_eq!((run.first_half.n, run.second_half.n), (30, 45));
    assert_eq!(run.finding, "about as fast at the end as at the beginning");
}

#[test]
fn a_measurement_says_how_many_ports_were_taken_before_it() {
    alone("ports::tests::a_measurement_says_how_many_ports_were_taken_before_it", || {
        let listener = TcpListener::bind("127.0.0.1:39999").unwrap();
        let destination = listener.local_addr().unwrap();
        let config = Config { destination: Some(destination), ..config(Strategy::FullRange) };
        let connect = |port: u16| {
            let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
            socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)).into()).unwrap();
            socket.connect(&destination.into()).unwrap();
            (socket, listener.accept().unwrap())
        };
        let held: Vec<_> = (40000..40100).map(connect).collect();
        let accepts = std::thread::spawn({
            let listener = listener.try_clone().unwrap();
            move || listener.incoming().take(281).map(Result::unwrap).collect::<Vec<_>>()
        });
        let measurement = measure(&config, all).unwrap();
        // 100 of 400, and 280 more until 95 % are used; one more connection checked the destination.
        assert_eq!((measurement.taken_before, measurement.waiting_before), (100, 0));
        let run = &measurement.strategies[0];
        assert_eq!((run.reached_share, run.first_half.n + run.second_half.n), (0.95, 280), "{run:?}");
        accepts.join().unwrap();
        let quarter = Config { share: Probability::new(0.25).unwrap(), ..config };
        let said = measure(&quarter, all).unwrap_err().to_string();
        assert!(said.contains("100 of the 400 ports towards 127.0.0.1:"), "{said}");
        drop(held);
    });
}

#[test]
fn a_percentile_needs_ten_beyond_it() {
    let fill = |n| summary((0..n).map(|held| made(held, 1 + held as u64, 1)).collect(), 4 * n).first_half;
    // Rank 990 of 1000 is 990 us; of 999 it is rank 990 too (0.99 x 999 = 989.01), with nine values
    // beyond.
    assert_eq!((fill(1000).p99_us, fill(999).p99_us), (Some(990.0), None));
    assert_eq!((fill(1000).p50_us, fill(1).p50_us), (Some(500.0), Some(1.0)));
    assert_eq!(summary(Vec::new(), 10).first_half.p50_us, None);
}

#[test]
fn what_makes_a_result_invalid() {
    let why = |connect: Connect| summary(vec![connect], 10).invalid.unwrap();
    assert_eq!(
        why(made(0, 1_000_000, 1)),
        "a connect took 1.00 s: its SYN got no reply and was retransmitted"
    );
    assert_eq!(
        why(Connect { outcome: Outcome::Port(None), ..made(0, 1, 1) }),
        "the destination has reset 1 of 1 connections: fewer ports were in use than it seems"
    );
    assert!(summary(vec![made(0, 999_999, 1)], 10).valid);
    let failed = Connect { outcome: Outcome::Error(Errno::EADDRINUSE), tries: 256, ..made(0, 1, 1) };
    let run = summary(vec![failed], 10);
    assert!(run.valid && run.errors["EADDRINUSE"] == 1 && run.retries == 255);
    assert_eq!(run.finding, "1 connect failed, with EADDRINUSE");
}

#[test]
fn samples_are_few_and_keep_failures() {
    let mut connects: Vec<_> = (0..4001).map(|held| made(held, 1, 1)).collect();
    connects.push(Connect { outcome: Outcome::Error(Errno::EADDRINUSE), ..made(4001, 1, 1) });
    let samples = summary(connects, 5000).samples;
    // 4002 / 2000, rounded up, is every third: 1334, and the failed one, the 4002nd.
    assert_eq!(samples.len(), 1335);
    assert_eq!(samples.last().unwrap().error.as_deref(), Some("EADDRINUSE"));
}
