//! Six algorithms that remove internal fields from a header map, measured in one process in turn.
//!
//! All remove the fields that they find in the same way, except the first, which only removes.

mod arms;
mod maps;

use std::{hint::black_box, time::Instant};

use http_types::HeaderMap;

use self::arms::arms;
use super::row;

pub(crate) fn bench() -> anyhow::Result<()> {
    let maps = maps::random(MAPS);
    let mut arms = arms();
    for (name, clear) in &mut arms {
        maps::prove(&maps, clear).map_err(|error| error.context(*name))?;
    }
    let mut times = vec![Vec::new(); arms.len()];
    for round in 0..ROUNDS {
        let mut order: Vec<_> = (0..arms.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for arm in order {
            times[arm].push(ns_a_map(&maps, &arms[arm].1));
        }
    }
    let of_sets = times[SETS].clone();
    for ((name, _), times) in arms.iter().zip(times) {
        let ratios = times.iter().zip(&of_sets).map(|(own, set)| own / set).collect();
        row(name, "-", "ns a request", times);
        let goal = if *name == arms::OURS { "<= 0.35" } else { "-" };
        row("that / the set", goal, "x", ratios);
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn ns_a_map(maps: &[HeaderMap], clear: &arms::Clear) -> f64 {
    let mut seconds = 0.0;
    for _ in 0..PASSES {
        let mut copies = maps.to_vec();
        let start = Instant::now();
        for headers in &mut copies {
            clear(headers);
        }
        seconds += start.elapsed().as_secs_f64();
        black_box(copies);
    }
    seconds * 1e9 / (PASSES * maps.len()) as f64
}

const MAPS: usize = 256;

const PASSES: usize = 20;

const ROUNDS: usize = 51;

const SETS: usize = 1;
