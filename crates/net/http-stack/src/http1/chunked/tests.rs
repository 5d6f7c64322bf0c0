//! Valid and invalid chunked bodies, split at arbitrary positions.

use bytes::Bytes;
use proptest::prelude::*;

use super::*;

type Read = Result<(Vec<u8>, Option<HeaderMap>, Option<Vec<u8>>), Malformed>;

fn read<'p>(pieces: impl IntoIterator<Item = &'p [u8]>) -> Read {
    let (mut decoder, mut bytes) = (Decoder::new(), BytesMut::new());
    let (mut data, mut trailers) = (Vec::new(), None);
    let mut is_over = false;
    for piece in pieces {
        bytes.extend_from_slice(piece);
        while !is_over {
            match decoder.next(&mut bytes)? {
                Chunk::Data(some) => {
                    assert!(!some.is_empty());
                    data.extend_from_slice(&some);
                }
                Chunk::Trailers(fields) => trailers = Some(fields),
                Chunk::Wanting => break,
                Chunk::End => is_over = true,
            }
        }
    }
    Ok((data, trailers, is_over.then(|| bytes.to_vec())))
}

fn whole(text: &str) -> Read {
    read([text.as_bytes()])
}

#[test]
fn chunks_extensions_and_trailers_are_read() {
    for (text, data, rest) in [
        ("0\r\n\r\n", "", Some("")),
        ("2\r\nab\r\n0\r\n\r\nnext", "ab", Some("next")),
        ("A\r\n0123456789\r\n000\r\n\r\n", "0123456789", Some("")),
        ("a ;name=\"va;lue\"\r\n0123456789\r\n0\t\r\n\r\n", "0123456789", Some("")),
        ("2  \r\nab\r\n1;x\r\nc\r\n0;y=z\r\n\r\n", "abc", Some("")),
        ("2\r\na", "a", None),
        ("2\r\nab\r\n0\r\n", "ab", None),
        ("fffffffffffffffe\r\nab", "ab", None),
    ] {
        let rest = rest.map(|rest| rest.as_bytes().to_vec());
        assert_eq!(whole(text), Ok((data.into(), None, rest)), "{text:?}");
    }
    let (data, trailers, rest) = whole("1\r\na\r\n0\r\nDigest: x \r\nHost: evil\r\n\r\n").unwrap();
    let trailers = trailers.unwrap();
    assert_eq!((data, trailers.len(), rest), (b"a".to_vec(), 1, Some(Vec::new())));
    assert_eq!(trailers["digest"], "x", "a field that says whom a message is for does not stand behind it");
}

#[test]
fn what_another_reader_could_take_for_something_else_is_refused() {
    for text in [
        "\r\n",
        " 2\r\nab\r\n",
        "+2\r\nab\r\n",
        "-1\r\nab\r\n",
        "0x2\r\nab\r\n",
        "2_0\r\nab\r\n",
        "g\r\n",
        ";x\r\nab\r\n",
        "2\nab\r\n",
        "2\r\rab\r\n",
        "2 x\r\nab\r\n",
        "2\u{b}\r\nab\r\n",
        "2;a\rb\r\nab\r\n",
        "2;a\nb\r\nab\r\n",
        "2;a\0\r\nab\r\n",
        "2\r\nab\n0\r\n\r\n",
        "2\r\nabc\r\n0\r\n\r\n",
        "2\r\nab\r0\r\n\r\n",
        "2\r\nab0\r\n\r\n",
        "10000000000000000\r\nab",
        "00000000000000002\r\nab\r\n",
        "0\r\n \r\n\r\n",
        "0\r\na\r\n\r\n",
        "0\r\na: b\n\r\n",
        "0\r\na : b\r\n\r\n",
        "0\r\na: b\r\n c\r\n\r\n",
        "0\r\na: \0\r\n\r\n",
        "0\r\n: b\r\n\r\n",
    ] {
        assert!(whole(text).is_err(), "{text:?}: {:?}", whole(text));
    }
}

#[test]
fn nothing_a_peer_sends_is_kept_without_bound() {
    assert_eq!(whole(&format!("1;{}", "x".repeat(LINE_BYTES))), Err(Malformed::TooLarge));
    let extension = "x".repeat(LINE_BYTES / 2);
    let chunk = format!("1;{extension}\r\na\r\n");
    let (all, fits) = (extension.len() + 1, EXTENSION_BYTES / (extension.len() + 1));
    assert!(whole(&chunk.repeat(fits)).is_ok());
    assert!(all * (fits + 1) > EXTENSION_BYTES);
    assert_eq!(whole(&chunk.repeat(fits + 1)), Err(Malformed::TooLarge));
    let field = format!("a: {}\r\n", "x".repeat(1000));
    let lines = limits::HEADER_BYTES / field.len() + 1;
    assert!(lines < limits::HEADERS);
    assert_eq!(whole(&format!("0\r\n{}", field.repeat(lines))), Err(Malformed::TooLarge));
    let many = "a: b\r\n".repeat(limits::HEADERS + 1);
    assert_eq!(whole(&format!("0\r\n{many}\r\n")), Err(Malformed::TooLarge));
}

fn write(chunks: &[Vec<u8>], trailers: &HeaderMap) -> Bytes {
    let mut bytes = Vec::new();
    for chunk in chunks {
        write_size(&mut bytes, chunk.len());
        bytes.extend_from_slice(chunk);
        bytes.extend_from_slice(LINE_END);
    }
    write_end(&mut bytes, trailers);
    bytes.into()
}

#[test]
fn sizes_have_as_many_digits_as_they_need() {
    for size in [1, 9, 10, 15, 16, 255, 256, 4095, 65_536, usize::MAX] {
        let mut bytes = Vec::new();
        write_size(&mut bytes, size);
        assert_eq!(bytes, format!("{size:x}\r\n").as_bytes());
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_in_any_pieces(
        chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..600), 0..5),
        value in "[a-z]{0,20}",
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        rest in prop::collection::vec(any::<u8>(), 0..9),
    ) {
        let mut trailers = HeaderMap::new();
        if !value.is_empty() {
            trailers.insert("digest", HeaderValue::from_str(&value).unwrap());
            trailers.insert("content-length", HeaderValue::from_static("7"));
        }
        let bytes = [&write(&chunks, &trailers)[..], &rest].concat();
        let (data, seen, left) = read(pieces(&bytes, &cuts)).unwrap();
        prop_assert_eq!(data, chunks.concat());
        trailers.remove("content-length");
        prop_assert_eq!(seen.unwrap_or_default(), trailers);
        prop_assert_eq!(left, Some(rest));
    }

    #[test]
    fn cutting_changes_nothing(
        bytes in "([0-9a-f]{1,2}[ ;\r\n]{0,3}|[ab:\r\n]{1,6}){0,8}",
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let (at_once, cut) = (whole(&bytes), read(pieces(bytes.as_bytes(), &cuts)));
        prop_assert_eq!(at_once, cut);
    }
}

fn pieces<'b>(bytes: &'b [u8], cuts: &[prop::sample::Index]) -> Vec<&'b [u8]> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|two| &bytes[two[0]..two[1]]).collect()
}
