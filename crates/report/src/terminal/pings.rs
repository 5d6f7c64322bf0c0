//! Pings: how many were answered, and how far their round trips lie from the world's.

use std::fmt::Write;

use scenario::Pinged;

use super::table::{RED, paint};
use crate::text::{count, label, milliseconds, plain, plural};

/// Two lines a side, and one more if somebody never answered.
pub(super) fn pings(sides: &[Pinged]) -> String {
    sides.iter().map(side).collect()
}

fn side(pinged: &Pinged) -> String {
    let answered = format!("{} of {} pings answered", count(pinged.received), count(pinged.sent));
    let mut text = format!(
        "{}: {}, {} from {}\n",
        label(&pinged.side, LABEL),
        if pinged.received < pinged.sent { paint(&answered, RED) } else { answered },
        plural(pinged.pairs, "pair"),
        plural(pinged.hosts, "host"),
    );
    if let Some(error) = &pinged.error_ms {
        let p99 = error.p99.map_or_else(String::new, |p99| format!(", {} at p99", milliseconds(p99)));
        let (median, max) = (milliseconds(error.p50), milliseconds(error.max));
        let _ = writeln!(
            text,
            "  round trips differ from the world's by {median} at the median{p99}, {max} at most"
        );
    }
    if !pinged.silent.is_empty() {
        let pairs: Vec<_> = pinged
            .silent
            .iter()
            .map(|pair| format!("{} to {}", plain(&pair.from), plain(&pair.to)))
            .collect();
        let _ = writeln!(text, "  no answer at all: {}", pairs.join(", "));
    }
    text
}

const LABEL: usize = 24;
