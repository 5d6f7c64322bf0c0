//! Explanations of synthetic connections, one value per test. Real connections are in the tests of the
//! command.

use proptest::prelude::*;

use super::*;
use crate::{
    Info,
    diag::{Key, Memory, Model, Multipath},
};

/// Samples of a connection, one every 20 ms for a second, as in an observation of a second.
const LOOKS: u32 = 51;
const MSS: u32 = 1448;

/// A connection over 100 ms, with sample `n` modified by `change`. It sends a thousand segments per second,
/// which is the congestion window of 100 in each round trip, and more data is queued.
fn sender(change: impl Fn(u32, &mut Socket, &mut Info)) -> Seen {
    seen(|n, socket, info| {
        socket.send_queue = 200 * MSS;
        socket.memory = Some(Memory { wmem_queued: 350_000, sndbuf: 500_000, ..Memory::default() });
        *info = Info {
            snd_mss: MSS,
            snd_cwnd: 100,
            unacked: 100,
            snd_ssthresh: 100,
            notsent_bytes: 100 * MSS,
            snd_wnd: Some(1_000_000),
            bytes_acked: u64::from(n * 20 * MSS),
            data_segs_out: n * 20,
            busy_time_us: Some(u64::from(n) * 20_000),
            rwnd_limited_us: Some(0),
            sndbuf_limited_us: Some(0),
            ..info.clone()
        };
        change(n, socket, info);
    })
}

fn little(socket: &mut Socket, info: &mut Info) {
    (socket.send_queue, info.unacked, info.notsent_bytes) = (20 * MSS, 20, 100);
    socket.memory = Some(Memory { wmem_queued: 50_000, sndbuf: 500_000, ..Memory::default() });
}

fn receiver(change: impl Fn(u32, &mut Socket, &mut Info)) -> Seen {
    seen(|n, socket, info| {
        socket.memory = Some(Memory { rcvbuf: 131_072, ..Memory::default() });
        *info = Info {
            bytes_received: u64::from(n * 20 * MSS),
            rcv_wnd: Some(1_000_000),
            rcv_wscale: 10,
            busy_time_us: Some(0),
            dsack_dups: Some(0),
            snd_wnd: Some(65_535),
            ..info.clone()
        };
        change(n, socket, info);
    })
}

fn seen(of: impl Fn(u32, &mut Socket, &mut Info)) -> Seen {
    let [local, remote] = ["10.0.0.1:40000", "10.0.0.2:80"].map(|address| address.parse().unwrap());
    let looks = (0..LOOKS).map(|n| {
        let mut socket = Socket {
            key: Key::between(local, remote),
            local,
            remote,
            state: State::Established,
            inode: 1,
            uid: 0,
            timer: 1,
            receive_queue: 0,
            send_queue: 0,
            info: None,
            memory: None,
            congestion: Some("cubic".to_owned()),
            model: None,
            mptcp_token: None,
        };
        let mut info = Info {
            options: 7,
            rtt_us: 101_000,
            min_rtt_us: 100_000,
            max_pacing_rate: u64::MAX,
            pacing_rate: 1_700_000,
            ..Info::default()
        };
        of(n, &mut socket, &mut info);
        socket.info = Some(info);
        Look { at: Duration::from_millis(20) * n, socket, multipath: None }
    });
    Seen { looks: looks.collect(), has_closed: false, process: None, chosen: None }
}

fn said(seen: Seen) -> Explanation {
    said_with(seen, |_| {})
}

fn said_with(seen: Seen, change: impl Fn(&mut Observation)) -> Explanation {
    let kernel = Version::new(6, 18);
    let settings = Settings::defaults(kernel, None);
    let mut observation =
        Observation { kernel: Some(kernel), settings, connections: vec![seen], ..Observation::default() };
    change(&mut observation);
    let mut all = judge(&observation);
    assert_eq!(all.len(), 1);
    all.remove(0)
}

fn found(said: &Explanation) -> (Limit, Vec<Kind>) {
    let also = said.also.iter().map(|finding| finding.kind);
    (said.limit, std::iter::once(said.finding.kind).chain(also).collect())
}

#[track_caller]
fn expect(seen: Seen, limit: Limit, kinds: &[Kind]) -> Explanation {
    let said = said(seen);
    assert_eq!(found(&said), (limit, kinds.to_vec()), "{said:#?}");
    said
}

#[test]
fn a_congestion_window_that_nothing_else_explains() {
    let said = expect(sender(|_, _, _| {}), Limit::CongestionWindow, &[Kind::SlowGrowth]);
    // 1000 segments of 1448 bytes in a second.
    assert!((said.rate_mbps - 11.584).abs() < 1e-9, "{said:?}");
    assert_eq!((said.bytes_sent, said.rtt_ms, said.min_rtt_ms), (1_448_000, Some(101.0), Some(100.0)));
    assert_eq!(said.shares.unwrap().congestion_window, 1.0);
}

