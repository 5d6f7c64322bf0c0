//! Collapsed lookups: concurrent callers share a lookup that started after they called.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use tokio::sync::Mutex;

use crate::api_error::ApiError;

#[derive(Debug, Default)]
pub(crate) struct SharedRefresh {
    begun: AtomicU64,
    /// The lock is held during a lookup.
    ended: Mutex<(u64, Option<ApiError>)>,
}

impl SharedRefresh {
    /// Unless a lookup that started after this call has finished. A cancelled lookup is not
    /// counted.
    pub(crate) async fn look(
        &self,
        look: impl Future<Output = Result<(), ApiError>>,
    ) -> Result<(), ApiError> {
        let before = self.begun.load(SeqCst);
        let mut ended = self.ended.lock().await;
        if ended.0 <= before {
            let number = self.begun.fetch_add(1, SeqCst) + 1;
            *ended = (number, look.await.err());
        }
        ended.1.clone().map_or(Ok(()), Err)
    }
}
