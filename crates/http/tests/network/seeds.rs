//! What the fuzz targets `response`, `request` and `request_fields` ask of any bytes, asked of their seeds: whole, cut off anywhere, and with one byte
//! changed.

use std::{fs, path::Path};

use self::{
    request::requests_are_the_same_in_any_pieces, request_fields::accepted_sections_are_requests_in_lines,
    response::a_response_ends,
};

#[path = "../../../../fuzz/src/request.rs"]
mod request;
#[path = "../../../../fuzz/src/request_fields.rs"]
mod request_fields;
#[path = "../../../../fuzz/src/response.rs"]
mod response;

#[test]
fn each_response_ends_in_any_pieces() {
    assert!(asked("response", a_response_ends) >= 8);
}

#[test]
fn each_request_is_the_same_in_any_pieces() {
    assert!(asked("request", requests_are_the_same_in_any_pieces) >= 5);
}

#[test]
fn each_accepted_section_is_a_request_in_lines() {
    assert!(asked("request_fields", accepted_sections_are_requests_in_lines) >= 8);
}

/// Asks it of all seeds, and returns how many there are.
fn asked(target: &str, ask: fn(&[u8])) -> usize {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let seeds = fs::read_dir(seeds).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap());
    let ask_all = |seed: Vec<u8>| {
        (1..=seed.len()).for_each(|end| ask(&seed[..end]));
        for place in 0..seed.len() {
            let mut changed = seed.clone();
            changed[place] ^= 1 << (place % 8);
            ask(&changed);
        }
    };
    seeds.map(ask_all).count()
}
