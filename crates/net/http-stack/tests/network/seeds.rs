//! Runs the checks of the fuzz targets `response`, `request` and `request_fields` on their seeds:
//! complete, truncated at each position, and with one byte changed.

use std::{fs, path::Path};

use proptest::prelude::*;

use self::{
    request::requests_are_the_same_in_any_pieces, request_fields::accepted_sections_are_requests_in_lines,
    response::a_response_ends,
};

#[path = "../../../../../fuzz/src/request.rs"]
mod request;
#[path = "../../../../../fuzz/src/request_fields.rs"]
mod request_fields;
#[path = "../../../../../fuzz/src/response.rs"]
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

fn asked(target: &str, ask: fn(&[u8])) -> usize {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/seeds").join(target);
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

/// Encodes fields as literals (RFC 9204 section 4.5.6).
fn section(fields: &[(String, String)]) -> Vec<u8> {
    let length = |text: &str| u8::try_from(text.len()).unwrap();
    let line = |(name, value): &(String, String)| {
        let of_name = match length(name) {
            short @ 0..7 => vec![0x20 | short],
            long => vec![0x27, long - 7],
        };
        [of_name, name.clone().into_bytes(), vec![length(value)], value.clone().into_bytes()].concat()
    };
    [vec![0, 0], fields.iter().flat_map(line).collect()].concat()
}

fn method() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("GET".to_owned()),
        Just("CONNECT".to_owned()),
        Just("OPTIONS".to_owned()),
        "[A-Za-z!#~:/ ]{0,4}"
    ]
}

fn authority() -> impl Strategy<Value = String> {
    prop_oneof![Just("a.test".to_owned()), "[a-z0-9.%@:\\[\\]]{0,8}", "[a-z]{1,3}:[0-9]{0,6}", "[ -~]{0,6}"]
}

fn path() -> impl Strategy<Value = String> {
    prop_oneof![Just("/".to_owned()), Just("*".to_owned()), "/[ -~\u{e9}\t]{0,8}", "[ -~\r\n]{0,6}"]
}

fn others() -> impl Strategy<Value = Vec<(String, String)>> {
    let name = prop_oneof![
        Just("content-length".to_owned()),
        Just("host".to_owned()),
        Just("te".to_owned()),
        Just("transfer-encoding".to_owned()),
        "[a-zA-Z:\u{e9} _~-]{0,5}",
    ];
    let value = prop_oneof![
        "[0-9]{0,3}",
        Just("a.test".to_owned()),
        Just("trailers".to_owned()),
        "[ -~\u{e9}\t\r\n\0]{0,5}"
    ];
    prop::collection::vec((name, value), 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    #[test]
    fn any_accepted_section_is_a_request_in_lines(
        (method, authority, path, others) in (method(), authority(), path(), others()),
        present in 0_u8..32,
    ) {
        let pseudo = [(":method", method), (":scheme", "https".to_owned()), (":authority", authority), (":path", path)];
        let mut fields: Vec<_> = pseudo.map(|(name, value)| (name.to_owned(), value)).into();
        fields.extend(others);
        // One of the pseudo-header fields may be absent; CONNECT lacks two.
        match present {
            0..4 => drop(fields.remove(usize::from(present))),
            4..10 => fields.retain(|(name, _)| name != ":scheme" && name != ":path"),
            _ => {}
        }
        accepted_sections_are_requests_in_lines(&section(&fields));
    }
}
