//! Multipart forms: the parser has the same result for any split of the input.
//!
//! `cargo +nightly fuzz run kv_multipart corpus/kv_multipart seeds/kv_multipart`

#![no_main]

use libfuzzer_sys::fuzz_target;
use kv_server::multipart::{Event, Multipart, NoForm, boundary};

/// Names and contents of the parts so far, and whether the form is complete.
type Parts = (Vec<(String, Vec<u8>)>, bool);

fn read(bytes: &[u8], piece: usize) -> Result<Parts, NoForm> {
    let mut form = Multipart::new("b0");
    let mut parts: Vec<(String, Vec<u8>)> = Vec::new();
    let mut pieces = bytes.chunks(piece);
    loop {
        match form.next()? {
            Some(Event::Part(name)) => parts.push((name, Vec::new())),
            Some(Event::Data(data)) => parts.last_mut().expect("data belong to a part").1.extend_from_slice(&data),
            Some(Event::End) => return Ok((parts, true)),
            None => match pieces.next() {
                Some(piece) => form.add(piece),
                None => return Ok((parts, false)),
            },
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        assert!(boundary(text).is_none_or(|boundary| (1..=70).contains(&boundary.len())));
    }
    // Short enough for all limits: they are checked only once more input has arrived.
    let bytes = &bytes[..bytes.len().min(2000)];
    let whole = read(bytes, 2000);
    for piece in [1, 7] {
        let (one, other) = (read(bytes, piece), &whole);
        match (&one, other) {
            (Ok((parts, true)), Ok((others, true))) => assert_eq!(parts, others),
            _ => assert_eq!(one.is_ok(), other.is_ok()),
        }
    }
});
