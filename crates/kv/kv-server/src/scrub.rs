//! The scrub reads the store's file in the background and logs damaged keys.

use std::{sync::Arc, sync::atomic::Ordering::Relaxed, time::Duration};

use tokio::{task::spawn_blocking, time::sleep};

use crate::{Service, counts::Integrity, store::Usage};

impl Service {
    /// Never returns.
    pub(crate) async fn scrub_store(self: &Arc<Self>) {
        sleep(AFTER_START).await;
        loop {
            let is_done = self.scrub_once().await;
            sleep(if is_done { BETWEEN_SCRUBS } else { AFTER_START }).await;
        }
    }

    /// False if the file was closed meanwhile.
    async fn scrub_once(self: &Arc<Self>) -> bool {
        let Some(mut scrub) = self.opened().and_then(|store| store.scrub()) else { return false };
        let mut named = 0;
        loop {
            let step = spawn_blocking(move || {
                let step = scrub.step();
                (scrub, step)
            });
            let Ok((next, step)) = step.await else { return false };
            scrub = next;
            let step = match step {
                Ok(step) => step,
                Err(kv_redb::Error::Released) => return false,
                Err(error) => {
                    tracing::error!(%error, "the store's file cannot be read");
                    return false;
                }
            };
            let (damaged, gaps) = scrub.damaged();
            self.counts.damaged_keys.store(damaged + gaps, Relaxed);
            self.counts.scrubbed_bytes.add(usize::try_from(step.bytes).unwrap_or_default());
            for key in step.damaged {
                if named < MOST_NAMED {
                    tracing::error!(%key, "a key of the store is damaged: run `longhaul edge kv repair`");
                }
                named += 1;
            }
            if !step.is_more {
                self.counts.scrubs.add(1);
                return true;
            }
            sleep(BETWEEN_STEPS.max(Duration::from_micros(step.bytes / BYTES_PER_US))).await;
        }
    }

    pub(crate) fn integrity(&self, usage: &Usage) -> Option<Integrity> {
        Some(Integrity {
            damaged_blocks: usage.damaged_blocks?,
            damaged_keys: self.counts.damaged_keys.load(Relaxed),
            scrubs: self.counts.scrubs.get(),
            scrubbed_bytes: self.counts.scrubbed_bytes.get(),
        })
    }
}

const AFTER_START: Duration = Duration::from_secs(10);
const BETWEEN_SCRUBS: Duration = Duration::from_secs(24 * 3600);
/// A step reads 32 keys, which limits the scrub to some hundreds of keys and 8 MB per second.
const BETWEEN_STEPS: Duration = Duration::from_millis(50);
const BYTES_PER_US: u64 = 8;
const MOST_NAMED: usize = 100;
