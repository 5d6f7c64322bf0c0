//! Readers in virtual time; the network is a function from time to received bytes.

use super::*;

fn programme(phases: &[(&str, u64)]) -> Programme {
    let phases: String = phases
        .iter()
        .map(|(rate, ms)| format!("[[phase]]\nname = \"{rate}\"\nrate = \"{rate}\"\nduration = \"{ms}ms\"\n"))
        .collect();
    Programme::parse("p.toml", &phases).unwrap()
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn read(pace: Pace, come: impl Fn(Duration) -> u64) -> Account {
    read_until(pace, come, Duration::MAX)
}

fn read_until(mut pace: Pace, come: impl Fn(Duration) -> u64, end: Duration) -> Account {
    let (mut now, mut read) = (Duration::ZERO, 0);
    while let Some(allow) = pace.next(now) {
        if now >= end {
            break;
        }
        assert!(allow.until > now, "time goes on: {allow:?} at {now:?}");
        let bytes = allow.bytes.min(come(now) - read);
        if allow.bytes == 0 {
            now = allow.until;
        } else if bytes == 0 {
            now += ms(1);
        } else {
            read += bytes;
            pace.add(now, bytes);
        }
    }
    pace.finish(now)
}

fn steady(now: Duration) -> u64 {
    u64::try_from(now.as_millis()).unwrap() * 100
}

fn bytes(account: &Account) -> Vec<u64> {
    account.seconds.iter().map(|second| second.bytes).collect()
}

#[test]
fn the_published_reader_takes_a_share_of_its_best_second() {
    let account = read(Pace::new(&programme(&[("unlimited", 2000), ("5% of best", 3000)]), None), steady);
    // 1000 polls of 100 bytes; the first has no data. The slow seconds read 5 % of the best.
    assert_eq!(bytes(&account), [99_900, 100_000, 5000, 5000, 5000]);
    assert_eq!(account.runs.iter().map(|run| run.bytes).collect::<Vec<_>>(), [199_900, 15_000]);
    assert_eq!(account.runs[1].at, ms(2000));
    assert!(account.seconds.iter().all(|second| second.length == ms(1000)));
}

#[test]
fn what_lies_in_the_queue_after_a_slow_phase_is_read_at_once_and_becomes_the_best() {
    let phases = [("unlimited", 1000), ("5% of best", 1000), ("unlimited", 1000), ("5% of best", 1000)];
    let account = read(Pace::new(&programme(&phases), None), steady);
    // 99 900 and 5 % of it; then all bytes received so far; then 5 % of that.
    assert_eq!(bytes(&account), [99_900, 4995, 299_900 - 99_900 - 4995, 9750]);
}

#[test]
fn a_length_repeats_a_programme_and_cuts_it() {
    let programme = programme(&[("unlimited", 600), ("stop", 400)]);
    let account = read(Pace::new(&programme, Some(ms(2300))), steady);
    let runs: Vec<_> = account.runs.iter().map(|run| (run.phase, run.at, run.length)).collect();
    let expected = [(0, 0, 600), (1, 600, 400), (0, 1000, 600), (1, 1600, 400), (0, 2000, 300)];
    assert_eq!(runs, expected.map(|(phase, at, length)| (phase, ms(at), ms(length))));
    let cut = read(Pace::new(&programme, Some(ms(200))), steady);
    assert_eq!((cut.seconds.len(), cut.seconds[0].length, cut.seconds[0].bytes), (1, ms(200), 19_900));
    assert_eq!(read(Pace::new(&programme, Some(Duration::ZERO)), steady), Account::default());
}

#[test]
fn a_limited_rate_is_met_to_the_byte_in_steps() {
    // 8008 bit/s are 10.01 bytes per 10 ms: a step allows 10 or 11.
    let mut pace = Pace::new(&programme(&[("8008bit", 2500)]), None);
    let (mut now, mut steps) = (Duration::ZERO, Vec::new());
    while let Some(allow) = pace.next(now) {
        steps.push(allow.bytes);
        pace.add(now, allow.bytes);
        assert_eq!(pace.next(now), Some(Allow { bytes: 0, until: allow.until }));
        now = allow.until;
    }
    assert_eq!(steps.len(), 250);
    assert!(steps.iter().all(|bytes| [10, 11].contains(bytes)), "{steps:?}");
    assert_eq!(bytes(&pace.finish(now)), [1001, 1001, 500]);
}

#[test]
fn what_a_step_could_not_read_is_not_made_up_for() {
    let mut pace = Pace::new(&programme(&[("8Kbit", 1000)]), None);
    assert_eq!(pace.next(ms(0)), Some(Allow { bytes: 10, until: ms(10) }));
    assert_eq!(pace.next(ms(255)), Some(Allow { bytes: 10, until: ms(260) }));
}

#[test]
fn a_pause_is_the_longest_time_without_a_byte_that_the_reader_wanted() {
    // Nothing for 150 ms, then a byte at 150, 180 and 400 ms, then nothing.
    let come = |now| [150, 180, 400].into_iter().filter(|at| now >= ms(*at)).count() as u64;
    let programme = programme(&[("unlimited", 500), ("stop", 300), ("unlimited", 200)]);
    let account = read(Pace::new(&programme, None), come);
    let pauses: Vec<_> = account.runs.iter().map(|run| run.longest_pause).collect();
    // The time before the first byte is not a pause; 180 to 400 is one; the stopped phase has no
    // pause; then no data arrives.
    assert_eq!((account.first_byte, pauses), (Some(ms(150)), vec![ms(220), ms(0), ms(200)]));
}

#[test]
fn a_peer_that_never_sends_is_one_long_pause() {
    let account = read(Pace::new(&programme(&[("unlimited", 1500)]), None), |_| 0);
    assert_eq!((account.first_byte, account.runs[0].longest_pause), (None, ms(1500)));
    assert_eq!(bytes(&account), [0, 0]);
}

#[test]
fn a_share_of_nothing_is_nothing() {
    let account = read(Pace::new(&programme(&[("unlimited", 1000), ("50% of best", 1000)]), None), |now| {
        if now < ms(1000) { 0 } else { 7 }
    });
    assert_eq!(bytes(&account), [0, 0]);
}

#[test]
fn a_late_reader_misses_what_it_slept_through() {
    let mut pace = Pace::new(&programme(&[("unlimited", 1000), ("stop", 1000), ("unlimited", 1500)]), None);
    assert_eq!(pace.next(ms(0)), Some(Allow { bytes: u64::MAX, until: ms(1000) }));
    assert_eq!(pace.next(ms(2100)), Some(Allow { bytes: u64::MAX, until: ms(3000) }));
    pace.add(ms(3600), 9);
    assert_eq!((pace.next(ms(3600)), pace.phase()), (None, None));
    let account = pace.finish(ms(3600));
    assert_eq!(bytes(&account), [0, 0, 9, 0]);
    assert_eq!((account.seconds[3].length, account.runs[2].bytes), (ms(500), 9));
}

#[test]
fn what_is_broken_off_has_an_account() {
    let programme = programme(&[("unlimited", 1000), ("stop", 1000)]);
    let account = read_until(Pace::new(&programme, None), steady, ms(300));
    assert_eq!((account.seconds.len(), account.seconds[0].length), (1, ms(300)));
    assert_eq!((account.runs.len(), account.runs[0].length), (1, ms(300)));
}
