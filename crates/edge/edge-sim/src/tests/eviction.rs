//! Compares the hits of eviction policies with another simulator, libcachesim 0.3.5 of PyPI, over
//! the same requests.
//!
//! `zipf.csv` has 5000 requests for 600 objects of 100 to 4099 bytes, by Zipf's law with exponent
//! 0.9 (Python's `random.choices`, seed 7). The expected counts are from `libcachesim.FIFO(bytes)`,
//! `LRU(bytes)` and `S3FIFO(bytes, move_to_main_threshold=1)`, with `cache.get(request)` for each
//! request.

use super::*;

const TRACE: &str = include_str!("zipf.csv");

/// Store size in bytes; hits of FIFO, LRU and S3-FIFO.
const THEIRS: [(u64, [u64; 3]); 3] =
    [(60_000, [1331, 1541, 1997]), (150_000, [2130, 2358, 2767]), (400_000, [3175, 3409, 3543])];

fn hits(policy: Policy, bytes: u64) -> u64 {
    let plan = plan(NETWORK, "frankfurt").with_policy(policy).with_stores(bytes);
    // One data centre serves all visitors.
    let trace = Trace::csv(TRACE.as_bytes(), "zipf.csv".as_ref(), u64::MAX, 1).unwrap();
    let result = simulate(&plan, &mut trace.from_city("london").unwrap());
    let lower = side(&result, "none").tier("lower").unwrap();
    assert_eq!(lower.asked, 5000);
    lower.hits
}

#[test]
fn all_are_the_same_to_the_request() {
    for (bytes, theirs) in THEIRS {
        assert_eq!(Policy::ALL.map(|policy| hits(policy, bytes)), theirs, "{bytes}");
    }
}