/// Times counted by the kernel: 200 ms idle, 500 ms limited by the window, 100 ms by the buffer, 200 ms rest.
#[test]
fn the_kernel_divides_the_time() {
    let seen = sender(|n, _, info| {
        let part = |tenths: u64| Some(u64::from(n) * 2000 * tenths);
        info.busy_time_us = part(8);
        info.rwnd_limited_us = part(5);
        info.sndbuf_limited_us = part(1);
    });
    let said = said(Seen { chosen: Some(Chosen::default()), ..seen });
    let shares = said.shares.unwrap();
    for (share, expected) in [
        (shares.sender_application, 0.2),
        (shares.receiver_window, 0.5),
        (shares.send_buffer, 0.1),
        (shares.congestion_window, 0.2),
    ] {
        assert!((share - expected).abs() < 1e-9, "{shares:?}");
    }
    assert_eq!(said.limit, Limit::ReceiverWindow);
}

/// The kernel counts 30 % for the window and 20 % for the buffer, independent of other conclusions: BBR
/// derives its rate from the window, and the buffer is full in every sample.
#[test]
fn shares_are_the_kernel_s_whatever_limits() {
    let counted = |window: u64, buffer: u64| {
        move |n: u32, _: &mut Socket, info: &mut Info| {
            info.rwnd_limited_us = Some(u64::from(n) * 200 * window);
            info.sndbuf_limited_us = Some(u64::from(n) * 200 * buffer);
        }
    };
    let windowed = sender(|n, socket, info| {
        (socket.model, info.unacked, info.snd_wnd) = (Some(BBR), 60, Some(150_000));
        counted(30, 0)(n, socket, info);
    });
    let said = expect(windowed, Limit::ReceiverWindow, &[Kind::SmallWindow]);
    let shares = said.shares.unwrap();
    assert!((shares.receiver_window - 0.3).abs() < 1e-9 && (said.limit_share.unwrap() - 1.0).abs() < 1e-9);
    assert!(said.finding.evidence[0].starts_with("held by the peer's window for 30 % of 1.00 s"), "{said:?}");
    assert!(said.finding.evidence[2].starts_with("for another 70 % of the time BBR"), "{said:?}");
    let buffered = Seen {
        chosen: Some(Chosen { has_fixed_send_buffer: true, ..Chosen::default() }),
        ..sender(|n, socket, info| {
            (socket.send_queue, info.unacked, info.notsent_bytes) = (64_000, 44, 0);
            socket.memory = Some(Memory { wmem_queued: 100_000, sndbuf: 131_072, ..Memory::default() });
            counted(0, 20)(n, socket, info);
        })
    };
    let said = expect(buffered, Limit::SendBuffer, &[Kind::FixedSendBuffer]);
    let shares = said.shares.unwrap();
    assert!((shares.send_buffer - 0.2).abs() < 1e-9 && (shares.congestion_window - 0.8).abs() < 1e-9);
    assert!((said.limit_share.unwrap() - 1.0).abs() < 1e-9, "{said:?}");
}

/// A window of 150 000 bytes and a buffer for 146 000: each of them is full for a part of the time, and 1.448
/// MB/s * 101 ms are 146 KB.
#[test]
fn two_limits_that_are_close_are_both_named() {
    let two = |window: u32, windowed: u64| Seen {
        chosen: Some(Chosen { has_fixed_send_buffer: true, ..Chosen::default() }),
        ..sender(move |n, socket, info| {
            (socket.send_queue, info.unacked, info.notsent_bytes) = (146_000, 98, 0);
            socket.memory = Some(Memory { wmem_queued: 230_000, sndbuf: 262_144, ..Memory::default() });
            info.snd_wnd = Some(window);
            info.rwnd_limited_us = Some(u64::from(n) * 200 * windowed);
            info.sndbuf_limited_us = Some(u64::from(n) * 200 * 30);
        })
    };
    let both = expect(two(150_000, 60), Limit::ReceiverWindow, &[Kind::SmallWindow, Kind::FixedSendBuffer]);
    assert!(
        both.finding
            .advice
            .ends_with("the send buffer lets no more than 11.6 Mbit/s through, so change both")
    );
    assert!(both.also[0].sentence.ends_with("alone it allows 11.6 Mbit/s"), "{both:?}");
    let other = expect(two(150_000, 20), Limit::SendBuffer, &[Kind::FixedSendBuffer, Kind::SmallWindow]);
    assert!(other.finding.advice.contains("the receiver's window lets no more than 11.9 Mbit/s through"));
    expect(two(300_000, 20), Limit::SendBuffer, &[Kind::FixedSendBuffer]);
    expect(two(150_000, 0), Limit::SendBuffer, &[Kind::FixedSendBuffer, Kind::SmallWindow]);
    expect(two(300_000, 0), Limit::SendBuffer, &[Kind::FixedSendBuffer]);
    let paced = |most: u64| {
        sender(move |_, _, info| {
            info.rwnd_limited_us = info.busy_time_us;
            (info.snd_wnd, info.max_pacing_rate) = (Some(150_000), most);
        })
    };
    expect(paced(1_500_000), Limit::ReceiverWindow, &[Kind::SmallWindow, Kind::Paced]);
    expect(paced(3_000_000), Limit::ReceiverWindow, &[Kind::SmallWindow]);
}

