//! Decodes field sections of HTTP/3 (RFC 9204) without a dynamic table, which the server does not enable.
//!
//! h3 decodes sections too, but its map hides repeated and misplaced pseudo-header fields.

mod huffman;
mod static_table;

use crate::limits;

/// The fields of a section, in their order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Fields {
    text: Vec<u8>,
    ends: Vec<(usize, usize)>,
}

/// Why decoding failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Undecodable {
    /// The section is not valid, or it needs a dynamic table.
    #[error("not a field section without a dynamic table")]
    Syntax,
    /// Its fields are larger than [`HEADER_BYTES`](limits::HEADER_BYTES).
    #[error("the fields are too large")]
    TooLarge,
}

/// Decodes an encoded field section.
///
/// # Errors
/// The section is invalid, refers to a dynamic table, or is larger than [`limits::HEADER_BYTES`], with
/// 32 bytes added for each field (RFC 9114 section 4.2.2).
pub fn decode(section: &[u8]) -> Result<Fields, Undecodable> {
    let mut rest = section;
    // Required Insert Count, and the base with its sign (section 4.5.1).
    let required = integer(&mut rest, 8).ok_or(Undecodable::Syntax)?;
    let _base = integer(&mut rest, 7).ok_or(Undecodable::Syntax)?;
    if required != 0 {
        return Err(Undecodable::Syntax);
    }
    let mut fields = Fields::default();
    let mut size = 0;
    while !rest.is_empty() {
        let begin = fields.text.len();
        let end_of_name = line(&mut rest, &mut fields.text).ok_or(Undecodable::Syntax)?;
        let end = fields.text.len();
        fields.ends.push((end_of_name, end));
        size += end - begin + OVERHEAD;
        if size > limits::HEADER_BYTES {
            return Err(Undecodable::TooLarge);
        }
    }
    Ok(fields)
}

impl Fields {
    /// Names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let begins = std::iter::once(0).chain(self.ends.iter().map(|&(_, end)| end));
        begins.zip(&self.ends).map(|(begin, &(name, end))| (&self.text[begin..name], &self.text[name..end]))
    }
}

fn line(rest: &mut &[u8], to: &mut Vec<u8>) -> Option<usize> {
    let &first = rest.first()?;
    match first {
        0b1100_0000.. => {
            let (name, value) = static_table::field(integer(rest, 6)?)?;
            to.extend_from_slice(name);
            let end = to.len();
            to.extend_from_slice(value);
            Some(end)
        }
        0b0101_0000..=0b0101_1111 | 0b0111_0000..=0b0111_1111 => {
            let (name, _) = static_table::field(integer(rest, 4)?)?;
            to.extend_from_slice(name);
            let end = to.len();
            string(rest, 7, to)?;
            Some(end)
        }
        0b0010_0000..=0b0011_1111 => {
            string(rest, 3, to)?;
            let end = to.len();
            string(rest, 7, to)?;
            Some(end)
        }
        // All other forms refer to a dynamic table.
        _ => None,
    }
}

/// Its length has `bits` bits in the first byte, after the Huffman flag (RFC 7541 section 5.2).
fn string(rest: &mut &[u8], bits: u32, to: &mut Vec<u8>) -> Option<()> {
    let is_coded = rest.first()? >> bits & 1 == 1;
    let length = usize::try_from(integer(rest, bits)?).ok()?;
    let (bytes, behind) = rest.split_at_checked(length)?;
    *rest = behind;
    if is_coded {
        return huffman::decode(bytes, to);
    }
    to.extend_from_slice(bytes);
    Some(())
}

/// An integer with `bits` bits in its first byte (RFC 7541 section 5.1), of 62 bits at most (RFC 9204 section 4.1.1).
fn integer(rest: &mut &[u8], bits: u32) -> Option<u64> {
    let (&first, mut behind) = rest.split_first()?;
    let most = (1_u64 << bits) - 1;
    let mut value = u64::from(first) & most;
    let mut shift = 0;
    let mut has_more = value == most;
    while has_more {
        let (&byte, next) = behind.split_first()?;
        behind = next;
        if shift > 56 {
            return None;
        }
        value += u64::from(byte & 0x7f) << shift;
        shift += 7;
        has_more = byte & 0x80 != 0;
    }
    *rest = behind;
    Some(value)
}

/// The size of a field in addition to its name and value (RFC 9114 section 4.2.2).
const OVERHEAD: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(section: &[u8]) -> Result<Vec<(String, String)>, Undecodable> {
        let fields = decode(section)?;
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Ok(fields.iter().map(|(name, value)| (text(name), text(value))).collect())
    }

    #[test]
    fn each_kind_of_line() {
        // ":method: GET", ":path: /index.html" (RFC 9204 appendix B.1), "x: yz", and "no-cache: 302" in Huffman's code.
        let section = [
            &[0, 0, 0xc0 | 17, 0x51, 0x0b][..],
            b"/index.html",
            &[0x21, b'x', 2, b'y', b'z'],
            &[0x2e, 0xa8, 0xeb, 0x10, 0x64, 0x9c, 0xbf, 0x82, 0x64, 0x02],
        ];
        let fields = [(":method", "GET"), (":path", "/index.html"), ("x", "yz"), ("no-cache", "302")];
        let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(decoded(&section.concat()).unwrap(), fields);
        assert_eq!(decoded(&[0, 0, 0xff, 98 - 63]).unwrap()[0].0, "x-frame-options");
    }

    #[test]
    fn what_needs_a_dynamic_table_or_breaks_off_is_refused() {
        for section in [
            &[][..],
            &[0],
            &[1, 0],
            &[0, 0, 0x80],
            &[0, 0, 0x10],
            &[0, 0, 0x41, 0],
            &[0, 0, 0x01, 0],
            &[0, 0, 0xff, 99 - 63],
            &[0, 0, 0xff],
            &[0, 0, 0x51, 5, b'/'],
            &[0, 0, 0x21, b'x'],
            &[0, 0, 0x21, b'x', 0x81, 0],
            &[0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
        ] {
            assert_eq!(decoded(section), Err(Undecodable::Syntax), "{section:?}");
        }
    }

    #[test]
    fn fields_are_no_larger_than_a_header() {
        // ":method: GET" is counted as 42 bytes.
        let most = limits::HEADER_BYTES / 42;
        let section = |count| [&[0, 0][..], &[0xc0 | 17].repeat(count)].concat();
        assert_eq!(decoded(&section(most)).unwrap().len(), most);
        assert_eq!(decoded(&section(most + 1)), Err(Undecodable::TooLarge));
    }
}
