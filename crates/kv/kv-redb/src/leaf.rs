//! Reads the records of a damaged page whose own checksums match.
//!
//! A leaf consists of the byte 1, a padding byte, the number of pairs (16 bits), the end offset of
//! each key (32 bits; omitted for fixed widths), the end offset of each value, the keys, the
//! values. Integers are little-endian; offsets count from the start of the page.

use crate::layout::{FullKey, Head, intact_piece};

pub(crate) fn head(page: &[u8], key: FullKey<'_>) -> Option<Head> {
    trusted(page, None, |key, value| checked(key, value).is_some())?;
    let value = pairs(page, None)?.find(|(found, _)| *found == Some(key))?.1?;
    checked(key, value)
}

pub(crate) fn piece(page: &[u8], value: u64, number: u32) -> Option<&[u8]> {
    let key = [&value.to_le_bytes()[..], &number.to_le_bytes()].concat();
    trusted(page, Some(key.len()), |key, bytes| {
        let Some((value, number)) = key.split_first_chunk() else { return false };
        let number = number.try_into().map_or(0, u32::from_le_bytes);
        intact_piece(u64::from_le_bytes(*value), number, bytes).is_some()
    })?;
    let bytes = pairs(page, Some(key.len()))?.find(|(found, _)| *found == Some(&key))?.1?;
    intact_piece(value, number, bytes)
}

/// The page may be damaged.
pub(crate) fn heads(page: &[u8]) -> Heads<'_> {
    let mut heads = Heads::default();
    for (key, value) in pairs(page, None).into_iter().flatten() {
        let Some(key) = key else { continue };
        match value.and_then(|value| checked(key, value)) {
            Some(head) => heads.intact.push((key, head)),
            None => heads.damaged.push(key),
        }
    }
    heads
}

#[derive(Debug, Default)]
pub(crate) struct Heads<'p> {
    pub(crate) intact: Vec<(&'p [u8], Head)>,
    /// The presumed keys of the other heads.
    pub(crate) damaged: Vec<&'p [u8]>,
}

/// A key or a value; `None` if it exceeds the page.
type Field<'p> = Option<&'p [u8]>;

fn checked(key: FullKey<'_>, value: &[u8]) -> Option<Head> {
    Head::decode(key, value).ok().filter(|head| head.has_checksums)
}

/// Fails if every record is intact: a disk returns an older page after a lost write.
fn trusted(page: &[u8], key_width: Option<usize>, is_intact: impl Fn(&[u8], &[u8]) -> bool) -> Option<()> {
    let is_damaged = |(key, value): (Field<'_>, Field<'_>)| {
        !key.zip(value).is_some_and(|(key, value)| is_intact(key, value))
    };
    pairs(page, key_width)?.any(is_damaged).then_some(())
}

fn pairs(page: &[u8], key_width: Option<usize>) -> Option<impl Iterator<Item = (Field<'_>, Field<'_>)>> {
    let [LEAF, _, low, high, ..] = page else { return None };
    let count = usize::from(u16::from_le_bytes([*low, *high]));
    let ends = move |table: usize, number: usize| -> Option<usize> {
        let offset = 4 + 4 * (table * count + number);
        Some(u32::from_le_bytes(page.get(offset..offset + 4)?.try_into().ok()?) as usize)
    };
    let tables = if key_width.is_some() { 1 } else { 2 };
    let first = 4 + 4 * tables * count;
    let key_end = move |number: usize| match key_width {
        Some(width) => Some(first + width * (number + 1)),
        None => ends(0, number),
    };
    let before = move |number: usize| number.checked_sub(1);
    Some((0..count).map(move |number| {
        let key_start = before(number).map_or(Some(first), key_end);
        let key = key_start.zip(key_end(number)).and_then(|(start, end)| page.get(start..end));
        let value_end = |number| ends(tables - 1, number);
        let value_start = before(number).map_or_else(|| key_end(count - 1), value_end);
        let value = value_start.zip(value_end(number)).and_then(|(start, end)| page.get(start..end));
        (key, value)
    }))
}

const LEAF: u8 = 1;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_bytes_are_read_within_bounds(
            mut page in proptest::collection::vec(any::<u8>(), 0..300),
            count in 0..40_u8,
            key in proptest::collection::vec(any::<u8>(), 0..4),
        ) {
            if let [kind, _, low, high, ..] = &mut page[..] {
                (*kind, *low, *high) = (LEAF, count, 0);
            }
            prop_assert!(head(&page, &key).is_none());
            prop_assert!(piece(&page, 1, 0).is_none());
            prop_assert!(heads(&page).intact.is_empty());
        }
    }
}
