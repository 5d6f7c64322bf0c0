//! Published figures, the kernel's formulas, and both directions against each other.

use std::time::Duration;

use proptest::prelude::*;
use units::Bitrate;

use super::*;
use crate::{kernel::Version, settings::Settings};

const OLD: Version = Version::new(5, 15);
const NEW: Version = Version::new(6, 18);
const MIB: u64 = 1 << 20;

fn path(rtt: &str, rate: &str) -> Path {
    Path { rtt: units::duration::parse(rtt).unwrap(), rate: rate.parse().unwrap() }
}

fn scaled(scale: i64) -> Settings {
    Settings { tcp_adv_win_scale: Some(scale), ..Settings::defaults(OLD, None) }
}

fn planned(rtt: &str, rate: &str, kernel: Version) -> Plan {
    plan(path(rtt, rate), kernel, &Settings::defaults(kernel, None)).unwrap()
}

fn received(buffer: u64, scale: i64, rtt: u64) -> f64 {
    let settings = Settings { tcp_rmem: Some([4096, 131_072, buffer]), ..scaled(scale) };
    let ceiling = ceiling(&Buffers::of(OLD, &settings), Duration::from_millis(rtt)).unwrap();
    let [least, most] = ceiling.receive.unwrap().mbps;
    assert_eq!(least.to_bits(), most.to_bits(), "the old rule leaves nothing open");
    most
}

#[test]
fn every_scale_is_what_a_kernel_makes_of_it() {
    // `rcv_ssthresh` on Linux 5.10 after `tcp_rmem[2]` = 4 MiB was reached at 100 ms. It is smaller by the
    // unread data.
    let seen = [
        (-2, 1_048_064),
        (-1, 2_096_256),
        (0, 4_191_576),
        (1, 2_095_788),
        (2, 3_144_012),
        (3, 3_667_629),
        (4, 3_928_245),
    ];
    for (scale, seen) in seen {
        let Span { least, most } = Share::of(Version::new(5, 10), scale).window(4 * MIB);
        assert!(least == most && seen <= most && most - seen < most / 1000, "{scale}: {seen} of {most}");
    }
}

#[test]
fn the_published_sizing_of_a_long_path() {
    let plan = planned("300ms", "3500Mbit", OLD);
    // 3.5e9 bit/s x 0.3 s / 8 = 131.25 MB = 125.2 MiB, in steps of 8 MiB.
    assert_eq!((plan.bdp_bytes, plan.window_bytes), (131_250_000, 128 * MIB));
    assert_eq!((plan.rmem_max_bytes, plan.wmem_max_bytes), (256 * MIB, 256 * MIB));
    assert_eq!(plan.so_rcvbuf_bytes, 128 * MIB);
    assert_eq!(plan.rule, "tcp_adv_win_scale = 1: window = buffer - buffer / 2");
    assert_eq!(
        plan.sysctl,
        ["net.ipv4.tcp_rmem = 4096 131072 268435456", "net.ipv4.tcp_wmem = 4096 16384 268435456"]
    );
}

#[test]
fn the_published_rows_have_a_window_of_128_mib() {
    // Published: tcp_rmem in whole MiB, the scale, and a window of 128 MiB.
    for (mib, scale) in [(512, -2), (256, 1), (170, 2), (146, 3), (137, 4)] {
        let share = Share::of(OLD, scale);
        let window = share.window(mib * MIB);
        assert_eq!(window.least, window.most);
        assert!(window.most.abs_diff(128 * MIB) <= MIB / 2, "{mib} MiB, scale {scale}: {window:?}");
        assert!(share.buffer(128 * MIB).abs_diff(mib * MIB) < MIB, "{mib} MiB, scale {scale}");
    }
}

#[test]
fn the_published_old_settings_cap_two_paths() {
    // 16 MiB / 4 = 4 MiB. 4 MiB x 8 / 121 ms = 277.3 Mbit/s; / 282 ms = 119.0. Measured there: 276 and 120.
    assert_eq!(Share::of(OLD, -2).window(16 * MIB).most, 4 * MIB);
    assert!((received(16 * MIB, -2, 121) - 277.3).abs() < 0.05);
    assert!((received(16 * MIB, -2, 282) - 119.0).abs() < 0.05);
}

#[test]
fn every_scale_of_the_documentation() {
    let of_240 = |scale| Share::of(OLD, scale).window(240).most;
    // 15/16, 7/8, 3/4, 1/2, all, 1/2, 1/4, 1/8 of 240.
    assert_eq!([4, 3, 2, 1, 0, -1, -2, -3].map(of_240), [225, 210, 180, 120, 240, 120, 60, 30]);
    assert_eq!([31, 99, -31, -99].map(of_240), [240, 240, 0, 0]);
}

