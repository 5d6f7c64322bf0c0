//! Limits the number and the duration of reads that wait for the disk. Beyond the limits, requests are
//! forwarded to the origin.

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

pub(super) struct Waiting {
    places: Arc<Semaphore>,
    given_up: AtomicU64,
}

/// A permit to wait for the disk. A reader holds it until the disk returns.
pub(crate) type Place = OwnedSemaphorePermit;

impl Default for Waiting {
    fn default() -> Self {
        Self { places: Arc::new(Semaphore::new(MOST)), given_up: AtomicU64::new(0) }
    }
}

impl Waiting {
    pub(super) fn place(&self) -> Option<Place> {
        let place = Arc::clone(&self.places).try_acquire_owned().ok();
        if place.is_none() {
            self.given_up.fetch_add(1, Relaxed);
        }
        place
    }

    /// Executes a blocking read; returns its result with the permit that it used. `None` if no permit is free
    /// or the read takes too long. A slow read keeps its permit until it returns, so that a hung disk blocks
    /// no more threads than there are permits.
    pub(super) async fn wait_for<T: Send + 'static>(
        &self,
        look: impl FnOnce() -> T + Send + 'static,
    ) -> Option<(T, Place)> {
        let place = self.place()?;
        let looking = spawn_blocking(move || (look(), place));
        match timeout(LONGEST, looking).await {
            Ok(found) => found.ok(),
            Err(_) => {
                self.given_up.fetch_add(1, Relaxed);
                None
            }
        }
    }

    pub(super) fn given_up(&self) -> u64 {
        self.given_up.load(Relaxed)
    }
}

/// Concurrent reads. Sufficiently fast disks complete thousands of reads per second with fewer.
const MOST: usize = 64;
/// The time limit of a read: few origins have a higher latency.
const LONGEST: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, mpsc};

    use super::*;

    #[tokio::test]
    async fn a_disk_that_does_not_answer_has_so_many_waiting_and_no_more() {
        let waiting = Arc::new(Waiting::default());
        let (release, held) = mpsc::channel::<()>();
        let held = Arc::new(Mutex::new(held));
        let looks: Vec<_> = (0..MOST)
            .map(|_| {
                let (waiting, held) = (Arc::clone(&waiting), Arc::clone(&held));
                tokio::spawn(async move {
                    let look = move || held.lock().unwrap().recv().is_ok();
                    waiting.wait_for(look).await.is_some()
                })
            })
            .collect();
        for look in looks {
            assert!(!look.await.unwrap());
        }
        assert_eq!(waiting.given_up(), MOST as u64);
        // All permits are in use, so this read fails immediately.
        assert!(waiting.wait_for(|| unreachable!()).await.is_none());
        assert_eq!(waiting.given_up(), MOST as u64 + 1);
        drop(release);
        while waiting.places.available_permits() < MOST {
            tokio::task::yield_now().await;
        }
        let (found, place) = waiting.wait_for(|| 7).await.unwrap();
        assert_eq!((found, waiting.places.available_permits()), (7, MOST - 1));
        drop(place);
        assert_eq!(waiting.places.available_permits(), MOST);
    }
}
