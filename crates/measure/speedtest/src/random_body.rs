//! Incompressible bodies of any length.

use std::{
    pin::Pin,
    sync::LazyLock,
    task::{Context, Poll},
};

use http_stack::{
    Body, Bytes, Failure,
    body::{Frame, Frames, SizeHint},
    memfd_buffer,
};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Generated from one block. `handed_over` gets the size of each piece that the connection takes.
pub(crate) fn body(bytes: u64, handed_over: impl FnMut(u64) + Send + Unpin + 'static) -> Body {
    Body::stream(Noise { left: bytes, handed_over })
}

struct Noise<F> {
    left: u64,
    handed_over: F,
}

impl<F: FnMut(u64) + Send + Unpin> Frames for Noise<F> {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let size = usize::try_from(self.left).unwrap_or(usize::MAX).min(PIECE);
        let at = usize::try_from(self.left / PIECE as u64).unwrap_or(0) % (BLOCK.len() / PIECE) * PIECE;
        self.left -= size as u64;
        (self.handed_over)(size as u64);
        Poll::Ready(Some(Ok(Frame::data(BLOCK.slice(at..at + size)))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

/// A megabyte exceeds the window of compressing modems.
static BLOCK: LazyLock<Bytes> = LazyLock::new(|| {
    let mut block = vec![0; memfd_buffer::MOST];
    Xoshiro256PlusPlus::seed_from_u64(1).fill_bytes(&mut block);
    let block = Bytes::from(block);
    memfd_buffer::moved(std::iter::once(&block)).unwrap_or(block)
});

/// Amortizes the system call, while bytes handed over are approximately bytes sent.
const PIECE: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    };

    use super::*;

    #[tokio::test]
    async fn a_body_is_as_long_as_it_says_and_has_no_pattern() {
        for bytes in [0, 1, 65_535, 65_537, 300_000] {
            let told = Arc::new(AtomicU64::new(0));
            let teller = Arc::clone(&told);
            let body = body(bytes, move |more| {
                teller.fetch_add(more, Relaxed);
            });
            assert_eq!(Frames::size_hint(&body).exact(), Some(bytes));
            let whole = body.collect(1_000_000).await.unwrap();
            assert_eq!((whole.len() as u64, told.load(Relaxed)), (bytes, bytes));
            if bytes == 300_000 {
                let zeros = whole.iter().filter(|byte| **byte == 0).count();
                assert!((900..1500).contains(&zeros), "{zeros}");
                assert_ne!(whole[..PIECE], whole[PIECE..2 * PIECE]);
            }
        }
    }
}