/// Nothing is in flight and the probe timer runs in all samples, as between two segments that are paced
/// further apart than a round trip (`tcp_check_probe_timer()`).
#[test]
fn the_probe_timer_of_a_paced_connection_is_no_closed_window() {
    let between = |most: u64, window: u32| {
        sender(move |_, socket, info| {
            (socket.timer, info.unacked, info.notsent_bytes) =
                (limit::receiver_window::PROBE_TIMER, 0, socket.send_queue);
            (info.max_pacing_rate, info.snd_wnd) = (most, Some(window));
            info.pacing_rate = info.pacing_rate.min(most);
        })
    };
    expect(between(1_000_000, 900_000), Limit::Pacing, &[Kind::Paced]);
    let mut closed = between(1_000_000, 0);
    for look in &mut closed.looks {
        let info = look.socket.info.as_mut().unwrap();
        info.rwnd_limited_us = info.busy_time_us;
    }
    expect(closed, Limit::ReceiverApplication, &[Kind::PeerReadsSlowly]);
}

/// 200 bytes are in flight and 199 wait for their acknowledgement, which arrives 40 ms later.
#[test]
fn small_pieces_wait_only_where_the_program_does_not_forbid_it() {
    let small = |has_no_delay: Option<bool>, received: u32, rtt_us: u32| Seen {
        chosen: has_no_delay.map(|has_no_delay| Chosen { has_no_delay, ..Chosen::default() }),
        ..sender(move |n, socket, info| {
            (socket.send_queue, info.unacked, info.notsent_bytes) = (399, 1, 199);
            socket.memory = Some(Memory { wmem_queued: 2000, sndbuf: 500_000, ..Memory::default() });
            (info.rtt_us, info.bytes_received) = (rtt_us, u64::from(n * received));
        })
    };
    let told = expect(small(Some(false), 2, 101_000), Limit::Nagle, &[Kind::Nagle]);
    assert_eq!((told.finding.is_inferred, told.shares.unwrap().nagle), (false, 1.0));
    assert!(expect(small(None, 2, 101_000), Limit::Nagle, &[Kind::Nagle]).finding.is_inferred);
    expect(small(Some(true), 2, 101_000), Limit::SenderApplication, &[Kind::SenderIdle]);
    expect(small(Some(false), 0, 141_000), Limit::Nagle, &[Kind::Nagle]);
    expect(small(Some(false), 0, 101_000), Limit::SenderApplication, &[Kind::SenderIdle, Kind::Nagle]);
    let large = sender(|_, socket, info| {
        (socket.send_queue, info.unacked, info.notsent_bytes) = (20 * MSS + 199, 20, 199);
        socket.memory = Some(Memory { wmem_queued: 50_000, sndbuf: 500_000, ..Memory::default() });
    });
    expect(large, Limit::SenderApplication, &[Kind::SenderIdle]);
}

#[test]
fn what_a_state_says_is_said_before_anything_else() {
    // For a connection without received packets the kernel reports the time since boot: 5000 s.
    let asking = |repeats: u32| {
        seen(move |_, socket, info| {
            (socket.state, socket.send_queue) = (State::SynSent, 1);
            (info.retransmits, info.total_retrans) = (u8::try_from(repeats).unwrap(), repeats);
            (info.last_ack_recv_ms, info.rto_us, info.rtt_us) = (5_000_000, 4_000_000, 0);
        })
    };
    expect(asking(0), Limit::InitialWindow, &[Kind::Connecting]);
    let unanswered = expect(asking(4), Limit::Loss, &[Kind::NoAnswer]);
    assert_eq!(
        unanswered.finding.evidence[0],
        "the request (SYN) was sent 5 times; the next follows 4.00 s after the last"
    );
    assert!(!format!("{unanswered:?}").contains("5000 s"), "{unanswered:?}");
    let said_of = |with: Seen| {
        let all = judge(&Observation { connections: vec![asking(4), with], ..Observation::default() });
        all.into_iter().find(|each| each.state == Some(State::SynSent)).unwrap().finding.sentence
    };
    assert!(said_of(receiver(|_, _, _| {})).contains("though the host is up"));
    assert!(!said_of(seen(|_, _, _| {})).contains("though the host is up"));

    let probed = |probes: u8, unsent: u32| {
        seen(move |_, socket, info| {
            (socket.send_queue, info.notsent_bytes, info.probes) = (unsent, unsent, probes);
            (info.snd_wnd, info.last_ack_recv_ms) = (Some(0), 45_000);
        })
    };
    expect(probed(1, 0), Limit::Idle, &[Kind::Idle]);
    let alone = expect(probed(3, 0), Limit::Loss, &[Kind::NoAnswer]);
    assert_eq!(alone.finding.evidence[0], "3 keep-alives sent in a row without a reply");
    assert_eq!(alone.finding.evidence[1], "the last packet was received 45.0 s ago");
    assert!(
        expect(probed(3, 5000), Limit::Loss, &[Kind::NoAnswer]).finding.evidence[0].contains("window probes")
    );

    let closed = |sends: bool| {
        sender(move |n, socket, info| {
            socket.state = State::CloseWait;
            if !sends {
                (socket.send_queue, socket.receive_queue) = (0, 1);
                (info.bytes_acked, info.unacked, info.notsent_bytes) = (77, 0, 0);
            }
            info.last_ack_recv_ms = n;
        })
    };
    expect(closed(false), Limit::PeerClosed, &[Kind::CloseWait]);
    expect(closed(true), Limit::CongestionWindow, &[Kind::SlowGrowth]);
}