#[test]
fn newer_kernels_measure_and_guess_at_first() {
    // 1200 x 256 / 4672 = 65; 2896 x 256 / 4352 = 170.
    let window = |kernel: &str| Share::of(kernel.parse().unwrap(), -2).window(256 * MIB);
    assert_eq!(window("6.6.32"), Span { least: 65 * MIB, most: 170 * MIB });
    for kernel in ["6.6.33", "6.10", "6.18.44"] {
        assert_eq!(window(kernel), Span { least: 128 * MIB, most: 170 * MIB });
    }
}

#[test]
fn the_measured_rate_is_in_the_span_for_this_kernel() {
    // Measured on 6.18 at 100 ms: 221 Mbit/s with a receive buffer of 4 MiB, 227 with a send buffer of 4 MiB.
    let both = [4096, 131_072, 4 * MIB];
    let settings = Settings { tcp_rmem: Some(both), tcp_wmem: Some(both), ..Settings::default() };
    let ceiling = ceiling(&Buffers::of(NEW, &settings), Duration::from_millis(100)).unwrap();
    // 1/2 and 170/256 of 4 MiB; 5/8 and all of 4 MiB.
    let (receive, send) = (ceiling.receive.unwrap(), ceiling.send.unwrap());
    assert_eq!(receive.window_bytes, [2_097_152, 2_785_280]);
    assert_eq!(send.window_bytes, [2_621_440, 4_194_304]);
    assert!(receive.mbps[0] < 221.0 && 221.0 < receive.mbps[1], "{receive:?}");
    assert!(send.mbps[0] < 227.0 && 227.0 < send.mbps[1], "{send:?}");
}

#[test]
fn nothing_is_lowered() {
    let plan = planned("20ms", "100Mbit", NEW);
    // 250 KB: 32 MiB and 4 MiB are sufficient.
    assert_eq!((plan.bdp_bytes, plan.sysctl.as_slice()), (250_000, [].as_slice()));
    let off = Settings {
        tcp_window_scaling: Some(0),
        tcp_moderate_rcvbuf: Some(0),
        ..Settings::defaults(NEW, None)
    };
    let plan = super::plan(path("20ms", "100Mbit"), NEW, &off).unwrap();
    assert_eq!(plan.sysctl, ["net.ipv4.tcp_moderate_rcvbuf = 1", "net.ipv4.tcp_window_scaling = 1"]);
}

#[test]
fn what_is_switched_off_counts() {
    let of = |settings: &Settings| {
        let ceiling = ceiling(&Buffers::of(NEW, settings), Duration::from_millis(100)).unwrap();
        ceiling.receive.unwrap().window_bytes
    };
    let defaults = Settings::defaults(NEW, None);
    // Without autotuning a buffer stays at 128 KiB; without scaling no window is above 64 KiB.
    assert_eq!(of(&Settings { tcp_moderate_rcvbuf: Some(0), ..defaults.clone() }), [65_536, 87_040]);
    assert_eq!(of(&Settings { tcp_window_scaling: Some(0), ..defaults }), [65_535, 65_535]);
}

#[test]
fn a_path_that_no_window_fills() {
    let said = |rtt, rate, scale| {
        let error = plan(path(rtt, rate), OLD, &scaled(scale)).unwrap_err();
        (error.to_string(), error.hint().unwrap())
    };
    let (what, remedy) = said("1s", "10Gbit", 1);
    // 10 Gbit/s x 1 s / 8 = 1.25 GB = 1.16 GiB.
    assert_eq!(what, "10Gbit at 1s take a window of 1.16 GiB, and TCP's largest is 1 GiB (window scale 14)");
    assert_eq!(remedy, "use several connections side by side, each for a part of the rate");
    // 1 GB = 953.7 MiB, in steps of 64 MiB; four times that.
    let (what, _) = said("0.8s", "10Gbit", -2);
    assert!(
        what.contains("of 960 MiB takes a receive buffer of 3.75 GiB (tcp_adv_win_scale = -2: "),
        "{what}"
    );
    let (what, remedy) = said("0ms", "10Gbit", 1);
    assert!(what.contains("a round trip of 0 ms") && remedy.contains("0.2ms"), "{what} {remedy}");
    let (what, _) = said("87600h", "1000Gbit", 1);
    assert!(what.starts_with("1000Gbit at 315360000s take a window of "), "{what}");
}

#[test]
fn the_largest_window_fits() {
    // 65535 x 2^14 bytes at 1 s; half of a buffer just below 2 GiB.
    let plan = planned("1s", "8589803520bit", NEW);
    assert_eq!((plan.bdp_bytes, plan.window_bytes), (LARGEST_WINDOW, LARGEST_WINDOW));
    assert_eq!(plan.rmem_max_bytes, 2_147_450_880);
}

