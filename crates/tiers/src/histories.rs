//! How many random histories the properties are held against: a few with all other tests, and as many as proptest is told where somebody has
//! time, such as `PROPTEST_CASES=100000 cargo test -p tiers`.

use proptest::prelude::ProptestConfig;

/// So many, unless proptest is told another number.
pub(crate) fn or(few: u32) -> ProptestConfig {
    let told = ProptestConfig::default();
    let cases = if told.cases == UNTOLD { few } else { told.cases };
    ProptestConfig { cases, ..told }
}

/// What proptest takes if it is told nothing.
const UNTOLD: u32 = 256;
