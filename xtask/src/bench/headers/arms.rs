//! Algorithms that find internal fields.

use std::{collections::HashMap, sync::LazyLock};

use http_cache::internal_headers::{self, NAMES, clear_by};
use http_types::{HeaderMap, HeaderName};

pub(super) type Clear = Box<dyn Fn(&mut HeaderMap)>;

pub(super) fn arms() -> Vec<(&'static str, Clear)> {
    let each: Clear = Box::new(|headers| {
        for name in HEADERS.iter() {
            headers.remove(name);
        }
    });
    let (set, trie, bitmap) = (set(), Trie::of(&NAMES), Bitmap::of(&NAMES));
    let (behind_bitmap, behind_prefixes) = (set.clone(), set.clone());
    vec![
        ("removing 119 names one by one", each),
        (
            "a hash set with SipHash",
            Box::new(move |headers| clear_by(headers, |name| set.get(name).copied())),
        ),
        ("a trie of bytes", Box::new(move |headers| clear_by(headers, |name| trie.position(name)))),
        (
            "length, first and last byte in a bitmap, then that set",
            Box::new(move |headers| {
                clear_by(headers, |name| {
                    bitmap.may_have(name).then(|| behind_bitmap.get(name).copied()).flatten()
                });
            }),
        ),
        (
            "the two prefixes that these names have, then that set",
            Box::new(move |headers| {
                clear_by(headers, |name| {
                    let may_be = name.starts_with(b"lh-") || name.starts_with(b"x-longhaul-");
                    may_be.then(|| behind_prefixes.get(name).copied()).flatten()
                });
            }),
        ),
        (OURS, Box::new(internal_headers::clear)),
    ]
}

pub(super) const OURS: &str = "first four bytes, then a hash of first and last eight: http_cache::internal";

static HEADERS: LazyLock<[HeaderName; NAMES.len()]> = LazyLock::new(|| NAMES.map(HeaderName::from_static));

fn set() -> HashMap<&'static [u8], usize> {
    NAMES.iter().enumerate().map(|(position, name)| (name.as_bytes(), position)).collect()
}

/// The root is never a child.
struct Trie {
    nodes: Vec<Node>,
}

#[derive(Clone)]
struct Node {
    children: [u16; 37],
    ends: Option<u8>,
}

impl Trie {
    #[expect(clippy::cast_possible_truncation, reason = "119 names of at most 23 bytes")]
    fn of(names: &[&str]) -> Self {
        let empty = Node { children: [0; 37], ends: None };
        let mut nodes = vec![empty.clone()];
        for (position, name) in names.iter().enumerate() {
            let mut node = 0;
            for child in name.bytes().filter_map(child) {
                if nodes[node].children[child] == 0 {
                    nodes[node].children[child] = nodes.len() as u16;
                    nodes.push(empty.clone());
                }
                node = nodes[node].children[child] as usize;
            }
            nodes[node].ends = Some(position as u8);
        }
        Self { nodes }
    }

    fn position(&self, name: &[u8]) -> Option<usize> {
        let mut node = &self.nodes[0];
        for &byte in name {
            match node.children[child(byte)?] {
                0 => return None,
                next => node = &self.nodes[next as usize],
            }
        }
        node.ends.map(usize::from)
    }
}

fn child(byte: u8) -> Option<usize> {
    match byte {
        b'a'..=b'z' => Some(usize::from(byte - b'a')),
        b'0'..=b'9' => Some(usize::from(byte - b'0') + 26),
        b'-' => Some(36),
        _ => None,
    }
}

/// A bit per combination of length, first byte and last byte, five bits each.
struct Bitmap(Box<[u64; 512]>);

impl Bitmap {
    fn of(names: &[&str]) -> Self {
        let mut bits = Box::new([0; 512]);
        for bit in names.iter().filter_map(|name| Self::bit(name.as_bytes())) {
            bits[bit / 64] |= 1 << (bit % 64);
        }
        Self(bits)
    }

    fn bit(name: &[u8]) -> Option<usize> {
        let (&first, &last) = (name.first()?, name.last()?);
        Some((name.len() % 32) << 10 | usize::from(first % 32) << 5 | usize::from(last % 32))
    }

    fn may_have(&self, name: &[u8]) -> bool {
        Self::bit(name).is_some_and(|bit| self.0[bit / 64] >> (bit % 64) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::maps, *};

    #[test]
    fn all_arms_remove_the_same() {
        let maps = maps::random(64);
        for (name, clear) in arms() {
            assert!(maps::prove(&maps, &clear).is_ok(), "{name}");
        }
    }
}