#[test]
fn destinations_are_judged_by_both_ends_of_the_span() {
    let buffers = Buffers::of(NEW, &Settings::defaults(NEW, None));
    let place =
        |name: Option<&str>, rtt| Place { name: name.map(str::to_owned), rtt: Duration::from_millis(rtt) };
    let places = [place(Some("near"), 20), place(None, 110), place(None, 150), place(None, 282)];
    let check = check(&buffers, &places, Some("1Gbit".parse().unwrap())).unwrap();
    let verdicts: Vec<_> = check
        .destinations
        .iter()
        .map(|one| (one.rtt_ms, one.receive.unwrap().verdict.unwrap(), one.send.unwrap().verdict.unwrap()))
        .collect();
    // Receiving, 16 to 21.25 MiB: at 20 ms from 6.7 Gbit/s, at 110 ms from 1.2, at 150 ms 0.9 to 1.19, at 282
    // ms up to 0.63. Sending, 2.5 to 4 MiB: at 20 ms from 1.05 Gbit/s, at 110 ms up to 0.31.
    assert_eq!(
        verdicts,
        [
            (20.0, Verdict::Enough, Verdict::Enough),
            (110.0, Verdict::Enough, Verdict::Capped),
            (150.0, Verdict::Depends, Verdict::Capped),
            (282.0, Verdict::Capped, Verdict::Capped)
        ]
    );
    assert!(check.is_capped());
    let near = super::check(&buffers, &places[..1], Some("1Gbit".parse().unwrap())).unwrap();
    assert!(!near.is_capped());
    let unjudged = super::check(&buffers, &places, None).unwrap();
    assert!(!unjudged.is_capped() && unjudged.destinations[3].send.unwrap().verdict.is_none());
}

#[test]
fn sizes_as_people_think_of_them() {
    let texts =
        [0, 1023, 1024, 131_072, 131_250_000, 128 * MIB, 1 << 30, LARGEST_WINDOW, u64::MAX].map(binary);
    let expected = [
        "0 B",
        "1023 B",
        "1 KiB",
        "128 KiB",
        "125.17 MiB",
        "128 MiB",
        "1 GiB",
        "1023.98 MiB",
        "17179869184 GiB",
    ];
    assert_eq!(texts, expected);
}

proptest! {
    #[test]
    fn what_is_planned_reaches_the_rate(
        microseconds in 100_u64..2_000_000,
        bytes in 1000_u64..LARGEST_WINDOW / 4,
        scale in -1_i64..=4,
        is_new: bool,
    ) {
        let kernel = if is_new { NEW } else { OLD };
        let path = Path {
            rtt: Duration::from_micros(microseconds),
            // The rate at which this many bytes are in flight.
            rate: Bitrate::from_bits_per_second(bytes * 8_000_000 / microseconds).unwrap(),
        };
        let plan = plan(path, kernel, &scaled(scale)).unwrap();
        let settings = Settings {
            tcp_rmem: Some([4096, 131_072, plan.rmem_max_bytes]),
            tcp_wmem: Some([4096, 16_384, plan.wmem_max_bytes]),
            ..scaled(scale)
        };
        let ceiling = ceiling(&Buffers::of(kernel, &settings), path.rtt).unwrap();
        let (receive, send) = (ceiling.receive.unwrap(), ceiling.send.unwrap());
        prop_assert!(receive.mbps[0] >= plan.rate_mbps * (1.0 - 1e-9), "{plan:?} {receive:?}");
        prop_assert!(send.mbps[0] >= plan.rate_mbps * (1.0 - 1e-9), "{plan:?} {send:?}");
        // Rounding up adds less than an eighth, and a buffer less than two bytes.
        let most = plan.bdp_bytes + plan.bdp_bytes / 8 + 2;
        prop_assert!(receive.window_bytes[0] <= most, "{plan:?} {receive:?}");
    }

    #[test]
    fn a_buffer_is_enough_and_no_larger_than_it_must_be(window in 1_u64..=LARGEST_WINDOW, scale in -31_i64..=31) {
        for share in [Share::Scale(scale), Share::of(NEW, scale), Share::of(Version::new(6, 6), scale)] {
            let buffer = share.buffer(window);
            prop_assert!(share.window(buffer).least >= window, "{share:?} {buffer}");
            // A byte of buffer is at most a byte of window, and rounding loses two.
            prop_assert!(share.window(buffer.saturating_sub(3)).least < window, "{share:?} {buffer}");
        }
    }

    #[test]
    fn any_buffer_has_a_ceiling(receive: u64, send: u64, scale: i64, nanos in 1_u64.., is_new: bool) {
        let settings = Settings {
            tcp_rmem: Some([0, 0, receive]),
            tcp_wmem: Some([0, 0, send]),
            ..scaled(scale)
        };
        let kernel = if is_new { NEW } else { OLD };
        let ceiling = ceiling(&Buffers::of(kernel, &settings), Duration::from_nanos(nanos)).unwrap();
        for limit in [ceiling.receive.unwrap(), ceiling.send.unwrap()] {
            prop_assert!(limit.window_bytes[0] <= limit.window_bytes[1]);
            prop_assert!(limit.window_bytes[1] <= LARGEST_WINDOW && limit.mbps[1].is_finite());
        }
    }
}
