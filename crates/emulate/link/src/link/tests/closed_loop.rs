//! A sender with congestion control: the throughput of TCP under a link's losses.

use super::*;

/// Mathis, Semke, Mahdavi, Ott 1997: a Reno sender with an acknowledgement per segment (b = 1) reaches `MSS
/// / RTT * C / sqrt(p)`. C is sqrt(3/2) = 1.22 for periodic losses, and 1.31 for independent losses (Ott,
/// Kemperman, Mathis 1996). 100 ms, p = 0.001 and 1460 bytes: 4.5 to 4.8 Mbit/s.
///
/// If a super-packet were lost as a whole, or drew only once, it would lose 40 times less often and be
/// sqrt(40) times as fast.
#[test]
fn reno_reaches_what_mathis_says() {
    let config = Config {
        propagation: Duration::from_millis(50),
        loss: Loss::Bernoulli(chance(1e-3)),
        ..Config::default()
    };
    let (mut forth, mut back) =
        (Link::new(config.clone(), 7), Link::new(Config { loss: Loss::default(), ..config }, 8));
    let (mut now, mut window, mut delivered) = (Duration::ZERO, 40_u32, 0);
    for _ in 0..100_000 {
        let told = verdicts(&mut forth, now, Packet::segmented(40, window * 1460, 1460));
        let runs = told.iter().filter_map(|verdict| match verdict {
            Verdict::Deliver { segments, .. } => Some(segments.len()),
            Verdict::Drop { .. } => None,
        });
        let arrived: usize = runs.sum();
        delivered += arrived;
        window = if arrived < window as usize { (window / 2).max(1) } else { window + 1 };
        let heard = dues(&told).last().copied().unwrap_or(now + Duration::from_millis(50));
        now = dues(&verdicts(&mut back, heard, Packet::single(40)))[0];
    }
    assert_eq!(now, Duration::from_millis(100) * 100_000);
    let megabits = delivered as f64 * 1460.0 * 8.0 / now.as_secs_f64() / 1e6;
    // About 4000 losses, windows with a deviation of a half: 1 %; three of them.
    let unit = 1460.0 * 8.0 / 0.1 / 1e6 / f64::sqrt(1e-3);
    assert!((1.22 * 0.97 * unit..=1.31 * 1.03 * unit).contains(&megabits), "{megabits} Mbit/s");
}
