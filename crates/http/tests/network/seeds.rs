//! What the fuzz target `response` asks of any bytes, asked of its seeds: whole, cut off anywhere, and with one byte changed.

use std::{fs, path::Path};

use self::response::a_response_ends;

#[path = "../../../../fuzz/src/response.rs"]
mod response;

#[test]
fn each_seed_ends_in_any_pieces() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/response");
    let mut seeds = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let seed = fs::read(entry.unwrap().path()).unwrap();
        seeds += 1;
        for end in 1..=seed.len() {
            a_response_ends(&seed[..end]);
        }
        for place in 0..seed.len() {
            let mut changed = seed.clone();
            changed[place] ^= 1 << (place % 8);
            a_response_ends(&changed);
        }
    }
    assert!(seeds >= 8, "{seeds}");
}
