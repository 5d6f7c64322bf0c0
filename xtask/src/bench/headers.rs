//! Six ways to take a network's own fields out of a header, in the same process and in turns.
//!
//! All remove what they have found in the same way, apart from the first, which does nothing but remove.

mod arms;
mod maps;

use std::{hint::black_box, time::Instant};

use http_types::HeaderMap;

use self::arms::arms;
use super::row;

/// Prints the rows. This process must be an optimised one.
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

/// One round of an arm. What is cleared is a copy, and copying takes no part.
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

/// So many that a round takes milliseconds.
const PASSES: usize = 20;

const ROUNDS: usize = 51;

/// Which arm others are compared with.
const SETS: usize = 1;
