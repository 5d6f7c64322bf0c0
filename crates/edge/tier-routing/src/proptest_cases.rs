//! The number of random histories per property test, from `PROPTEST_CASES` or proptest's default.

use proptest::prelude::ProptestConfig;

pub(crate) fn or(few: u32) -> ProptestConfig {
    let told = ProptestConfig::default();
    let cases = if told.cases == UNTOLD { few } else { told.cases };
    ProptestConfig { cases, ..told }
}

const UNTOLD: u32 = 256;
