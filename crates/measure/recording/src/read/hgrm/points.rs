//! Converts points of a distribution to buckets.
//!
//! A point is a percentile with its value, and the number of events that are at most that value.
//! The events between two points count at the middle, except the smallest of them, which counts at
//! the lower point: so each listed percentile is reproduced exactly.

use crate::{Bucket, Counts};

#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    pub(super) value_ms: f64,
    /// 0..=1.
    pub(super) share: f64,
    pub(super) total: u64,
}

/// The points ascend. Also returns the maximum relative error of a value.
pub(super) fn buckets(points: &[Point]) -> (Vec<Bucket>, f64) {
    let mut buckets = Vec::<Bucket>::new();
    let (mut below_ms, mut before, mut widest) = (0.0, 0, 0.0_f64);
    let events = points.last().map_or(0, |point| point.total);
    for point in points {
        let count = point.total - before;
        let is_first = before == 0;
        let known = if point.value_ms == below_ms && !is_first {
            count
        } else {
            point.total.saturating_sub(rank(point.share, events).saturating_sub(1)).clamp(1, count.max(1))
        };
        let between = count.saturating_sub(known);
        if between > 0 && is_first {
            // The points below were removed: these events may have any smaller value.
            widest = Counts::LARGEST_ERROR;
            push(&mut buckets, Bucket { low_ms: 0.0, ..Bucket::exact(point.value_ms, between) });
        } else if between > 0 {
            let middle = Bucket::between(below_ms, point.value_ms, between - 1);
            widest = widest.max((point.value_ms - below_ms) / below_ms);
            push(&mut buckets, Bucket { value_ms: below_ms, count: 1, ..middle });
            push(&mut buckets, middle);
        }
        push(&mut buckets, Bucket::exact(point.value_ms, count - between));
        (below_ms, before) = (point.value_ms, point.total);
    }
    (buckets, widest.min(Counts::LARGEST_ERROR))
}

fn push(buckets: &mut Vec<Bucket>, bucket: Bucket) {
    match buckets.last_mut() {
        _ if bucket.count == 0 => {}
        Some(last) if last.value_ms == bucket.value_ms => last.absorb(bucket),
        _ => buckets.push(bucket),
    }
}

/// The rank, from 1, of the event that a percentile is.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to the number of events")]
fn rank(share: f64, events: u64) -> u64 {
    let rank = share * events as f64;
    // A share in a file is rounded.
    (rank - ROUNDING * rank.max(1.0)).ceil().max(1.0) as u64
}

const ROUNDING: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_between_two_points_are_within_them() {
        let point = |value_ms, share, total| Point { value_ms, share, total };
        // Of 100 events the 50th to the 60th are 2 ms.
        let (buckets, widest) = buckets(&[point(1.0, 0.0, 1), point(2.0, 0.5, 60), point(4.0, 1.0, 100)]);
        let bucket = |value_ms, low_ms, high_ms, count| Bucket { value_ms, low_ms, high_ms, count };
        assert_eq!(
            buckets,
            [
                bucket(1.0, 1.0, 2.0, 2),
                bucket(1.5, 1.0, 2.0, 47),
                bucket(2.0, 2.0, 4.0, 12),
                bucket(3.0, 2.0, 4.0, 38),
                bucket(4.0, 4.0, 4.0, 1)
            ]
        );
        assert_eq!(widest, Counts::LARGEST_ERROR);
    }

    #[test]
    fn without_the_smallest_nothing_bounds_what_is_below() {
        let (buckets, widest) = buckets(&[Point { value_ms: 2.0, share: 0.5, total: 50 }]);
        assert_eq!(buckets, [Bucket { value_ms: 2.0, low_ms: 0.0, high_ms: 2.0, count: 50 }]);
        assert_eq!(widest, Counts::LARGEST_ERROR);
    }
}
