//! The number of random histories per property test: a few by default, or the number in `PROPTEST_CASES`,
//! such as `PROPTEST_CASES=100000 cargo test -p tier-routing`.

use proptest::prelude::ProptestConfig;

pub(crate) fn or(few: u32) -> ProptestConfig {
    let told = ProptestConfig::default();
    let cases = if told.cases == UNTOLD { few } else { told.cases };
    ProptestConfig { cases, ..told }
}

/// The default of proptest.
const UNTOLD: u32 = 256;
