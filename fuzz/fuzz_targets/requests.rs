//! Request tables: parsed requests are in time order, and errors have a line number.
//!
//! `cargo +nightly fuzz run requests corpus/requests seeds/requests`

#![no_main]

use libfuzzer_sys::fuzz_target;
use edge_sim::{Error, Source, Trace};

fuzz_target!(|bytes: &[u8]| {
    let lines = bytes.split(|&byte| byte == b'\n').count() as u64;
    let said = |error| match error {
        Error::Line { line, .. } => assert!(line >= 1 && line <= lines),
        Error::Empty { .. } => {}
        other => panic!("{other}"),
    };
    let mut trace = match Trace::csv(bytes, "fuzz.csv".as_ref(), u64::MAX, 1) {
        Ok(trace) => trace,
        Err(error) => return said(error),
    };
    let mut before = 0;
    loop {
        match trace.next_block() {
            Ok(None) => break,
            Ok(Some(block)) => {
                for request in block {
                    assert!(request.at_ns >= before);
                    before = request.at_ns;
                }
            }
            Err(error) => return said(error),
        }
    }
});
