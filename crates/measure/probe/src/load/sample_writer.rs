//! The thread that writes samples while others are being measured.

use std::{io::Write, time::Duration};

use recording::Writer;
use tokio::sync::mpsc;

use super::progress::Progress;
use crate::{
    Error, ShutdownSignal,
    client::{Measured, SampleBuilder},
    clock::Clock,
    metrics::Metrics,
    summary::Tally,
};

pub(crate) struct SampleWriter<W: Write> {
    pub(crate) recording: Writer<W>,
    pub(crate) tally: Tally,
    scribe: SampleBuilder,
    metrics: Option<Metrics>,
    progress: Progress,
    clock: Clock,
    flushed: u64,
}

impl<W: Write> SampleWriter<W> {
    pub(crate) fn new(recording: Writer<W>, metrics: Option<Metrics>, progress: Progress) -> Self {
        Self {
            recording,
            tally: Tally::new(),
            scribe: SampleBuilder::default(),
            metrics,
            progress,
            clock: Clock::start(),
            flushed: 0,
        }
    }

    /// Halts the run if the recording cannot be written.
    pub(crate) fn keep(
        mut self,
        mut samples: mpsc::Receiver<Measured>,
        halt: &ShutdownSignal,
    ) -> Result<Self, Error> {
        let mut batch = Vec::with_capacity(BATCH);
        let mut outcome = Ok(());
        loop {
            let taken = samples.blocking_recv_many(&mut batch, BATCH);
            if taken == 0 {
                break;
            }
            // After a failure the queue is still drained, so that no sender blocks.
            if outcome.is_ok() {
                outcome = self.write(&mut batch);
                if outcome.is_err() {
                    halt.request();
                    halt.request();
                }
            }
            batch.clear();
            if taken < BATCH {
                linger();
            }
        }
        outcome.map(|()| self).map_err(|source| Error::Record { source })
    }

    fn write(&mut self, batch: &mut Vec<Measured>) -> Result<(), recording::Error> {
        for measured in batch.drain(..) {
            let sample = self.scribe.sample(measured);
            self.tally.add(sample);
            if let Some(metrics) = &self.metrics {
                metrics.add(sample);
            }
            self.recording.write(sample)?;
        }
        let now = self.clock.now();
        if now.saturating_sub(self.flushed) >= FLUSH_INTERVAL_NS {
            self.recording.flush()?;
            self.progress.set_live(self.tally.live());
            self.flushed = now;
        }
        Ok(())
    }
}

/// Waking this thread for each sample would cost the measuring thread more than a batch.
#[expect(clippy::disallowed_methods, reason = "nothing is measured here, and nobody waits")]
fn linger() {
    std::thread::sleep(LINGER);
}

/// Filling the queue within this time would take four million samples per second.
const LINGER: Duration = Duration::from_millis(2);

const BATCH: usize = 256;

/// Frequent enough for a user who follows the file.
const FLUSH_INTERVAL_NS: u64 = 200_000_000;
