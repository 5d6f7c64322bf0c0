//! Bodies of which some byte ranges are stored: non-overlapping pieces by offset.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use http_cache::{Coverage, Stored, Supply, ranges::Part};
use http_stack::{Body, Bytes};

use crate::{
    body::{concat::concat, shared::SharedBody},
    request::context::RequestContext,
};

#[derive(Debug)]
pub(crate) struct SparseBody {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    coverage: Coverage,
    pieces: BTreeMap<u64, Bytes>,
    bytes: u64,
}

impl SparseBody {
    pub(crate) fn with_length(length: u64) -> Self {
        let (coverage, pieces) = (Coverage::of(length), BTreeMap::new());
        Self { state: Mutex::new(State { coverage, pieces, bytes: 0 }) }
    }

    pub(crate) fn length(&self) -> u64 {
        self.lock().coverage.length()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.lock().bytes
    }

    pub(crate) fn memory(&self) -> u64 {
        self.lock().memory()
    }

    pub(crate) fn supply(&self, context: &RequestContext, stored: &Stored) -> Supply {
        self.lock().coverage.supply(&context.method, &context.headers, stored, context.date_match())
    }

    /// Adds only bytes that are not stored yet. Returns false without adding if the body would take
    /// more than `limit` bytes of memory or consist of too many parts.
    pub(crate) fn add(&self, first: u64, piece: &Bytes, limit: u64) -> bool {
        let Some(part) = Part::of(first, piece.len() as u64) else { return true };
        let mut state = self.lock();
        let gaps = state.coverage.gaps(part);
        let more: u64 = gaps.iter().map(|gap| gap.length() + PIECE_OVERHEAD).sum();
        if more > limit.saturating_sub(state.memory()) || !state.coverage.add(part) {
            return false;
        }
        for gap in gaps {
            let piece = match gap == part {
                true => piece.clone(),
                // A slice would keep the whole piece allocated.
                false => Bytes::copy_from_slice(&slice(piece, first, gap)),
            };
            state.bytes += gap.length();
            state.pieces.insert(gap.first, piece);
        }
        true
    }

    pub(crate) fn read(&self, part: Part) -> Body {
        let state = self.lock();
        let before = state.pieces.range(..part.first).next_back();
        let pieces = before.into_iter().chain(state.pieces.range(part.first..=part.last));
        let cut = |(&first, piece): (&u64, &Bytes)| {
            let last = first + piece.len() as u64 - 1;
            let (first_wanted, last_wanted) = (first.max(part.first), last.min(part.last));
            (first_wanted <= last_wanted)
                .then(|| slice(piece, first, Part { first: first_wanted, last: last_wanted }))
        };
        concat(pieces.filter_map(cut).map(Body::whole))
    }

    pub(crate) fn whole(&self) -> Option<Arc<SharedBody>> {
        let state = self.lock();
        state.coverage.is_whole().then(|| {
            let fill = SharedBody::default();
            state.pieces.values().for_each(|piece| fill.push(piece.clone()));
            fill.finish(Ok(()));
            Arc::new(fill)
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn memory(&self) -> u64 {
        self.bytes + self.pieces.len() as u64 * PIECE_OVERHEAD
    }
}

fn slice(piece: &Bytes, first: u64, part: Part) -> Bytes {
    let within = |place: u64| usize::try_from(place - first).unwrap_or(usize::MAX);
    piece.slice(within(part.first)..=within(part.last))
}

/// A tree entry, and an allocation with the reference count.
const PIECE_OVERHEAD: u64 = 112;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text() -> Vec<u8> {
        (0..200).collect()
    }

    fn add(parts: &SparseBody, first: usize, last: usize) -> bool {
        parts.add(first as u64, &Bytes::copy_from_slice(&text()[first..=last]), u64::MAX)
    }

    async fn read(parts: &SparseBody, first: usize, last: usize) -> Bytes {
        let part = Part { first: first as u64, last: last as u64 };
        parts.read(part).collect(1000).await.unwrap()
    }

    #[tokio::test]
    async fn overlapping_range_adds_only_missing_bytes() {
        let parts = SparseBody::with_length(200);
        assert!(add(&parts, 10, 19) && add(&parts, 30, 39) && add(&parts, 5, 44) && add(&parts, 6, 7));
        assert_eq!((parts.bytes(), parts.memory()), (40, 40 + 5 * PIECE_OVERHEAD));
        assert_eq!(read(&parts, 5, 44).await, text()[5..=44]);
        assert_eq!(read(&parts, 18, 31).await, text()[18..=31]);
        assert!(parts.whole().is_none());
    }

    #[test]
    fn range_over_the_limit_is_rejected() {
        let (parts, piece) = (SparseBody::with_length(200), Bytes::from(text()));
        assert!(!parts.add(0, &piece, 199 + PIECE_OVERHEAD));
        assert!(parts.add(0, &piece, 200 + PIECE_OVERHEAD));
        assert!(parts.add(20, &piece.slice(20..30), 0));
        assert!(!parts.add(100, &piece, u64::MAX), "it is longer than the body");
        assert_eq!(parts.bytes(), 200);
    }

    proptest! {
        #[test]
        fn ranges_in_any_order_complete_the_body(
            added in prop::collection::vec((0_usize..200, 0_usize..200), 0..60),
            (first, last) in (0_usize..200, 0_usize..200),
        ) {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let (parts, mut is_here) = (SparseBody::with_length(200), [false; 200]);
            for (one, other) in added {
                let (first, last) = (one.min(other), one.max(other));
                prop_assert!(add(&parts, first, last));
                is_here[first..=last].fill(true);
            }
            let (first, last) = (first.min(last), first.max(last));
            let here = (first..=last).filter(|place| is_here[*place]);
            let expected: Vec<u8> = here.map(|place| text()[place]).collect();
            prop_assert_eq!(runtime.block_on(read(&parts, first, last)).to_vec(), expected);
            let count = is_here.iter().filter(|is_here| **is_here).count();
            prop_assert_eq!(parts.bytes(), count as u64);
            let whole = parts.whole().map(|fill| fill.whole().unwrap().to_vec());
            prop_assert_eq!(whole, (count == 200).then(text));
        }
    }
}
