//! Randomised reads and writes while links fail and time passes.

use super::*;

struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }
}

/// Values are increasing numbers.
#[derive(Default)]
struct History {
    written: Vec<(usize, u64)>,
    tried: usize,
}

impl History {
    /// The oldest value that a read with a maximum age of one minute may return.
    fn oldest(&self, now: u64) -> usize {
        let known = self.written.iter().rev().find(|(_, at)| at + 60 <= now);
        known.map_or(0, |(value, _)| *value)
    }
}

#[tokio::test]
async fn no_read_is_older_than_a_minute_and_none_goes_back() {
    for seed in 1..=12_u64 {
        let world = World::of(seed % 2 == 0).await;
        let (mut chance, mut now) = (Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)), 0);
        let mut histories: Vec<_> = (0..3).map(|_| History::default()).collect();
        let mut seen = vec![[0; NAMES.len()]; histories.len()];
        for step in 0..250 {
            let (centre, number) = (chance.below(NAMES.len()), chance.below(histories.len()));
            let (key, history) = (format!("k{number}"), &mut histories[number]);
            match chance.below(20) {
                0 => {
                    let other = chance.below(NAMES.len());
                    world.cut(centre, other);
                }
                1 => world.heal(),
                2..=4 => {
                    let seconds = chance.below(40) as u64;
                    world.pass(seconds);
                    now += seconds;
                }
                5..=7 => {
                    history.tried += 1;
                    let value = history.tried;
                    let put = world.ask(centre, Method::PUT, &format!("/{key}"), value.to_string()).await;
                    if put.status == 200 {
                        history.written.push((value, now));
                    } else {
                        assert_eq!(put.status, 503);
                    }
                }
                _ => {
                    let got = world.get(centre, &key).await;
                    if got.status == 503 {
                        continue;
                    }
                    let value = if got.status == 404 { 0 } else { got.text().parse().unwrap() };
                    let (oldest, before) = (history.oldest(now), seen[number][centre]);
                    let context = format!("seed {seed}, step {step}, {key} in {centre} at {now}: {value}");
                    // Links are cut before a request is sent, so a write without acknowledgement
                    // was not applied.
                    assert!(value >= oldest && value <= history.tried, "{context}, at least {oldest}");
                    assert!(got.age() <= 60, "{context}, age {}", got.age());
                    assert!(value >= before, "{context}, {before} before");
                    seen[number][centre] = value;
                }
            }
        }
        assert!(histories.iter().all(|history| history.written.len() > 3), "seed {seed}");
    }
}
