//! Decoder of the Huffman code for field names and values (RFC 7541 appendix B).

/// `None` if the padding is not 0 to 7 one bits (RFC 7541 section 5.2).
pub(super) fn decode(bytes: &[u8], to: &mut Vec<u8>) -> Option<()> {
    let (mut code, mut length) = (0_u32, 0_usize);
    for bit in bytes.iter().flat_map(|byte| (0..8).rev().map(move |place| byte >> place & 1)) {
        code = code << 1 | u32::from(bit);
        length += 1;
        let of_length = CODE.get(length)?;
        if let Some(place) = code.checked_sub(of_length.first).filter(|&place| place < of_length.count) {
            to.push(u8::try_from(SYMBOLS[(of_length.before + place) as usize]).ok()?);
            (code, length) = (0, 0);
        }
    }
    (length < 8 && code == (1 << length) - 1).then_some(())
}

#[derive(Clone, Copy)]
struct OfLength {
    first: u32,
    count: u32,
    before: u32,
}

const CODE: [OfLength; LONGEST + 1] = codes();
const SYMBOLS: [u16; 257] = symbols();

const fn codes() -> [OfLength; LONGEST + 1] {
    let mut codes = [OfLength { first: 0, count: 0, before: 0 }; LONGEST + 1];
    let mut symbol = 0;
    while symbol < LENGTHS.len() {
        codes[LENGTHS[symbol] as usize].count += 1;
        symbol += 1;
    }
    let mut length = 1;
    while length <= LONGEST {
        let shorter = codes[length - 1];
        codes[length].first = (shorter.first + shorter.count) << 1;
        codes[length].before = shorter.before + shorter.count;
        length += 1;
    }
    codes
}

const fn symbols() -> [u16; 257] {
    let mut symbols = [0; 257];
    let (mut place, mut length) = (0, 1);
    while length <= LONGEST {
        let mut symbol: u16 = 0;
        while symbol < 257 {
            if LENGTHS[symbol as usize] as usize == length {
                symbols[place] = symbol;
                place += 1;
            }
            symbol += 1;
        }
        length += 1;
    }
    symbols
}

const LONGEST: usize = 30;

/// The last symbol is end-of-string.
#[rustfmt::skip]
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28,
    28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7,
    7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21,
    23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24,
    21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8]) -> Option<String> {
        let mut text = Vec::new();
        decode(bytes, &mut text)?;
        String::from_utf8(text).ok()
    }

    #[test]
    fn strings_of_the_rfc() {
        // RFC 7541 appendix C.4 and C.6.
        for (bytes, text) in [
            (
                &[0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff][..],
                "www.example.com",
            ),
            (&[0xa8, 0xeb, 0x10, 0x64, 0x9c, 0xbf], "no-cache"),
            (&[0x25, 0xa8, 0x49, 0xe9, 0x5b, 0xa9, 0x7d, 0x7f], "custom-key"),
            (&[0x64, 0x02], "302"),
            (&[], ""),
        ] {
            assert_eq!(decoded(bytes).as_deref(), Some(text));
        }
    }

    #[test]
    fn padding_is_ones_and_shorter_than_a_byte() {
        assert_eq!(decoded(&[0b0000_0111]).as_deref(), Some("0"));
        assert_eq!(decoded(&[0b0000_0110]), None);
        assert_eq!(decoded(&[0b0000_0111, 0xff]), None);
        assert_eq!(decoded(&[0xff]), None);
        assert_eq!(decoded(&[0xff, 0xff, 0xff, 0xff]), None);
    }
}