#[test]
fn a_peer_that_does_not_accept_is_told_from_one_that_has_gone() {
    let untouched = |segs_in: u32, acked: u64| {
        sender(move |_, _, info| {
            (info.bytes_acked, info.retransmits, info.segs_in) = (acked, 3, segs_in);
        })
    };
    let full = expect(untouched(3, 1), Limit::AcceptQueue, &[Kind::PeerDoesNotAccept]);
    assert!(full.finding.is_inferred);
    let unknown = expect(untouched(1, 1), Limit::Loss, &[Kind::NoAnswer]);
    assert!(unknown.finding.sentence.contains("look the same"), "{unknown:?}");
    let mut beside = receiver(|_, _, _| {});
    for look in &mut beside.looks {
        look.socket.local.set_port(40_001);
    }
    let judged = |unsent: u32| {
        let mut small = untouched(1, 1);
        small.looks.iter_mut().for_each(|look| look.socket.send_queue = unsent);
        let connections = vec![small, beside.clone()];
        let all = judge(&Observation { connections, ..Observation::default() });
        all.into_iter().find(|each| each.role == Some(Role::Sender)).unwrap().finding.kind
    };
    assert_eq!([judged(100), judged(MSS)], [Kind::PeerDoesNotAccept, Kind::NoAnswer]);
    expect(untouched(30, 50_000), Limit::Loss, &[Kind::NoAnswer]);
}

#[test]
fn where_one_end_cannot_know_it_says_so() {
    let held = |rtt_us: u32, least_us: u32, repeats: u32| {
        sender(move |n, _, info| {
            info.rwnd_limited_us = info.busy_time_us;
            (info.rtt_us, info.min_rtt_us, info.total_retrans) = (rtt_us, least_us, n * repeats);
            (info.snd_wnd, info.rttvar_us) = (Some(if n % 2 == 0 { 30_000 } else { 28_000 }), 3000);
        })
    };
    let said = expect(held(13_000, 5000, 0), Limit::OtherEnd, &[Kind::PathOrReader]);
    assert!(
        said.finding.is_inferred && said.finding.advice.starts_with("run longhaul tcp explain at 10.0.0.2")
    );
    expect(held(13_000, 5000, 1), Limit::Path, &[Kind::PathRate]);
    let small = expect(held(6000, 5000, 0), Limit::ReceiverWindow, &[Kind::SmallWindow]);
    assert!(small.finding.sentence.contains("look the same"), "{small:?}");
    let constant = |rtt_us: u32| {
        let mut seen = held(rtt_us, 5000, 0);
        seen.looks.iter_mut().for_each(|look| look.socket.info.as_mut().unwrap().snd_wnd = Some(30_000));
        seen
    };
    expect(constant(13_000), Limit::Path, &[Kind::PathRate]);
    let small = expect(constant(6000), Limit::ReceiverWindow, &[Kind::SmallWindow]);
    assert!(small.finding.sentence.ends_with("its receive buffer is too small"), "{small:?}");
}

#[test]
fn a_subflow_is_judged_by_its_connection() {
    let above = |pending: u64, unread: u32, mut seen: Seen| {
        for look in &mut seen.looks {
            look.socket.mptcp_token = Some(7);
            let memory = Memory { rmem_alloc: unread, rcvbuf: 800_000, ..Memory::default() };
            look.multipath = Some(Multipath { memory, pending });
        }
        seen
    };
    let emptied = |window: fn(u32) -> u32| {
        sender(move |n, socket, info| {
            (socket.send_queue, info.unacked, info.notsent_bytes) = (0, 0, 0);
            (info.busy_time_us, info.snd_wnd) = (Some(0), Some(window(n)));
        })
    };
    let slow = |n: u32| if n.is_multiple_of(2) { 66_000 } else { 8000 };
    expect(above(4_000_000, 0, emptied(slow)), Limit::ReceiverApplication, &[Kind::PeerReadsSlowly]);
    expect(above(4_000_000, 0, emptied(|_| 66_000)), Limit::ReceiverWindow, &[Kind::SmallWindow]);
    expect(above(0, 0, emptied(slow)), Limit::SenderApplication, &[Kind::SenderIdle]);
    expect(above(1000, 0, emptied(|_| 66_000)), Limit::SenderApplication, &[Kind::SenderIdle]);
    let said =
        expect(above(0, 790_000, receiver(|_, _, _| {})), Limit::ReceiverApplication, &[Kind::ReadsSlowly]);
    assert!(said.is_subflow && said.finding.evidence[0].contains("790 KB"), "{said:?}");
    expect(above(0, 10_000, receiver(|_, _, _| {})), Limit::OtherEnd, &[Kind::OtherEnd]);
}

