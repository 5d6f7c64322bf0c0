//! Internal header fields between data centres, which are removed at the edge of the network.
//!
//! Few headers have one. Internal names begin with one of two prefixes, so comparing four bytes
//! excludes nearly all others; the rest are looked up by a hash.

use std::sync::LazyLock;

use http_types::{HeaderMap, HeaderName};

/// Whether a field is internal. The name must be in lower case.
pub fn is_internal(name: &[u8]) -> bool {
    position(name).is_some()
}

/// Whether a field is internal, in any case.
pub fn is_internal_in_any_case(name: &[u8]) -> bool {
    let mut lower = [0; LONGEST];
    let Some(lower) = lower.get_mut(..name.len()).filter(|_| may_be(name, CASE)) else { return false };
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    is_internal(lower)
}

/// `case` masks the bits of four bytes that are ignored.
#[inline]
fn may_be(name: &[u8], case: u32) -> bool {
    let Some(begin) = name.first_chunk() else { return false };
    let begin = u32::from_le_bytes(*begin) | case;
    begin & BEGINS[0].1 == BEGINS[0].0 || begin & BEGINS[1].1 == BEGINS[1].0
}

/// Removes internal fields from a header, without allocation.
#[inline]
pub fn clear(headers: &mut HeaderMap) {
    clear_by(headers, position);
}

/// The same with another lookup function, for benchmarks.
#[doc(hidden)]
#[inline]
pub fn clear_by(headers: &mut HeaderMap, position: impl Fn(&[u8]) -> Option<usize>) {
    let mut found = 0_u128;
    for name in headers.keys() {
        if let Some(position) = position(name.as_str().as_bytes()) {
            found |= 1 << position;
        }
    }
    while found != 0 {
        headers.remove(&HEADERS[found.trailing_zeros() as usize]);
        found &= found - 1;
    }
}

#[inline]
fn position(name: &[u8]) -> Option<usize> {
    if !may_be(name, 0) {
        return None;
    }
    let mut slot = slot(hash(name)?);
    while SLOTS[slot] != EMPTY {
        let position = SLOTS[slot] as usize;
        if NAMES[position].as_bytes() == name {
            return Some(position);
        }
        slot = (slot + 1) % ROOM;
    }
    None
}

/// `None` for names that are shorter than all internal names.
const fn hash(name: &[u8]) -> Option<u64> {
    let (Some(first), Some(last)) = (name.first_chunk(), name.last_chunk()) else { return None };
    let (first, last) = (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
    Some((first.wrapping_mul(FACTORS[0]).rotate_left(29) ^ last).wrapping_mul(FACTORS[1]))
}

const fn slot(hash: u64) -> usize {
    (hash >> 44) as usize % ROOM
}

/// A hash table with open addressing: positions in `NAMES`.
#[expect(clippy::cast_possible_truncation, reason = "there are fewer than 128 names")]
static SLOTS: [u8; ROOM] = {
    let mut slots = [EMPTY; ROOM];
    let mut position = 0;
    while position < NAMES.len() {
        let Some(hash) = hash(NAMES[position].as_bytes()) else { panic!("a name of less than eight bytes") };
        assert!(NAMES[position].len() <= LONGEST);
        let mut slot = slot(hash);
        while slots[slot] != EMPTY {
            slot = (slot + 1) % ROOM;
        }
        slots[slot] = position as u8;
        position += 1;
    }
    slots
};

/// `HeaderMap::remove` by text would parse the name and compare it with all standard names.
static HEADERS: LazyLock<[HeaderName; NAMES.len()]> = LazyLock::new(|| NAMES.map(HeaderName::from_static));

/// At least twice the number of names, to keep probes short.
const ROOM: usize = 256;

const EMPTY: u8 = u8::MAX;

/// Odd: fractional parts of the golden ratio and of the square root of 3.
const FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xbb67_ae85_84ca_a73b];

