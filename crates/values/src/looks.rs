//! Looking something up for all who come meanwhile: each gets what was looked up after he came, and few look.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use tokio::sync::Mutex;

use crate::problem::Problem;

/// How often something has been looked up.
#[derive(Debug, Default)]
pub(crate) struct Looks {
    begun: AtomicU64,
    /// The last look that came to its end, and how. Whoever holds this is looking.
    ended: Mutex<(u64, Option<Problem>)>,
}

impl Looks {
    /// Looks, unless somebody else who began after this call has looked. One that is dropped on its way counts for nobody.
    pub(crate) async fn look(&self, look: impl Future<Output = Result<(), Problem>>) -> Result<(), Problem> {
        let before = self.begun.load(SeqCst);
        let mut ended = self.ended.lock().await;
        if ended.0 <= before {
            let number = self.begun.fetch_add(1, SeqCst) + 1;
            *ended = (number, look.await.err());
        }
        ended.1.clone().map_or(Ok(()), Err)
    }
}