#[test]
fn a_kernel_that_does_not_count_is_judged_by_the_looks() {
    let old = |change: fn(&mut Socket, &mut Info)| {
        said(sender(|_, socket, info| {
            info.busy_time_us = None;
            info.snd_wnd = None;
            change(socket, info);
        }))
    };
    let idle = old(little);
    assert_eq!((idle.limit, idle.shares.unwrap().sender_application), (Limit::SenderApplication, 1.0));
    assert!(idle.missing[0].contains("(since 4.10)") && idle.missing[2].contains("(since 5.4)"), "{idle:?}");
    let probing = old(|socket, info| (socket.timer, info.unacked) = (limit::receiver_window::PROBE_TIMER, 0));
    assert_eq!(probing.limit, Limit::ReceiverApplication);
    let busy = old(|_, _| {});
    assert_eq!(busy.limit, Limit::CongestionWindow);
}

#[test]
fn a_window_is_small_because_of_its_buffer_or_of_its_reader() {
    let held = |window: fn(u32) -> u32| {
        sender(move |n, _, info| {
            info.rwnd_limited_us = info.busy_time_us;
            info.snd_wnd = Some(window(n));
        })
    };
    let steady = expect(held(|_| 80_480), Limit::ReceiverWindow, &[Kind::SmallWindow]);
    // 80 480 bytes in 101 ms.
    assert!(steady.finding.evidence[1].contains("allows at most 6.37 Mbit/s"), "{steady:?}");
    assert!(steady.finding.advice.contains("Kafka") && steady.finding.is_inferred);
    expect(held(|n| 50_000 + n * 1000), Limit::ReceiverWindow, &[Kind::SmallWindow]);
    expect(held(|n| if n == 7 { 20_000 } else { 80_480 }), Limit::ReceiverWindow, &[Kind::SmallWindow]);
    for closing in [|n| if n % 7 == 3 { 0 } else { 66_000 }, |n| if n % 2 == 0 { 66_000 } else { 33_000 }] {
        expect(held(closing), Limit::ReceiverApplication, &[Kind::PeerReadsSlowly]);
    }
}

#[test]
fn without_scaling_the_window_ends_at_64_kib() {
    let held = || {
        sender(|_, _, info| {
            info.options = 3;
            info.rwnd_limited_us = info.busy_time_us;
            info.snd_wnd = Some(65_535);
        })
    };
    let theirs = expect(held(), Limit::ReceiverWindow, &[Kind::WindowScalingOff]);
    assert!(theirs.finding.advice.starts_with("at 10.0.0.2: sysctl"), "{theirs:?}");
    let ours = said_with(held(), |observation| observation.settings.tcp_window_scaling = Some(0));
    assert!(ours.finding.advice.starts_with("sysctl"), "{ours:?}");
}

#[test]
fn a_window_that_only_makes_a_queue_longer_is_not_blamed() {
    let seen = sender(|_, _, info| {
        info.rwnd_limited_us = info.busy_time_us;
        info.rtt_us = 260_000;
    });
    expect(seen, Limit::Path, &[Kind::PathRate]);
}

const BBR: Model = Model::Bbr { bandwidth: 1_450_000, min_rtt_us: 100_000, pacing_gain: 256, cwnd_gain: 512 };

#[test]
fn a_model_of_the_path_may_be_one_of_the_window() {
    let of = |window: u32, rwnd_tenths: u64| {
        sender(move |n, socket, info| {
            (socket.model, info.unacked) = (Some(BBR), 60);
            info.rwnd_limited_us = Some(u64::from(n) * 2000 * rwnd_tenths);
            info.snd_wnd = Some(window);
        })
    };
    // 144.8 KB are sent each round trip: all of one window, a seventh of the other.
    expect(of(150_000, 3), Limit::ReceiverWindow, &[Kind::SmallWindow]);
    expect(of(1_000_000, 3), Limit::Path, &[Kind::PathRate]);
    let mut varying = of(1_000_000, 3);
    for (n, look) in varying.looks.iter_mut().enumerate() {
        let window = if n % 2 == 0 { 1_000_000 } else { 950_000 };
        look.socket.info.as_mut().unwrap().snd_wnd = Some(window);
    }
    expect(varying, Limit::OtherEnd, &[Kind::PathOrReader]);
    expect(of(150_000, 0), Limit::Path, &[Kind::PathRate]);
}

