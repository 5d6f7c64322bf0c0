//! Starts requests when the schedule or the workers require it, and waits for the end of each.

use std::{
    future::Future,
    io,
    pin::{Pin, pin},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use tokio::{
    sync::{
        OwnedSemaphorePermit, Semaphore,
        mpsc::{self, error::TrySendError},
    },
    task::JoinSet,
};
use units::Frequency;

use super::{
    config::{Config, Pace},
    progress::Progress,
    schedule::Schedule,
};
use crate::{
    ShutdownSignal,
    catalogue::Draws,
    client::{Chain, Client, Measured, Prepared},
    clock::nanos,
    sys,
    timer::Timer,
};

pub(crate) struct Generator {
    pub(crate) client: Client,
    pub(crate) target: Prepared<'static>,
    pub(crate) config: Config,
    pub(crate) samples: mpsc::Sender<Measured>,
    pub(crate) progress: Progress,
    pub(crate) stop: ShutdownSignal,
    /// The run's internal stop: the first request stops sending, the second aborts requests in
    /// flight.
    pub(crate) halt: ShutdownSignal,
    /// One permit per request in flight or per worker.
    pub(crate) permits: Arc<Semaphore>,
    pub(crate) room: usize,
    pub(crate) draws: Option<Mutex<Draws>>,
    pub(crate) pages: AtomicU64,
}

pub(crate) struct SelfReport {
    pub(crate) duration: Duration,
    pub(crate) cpu_share: f64,
    pub(crate) cpu: Duration,
    /// Requests due before the run's end that could not be sent until then.
    pub(crate) left_over: u64,
    pub(crate) interrupted: bool,
    /// The start of the samples' clock, on the machine's monotonic clock.
    pub(crate) started_monotonic_ns: Option<u64>,
}

impl Generator {
    pub(crate) async fn run(self: Arc<Self>) -> io::Result<SelfReport> {
        let clock = self.client.clock();
        let (began, cpu_before) = (clock.now(), sys::thread_cpu());
        let left_over = match &self.config.pace {
            &Pace::Open { rate, arrival } => {
                let rng = Xoshiro256PlusPlus::seed_from_u64(self.config.seed);
                let due = |from, to| due(rate, from, to);
                self.follow(Schedule::new(rate, arrival, rng), due).await?
            }
            Pace::Replay(replay) => {
                let due = |from, to| replay.due(from, to);
                self.follow(replay.times().iter().copied(), due).await?
            }
            &Pace::Closed { concurrency } => {
                self.spawn_workers(concurrency).await;
                0
            }
        };
        // A stop during the last requests, or in a run without an end, is an interruption only if a
        // second one aborts them.
        let replays = matches!(self.config.pace, Pace::Replay(_));
        let has_end = replays || self.config.duration.is_some() || self.config.count.is_some();
        let ended_early = has_end && self.stop.is_requested();
        let sending = Duration::from_nanos(clock.now().saturating_sub(began).max(1));
        let cpu = sys::thread_cpu().saturating_sub(cpu_before);
        self.halt.request();
        let gave_up = self.drain().await;
        Ok(SelfReport {
            left_over,
            interrupted: ended_early || gave_up,
            duration: Duration::from_nanos(clock.now()),
            started_monotonic_ns: clock.started_monotonic_ns(),
            cpu_share: cpu.as_secs_f64() / sending.as_secs_f64(),
            cpu,
        })
    }

    /// Open loop. `due(from, to)` counts the scheduled requests of an interval. Returns how many
    /// due ones were not sent.
    async fn follow(
        self: &Arc<Self>,
        schedule: impl Iterator<Item = Duration>,
        due: impl Fn(Duration, Option<Duration>) -> u64,
    ) -> io::Result<u64> {
        let clock = self.client.clock();
        let mut timer = Timer::new()?;
        let mut ended = pin!(self.ended());
        let began = clock.now().saturating_add(nanos(self.config.offset));
        let end = self.config.duration.map(|duration| began.saturating_add(nanos(duration)));
        let mut burst = 0;
        for (made, offset) in (0..).zip(schedule) {
            let is_over = self.config.duration.is_some_and(|limit| offset >= limit);
            if is_over || self.config.count.is_some_and(|limit| made >= limit) {
                break;
            }
            let intended = began.saturating_add(u64::try_from(offset.as_nanos()).unwrap_or(u64::MAX));
            let early = intended.saturating_sub(clock.now());
            if early > 0 {
                burst = 0;
                tokio::select! {
                    biased;
                    () = &mut ended => break,
                    slept = timer.sleep(Duration::from_nanos(early)) => slept?,
                }
            } else {
                if end.is_some_and(|end| clock.now() >= end.saturating_add(CATCH_UP_NS)) {
                    let left = due(offset, self.config.duration);
                    let left = self.config.count.map_or(left, |count| left.min(count.saturating_sub(made)));
                    return Ok(left.saturating_mul(self.config.requests_a_start().into()));
                }
                burst += 1;
                if burst % BURST == 0 {
                    tokio::task::yield_now().await;
                }
                if self.stop.is_requested() || self.halt.is_requested() {
                    break;
                }
            }
            self.start(intended).await;
        }
        Ok(0)
    }

    async fn start(self: &Arc<Self>, intended: u64) {
        let requests = self.config.requests_a_start();
        match Arc::clone(&self.permits).try_acquire_many_owned(requests) {
            Ok(permit) => {
                tokio::spawn(Arc::clone(self).make(Some(intended), permit));
            }
            // Waiting for a permit would turn it into a closed loop, without a trace in the result.
            Err(_) => {
                for _ in 0..requests {
                    self.progress.count_failed();
                    self.record(Measured::unsent(intended)).await;
                }
            }
        }
    }

    async fn make(self: Arc<Self>, intended: Option<u64>, permit: OwnedSemaphorePermit) {
        self.measure(intended, pin!(self.client.insisted())).await;
        drop(permit);
    }

    async fn measure(
        self: &Arc<Self>,
        intended: Option<u64>,
        insisted: Pin<&mut impl Future<Output = ()>>,
    ) -> bool {
        let Some(requests) = self.config.page else {
            return self.request(&self.client, None, intended, insisted).await;
        };
        let (client, page) = (self.client.fresh(), self.pages.fetch_add(1, Relaxed));
        let mut others = JoinSet::new();
        for _ in 0..requests.get() {
            let (this, client) = (Arc::clone(self), client.clone());
            others.spawn(async move {
                let insisted = pin!(client.insisted());
                this.request(&client, Some(page), intended, insisted).await
            });
        }
        others.join_all().await.into_iter().all(|went_well| went_well)
    }

    /// Aborted when `insisted` completes. Returns whether the whole chain succeeded.
    async fn request(
        &self,
        client: &Client,
        page: Option<u64>,
        intended: Option<u64>,
        insisted: Pin<&mut impl Future<Output = ()>>,
    ) -> bool {
        self.progress.count_sent();
        let object = self.draw();
        let of_object = object.map(|number| Prepared::of(self.target.target.object(number)));
        let chain = client.measure(of_object.as_ref().unwrap_or(&self.target), insisted).await;
        let Chain { redirects, last } = chain;
        let went_well = last.failure.is_none();
        self.progress.count_done();
        if !went_well {
            self.progress.count_failed();
        }
        let mut intended = intended;
        for measured in redirects.into_iter().chain([last]) {
            self.record(Measured { page, object, intended: intended.take(), ..measured }).await;
        }
        went_well
    }

    fn draw(&self) -> Option<usize> {
        let draws = self.draws.as_ref()?;
        Some(draws.lock().unwrap_or_else(PoisonError::into_inner).draw())
    }

    async fn record(&self, measured: Measured) {
        if let Err(TrySendError::Full(measured)) = self.samples.try_send(measured) {
            // Fails only after the ledger's thread has ended, whose error is reported instead.
            let _ = self.samples.send(measured).await;
        }
    }

    async fn spawn_workers(self: &Arc<Self>, concurrency: usize) {
        let is_closing = Arc::new(AtomicBool::new(false));
        let left = Arc::new(AtomicU64::new(self.config.count.unwrap_or(u64::MAX)));
        for _ in 0..concurrency {
            let permits = Arc::clone(&self.permits).acquire_many_owned(self.config.requests_a_start());
            let Ok(permit) = permits.await else { return };
            tokio::spawn(Arc::clone(self).work(Arc::clone(&is_closing), Arc::clone(&left), permit));
        }
        let out_of_time = async {
            match self.config.duration {
                Some(duration) => tokio::time::sleep(duration).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.all_done() => {}
            () = out_of_time => {}
            () = self.ended() => {}
        }
        is_closing.store(true, Relaxed);
    }

    async fn work(
        self: Arc<Self>,
        is_closing: Arc<AtomicBool>,
        left: Arc<AtomicU64>,
        permit: OwnedSemaphorePermit,
    ) {
        let mut insisted = pin!(self.client.insisted());
        while !is_closing.load(Relaxed)
            && left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok()
        {
            if !self.measure(None, insisted.as_mut()).await {
                if self.halt.is_insisted() {
                    break;
                }
                tokio::time::sleep(FAILURE_PAUSE).await;
            }
        }
        drop(permit);
    }

    /// Waits as long as grace and caller allow. Returns whether the caller requested the end.
    async fn drain(&self) -> bool {
        let insisted = tokio::select! {
            () = self.all_done() => return false,
            () = tokio::time::sleep(self.config.grace) => false,
            () = self.stop.insisted() => true,
        };
        self.halt.request();
        self.all_done().await;
        insisted
    }

    async fn all_done(&self) {
        // The semaphore is never closed, so this cannot fail.
        let _ = self.permits.acquire_many(u32::try_from(self.room).unwrap_or(u32::MAX)).await;
    }

    async fn ended(&self) {
        tokio::select! {
            () = self.stop.asked() => {}
            () = self.halt.asked() => {}
        }
    }
}

/// 1 without an end. An estimate: drawing all requests may take as long as sending them.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count of requests, and never negative"
)]
fn due(rate: Frequency, from: Duration, to: Option<Duration>) -> u64 {
    let rest = to.unwrap_or(from).saturating_sub(from);
    ((rest.as_secs_f64() * rate.per_second()).round() as u64).max(1)
}

/// A stall then loses no request, and an unattainable rate does not prolong the run.
const CATCH_UP_NS: u64 = 100_000_000;

/// Requests in a row before other tasks run: about a millisecond of work.
const BURST: u64 = 32;

/// Against a closed port, a worker would produce hundreds of thousands of failures per second.
const FAILURE_PAUSE: Duration = Duration::from_millis(10);
