//! Bodies whose bytes identify their source: blocks of equal length that repeat the numbers of the
//! representation and the block.

use super::rfc9111::Blocks;

#[derive(Debug, Clone)]
pub(super) struct Representation {
    pub(super) number: u64,
    pub(super) blocks: u64,
    pub(super) width: u64,
    pub(super) etag: Option<String>,
    pub(super) modified: Option<String>,
}

impl Representation {
    pub(super) fn length(&self) -> u64 {
        self.blocks * self.width * TEXT
    }

    pub(super) fn bytes(&self, first: u64, end: u64) -> Vec<u8> {
        let per_block = self.width * TEXT;
        let (first_block, end_block) = (first / per_block, end.div_ceil(per_block));
        let width = usize::try_from(self.width).unwrap_or(1);
        let text = |block: u64| format!("{:06x}{block:02x}", self.number & 0x00ff_ffff).repeat(width);
        let bytes: String = (first_block..end_block).map(text).collect();
        let skipped = usize::try_from(first - first_block * per_block).unwrap_or(0);
        let length = usize::try_from(end - first).unwrap_or(0);
        bytes.into_bytes().into_iter().skip(skipped).take(length).collect()
    }

    pub(super) fn blocks(&self, first: u64, end: u64) -> Blocks {
        let per_block = self.width * TEXT;
        (first / per_block..end.div_ceil(per_block)).fold(0, |all, block| all | 1 << block)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    Other,
    Of { representation: u64, first: u64, last: u64 },
    Mixed(String),
}

pub(super) fn content(body: &[u8]) -> Content {
    let mut found: Option<(u64, u64, u64)> = None;
    for text in body.chunks_exact(8) {
        let number = std::str::from_utf8(text).ok().and_then(|text| u64::from_str_radix(text, 16).ok());
        let here = number.map(|number| (number >> 8, number & 0xff));
        found = match (found, here) {
            (None, None) => return Content::Other,
            (None, Some((representation, block))) => Some((representation, block, block)),
            (Some((representation, first, last)), Some((same, block)))
                if same == representation && (block == last || block == last + 1) =>
            {
                Some((representation, first, block))
            }
            (Some(before), here) => {
                return Content::Mixed(format!("a body with {here:x?} after {before:x?}"));
            }
        };
    }
    found.map_or(Content::Other, |(representation, first, last)| Content::Of { representation, first, last })
}

pub(super) const TEXT: u64 = 8;
