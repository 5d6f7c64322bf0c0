//! Hits beside those of another simulator, libcachesim 0.3.5 of PyPI, over the same requests.
//!
//! `zipf.csv` has 5000 requests for 600 objects of 100 to 4099 bytes, by Zipf's law with exponent 0.9 (Python's `random.choices`, seed 7).
//! The counts are those of `libcachesim.FIFO(bytes)`, `LRU(bytes)` and `S3FIFO(bytes)`, each asked with
//! `cache.get(request)` for one request after the other.

use super::*;

const TRACE: &str = include_str!("zipf.csv");

/// Bytes of the store; hits of FIFO, LRU and S3-FIFO.
const THEIRS: [(u64, [u64; 3]); 3] =
    [(60_000, [1331, 1541, 1999]), (150_000, [2130, 2358, 2769]), (400_000, [3175, 3409, 3542])];

fn hits(policy: Policy, bytes: u64) -> u64 {
    let plan = plan(NETWORK, "frankfurt").with_policy(policy).with_stores(bytes);
    // One data centre has all visitors.
    let trace = Trace::csv(TRACE.as_bytes(), "zipf.csv".as_ref(), u64::MAX, 1).unwrap();
    let result = simulate(&plan, &mut trace.from_city("london").unwrap());
    let lower = side(&result, "none").tier("lower").unwrap();
    assert_eq!(lower.asked, 5000);
    lower.hits
}

#[test]
fn the_published_policies_are_the_same_to_the_request() {
    for (bytes, theirs) in THEIRS {
        assert_eq!(
            [Policy::Fifo, Policy::Lru, Policy::S3Fifo].map(|policy| hits(policy, bytes)),
            theirs,
            "{bytes}"
        );
    }
}

#[test]
fn what_data_centres_do_is_near_s3_fifo() {
    // It moves an object to the main queue after one hit, not two, and remembers as many names as its main queue has objects. That is worth
    // less than half a percent of requests: 25 of 5000.
    for (bytes, [_, lru, s3_fifo]) in THEIRS {
        let edge = hits(Policy::Edge, bytes);
        assert!(edge.abs_diff(s3_fifo) < 25, "{bytes}: {edge} and {s3_fifo}");
        assert!(edge > lru);
    }
}