/// With masks: "lh-", and the first four bytes of "x-longhaul-".
const BEGINS: [(u32, u32); 2] =
    [(u32::from_le_bytes(*b"lh-\0"), 0x00ff_ffff), (u32::from_le_bytes(*b"x-lo"), u32::MAX)];

/// The bit of lower case in each of four bytes. A hyphen has it set.
const CASE: u32 = 0x2020_2020;

const LONGEST: usize = 23;

/// The names, sorted.
pub const NAMES: [&str; 119] = [
    "lh-cache-epoch",
    "lh-cache-fill",
    "lh-cache-key",
    "lh-cache-lease",
    "lh-cache-node",
    "lh-cache-origin",
    "lh-cache-purge",
    "lh-cache-reuse",
    "lh-cache-shard",
    "lh-cache-store",
    "lh-cache-tier",
    "lh-cache-vary",
    "lh-colo-load",
    "lh-colo-name",
    "lh-colo-region",
    "lh-colo-route",
    "lh-colo-tier",
    "lh-fill-from",
    "lh-fill-priority",
    "lh-fill-token",
    "lh-fill-until",
    "lh-flight-deadline",
    "lh-flight-id",
    "lh-flight-part",
    "lh-hop-count",
    "lh-hop-deadline",
    "lh-hop-limit",
    "lh-hop-path",
    "lh-hop-signature",
    "lh-hop-token",
    "lh-kv-epoch",
    "lh-kv-key",
    "lh-kv-lease",
    "lh-kv-node",
    "lh-kv-revision",
    "lh-kv-ttl",
    "lh-origin-address",
    "lh-origin-attempt",
    "lh-origin-connect",
    "lh-origin-protocol",
    "lh-origin-shield",
    "lh-origin-timeout",
    "lh-peer-address",
    "lh-peer-epoch",
    "lh-peer-node",
    "lh-peer-token",
    "lh-peer-version",
    "lh-purge-epoch",
    "lh-purge-scope",
    "lh-purge-token",
    "lh-request-cost",
    "lh-request-deadline",
    "lh-request-digest",
    "lh-request-id",
    "lh-request-kind",
    "lh-request-start",
    "lh-route-class",
    "lh-route-epoch",
    "lh-route-reason",
    "lh-route-site",
    "lh-rule-epoch",
    "lh-rule-id",
    "lh-rule-place",
    "lh-shard-count",
    "lh-shard-epoch",
    "lh-shard-index",
    "lh-tier-hit",
    "lh-tier-name",
    "lh-tier-parent",
    "lh-tier-path",
    "lh-trace-id",
    "lh-trace-parent",
    "lh-trace-sampled",
    "lh-trace-span",
    "lh-visitor-address",
    "lh-visitor-asn",
    "lh-visitor-city",
    "lh-visitor-country",
    "lh-visitor-port",
    "lh-visitor-protocol",
    "lh-visitor-rtt",
    "lh-visitor-tls",
    "lh-zone-epoch",
    "lh-zone-id",
    "lh-zone-key",
    "lh-zone-name",
    "lh-zone-plan",
    "x-longhaul-bypass",
    "x-longhaul-cache",
    "x-longhaul-cache-key",
    "x-longhaul-colo",
    "x-longhaul-debug",
    "x-longhaul-explain",
    "x-longhaul-fetched-at",
    "x-longhaul-forwarded-by",
    "x-longhaul-internal",
    "x-longhaul-node",
    "x-longhaul-origin-time",
    "x-longhaul-plan",
    "x-longhaul-process",
    "x-longhaul-queue-time",
    "x-longhaul-region",
    "x-longhaul-request-id",
    "x-longhaul-routing",
    "x-longhaul-score",
    "x-longhaul-serial",
    "x-longhaul-served-by",
    "x-longhaul-session",
    "x-longhaul-shield",
    "x-longhaul-signature",
    "x-longhaul-site",
    "x-longhaul-stale",
    "x-longhaul-store-time",
    "x-longhaul-tier",
    "x-longhaul-token",
    "x-longhaul-trace",
    "x-longhaul-visitor",
    "x-longhaul-worker",
    "x-longhaul-zone",
];