#[test]
fn a_send_buffer_is_full_when_little_of_it_waits() {
    let full = |chosen| Seen {
        chosen,
        ..sender(|_, socket, info| {
            (socket.send_queue, info.unacked, info.notsent_bytes) = (64_000, 44, 0);
            socket.memory = Some(Memory { wmem_queued: 100_000, sndbuf: 131_072, ..Memory::default() });
        })
    };
    let chosen = |has_fixed_send_buffer| Some(Chosen { has_fixed_send_buffer, ..Chosen::default() });
    let told = expect(full(chosen(true)), Limit::SendBuffer, &[Kind::FixedSendBuffer]);
    // The kernel counts none of it, because it only counts a buffer that is completely in flight.
    assert_eq!((told.finding.is_inferred, told.limit_share), (false, Some(1.0)));
    assert_eq!(told.shares.unwrap().send_buffer, 0.0);
    let seems = expect(full(None), Limit::SendBuffer, &[Kind::FixedSendBuffer]);
    assert!(seems.finding.is_inferred);
    expect(full(chosen(false)), Limit::CongestionWindow, &[Kind::SlowGrowth]);
    // A full buffer is not the limit if packets wait on the path anyway. Without pacing, they wait for their
    // own burst.
    let waiting = |model, rtt_us| {
        let mut seen = full(chosen(true));
        for look in &mut seen.looks {
            look.socket.model = model;
            look.socket.info.as_mut().unwrap().rtt_us = rtt_us;
        }
        said(seen).limit
    };
    assert_eq!([waiting(Some(BBR), 101_000), waiting(Some(BBR), 180_000)], [Limit::SendBuffer, Limit::Path]);
    assert_eq!([waiting(None, 180_000), waiting(None, 260_000)], [Limit::SendBuffer, Limit::Path]);
    let most = |most| {
        said_with(full(chosen(false)), move |observation| {
            observation.settings.tcp_wmem = Some([4096, 16_384, most]);
        })
    };
    let low = most(131_072);
    assert_eq!(found(&low), (Limit::SendBuffer, vec![Kind::SettingBelowDefault]));
    assert_eq!(low.finding.advice, "sysctl -w net.ipv4.tcp_wmem=\"4096 16384 4194304\"");
}

#[test]
fn a_rate_that_was_asked_for_is_blamed_where_it_holds() {
    let paced = |most: u64| {
        sender(move |_, _, info| {
            info.unacked = 50;
            info.max_pacing_rate = most;
            info.pacing_rate = info.pacing_rate.min(most);
        })
    };
    let held = expect(paced(1_000_000), Limit::Pacing, &[Kind::Paced]);
    assert_eq!(held.finding.sentence, "The program limits its rate to 8.00 Mbit/s");
    expect(paced(5_000_000), Limit::CongestionWindow, &[Kind::SlowGrowth]);
}

#[test]
fn loss_is_blamed_where_the_path_is_not_full() {
    let repeated = |share: u32, rtt_us: u32, model: Option<Model>| {
        sender(move |n, socket, info| {
            (socket.model, info.rtt_us) = (model, rtt_us);
            info.total_retrans = 7 + n * 20 * share / 100;
            info.data_segs_out += 50_000;
        })
    };
    let lost = expect(repeated(4, 101_000, None), Limit::Loss, &[Kind::Loss]);
    // 1448 bytes * 8 / 101 ms * sqrt(1.5) / sqrt(4 %).
    assert!(lost.finding.evidence[3].ends_with("Reno gets about 702 Kbit/s"), "{lost:?}");
    assert!(lost.finding.advice.contains("congestion_control=bbr"));
    expect(repeated(4, 180_000, None), Limit::Path, &[Kind::PathRate]);
    expect(repeated(4, 101_000, Some(BBR)), Limit::Path, &[Kind::PathRate]);
    expect(repeated(20, 101_000, Some(BBR)), Limit::Loss, &[Kind::Loss]);
    let before = expect(repeated(0, 101_000, None), Limit::Loss, &[Kind::Loss]);
    assert!(before.finding.is_inferred, "{before:?}");
}

#[test]
fn repeats_for_nothing_are_reordering() {
    let of = |needless: u32, reordered: u32| {
        sender(move |n, _, info| {
            info.total_retrans = n;
            info.dsack_dups = Some(n * needless / 10);
            info.reord_seen = Some(n * reordered);
        })
    };
    expect(of(8, 2), Limit::Reordering, &[Kind::Reordering]);
    expect(of(1, 2), Limit::Loss, &[Kind::Loss]);
    // A spurious retransmission is possible without reordering: the acknowledgement was lost.
    expect(of(8, 0), Limit::Loss, &[Kind::Loss]);
}

