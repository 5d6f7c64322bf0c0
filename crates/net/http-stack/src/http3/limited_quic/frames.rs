//! Tracks frame boundaries in a stream (RFC 9114 section 7.1): a type, a length and the payload.

use super::sections::{Refused, Sections};
use crate::limits;

#[derive(Default)]
pub(crate) struct Frames {
    place: Place,
    numbers: Vec<u8>,
    sections: Option<Sections>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    StreamType,
    Frame(u64),
    Section(u64),
    Other,
}

impl Default for Place {
    fn default() -> Self {
        Self::Frame(0)
    }
}

impl Frames {
    /// The frames of a unidirectional stream, after its type (RFC 9114 section 6.2).
    pub(crate) fn after_type() -> Self {
        Self { place: Place::StreamType, ..Self::default() }
    }

    pub(crate) fn of_request() -> Self {
        Self { sections: Some(Sections::default()), ..Self::default() }
    }

    pub(crate) fn take(&mut self, mut bytes: &[u8]) -> Result<(), Refused> {
        loop {
            if let Place::Frame(left) | Place::Section(left) = &mut self.place {
                let here = usize::try_from(*left).map_or(bytes.len(), |left| left.min(bytes.len()));
                *left -= here as u64;
                let (own, rest) = bytes.split_at(here);
                bytes = rest;
                if let (Place::Section(left), Some(sections)) = (self.place, &mut self.sections) {
                    sections.take(own, left == 0)?;
                }
            }
            if self.place == Place::Section(0) {
                self.place = Place::Frame(0);
            }
            let (Some((&byte, rest)), true) = (bytes.split_first(), self.place != Place::Other) else {
                return Ok(());
            };
            bytes = rest;
            self.numbers.push(byte);
            self.place = match (self.place, number(&self.numbers)) {
                (_, None) => continue,
                (Place::StreamType, Some((CONTROL, _))) => Place::Frame(0),
                (Place::StreamType, Some(_)) => Place::Other,
                (_, Some((kind, rest))) => match number(rest) {
                    None => continue,
                    Some((length, _)) if kind != DATA && length > limits::HEADER_BYTES as u64 => {
                        return Err(Refused::TooLong);
                    }
                    Some((length, _)) if kind == HEADERS => Place::Section(length),
                    Some((length, _)) => Place::Frame(length),
                },
            };
            self.numbers.clear();
        }
    }
}

/// Decodes a variable-length integer and returns the rest; the first two bits are the logarithm of its
/// length (RFC 9000 section 16).
fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (&first, _) = bytes.split_first()?;
    let (own, rest) = bytes.split_at_checked(1 << (first >> 6))?;
    let value = own[1..].iter().fold(u64::from(first & 0x3f), |value, &byte| value << 8 | u64::from(byte));
    Some((value, rest))
}

/// The type of frames that h3 streams.
const DATA: u64 = 0;
const HEADERS: u64 = 1;
/// The type of the only unidirectional stream with frames.
const CONTROL: u64 = 0;

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, length: u32) -> Vec<u8> {
        [&[kind][..], &(length | 0x8000_0000).to_be_bytes()].concat()
    }

    fn taken(frames: fn() -> Frames, bytes: &[u8]) -> bool {
        let outcomes = [1, 2, 3, 7, 1 << 20].map(|piece| {
            let mut frames = frames();
            bytes.chunks(piece).try_for_each(|piece| frames.take(piece)).is_ok()
        });
        assert!(outcomes.iter().all(|outcome| *outcome == outcomes[0]));
        outcomes[0]
    }

    #[test]
    fn a_frame_is_as_long_as_a_header_and_data_as_long_as_it_likes() {
        let most = u32::try_from(limits::HEADER_BYTES).unwrap();
        let whole = [frame(1, most), vec![0xff; limits::HEADER_BYTES]].concat();
        assert!(taken(Frames::default, &[&whole[..], &whole, &frame(0, 1 << 29)].concat()));
        assert!(!taken(Frames::default, &[&whole[..], &frame(1, most + 1)].concat()));
        // An unknown type in 8 bytes, with a length of 2^40.
        let unknown = [0xc0, 0, 0, 0, 0, 0, 1, 0x21, 0xc0, 0, 1, 0, 0, 0, 0, 0];
        assert!(!taken(Frames::default, &unknown));
    }

    #[test]
    fn of_streams_in_one_direction_one_has_frames() {
        let long = frame(4, 1 << 29);
        assert!(!taken(Frames::after_type, &[&[0], &long[..]].concat()));
        assert!(taken(Frames::after_type, &[&[2], &long[..]].concat()));
        assert!(taken(Frames::after_type, &[&[0x40, 0x54], &long[..]].concat()));
    }
}
