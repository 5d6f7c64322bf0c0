//! Tests of the file format.

use proptest::{collection::vec, prelude::*};

use super::*;

fn places() -> impl Strategy<Value = Place> {
    any::<(u32, u32)>().prop_map(|(segment, offset)| Place { segment, offset })
}

fn ids() -> impl Strategy<Value = Id> {
    any::<(u64, u64)>().prop_map(|(hash, number)| Id { hash, number })
}

fn kinds() -> impl Strategy<Value = Kind> {
    prop::sample::select(vec![Kind::Block, Kind::Object, Kind::Removal, Kind::Footer, Kind::Note])
}

proptest! {
    #[test]
    fn a_header_is_read_at_its_place_only(
        (kind, id, index, payload) in (kinds(), ids(), any::<u64>(), vec(any::<u8>(), 0..200)),
        place in places(),
        other in places(),
        flip in 0..8 * Header::BYTES,
    ) {
        let header = Header::of(kind, id, index, &payload);
        let mut bytes = header.encode(place);
        prop_assert_eq!(Header::decode(&bytes, place), Some(header));
        prop_assert!(header.is_of(&payload));
        if other != place {
            prop_assert_eq!(Header::decode(&bytes, other), None);
        }
        bytes[flip / 8] ^= 1 << (flip % 8);
        prop_assert_eq!(Header::decode(&bytes, place), None);
    }

    #[test]
    fn a_payload_is_that_of_its_object_and_block_only(
        (id, other) in (ids(), ids()),
        index in 0..u64::MAX,
        payload in vec(any::<u8>(), 1..200),
        flip in any::<prop::sample::Index>(),
    ) {
        let header = Header::of(Kind::Block, id, index, &payload);
        for (id, index) in [(other, index), (id, index + 1)] {
            let moved = Header { id, index, ..header };
            prop_assert!(moved == header || !moved.is_of(&payload));
        }
        let mut damaged = payload;
        let bit = flip.index(8 * damaged.len());
        damaged[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(!header.is_of(&damaged));
    }

    #[test]
    fn an_object_is_read_as_it_was_written(
        (key, head) in (vec(any::<u8>(), 0..100), vec(any::<u8>(), 0..100)),
        blocks in vec(places(), 0..5),
        last in 1..=BLOCK as u64,
        cut in any::<prop::sample::Index>(),
    ) {
        let length = (blocks.len() as u64).checked_sub(1).map_or(0, |whole| whole * BLOCK as u64 + last);
        let object = Object { key, head, length, blocks };
        let payload = object.encode();
        prop_assert_eq!(payload.len(), Object::bytes(&object.key, &object.head, object.blocks.len()));
        prop_assert_eq!(Object::decode(&payload), Some(object));
        prop_assert_eq!(Object::decode(&payload[..cut.index(payload.len())]), None);
        prop_assert_eq!(Object::decode(&[payload, vec![0]].concat()), None);
    }

    #[test]
    fn a_footer_is_read_as_it_was_written(entries in vec((kinds(), ids(), any::<[u32; 4]>()), 0..5)) {
        let entries: Vec<_> = entries
            .into_iter()
            .map(|(kind, id, [offset, length, first, last])| Entry { kind, id, offset, length, first, last })
            .collect();
        let mut footer = Vec::new();
        entries.iter().for_each(|entry| entry.encode(&mut footer));
        prop_assert_eq!(footer.len(), entries.len() * Entry::BYTES);
        prop_assert_eq!(Entry::decode_all(&footer), Some(entries));
        footer.push(0);
        prop_assert_eq!(Entry::decode_all(&footer), None);
    }
}

#[test]
fn the_beginning_of_a_file_says_what_is_wrong_with_it() {
    let header = FileHeader { kind: FileKind::Segment, values: [7, 8] };
    let bytes = header.encode();
    let with = |at: usize, byte: u8| {
        let mut bytes = bytes;
        bytes[at] = byte;
        FileHeader::decode(&bytes, FileKind::Segment)
    };
    assert_eq!(FileHeader::decode(&bytes, FileKind::Segment), Ok(header));
    assert_eq!(FileHeader::decode(&bytes, FileKind::Journal), Err(Unfit::Foreign));
    assert_eq!(FileHeader::decode(&bytes[..39], FileKind::Segment), Err(Unfit::Short));
    assert_eq!(with(0, b'l'), Err(Unfit::Foreign));
    assert_eq!(with(8, 2), Err(Unfit::Version(2)));
    assert_eq!(with(16, 0), Err(Unfit::Damaged));
}

#[test]
fn a_trailer_and_a_removal_are_read_as_they_were_written() {
    let trailer = encode_trailer(Place { segment: 3, offset: 4711 });
    assert_eq!(decode_trailer(&trailer, 3), Some(4711));
    assert_eq!(decode_trailer(&trailer, 4), None);
    assert_eq!(decode_removal(&encode_removal(5, 6)), Some((5, 6)));
}

#[test]
fn bodies_are_cut_into_blocks() {
    const WHOLE: u64 = BLOCK as u64;
    for (length, index, bytes) in
        [(0, 0, 0), (1, 0, 1), (WHOLE, 0, WHOLE), (WHOLE + 1, 0, WHOLE), (WHOLE + 1, 1, 1), (WHOLE, 1, 0)]
    {
        assert_eq!(block(length, index), bytes, "{length} {index}");
    }
}
