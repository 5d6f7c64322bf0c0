//! Captured messages of five kernels compared with the output of `ss` at the same moment, and truncated
//! messages.
//!
//! The near end of a connection sent 2 000 000 bytes and the far end read them; then the far end sent and the
//! near end did not read. Linux 5.10, 6.1, 6.12 and 7.3 are Debian's, with 10 ms of netem each way on
//! loopback; on 6.18 loopback only. `ss` is that of iproute2 7.3.0. Only time-dependent values changed
//! between the message and the query of ss.

use std::{collections::BTreeSet, fmt::Write as _};

use proptest::prelude::*;

use super::{
    message::{DIAG_HEADER, INET_DIAG_INFO, socket},
    *,
};
use crate::{info::Options, netlink::attributes};

const CAPTURED: [(&str, usize, usize, &str); 5] = [
    ("5.10", 232, 7, include_str!("captured/5.10.txt")),
    ("6.1", 232, 7, include_str!("captured/6.1.txt")),
    ("6.12", 248, 7, include_str!("captured/6.12.txt")),
    ("6.18", 280, 5, include_str!("captured/6.18.txt")),
    ("7.3", 280, 7, include_str!("captured/7.3.txt")),
];

/// The end of the connection, the message of the kernel, and the line of ss.
struct Sight {
    end: &'static str,
    message: Vec<u8>,
    line: &'static str,
}

