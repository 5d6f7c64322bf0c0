//! A set of transfers of one size, with latency probes.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::{sync::Notify, task::JoinSet};

use super::{
    accumulator::{Notes, Probe},
    config::Config,
    progress::Progress,
    request::Look,
    session::TestSession,
    transfer,
};
use crate::{
    Error,
    latency::{Busy, On, is_under_load},
    plan::Direction,
    size_ramp::SizeRamp,
};

pub(crate) async fn set(
    line: &Arc<TestSession>,
    config: &Config,
    progress: &Progress,
    notes: &mut Notes,
    course: &SizeRamp<'_>,
    (direction, bytes, count): (Direction, u64, u32),
) -> Result<Vec<Duration>, Error> {
    let began = line.now();
    let prober = Arc::new(Prober::default());
    let probing = tokio::spawn(Arc::clone(&prober).probe(
        Arc::clone(line),
        config.plan.probe_every,
        config.plan.loaded_from,
    ));
    let (mut took, mut busy) = (Vec::new(), Vec::new());
    for _ in 0..count {
        if !course.goes_on(line.now().saturating_sub(began)) {
            break;
        }
        let from = line.now();
        prober.transfer_began(from);
        let moved = match direction {
            Direction::Download => transfer::download(line, bytes, config.streams, Some(line.test)).await,
            Direction::Upload => transfer::upload(line, bytes, config.streams).await,
        };
        prober.transfer_ended();
        let moved = moved.map_err(|refusal| line.broken_off(direction.name(), refusal))?;
        busy.push(Busy { from, to: line.now() });
        took.push(moved.transfer.took);
        if let Some(bps) = moved.transfer.rate() {
            progress.rate(direction, bps);
        }
        notes.moved(direction, &moved);
    }
    prober.over.notify_one();
    // Probes of a loaded line may return late, and those are the most significant.
    let _ = tokio::time::timeout(LATE, probing).await;
    let probes = std::mem::take(&mut *prober.probes.lock().unwrap_or_else(PoisonError::into_inner));
    for probe in probes.into_iter().filter(|probe| is_under_load(probe.sent, &busy, config.plan.loaded_from))
    {
        progress.loaded(probe.look.ms());
        notes.probed(direction, probe);
    }
    Ok(took)
}

#[derive(Default)]
struct Prober {
    /// Nanoseconds; 0 without a transfer.
    since: AtomicU64,
    over: Notify,
    probes: Mutex<Vec<Probe>>,
}

impl Prober {
    fn transfer_began(&self, at: Duration) {
        self.since.store(u64::try_from(at.as_nanos()).unwrap_or(u64::MAX).max(1), Relaxed);
    }

    fn transfer_ended(&self) {
        self.since.store(0, Relaxed);
    }

    fn is_loaded(&self, now: Duration, loaded_from: Duration) -> bool {
        let since = self.since.load(Relaxed);
        since != 0 && now.saturating_sub(Duration::from_nanos(since)) >= loaded_from
    }

    /// Waits for the outstanding probes at the end of the set.
    async fn probe(self: Arc<Self>, line: Arc<TestSession>, every: Duration, loaded_from: Duration) {
        let mut under_way = JoinSet::new();
        loop {
            tokio::select! {
                () = tokio::time::sleep(every) => {}
                () = self.over.notified() => break,
            }
            while under_way.try_join_next().is_some() {}
            if under_way.len() >= MOST_UNDER_WAY || !self.is_loaded(line.now(), loaded_from) {
                continue;
            }
            for on in [On::Separate, On::Same] {
                if on == On::Separate || line.is_shared() {
                    let (own, line) = (Arc::clone(&self), Arc::clone(&line));
                    under_way.spawn(async move { own.one(&line, on).await });
                }
            }
        }
        while under_way.join_next().await.is_some() {}
    }

    async fn one(&self, line: &TestSession, on: On) {
        let began = line.now();
        // A failed probe is no latency sample. If the line is down, the transfer fails.
        let Ok(look) = line.look(on).await else { return };
        let sent = began + until_sent(&look);
        self.probes.lock().unwrap_or_else(PoisonError::into_inner).push(Probe { sent, on, look });
    }
}

fn until_sent(look: &Look) -> Duration {
    let sent = look.trace.first_write().unwrap_or(look.trace.started);
    Duration::from_nanos(sent.saturating_sub(look.trace.started))
}

/// For a line with a queue of seconds.
const MOST_UNDER_WAY: usize = 16;
const LATE: Duration = Duration::from_secs(5);