#[test]
fn a_start_takes_round_trips() {
    let grows = |n: u32, info: &mut Info| (info.snd_cwnd, info.unacked) = (10 + n, 10 + n);
    let starting = sender(|n, _, info| {
        grows(n, info);
        info.snd_ssthresh = limit::initial_window::NO_THRESHOLD;
    });
    expect(starting, Limit::InitialWindow, &[Kind::SlowStart]);
    let bbr = |gain| {
        sender(move |n, socket, info| {
            grows(n, info);
            socket.model =
                Some(Model::Bbr { bandwidth: 1, min_rtt_us: 1, pacing_gain: gain, cwnd_gain: 512 });
        })
    };
    expect(bbr(739), Limit::InitialWindow, &[Kind::SlowStart]);
    expect(bbr(320), Limit::Path, &[Kind::PathRate]);
}

#[test]
fn a_program_that_trickles_keeps_its_connection_busy_and_is_the_limit() {
    let said =
        expect(sender(|_, socket, info| little(socket, info)), Limit::SenderApplication, &[Kind::SenderIdle]);
    assert_eq!(said.shares.unwrap().sender_application, 1.0);
    // A single large write is paced, so that some of it is unsent in most samples: the kernel marks it as
    // application-limited, or a third of the samples has no unsent data.
    let paced = sender(|_, _, info| (info.unacked, info.delivery_rate_app_limited) = (60, true));
    expect(paced, Limit::SenderApplication, &[Kind::SenderIdle]);
    let drained = |every: u32| {
        sender(move |n, socket, info| {
            (socket.model, info.unacked) = (Some(BBR), 60);
            if n % every == 0 {
                little(socket, info);
            }
        })
    };
    expect(drained(3), Limit::SenderApplication, &[Kind::SenderIdle]);
    expect(drained(10), Limit::Path, &[Kind::PathRate]);
    let pauses = sender(|n, socket, info| {
        if n % 25 < 20 {
            (socket.send_queue, info.unacked, info.notsent_bytes) = (0, 0, 0);
        }
        info.snd_cwnd = if n % 25 < 21 { 200 } else { 20 };
        info.busy_time_us = Some(u64::from(n) * 4000);
    });
    expect(pauses, Limit::SenderApplication, &[Kind::SenderIdle, Kind::RestartAfterIdle]);
}

#[test]
fn data_that_waits_for_long_in_the_sender_is_said_beside_the_limit() {
    let waiting = sender(|_, socket, info| {
        (socket.send_queue, info.notsent_bytes) = (900_000, 724_000);
        info.rtt_us = 180_000;
    });
    let said = expect(waiting, Limit::Path, &[Kind::PathRate, Kind::UnsentData]);
    // 724 KB at 1.448 MB/s.
    assert!(said.also[0].sentence.contains("is sent only after 500 ms"), "{said:?}");
}

#[test]
fn a_receiver_knows_its_program_and_its_window() {
    expect(receiver(|_, _, _| {}), Limit::OtherEnd, &[Kind::OtherEnd]);
    let unread = receiver(|n, socket, info| {
        (socket.receive_queue, info.rcv_wnd) = (100_000 + n * 10, Some(64_000));
    });
    expect(unread, Limit::ReceiverApplication, &[Kind::ReadsSlowly]);
    // 1.448 MB/s * 100 ms are 145 KB: 90 % of one window, a third of the other.
    let window = |size| receiver(move |_, _, info| info.rcv_wnd = Some(size));
    expect(window(160_000), Limit::ReceiverWindow, &[Kind::FixedReceiveBuffer]);
    expect(window(430_000), Limit::OtherEnd, &[Kind::OtherEnd]);
    let unscaled = receiver(|_, _, info| (info.rcv_wscale, info.options) = (0, 3));
    expect(unscaled, Limit::ReceiverWindow, &[Kind::WindowScalingOff]);
}

#[test]
fn a_receive_buffer_is_fixed_at_its_most_or_kept_from_growing() {
    let used = |fixed: Option<bool>, rcvbuf: fn(u32) -> u32| Seen {
        chosen: fixed.map(|fixed| Chosen { has_fixed_receive_buffer: fixed, ..Chosen::default() }),
        ..receiver(move |n, socket, info| {
            info.rcv_wnd = Some(160_000);
            socket.memory = Some(Memory { rcvbuf: rcvbuf(n), ..Memory::default() });
        })
    };
    let told = expect(used(Some(true), |_| 131_072), Limit::ReceiverWindow, &[Kind::FixedReceiveBuffer]);
    assert!(!told.finding.is_inferred && told.finding.sentence.contains("SO_RCVBUF=65536"), "{told:?}");
    assert!(told.finding.evidence[2].contains("Kafka's consumers"), "{told:?}");
    assert!(said(used(None, |_| 131_072)).finding.is_inferred);
    expect(used(Some(false), |n| 131_072 + n * 1000), Limit::ReceiverWindow, &[Kind::ReceiveBufferGrows]);
    expect(used(None, |n| 131_072 + n * 1000), Limit::ReceiverWindow, &[Kind::ReceiveBufferGrows]);
    expect(used(Some(false), |_| 32 << 20), Limit::ReceiverWindow, &[Kind::ReceiveBufferMaximum]);
    let not_tuned = said_with(used(None, |_| 131_072), |observation| {
        observation.settings.tcp_moderate_rcvbuf = Some(0);
    });
    assert_eq!(not_tuned.finding.kind, Kind::ReceiveBufferDoesNotGrow);
}