/// Pairs of lines: "CONGESTION FAMILY END ss LINE" and "CONGESTION FAMILY END message HEX".
fn sights(captured: &'static str) -> Vec<Sight> {
    let lines: Vec<_> = captured.lines().collect();
    let sight = |pair: &[&'static str]| {
        let (end, line) = pair[0].split_once(" ss ").unwrap();
        let hex = pair[1].strip_prefix(end).unwrap().strip_prefix(" message ").unwrap();
        Sight { end, message: bytes(hex), line }
    };
    lines.chunks(2).map(sight).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn every_kernel_is_read_as_ss_reads_it() {
    for (kernel, size, count, captured) in CAPTURED {
        let sights = sights(captured);
        assert_eq!(sights.len(), count, "{kernel}");
        for Sight { end, message, line } in sights {
            assert_eq!(info_of(&message).1.len(), size, "{kernel} {end}");
            let seen = socket(&message).unwrap();
            assert_eq!(ours(&seen), theirs(line), "{kernel} {end}");
        }
    }
}

#[test]
fn what_the_programs_did_is_told() {
    for (kernel, size, _, captured) in CAPTURED {
        for Sight { end, message, .. } in sights(captured) {
            let seen = socket(&message).unwrap();
            let (info, memory) = (seen.info.unwrap(), seen.memory.unwrap());
            let case = format!("{kernel} {end}");
            if end.ends_with("near") {
                // The SYN also consumes a sequence number.
                assert_eq!((info.bytes_acked, info.bytes_sent), (2_000_001, Some(2_000_000)), "{case}");
                assert_eq!(u64::from(seen.receive_queue), info.bytes_received, "{case}: nothing was read");
            } else {
                assert_eq!(info.bytes_received, 2_000_000, "{case}");
                // 300 000 bytes were written.
                assert_eq!(u64::from(seen.send_queue), 300_000 - info.bytes_acked, "{case}");
                assert_eq!((info.notsent_bytes, info.snd_wnd), (seen.send_queue, Some(0)), "{case}");
                assert!(info.rwnd_limited_us <= info.busy_time_us, "{case}");
            }
            assert!(memory.rmem_alloc >= seen.receive_queue, "{case}");
            assert_eq!(
                (info.rcv_wnd.is_some(), info.received_ce.is_some()),
                (size > 232, size > 248),
                "{case}"
            );
            assert_eq!(info.unknown, "", "{case}");
        }
    }
}

#[test]
fn a_congestion_control_tells_of_itself() {
    for (kernel, _, _, captured) in CAPTURED {
        for Sight { end, message, .. } in sights(captured) {
            let seen = socket(&message).unwrap();
            let info = seen.info.unwrap();
            let name = end.split(' ').next().unwrap();
            assert_eq!(seen.congestion.as_deref(), Some(name), "{kernel} {end}");
            let fits = match (name, seen.model) {
                ("cubic", None) => true,
                ("bbr", Some(Model::Bbr { min_rtt_us, .. })) => min_rtt_us == info.min_rtt_us,
                ("vegas", Some(Model::Vegas { is_enabled, rtt_us, min_rtt_us, .. })) => {
                    is_enabled && (20_000..=min_rtt_us).contains(&rtt_us)
                }
                // It begins with a share of 1, and subtracts 1/16 in every round trip without a mark.
                ("dctcp", Some(Model::Dctcp { is_enabled, is_marked, alpha, marked_bytes, .. })) => {
                    is_enabled && !is_marked && alpha < 1024 && marked_bytes == 0
                }
                _ => false,
            };
            assert!(fits, "{kernel} {end}: {:?}", seen.model);
        }
    }
}

#[test]
fn an_older_kernel_s_message_ends_sooner() {
    let Sight { message, .. } = &sights(CAPTURED[4].3)[0];
    let newest = socket(message).unwrap();
    let (offset, _) = info_of(message);
    for (size, first_absent) in
        [(168, "busy_time_us"), (192, "delivered"), (200, "bytes_sent"), (224, "rcv_ooopack")]
    {
        let mut older = message[..offset + size].to_vec();
        let length = u16::try_from(size + 4).unwrap();
        older[offset - 4..offset - 2].copy_from_slice(&length.to_ne_bytes());
        let info = socket(&older).unwrap().info.unwrap();
        let told = |info: &Info| serde_json::to_value(info).unwrap().as_object().unwrap().clone();
        let (older, newer) = (told(&info), told(newest.info.as_ref().unwrap()));
        assert!(!older.contains_key(first_absent) && newer.contains_key(first_absent));
        assert!(older.iter().all(|(name, value)| newer[name] == *value), "{size}");
    }
}

#[test]
fn a_message_that_is_cut_off_is_no_other() {
    for (_, _, _, captured) in CAPTURED {
        let message = &sights(captured)[0].message;
        let whole = socket(message).unwrap();
        for cut in 0..message.len() {
            let left = socket(&message[..cut]);
            assert_eq!(left.is_some(), cut >= DIAG_HEADER);
            let Some(left) = left else { continue };
            assert!(left.info.is_none() || left.info == whole.info);
            assert!(left.memory.is_none() || left.memory == whole.memory);
            assert!(left.congestion.is_none() || left.congestion == whole.congestion);
        }
    }
}

proptest! {
    #[test]
    fn changed_bytes_can_be_read(
        kernel in 0..CAPTURED.len(),
        which: prop::sample::Index,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut sights = sights(CAPTURED[kernel].3);
        let message = &mut which.get_mut(&mut sights).message;
        for (at, byte) in changes {
            *at.get_mut(message) = byte;
        }
        let _ = socket(message);
    }
}

fn info_of(message: &[u8]) -> (usize, &[u8]) {
    let (_, info) = attributes(&message[DIAG_HEADER..]).find(|(kind, _)| *kind == INET_DIAG_INFO).unwrap();
    (info.as_ptr().addr() - message.as_ptr().addr(), info)
}

/// `ecnseen` is a bit without a name in [`Options`].
fn theirs(line: &str) -> BTreeSet<String> {
    const MOVED_ON: [&str; 8] = [
        "timer:",
        "lastsnd:",
        "lastrcv:",
        "lastack:",
        "busy:",
        "rwnd_limited:",
        "sndbuf_limited:",
        "ecnseen",
    ];
    let joined = line.replace("pacing_rate ", "pacing_rate:").replace("delivery_rate ", "delivery_rate:");
    let (before, after) = joined.split_once("send ").unwrap();
    let rest = after.split_once(' ').unwrap().1;
    let words = before.split_whitespace().chain(rest.split_whitespace());
    words
        .filter(|word| *word != "<->" && !MOVED_ON.iter().any(|name| word.starts_with(name)))
        .map(str::to_owned)
        .collect()
}

fn ours(socket: &Socket) -> BTreeSet<String> {
    let info = socket.info.as_ref().unwrap();
    let mut line = format!(
        "ESTAB {} {} {} {} ino:{} ",
        socket.receive_queue,
        socket.send_queue,
        end(socket, socket.local),
        end(socket, socket.remote),
        socket.inode
    );
    memory(&mut line, socket.memory.unwrap());
    for (option, word) in [(Options::Timestamps, "ts "), (Options::Sack, "sack "), (Options::Ecn, "ecn ")] {
        line += if info.has(option) { word } else { "" };
    }
    line += socket.congestion.as_deref().unwrap();
    model(&mut line, socket.model);
    numbers(&mut line, info);
    line.split_whitespace().map(str::to_owned).collect()
}

fn end(socket: &Socket, address: SocketAddr) -> String {
    if socket.key.family == 2 {
        address.to_string()
    } else {
        format!("[::ffff:{}]:{}", address.ip(), address.port())
    }
}

fn memory(line: &mut String, memory: Memory) {
    let Memory { rmem_alloc, rcvbuf, wmem_alloc, sndbuf, fwd_alloc, wmem_queued, optmem, backlog, drops } =
        memory;
    write!(
        line,
        "skmem:(r{rmem_alloc},rb{rcvbuf},t{wmem_alloc},tb{sndbuf},f{fwd_alloc},w{wmem_queued},o{optmem},bl{backlog},d{}) ",
        drops.unwrap()
    )
    .unwrap();
}

fn model(line: &mut String, model: Option<Model>) {
    match model {
        Some(Model::Bbr { bandwidth, min_rtt_us, pacing_gain, cwnd_gain }) => {
            let gains = [pacing_gain, cwnd_gain].map(|gain| six_digits(f64::from(gain) / 256.0));
            let (rate, rtt) = (bandwidth * 8, ms(min_rtt_us));
            write!(line, " bbr:(bw:{rate}bps,mrtt:{rtt},pacing_gain:{},cwnd_gain:{})", gains[0], gains[1])
        }
        Some(Model::Dctcp { is_marked, alpha, marked_bytes, total_bytes, .. }) => {
            let mark = u8::from(is_marked);
            write!(line, " dctcp:(ce_state:{mark},alpha:{alpha},ab_ecn:{marked_bytes},ab_tot:{total_bytes})")
        }
        Some(Model::Vegas { .. }) | None => Ok(()),
    }
    .unwrap();
}

fn numbers(line: &mut String, info: &Info) {
    write!(
        line,
        " wscale:{},{} rtt:{}/{}",
        info.snd_wscale,
        info.rcv_wscale,
        ms(info.rtt_us),
        ms(info.rttvar_us)
    )
    .unwrap();
    if info.total_retrans > 0 {
        write!(line, " retrans:{}/{}", info.retrans, info.total_retrans).unwrap();
    }
    if info.delivery_rate_app_limited {
        line.push_str(" app_limited");
    }
    let bits = |rate: u64| format!("{}bps", rate * 8);
    let shown = [
        ("backoff", u64::from(info.backoff), 0),
        ("mss", info.snd_mss.into(), 0),
        ("pmtu", info.pmtu.into(), 0),
        ("rcvmss", info.rcv_mss.into(), 0),
        ("advmss", info.advmss.into(), 0),
        ("cwnd", info.snd_cwnd.into(), 0),
        ("ssthresh", info.snd_ssthresh.into(), 0x7fff_ffff),
        ("bytes_sent", info.bytes_sent.unwrap(), 0),
        ("bytes_retrans", info.bytes_retrans.unwrap(), 0),
        ("bytes_acked", info.bytes_acked, 0),
        ("bytes_received", info.bytes_received, 0),
        ("segs_out", info.segs_out.into(), 0),
        ("segs_in", info.segs_in.into(), 0),
        ("data_segs_out", info.data_segs_out.into(), 0),
        ("data_segs_in", info.data_segs_in.into(), 0),
        ("unacked", info.unacked.into(), 0),
        ("lost", info.lost.into(), 0),
        ("sacked", info.sacked.into(), 0),
        ("reordering", info.reordering.into(), 3),
        ("delivered", info.delivered.unwrap().into(), 0),
        ("delivered_ce", info.delivered_ce.unwrap().into(), 0),
        ("dsack_dups", info.dsack_dups.unwrap().into(), 0),
        ("reord_seen", info.reord_seen.unwrap().into(), 0),
        ("rcv_space", info.rcv_space.into(), 0),
        ("rcv_ssthresh", info.rcv_ssthresh.into(), 0),
        ("notsent", info.notsent_bytes.into(), 0),
        ("rcv_ooopack", info.rcv_ooopack.unwrap().into(), 0),
        ("snd_wnd", info.snd_wnd.unwrap().into(), 0),
        ("rcv_wnd", info.rcv_wnd.unwrap_or(0).into(), 0),
        ("rehash", info.rehash.unwrap_or(0).into(), 0),
    ];
    for (name, value, unsaid) in shown {
        if value != unsaid {
            write!(line, " {name}:{value}").unwrap();
        }
    }
    for (name, us) in [
        ("rto", info.rto_us),
        ("ato", info.ato_us),
        ("rcv_rtt", info.rcv_rtt_us),
        ("minrtt", info.min_rtt_us),
    ] {
        if us > 0 {
            write!(line, " {name}:{}", ms(us)).unwrap();
        }
    }
    for (name, rate) in [("pacing_rate", info.pacing_rate), ("delivery_rate", info.delivery_rate)] {
        write!(line, " {name}:{}", bits(rate)).unwrap();
    }
}

fn ms(us: u32) -> String {
    six_digits(f64::from(us) / 1e3)
}

fn six_digits(number: f64) -> String {
    let whole = number.log10().floor().max(0.0);
    let scale = 10_f64.powf(5.0 - whole);
    ((number * scale).round() / scale).to_string()
}
