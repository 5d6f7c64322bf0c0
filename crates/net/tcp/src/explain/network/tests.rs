//! Interpretation of the congestion window of synthetic and recorded connections.

use std::time::Duration;

use crate::{
    Info,
    diag::{Key, Model, Socket, State},
    explain::{Explanation, Limit, Look, Observation, Seen, judge},
};

const MSS: u32 = 1448;

/// A second of a connection over 100 ms that always has data to send; 2000 of its segments arrive.
fn sender(port: u16, change: impl Fn(u32, &mut Info)) -> Seen {
    let [local, remote] = [("10.0.0.1", port), ("10.0.0.2", 80)]
        .map(|(address, port)| (address.parse::<std::net::IpAddr>().unwrap(), port).into());
    let looks = (0..=20).map(|n| {
        let mut info = Info {
            snd_mss: MSS,
            snd_cwnd: 200,
            unacked: 200,
            snd_ssthresh: 180,
            notsent_bytes: 100 * MSS,
            snd_wnd: Some(10_000_000),
            rtt_us: 103_000,
            rttvar_us: 1000,
            min_rtt_us: 100_000,
            max_pacing_rate: u64::MAX,
            bytes_acked: 100 * u64::from(n * MSS),
            data_segs_out: 50_000 + n * 100,
            busy_time_us: Some(u64::from(n) * 50_000),
            rwnd_limited_us: Some(0),
            sndbuf_limited_us: Some(0),
            ..Info::default()
        };
        change(n, &mut info);
        let socket = Socket {
            key: Key::between(local, remote),
            local,
            remote,
            state: State::Established,
            inode: 1,
            uid: 0,
            timer: 1,
            receive_queue: 0,
            send_queue: 300 * MSS,
            info: Some(info),
            memory: None,
            congestion: Some("cubic".to_owned()),
            model: None,
            mptcp_token: None,
        };
        Look { at: Duration::from_millis(50) * n, socket, multipath: None }
    });
    Seen { looks: looks.collect(), has_closed: false, process: None, chosen: None }
}

fn said(connections: Vec<Seen>) -> Vec<Explanation> {
    judge(&Observation { connections, ..Observation::default() })
}

fn limit(change: impl Fn(u32, &mut Info)) -> Limit {
    said(vec![sender(1, change)])[0].limit
}

fn limit_with_bbr(bandwidth: u64, change: impl Fn(u32, &mut Info)) -> Limit {
    let mut seen = sender(1, change);
    for look in &mut seen.looks {
        let model = Model::Bbr { bandwidth, min_rtt_us: 100_000, pacing_gain: 256, cwnd_gain: 512 };
        look.socket.model = Some(model);
    }
    said(vec![seen])[0].limit
}

/// 520 of 52 000 segments were lost, 1 %: at that rate, 20 of the 2000 of this second would be lost.
#[test]
fn losses_of_long_ago_are_not_to_blame() {
    assert_eq!(limit(|_, info| info.total_retrans = 520), Limit::CongestionWindow);
    // 0.1 %, so 2 are expected: no loss is not significant.
    assert_eq!(limit(|_, info| info.total_retrans = 52), Limit::Loss);
    assert_eq!(limit(|n, info| info.total_retrans = 500 + n), Limit::Loss);
}

/// 120 ms, and 100 ms without a queue, minus 3 ms of variation: a queue of 17 % of the round trip.
#[test]
fn a_short_queue_says_that_the_path_is_full() {
    assert_eq!(limit(|_, info| info.rtt_us = 120_000), Limit::Path);
    let full = |n: u32, info: &mut Info| (info.rtt_us, info.total_retrans) = (120_000, 500 + n / 10);
    assert_eq!(limit(full), Limit::Path);
    let varying = |_: u32, info: &mut Info| (info.rtt_us, info.rttvar_us) = (120_000, 5000);
    assert_eq!(limit(varying), Limit::CongestionWindow);
}

/// 2000 segments of 1448 bytes. Segments after a hole are acknowledged only when it is filled.
#[test]
fn a_path_carries_what_arrives_not_what_is_acknowledged() {
    let seen = sender(1, |n, info| {
        (info.rtt_us, info.total_retrans) = (150_000, n);
        info.bytes_acked = 100 * u64::from(n / 20 * MSS);
        info.delivered = Some(n * 100);
    });
    let said = said(vec![seen]);
    assert_eq!(said[0].finding.sentence, "The path carries no more than 23.2 Mbit/s");
    assert_eq!(said[0].finding.evidence[0], "1.16 Mbit/s over 1.00 s");
}

