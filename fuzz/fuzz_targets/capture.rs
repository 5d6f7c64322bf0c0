//! Packet captures: the parser accepts complete blocks, with the same result for any split of the input.
//!
//! `cargo +nightly fuzz run capture corpus/capture seeds/capture`

#![no_main]

use libfuzzer_sys::fuzz_target;
use planet::capture::Blocks;

fuzz_target!(|bytes: &[u8]| {
    let whole = read(bytes, bytes.len());
    assert!(bytes.starts_with(&whole.kept));
    assert!(whole.packets <= whole.kept.len() as u64 / 12, "no block is shorter");
    for size in [1, 5, 64] {
        assert_eq!(read(bytes, size), whole, "pieces of {size}");
    }
});

#[derive(Debug, PartialEq)]
struct Read {
    kept: Vec<u8>,
    packets: u64,
    missed: u64,
    is_refused: bool,
}

fn read(bytes: &[u8], size: usize) -> Read {
    let (mut blocks, mut kept, mut is_refused) = (Blocks::default(), Vec::new(), false);
    for piece in bytes.chunks(size.max(1)) {
        is_refused = blocks.add(piece).is_err();
        kept.extend_from_slice(blocks.complete());
        if is_refused {
            break;
        }
    }
    Read { kept, packets: blocks.packets(), missed: blocks.missed(), is_refused }
}