/// The same two settings of a guide on two kernels: 16 MiB are less than 6.18's default and more than 5.15's,
/// which obeys the scale.
#[test]
fn advice_depends_on_the_kernel() {
    let at_most = || {
        receiver(|_, socket, info| {
            info.rcv_wnd = Some(160_000);
            socket.memory = Some(Memory { rcvbuf: 16 << 20, ..Memory::default() });
        })
    };
    let guided = |kernel: Version| {
        said_with(at_most(), move |observation| {
            observation.kernel = Some(kernel);
            observation.settings.tcp_rmem = Some([4096, 131_072, 16 << 20]);
            observation.settings.tcp_adv_win_scale = Some(-2);
        })
    };
    let new = guided(Version::new(6, 18));
    assert_eq!(found(&new).1, [Kind::SettingBelowDefault, Kind::SettingIgnored]);
    assert!(new.finding.advice.contains("\"4096 131072 33554432\""), "{new:?}");
    let old = guided(Version::new(5, 15));
    assert_eq!(found(&old).1, [Kind::ReceiveBufferMaximum]);
    assert!(old.finding.advice.contains("\"4096 131072 67108864\""), "four times as much: {old:?}");
}

#[test]
fn nothing_moves_because_nothing_is_to_or_because_nothing_is_answered() {
    expect(seen(|_, _, _| {}), Limit::Idle, &[Kind::Idle]);
    let dead = sender(|_, _, info| (info.bytes_acked, info.retransmits) = (5000, 3));
    expect(dead, Limit::Loss, &[Kind::NoAnswer]);
}

#[test]
fn a_connection_that_closed_is_judged_by_its_life() {
    let mut seen = sender(|_, _, info| {
        (info.bytes_acked, info.busy_time_us) = (1_000_000, Some(2_000_000));
        info.rwnd_limited_us = Some(1_500_000);
    });
    seen.looks.truncate(1);
    seen.has_closed = true;
    let said = said(seen);
    assert_eq!((said.limit, said.seconds, said.rate_mbps), (Limit::ReceiverWindow, 2.0, 4.0));
    assert_eq!(said.shares.unwrap().receiver_window, 0.75);
}

#[test]
fn the_busiest_come_first_and_scarce_ports_before_them() {
    let [local, remote] = ["10.0.0.1", "10.0.0.2"].map(|address| address.parse().unwrap());
    let port =
        |taken, waiting| PortUse { local, remote: std::net::SocketAddr::new(remote, 443), taken, waiting };
    let said = |port| {
        let kernel = Version::new(6, 18);
        let settings = Settings::defaults(kernel, None);
        let connections = vec![seen(|_, _, _| {}), receiver(|_, _, _| {})];
        judge(&Observation {
            kernel: Some(kernel),
            settings,
            connections,
            ports: vec![port],
            ..Observation::default()
        })
    };
    let limits = |port| said(port).iter().map(|each| each.limit).collect::<Vec<_>>();
    assert_eq!(limits(port(14_115, 0)), [Limit::OtherEnd, Limit::Idle]);
    assert_eq!(limits(port(14_116, 0)), [Limit::SourcePorts, Limit::OtherEnd, Limit::Idle]);
    let full = &said(port(28_000, 20_000))[0];
    assert_eq!((full.local.as_str(), full.remote.as_str()), ("10.0.0.1:*", "10.0.0.2:443"));
    assert!(full.finding.sentence.starts_with("Almost all source ports") && full.shares.is_none());
    assert!(full.finding.advice.contains("tcp_tw_reuse=1"), "{full:?}");
}

proptest! {
    #[test]
    fn any_figures_can_be_judged(
        words in prop::collection::vec(any::<u32>(), 140),
        queues in any::<[u32; 4]>(),
        memory in any::<[u32; 4]>(),
        timer in 0..5_u8,
        has_model in any::<bool>(),
    ) {
        let bytes = |part: &[u32]| part.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<_>>();
        let infos = words.chunks(70).map(|part| Info::decode(&bytes(part)).unwrap());
        let mut made_up = seen(|_, _, _| {});
        made_up.looks.truncate(2);
        for (n, (look, info)) in made_up.looks.iter_mut().zip(infos).enumerate() {
            let socket = &mut look.socket;
            (socket.info, socket.timer) = (Some(info), timer);
            (socket.send_queue, socket.receive_queue) = (queues[n], queues[n + 2]);
            socket.memory = Some(Memory { wmem_queued: memory[0], sndbuf: memory[1], rcvbuf: memory[n + 2], ..Memory::default() });
            socket.model = has_model.then_some(BBR);
        }
        let said = said(made_up);
        let shares = said.shares.unwrap().named().map(|(_, share)| share);
        prop_assert!(shares.iter().all(|share| (0.0..=1.0 + 1e-9).contains(share)), "{shares:?}");
        prop_assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-6, "{shares:?}");
    }
}