#[test]
fn connections_to_one_host_share_what_the_path_carries() {
    let full = |_: u32, info: &mut Info| info.rtt_us = 150_000;
    let said = said(vec![sender(1, full), sender(2, full), sender(3, full)]);
    assert_eq!(said.len(), 3);
    for each in said {
        let expected = "The path is full: it carries 23.2 Mbit/s of this connection, and 46.3 Mbit/s of 2 more to 10.0.0.2";
        assert_eq!((each.limit, each.finding.sentence.as_str()), (Limit::Path, expected));
    }
}

/// BBR has measured 30 Mbit/s; 23 Mbit/s were sent, and for three tenths of the time there was nothing to
/// send.
#[test]
fn a_program_that_pauses_does_not_fill_the_path_that_bbr_knows() {
    let bbr = |bandwidth: u64, busy_tenths: u64| {
        limit_with_bbr(bandwidth, |n, info| {
            info.busy_time_us = Some(u64::from(n) * 5000 * busy_tenths);
        })
    };
    assert_eq!(bbr(3_750_000, 7), Limit::SenderApplication);
    assert_eq!(bbr(3_750_000, 10), Limit::Path);
    assert_eq!(bbr(2_900_000, 7), Limit::Path);
}

/// "at_ms rtt_us rttvar_us min_rtt_us cwnd ssthresh unacked total_retrans data_segs_out bytes_acked
/// notsent reord_seen dsack_dups", every 40 ms.
fn seconds_of(recording: &str) -> Vec<Seen> {
    let rows: Vec<Vec<u64>> = recording
        .lines()
        .skip(1)
        .map(|line| line.split(' ').map(|word| word.parse().unwrap()).collect())
        .collect();
    let second = |rows: &[Vec<u64>]| {
        let number = |n: usize, column: usize| u32::try_from(rows[n][column]).unwrap();
        let mut seen = sender(1, |_, _| {});
        let first = seen.looks[0].clone();
        seen.looks = (0..rows.len())
            .map(|n| {
                let mut look = first.clone();
                look.at = Duration::from_millis(rows[n][0] - rows[0][0]);
                let info = look.socket.info.as_mut().unwrap();
                (info.rtt_us, info.rttvar_us, info.min_rtt_us) = (number(n, 1), number(n, 2), number(n, 3));
                (info.snd_cwnd, info.snd_ssthresh, info.unacked) = (number(n, 4), number(n, 5), number(n, 6));
                (info.total_retrans, info.data_segs_out) = (number(n, 7), number(n, 8));
                (info.bytes_acked, info.notsent_bytes) = (rows[n][9], number(n, 10));
                (info.reord_seen, info.dsack_dups) = (Some(number(n, 11)), Some(number(n, 12)));
                info.busy_time_us = Some(u64::try_from(look.at.as_micros()).unwrap());
                look.socket.send_queue = info.notsent_bytes + info.unacked * MSS;
                look
            })
            .collect();
        seen
    };
    rows.windows(26).step_by(5).map(second).collect()
}

/// Recordings on planets of four seconds each, of connections that always have data to send. CUBIC with CoDel
/// at 20 Mbit/s, over 40 and 100 ms: packets wait in 27 to 100 % of the samples of each second. Random
/// losses, Reno with 2 % over 100 ms at 20 Mbit/s, CUBIC with 0.5 % and 0.02 % over 40 ms at 20 and 500
/// Mbit/s: in 0 to 19 %. The result is the same for each second.
#[test]
fn every_second_of_a_recording_has_the_same_answer() {
    for (recording, expected) in [
        (include_str!("recorded/codel-cubic.txt"), Limit::Path),
        (include_str!("recorded/codel-far-cubic.txt"), Limit::Path),
        (include_str!("recorded/loss-reno.txt"), Limit::Loss),
        (include_str!("recorded/loss-near-cubic.txt"), Limit::Loss),
        (include_str!("recorded/loss-fast-cubic.txt"), Limit::Loss),
    ] {
        let all: Vec<_> = seconds_of(recording).into_iter().map(|seen| said(vec![seen]).remove(0)).collect();
        assert_eq!(all.len(), 16);
        for each in all {
            assert_eq!(each.limit, expected, "{each:#?}");
            let share = each.limit_share.unwrap();
            assert!(if expected == Limit::Path { share >= 0.2 } else { share > 0.8 }, "{each:#?}");
        }
    }
}

#[test]
fn losses_of_bbr_on_a_full_path_are_the_path_s() {
    let lossy = |rtt_us: u32| {
        limit_with_bbr(3_000_000, |n, info| (info.rtt_us, info.total_retrans) = (rtt_us, n * 20))
    };
    assert_eq!(lossy(200_000), Limit::Path);
    assert_eq!(lossy(103_000), Limit::Loss);
}
