//! Datagrams, tokens and parameters of a speed test: decoded datagrams encode to the same bytes.
//!
//! `cargo +nightly fuzz run speed_wire corpus/speed_wire seeds/speed_wire`

#![no_main]

use libfuzzer_sys::fuzz_target;
use speedtest::wire::{Datagram, Token, own_time, parameter};

fuzz_target!(|bytes: &[u8]| {
    if let Some(datagram) = Datagram::decode(bytes) {
        assert_eq!(Datagram::decode(&datagram.encode()), Some(datagram));
        assert_eq!(datagram.encode().len(), bytes.len());
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Some(token) = Token::parse(text) {
        assert!(token.to_string().eq_ignore_ascii_case(text));
    }
    if let Some(value) = parameter(text, "bytes") {
        assert!(text.contains(value) && !value.contains('&'));
    }
    assert!(own_time(text).is_none_or(|time| !time.is_zero()));
});
