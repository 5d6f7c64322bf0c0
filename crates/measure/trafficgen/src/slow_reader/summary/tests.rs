//! Figures of synthetic connections.

use super::*;
use crate::slow_reader::{pace::Run, pattern::Phase, tests::sample};

fn programme(lengths: [u64; 3]) -> Programme {
    let phases = [("fast", "unlimited"), ("slow", "5% of best"), ("fast", "unlimited")];
    let phase = |((name, rate), length): ((&str, &str), u64)| Phase {
        name: name.to_owned(),
        rate: rate.parse().unwrap(),
        duration: Duration::from_secs(length),
    };
    let phases = std::iter::zip(phases, lengths).map(phase).collect();
    Programme { name: "test".to_owned(), repeat: 1, phases }
}

fn account(programme: &Programme, bytes: &[u64]) -> Account {
    let mut account = Account { first_byte: Some(Duration::from_millis(30)), ..Account::default() };
    let (mut at, mut bytes) = (Duration::ZERO, bytes.iter());
    for (phase, described) in programme.phases.iter().enumerate() {
        let mut run = Run {
            phase,
            at,
            length: described.duration,
            bytes: 0,
            longest_pause: Duration::from_millis(phase as u64),
        };
        for _ in 0..described.duration.as_secs() {
            let length = Duration::from_secs(1);
            let second = pace::Second { at, length, bytes: *bytes.next().unwrap(), phase };
            (run.bytes, at) = (run.bytes + second.bytes, at + length);
            account.seconds.push(second);
        }
        account.runs.push(run);
    }
    account
}

fn samples(per_second: &[u64]) -> Vec<Sample> {
    let looks = (0..=per_second.len() * 10).map(|look| {
        let before: u64 = per_second[..look / 10].iter().sum();
        let within = per_second.get(look / 10).map_or(0, |bytes| bytes * (look as u64 % 10) / 10);
        sample(look as f64 * 100.0, before + within, 0)
    });
    looks.collect()
}

#[test]
fn ranges_and_means_by_kind_of_phase() {
    let programme = programme([3, 2, 2]);
    let account =
        account(&programme, &[1_000_000, 5_000_000, 4_000_000, 250_000, 150_000, 9_000_000, 5_000_000]);
    let received = [1_000_000, 5_000_000, 5_000_000, 2_000_000, 0, 4_000_000, 5_000_000];
    let Figures { seconds, summary, phases } = Figures::of(
        &programme,
        &account,
        &samples(&received),
        &Counters::from([("RetransSegs".to_owned(), 7)]),
    );
    assert_eq!((summary.fast_mbps, summary.network_mbps), (Some([8.0, 72.0]), Some([8.0, 40.0])));
    assert_eq!(summary.slow_mbps, Some(1.6), "400 000 bytes in two seconds");
    assert_eq!((summary.bytes, summary.duration_s, summary.retransmits), (24_400_000, 7.0, Some(7)));
    assert_eq!((summary.first_byte_ms, summary.max_pause_ms), (Some(30.0), 2.0));
    assert_eq!(seconds.iter().map(|second| second.received_bytes.unwrap()).collect::<Vec<_>>(), received);
    assert_eq!(phases.iter().map(|phase| phase.bytes).collect::<Vec<_>>(), [10_000_000, 400_000, 14_000_000]);
}

#[test]
fn a_restart_ends_where_the_first_second_at_nine_tenths_of_the_best_begins() {
    let programme = programme([3, 2, 5]);
    let account = account(&programme, &[1000; 10]);
    // Nothing for two seconds after the slow phase, then the previous rate. The second that starts 1.9 s
    // after the phase is empty in its first tenth: 900 bytes, nine tenths of the best.
    let looks = samples(&[500, 1000, 1000, 50, 50, 0, 0, 1000, 1000, 1000]);
    let Figures { summary, phases, .. } = Figures::of(&programme, &account, &looks, &Counters::new());
    let restart = summary.restart_s.unwrap();
    assert!((restart - 1.9).abs() < 1e-9, "{restart}");
    assert_eq!((summary.restart_max_s, summary.restarts, summary.restarts_missed), (Some(restart), 1, 0));
    assert_eq!((phases[0].restart_s, phases[1].restart_s, phases[2].restart_s), (None, None, Some(restart)));
}

#[test]
fn a_network_that_is_as_fast_at_once_has_restarted_after_nothing() {
    let programme = programme([1, 1, 1]);
    let account = account(&programme, &[1000; 3]);
    let Figures { summary, .. } =
        Figures::of(&programme, &account, &samples(&[1000, 50, 1000]), &Counters::new());
    assert_eq!((summary.restart_s, summary.restarts), (Some(0.0), 1));
}

#[test]
fn one_that_does_not_get_there_is_counted_and_has_no_time() {
    let programme = programme([3, 2, 2]);
    let account = account(&programme, &[1000; 7]);
    let looks = samples(&[1000, 1000, 1000, 0, 0, 400, 800]);
    let Figures { summary, .. } = Figures::of(&programme, &account, &looks, &Counters::new());
    assert_eq!((summary.restart_s, summary.restarts, summary.restarts_missed), (None, 0, 1));
}

#[test]
fn memory_for_each_byte_is_the_median_of_the_long_queues() {
    let looks: Vec<_> = [(65_536, 131_072), (100_000, 400_000), (65_535, 6_553_500), (80_000, 240_000)]
        .into_iter()
        .map(|(queue, rmem_alloc)| Sample {
            skmem: Some(tcp::diag::Memory { rmem_alloc, drops: Some(3), ..Default::default() }),
            ..sample(0.0, 0, queue)
        })
        .collect();
    assert_eq!(metadata_ratio(&looks), Some(3.0));
    assert_eq!(metadata_ratio(&[]), None);
    let summary = summary(&Account::default(), &[], &looks);
    assert_eq!((summary.queue_bytes, summary.drops, summary.rcvbuf_bytes), (Some(100_000), Some(3), Some(0)));
}

#[test]
fn what_was_never_seen_is_absent() {
    let summary = Figures::of(&programme([1, 1, 1]), &Account::default(), &[], &Counters::new()).summary;
    assert_eq!(summary, Summary::default());
}

#[test]
fn a_repair_at_a_second_s_end_moves_no_bytes_to_the_next() {
    let programme = programme([2, 1, 1]);
    let account = account(&programme, &[500, 1500, 0, 1000]);
    // Lost at 0.5 s, repaired at 1.2 s.
    let looks: Vec<_> = (0..=40_u32)
        .map(|look| {
            let in_order = if (5..12).contains(&look) { 5 } else { look };
            let mut sample = sample(f64::from(look) * 100.0, u64::from(in_order) * 100, 0);
            if let Some(info) = &mut sample.tcp_info {
                info.data_segs_in = look;
            }
            sample
        })
        .collect();
    let Figures { seconds, summary, .. } = Figures::of(&programme, &account, &looks, &Counters::new());
    let received: Vec<_> = seconds.iter().filter_map(|second| second.received_bytes).collect();
    assert_eq!(received[..2], [500, 1500], "in order");
    assert_eq!(seconds[..2].iter().filter_map(|second| second.arrived_bytes).collect::<Vec<_>>(), [1000; 2]);
    assert_eq!(summary.network_mbps, Some([0.008, 0.008]));
}
