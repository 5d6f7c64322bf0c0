//! Cache segments: parsed records lie within the segment and memory use is bounded by its size. A second
//! run wraps arbitrary payloads in records with valid checksums, which random input cannot produce.
//!
//! `cargo +nightly fuzz run segment corpus/segment seeds/segment`

#![no_main]

use segment_store::{
    format::{FileHeader, FileKind, Header, Id, Kind, Place, encode_trailer},
    scan::Contents,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    holds_together(bytes);
    holds_together(&with_checksums(bytes));
});

fn holds_together(bytes: &[u8]) {
    let Ok(Ok(contents)) = Contents::read(bytes, SEGMENT) else { return };
    assert!(contents.end <= bytes.len() as u64);
    assert!(contents.entries.len() <= bytes.len() / 32);
    for entry in &contents.entries {
        assert!(u64::from(entry.offset) + u64::from(entry.length) <= contents.end);
        assert!(contents.next_number > entry.id.number || entry.id.number == u64::MAX);
    }
    // The valid part has the same result without the rest.
    let end = usize::try_from(contents.end).unwrap();
    assert_eq!(Contents::read(&bytes[..end], SEGMENT).unwrap(), Ok(contents));
}

/// Builds records from the input: a kind, a length, an object number and a payload.
fn with_checksums(mut bytes: &[u8]) -> Vec<u8> {
    let header = FileHeader { kind: FileKind::Segment, values: [SEGMENT.into(), 1] };
    let mut segment = header.encode().to_vec();
    while let Some(([kind, length, number], rest)) = bytes.split_first_chunk() {
        let (payload, rest) = rest.split_at(rest.len().min((*length).into()));
        let kinds = [Kind::Block, Kind::Object, Kind::Removal, Kind::Footer, Kind::Note];
        let kind = kinds[usize::from(*kind) % kinds.len()];
        let place = Place { segment: SEGMENT, offset: u32::try_from(segment.len()).unwrap() };
        let header =
            Header::of(kind, Id { hash: 7, number: (*number).into() }, u64::from(*number) % 2, payload);
        segment.extend_from_slice(&header.encode(place));
        segment.extend_from_slice(payload);
        if kind == Kind::Footer {
            segment.extend_from_slice(&encode_trailer(place));
        }
        bytes = rest;
    }
    segment
}

const SEGMENT: u32 = 1;
