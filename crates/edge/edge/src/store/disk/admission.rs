//! Limits the number and the duration of reads that wait for the disk. Beyond the limits, requests
//! are forwarded to the origin.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    task::spawn_blocking,
    time::timeout,
};

pub(super) struct DiskAdmission {
    permits: Arc<Semaphore>,
    timeouts: AtomicU64,
}

pub(crate) type ReadPermit = OwnedSemaphorePermit;

impl Default for DiskAdmission {
    fn default() -> Self {
        Self { permits: Arc::new(Semaphore::new(MAX_WAITING)), timeouts: AtomicU64::new(0) }
    }
}

impl DiskAdmission {
    pub(super) fn try_permit(&self) -> Option<ReadPermit> {
        let place = Arc::clone(&self.permits).try_acquire_owned().ok();
        if place.is_none() {
            self.timeouts.fetch_add(1, Relaxed);
        }
        place
    }

    /// `None` if no permit is free or the read takes too long. A slow read keeps its permit until
    /// it returns, so that a hung disk blocks no more threads than there are permits.
    pub(super) async fn read_blocking<T: Send + 'static>(
        &self,
        look: impl FnOnce() -> T + Send + 'static,
    ) -> Option<(T, ReadPermit)> {
        let place = self.try_permit()?;
        let looking = spawn_blocking(move || (look(), place));
        match timeout(READ_TIMEOUT, looking).await {
            Ok(found) => found.ok(),
            Err(_) => {
                self.timeouts.fetch_add(1, Relaxed);
                None
            }
        }
    }

    pub(super) fn timeouts(&self) -> u64 {
        self.timeouts.load(Relaxed)
    }
}

/// Sufficiently fast disks complete thousands of reads per second with fewer.
const MAX_WAITING: usize = 64;
/// Few origins have a higher latency.
const READ_TIMEOUT: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, mpsc};

    use super::*;

    #[tokio::test]
    async fn stalled_disk_has_a_bounded_queue() {
        let waiting = Arc::new(DiskAdmission::default());
        let (release, held) = mpsc::channel::<()>();
        let held = Arc::new(Mutex::new(held));
        let looks: Vec<_> = (0..MAX_WAITING)
            .map(|_| {
                let (waiting, held) = (Arc::clone(&waiting), Arc::clone(&held));
                tokio::spawn(async move {
                    let look = move || held.lock().unwrap().recv().is_ok();
                    waiting.read_blocking(look).await.is_some()
                })
            })
            .collect();
        for look in looks {
            assert!(!look.await.unwrap());
        }
        assert_eq!(waiting.timeouts(), MAX_WAITING as u64);
        assert!(waiting.read_blocking(|| unreachable!()).await.is_none());
        assert_eq!(waiting.timeouts(), MAX_WAITING as u64 + 1);
        drop(release);
        while waiting.permits.available_permits() < MAX_WAITING {
            tokio::task::yield_now().await;
        }
        let (found, place) = waiting.read_blocking(|| 7).await.unwrap();
        assert_eq!((found, waiting.permits.available_permits()), (7, MAX_WAITING - 1));
        drop(place);
        assert_eq!(waiting.permits.available_permits(), MAX_WAITING);
    }
}