// `clear` uses one bit per name.
const _: () = assert!(NAMES.len() <= 128);

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use http_types::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_ours_and_different() {
        assert!(NAMES.is_sorted_by(|a, b| a < b));
        for name in NAMES {
            assert!(["lh-", "x-longhaul-"].iter().any(|prefix| name.starts_with(prefix)), "{name}");
            assert!(is_internal_in_any_case(name.to_ascii_uppercase().as_bytes()), "{name}");
            assert_eq!(HeaderName::from_static(name).as_str(), name);
        }
    }

    #[test]
    fn each_name_is_found_where_it_is() {
        for (expected, name) in NAMES.iter().enumerate() {
            assert_eq!(position(name.as_bytes()), Some(expected), "{name}");
        }
    }

    #[test]
    fn what_others_use_is_not_ours() {
        for name in [
            "",
            "a",
            "lh-",
            "lh-cache",
            "host",
            "cookie",
            "cdn-loop",
            "cdn-cache-control",
            "cache-status",
            "cache-tag",
            "cf-connecting-ip",
            "x-forwarded-for",
            "x-request-id",
            "x-longhaul",
            "x-longhaul-",
            "accept-encoding",
        ] {
            assert!(!is_internal(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn clearing_takes_ours_with_all_their_values_and_leaves_the_rest_as_it_was() {
        let mut headers = HeaderMap::new();
        for name in ["host", "lh-zone-id", "x-longhaul-trace", "accept", "lh-zone-id", "lh-zone", "accept"] {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static("1"));
        }
        clear(&mut headers);
        let mut left: Vec<_> = headers.iter().map(|(name, _)| name.as_str()).collect();
        left.sort_unstable();
        assert_eq!(left, ["accept", "accept", "host", "lh-zone"]);
    }

    #[test]
    fn all_of_them_at_once_are_cleared() {
        let mut headers: HeaderMap =
            NAMES.iter().map(|name| (HeaderName::from_static(name), HeaderValue::from_static("1"))).collect();
        clear(&mut headers);
        assert!(headers.is_empty());
    }

    fn close() -> impl Strategy<Value = Vec<u8>> {
        let ours = proptest::sample::select(&NAMES[..]);
        let change = (ours, any::<proptest::sample::Index>(), 0..4_u8, any::<u8>());
        let changed = change.prop_map(|(name, place, how, byte)| {
            let mut name = name.as_bytes().to_vec();
            let place = place.index(name.len());
            match how {
                0 => name[place] = byte,
                1 => name.insert(place, byte),
                2 => drop(name.remove(place)),
                _ => {}
            }
            name
        });
        prop_oneof![changed, "[a-z0-9-]{0,40}".prop_map(String::into_bytes)]
    }

    proptest! {
        #[test]
        fn it_agrees_with_a_set(name in close()) {
            let set: HashSet<&[u8]> = NAMES.iter().map(|name| name.as_bytes()).collect();
            prop_assert_eq!(is_internal(&name), set.contains(&name[..]));
            let is_ours = set.contains(&name.to_ascii_lowercase()[..]);
            prop_assert_eq!(is_internal_in_any_case(&name), is_ours);
            prop_assert_eq!(is_internal_in_any_case(&name.to_ascii_uppercase()), is_ours);
        }

        #[test]
        fn two_halves_of_ours_agree_with_a_set(one in 0..NAMES.len(), other in 0..NAMES.len(), middle in "[a-z-]{0,9}") {
            let (one, other) = (NAMES[one], NAMES[other]);
            let name = format!("{}{middle}{}", &one[..8], &other[other.len() - 8..]);
            prop_assert_eq!(is_internal(name.as_bytes()), NAMES.contains(&&name[..]));
        }
    }
}
