//! Trace sampling: a share of requests, and requests with a sampled trace context if clients are
//! trusted.
//!
//! Each worker counts down to its next sample, so a request without a trace costs one load. A
//! sampled request does not use the fast path, because the slow path records the attributes.

mod exporter;
mod queue;
mod request_trace;

use std::sync::{
    Arc, PoisonError, RwLock,
    atomic::{
        AtomicBool, AtomicU64,
        Ordering::{Acquire, Relaxed, Release},
    },
};

use http_stack::{Body, HeaderMap, Request, clock::Clock, server::RequestView};
use otlp::{Context, SpanId, TraceId};
use ring::rand::{SecureRandom, SystemRandom};

use self::queue::Queue;
pub(crate) use self::{
    exporter::Exporter,
    request_trace::{ActiveTrace, ParentSpan, RequestTrace},
};
use crate::{admin::api::TraceStatus, config::Collector};

#[derive(Debug)]
pub(crate) struct Traces {
    clock: Clock,
    queue: Arc<Queue>,
    turns: Vec<SampleCounter>,
    is_on: AtomicBool,
    obeys_clients: AtomicBool,
    collector: RwLock<Option<Collector>>,
}

/// The number of requests before the next sample. Only its worker writes it, except when the share
/// changes.
#[derive(Debug)]
#[repr(align(64))]
struct SampleCounter(AtomicU64);

impl Traces {
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            clock: Clock::start(),
            queue: Arc::default(),
            turns: (0..workers).map(|_| SampleCounter(AtomicU64::new(NEVER))).collect(),
            is_on: AtomicBool::new(false),
            obeys_clients: AtomicBool::new(false),
            collector: RwLock::default(),
        }
    }

    pub(crate) fn set(&self, collector: Option<&Collector>) {
        let obeys_clients = collector.is_some_and(|collector| collector.obeys_clients);
        *self.collector.write().unwrap_or_else(PoisonError::into_inner) = collector.cloned();
        self.obeys_clients.store(obeys_clients, Relaxed);
        self.turns.iter().for_each(|turn| turn.0.store(self.draw_skip(), Relaxed));
        self.is_on.store(collector.is_some(), Release);
    }

    pub(crate) fn is_on(&self) -> bool {
        self.is_on.load(Acquire)
    }

    pub(crate) fn is_due(&self, worker: usize, request: &RequestView<'_>) -> bool {
        let is_told = || {
            request.fields().any(|(name, _)| name.eq_ignore_ascii_case(request_trace::TRACEPARENT.as_str()))
        };
        self.turns[worker].0.load(Relaxed) == 0 || (self.obeys_clients.load(Relaxed) && is_told())
    }

    pub(crate) fn count_untraced(&self, worker: usize) {
        let turn = &self.turns[worker].0;
        let remaining = turn.load(Relaxed);
        if remaining != NEVER {
            turn.store(remaining.saturating_sub(1), Relaxed);
        }
    }

    pub(crate) fn begin(&self, worker: usize, request: &mut Request<Body>) -> Option<ActiveTrace> {
        if !self.is_on() {
            return None;
        }
        let believed = self.obeys_clients.load(Relaxed).then(|| context(request.headers())).flatten();
        let is_sampled = match believed {
            Some(context) => context.is_sampled,
            None => self.is_sampled(worker),
        };
        if !is_sampled {
            return None;
        }
        let parent = match believed {
            Some(context) => ParentSpan::Visitor(context),
            None => ParentSpan::None(TraceId::new(random()?)?),
        };
        let traced = Arc::new(RequestTrace::begin(Arc::clone(&self.queue), self.clock, parent, request)?);
        request.extensions_mut().insert(Arc::clone(&traced));
        Some(ActiveTrace::new(traced))
    }

    fn is_sampled(&self, worker: usize) -> bool {
        let is_due = self.turns[worker].0.load(Relaxed) == 0;
        if is_due {
            self.turns[worker].0.store(self.draw_skip(), Relaxed);
        } else {
            self.count_untraced(worker);
        }
        is_due
    }

    fn draw_skip(&self) -> u64 {
        let collector = self.collector.read().unwrap_or_else(PoisonError::into_inner);
        let share = collector.as_ref().map_or(0.0, |collector| collector.share.get());
        random().map_or(NEVER, |bytes| skip_count(u64::from_ne_bytes(bytes), share))
    }

    pub(crate) fn report(&self) -> Option<TraceStatus> {
        self.is_on().then(|| self.queue.report())
    }

    fn collector(&self) -> Option<Collector> {
        self.collector.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn context(headers: &HeaderMap) -> Option<Context> {
    let mut fields = headers.get_all(request_trace::TRACEPARENT).iter();
    let field = fields.next().filter(|_| fields.next().is_none())?;
    Context::parse(field.as_bytes())
}

/// Each request is sampled with probability `share`; `random` has 64 random bits.
fn skip_count(random: u64, share: f64) -> u64 {
    if share <= 0.0 {
        return NEVER;
    }
    // 53 bits fill the mantissa. The result is in (0, 1].
    #[expect(clippy::cast_precision_loss, reason = "exact up to 2^53")]
    let chance = ((random >> 11) + 1) as f64 / (1_u64 << 53) as f64;
    // Inverse of the geometric distribution. For a share of 1 the divisor is infinite.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative; what is too large counts as never"
    )]
    let requests = (chance.ln() / (-share).ln_1p()).floor() as u64;
    requests
}

/// Cryptographically secure. `None` if random bytes are unavailable.
fn random<const N: usize>() -> Option<[u8; N]> {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).ok().map(|()| bytes)
}

fn new_span() -> Option<SpanId> {
    SpanId::new(random()?)
}

const NEVER: u64 = u64::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn share_of_requests_is_sampled() {
        for random in [0, 1, u64::MAX / 2, u64::MAX] {
            assert_eq!((skip_count(random, 1.0), skip_count(random, 0.0)), (0, NEVER));
        }
        // The median of a geometric distribution: half of the gaps are below ln(1/2) / ln(1 -
        // share) = 68.97.
        assert_eq!((skip_count(u64::MAX / 2, 0.01), skip_count(u64::MAX, 0.01)), (68, 0));
        // Evenly spread probabilities have the mean (1 - share) / share = 9.
        let many = 100_000_u64;
        let sum: u64 =
            (0..many).map(|number| skip_count(u64::MAX / many * number + u64::MAX / many / 2, 0.1)).sum();
        assert_eq!(sum.div_ceil(many), 9, "{sum}");
    }
}
