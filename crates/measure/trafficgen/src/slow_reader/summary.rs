//! Computes the figures of a recording from the reader's account and the samples. Pure.

use std::time::Duration;

use tcp::{Info, counters::Counters, timeline::Sample};

use super::{
    pace::{self, Account},
    pattern::{Kind, Programme},
    recording::{Passage, Second, Summary},
};

pub(super) struct Figures {
    pub phases: Vec<Passage>,
    pub seconds: Vec<Second>,
    pub summary: Summary,
}

impl Figures {
    pub(super) fn of(
        programme: &Programme,
        account: &Account,
        samples: &[Sample],
        counters: &Counters,
    ) -> Self {
        let looks = Looks { received: Received::in_order(samples), arrived: Received::in_any_order(samples) };
        let kind = |phase: usize| programme.phases[phase].rate.kind();
        let seconds: Vec<_> = account.seconds.iter().map(|second| looks.second(programme, second)).collect();
        let fast: Vec<_> = std::iter::zip(&account.seconds, &seconds)
            .filter_map(|(second, told)| (kind(second.phase) == Kind::Fast).then_some(told))
            .collect();
        let best = fast
            .iter()
            .filter(|second| second.duration_s == 1.0)
            .filter_map(|second| second.arrived_bytes)
            .max();
        let phases: Vec<_> = account
            .runs
            .iter()
            .enumerate()
            .map(|(index, run)| {
                let is_restart = index > 0
                    && kind(run.phase) == Kind::Fast
                    && kind(account.runs[index - 1].phase) != Kind::Fast;
                Passage {
                    phase: programme.phases[run.phase].name.clone(),
                    kind: kind(run.phase),
                    t_s: run.at.as_secs_f64(),
                    duration_s: run.length.as_secs_f64(),
                    bytes: run.bytes,
                    max_pause_ms: millis(run.longest_pause),
                    restart_s: best.filter(|_| is_restart).and_then(|best| looks.arrived.restart(run, best)),
                }
            })
            .collect();
        let summary = Summary {
            fast_mbps: range(&fast, |second| Some(second.bytes)),
            network_mbps: range(&fast, |second| second.arrived_bytes),
            retransmits: counters.get("RetransSegs").copied(),
            ..summary(account, &phases, samples)
        };
        Self { phases, seconds, summary }
    }
}

fn summary(account: &Account, phases: &[Passage], samples: &[Sample]) -> Summary {
    let mut restarts: Vec<_> = phases.iter().filter_map(|phase| phase.restart_s).collect();
    restarts.sort_by(f64::total_cmp);
    let after_another = |pair: &&[Passage]| pair[0].kind != Kind::Fast && pair[1].kind == Kind::Fast;
    let slow: Vec<_> = phases.iter().filter(|phase| phase.kind == Kind::Slow).collect();
    let slow_s: f64 = slow.iter().map(|phase| phase.duration_s).sum();
    let infos = || samples.iter().filter_map(|sample| sample.tcp_info.as_ref());
    let memories = || samples.iter().filter_map(|sample| sample.skmem);
    Summary {
        bytes: account.runs.iter().map(|run| run.bytes).sum(),
        duration_s: account.runs.last().map_or(0.0, |run| (run.at + run.length).as_secs_f64()),
        first_byte_ms: account.first_byte.map(millis),
        slow_mbps: (slow_s > 0.0).then(|| mbps(slow.iter().map(|phase| phase.bytes).sum(), slow_s)),
        restart_s: median(&restarts),
        restart_max_s: restarts.last().copied(),
        restarts: restarts.len(),
        restarts_missed: phases.windows(2).filter(after_another).count() - restarts.len(),
        max_pause_ms: phases.iter().map(|phase| phase.max_pause_ms).fold(0.0, f64::max),
        window_bytes: infos().filter_map(|info| info.rcv_wnd).max(),
        window_limit_bytes: infos().map(|info| info.rcv_ssthresh).max(),
        rcvbuf_bytes: memories().map(|memory| memory.rcvbuf).max(),
        queue_bytes: samples.iter().map(|sample| sample.receive_queue_bytes).max(),
        metadata_ratio: metadata_ratio(samples),
        rtt_min_ms: infos().filter_map(Info::least_rtt_us).min().map(|us| f64::from(us) / 1e3),
        out_of_order: infos().filter_map(|info| info.rcv_ooopack).max(),
        drops: memories().filter_map(|memory| memory.drops).max(),
        ..Summary::default()
    }
}

struct Looks {
    received: Received,
    arrived: Received,
}

impl Looks {
    fn second(&self, programme: &Programme, second: &pace::Second) -> Second {
        let (t_s, duration_s) = (second.at.as_secs_f64(), second.length.as_secs_f64());
        Second {
            t_s,
            duration_s,
            bytes: second.bytes,
            received_bytes: self.received.whole_between(t_s, t_s + duration_s),
            arrived_bytes: self.arrived.whole_between(t_s, t_s + duration_s),
            phase: programme.phases[second.phase].name.clone(),
        }
    }
}

/// Cumulative bytes by time: 0 at the start, linearly interpolated between samples.
struct Received(Vec<(f64, f64)>);

impl Received {
    #[expect(clippy::cast_precision_loss, reason = "2^53 bytes are 9 PB")]
    fn in_order(samples: &[Sample]) -> Self {
        Self::of(samples, |info| info.bytes_received as f64)
    }

    /// The number of data segments times their average size, because a bulk sender fills all
    /// segments; in-order bytes if the kernel does not count segments.
    #[expect(clippy::cast_precision_loss, reason = "2^53 bytes are 9 PB")]
    fn in_any_order(samples: &[Sample]) -> Self {
        let last = samples.iter().rev().find_map(|sample| sample.tcp_info.as_ref());
        match last {
            Some(last) if last.data_segs_in > 0 => {
                let mean = last.bytes_received as f64 / f64::from(last.data_segs_in);
                Self::of(samples, |info| f64::from(info.data_segs_in) * mean)
            }
            _ => Self::in_order(samples),
        }
    }

    fn of(samples: &[Sample], bytes: impl Fn(&Info) -> f64) -> Self {
        let known = |sample: &Sample| Some((sample.t_ms / 1e3, bytes(sample.tcp_info.as_ref()?)));
        Self(std::iter::once((0.0, 0.0)).chain(samples.iter().filter_map(known)).collect())
    }

    fn by(&self, t_s: f64) -> Option<f64> {
        let after = self.0.partition_point(|(at, _)| *at < t_s);
        let (to, right) = *self.0.get(after)?;
        if to == t_s {
            return Some(right);
        }
        let (from, left) = *self.0.get(after.checked_sub(1)?)?;
        Some(left + (right - left) * (t_s - from) / (to - from))
    }

    fn between(&self, from_s: f64, to_s: f64) -> Option<f64> {
        Some(self.by(to_s)? - self.by(from_s)?)
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a difference of counters")]
    fn whole_between(&self, from_s: f64, to_s: f64) -> Option<u64> {
        self.between(from_s, to_s).map(|bytes| bytes.round() as u64)
    }

    /// Seconds from the start of a phase to its first second with 90 % of the best rate. Candidate
    /// seconds start with the phase or with a sample.
    #[expect(clippy::cast_precision_loss, reason = "2^53 bytes are 9 PB")]
    fn restart(&self, run: &pace::Run, best: u64) -> Option<f64> {
        let (begin, end) = (run.at.as_secs_f64(), (run.at + run.length).as_secs_f64());
        let starts = self.0.iter().map(|(at, _)| *at).filter(|at| *at > begin);
        std::iter::once(begin)
            .chain(starts)
            .take_while(|start| start + 1.0 <= end)
            .find(|start| {
                self.between(*start, start + 1.0).is_some_and(|bytes| bytes >= RESTARTED * best as f64)
            })
            .map(|start| start - begin)
    }
}

fn range(seconds: &[&Second], bytes: impl Fn(&Second) -> Option<u64>) -> Option<[f64; 2]> {
    let long = seconds.iter().filter(|second| second.duration_s >= SHORTEST_S);
    let rates = long.filter_map(|second| Some(mbps(bytes(second)?, second.duration_s)));
    rates.fold(None, |range, rate| {
        let [low, high] = range.unwrap_or([rate, rate]);
        Some([low.min(rate), high.max(rate)])
    })
}

fn metadata_ratio(samples: &[Sample]) -> Option<f64> {
    let ratio = |sample: &Sample| {
        let queue = sample.receive_queue_bytes;
        Some(f64::from(sample.skmem.filter(|_| queue >= LEAST_QUEUE)?.rmem_alloc) / f64::from(queue))
    };
    let mut ratios: Vec<_> = samples.iter().filter_map(ratio).collect();
    ratios.sort_by(f64::total_cmp);
    median(&ratios)
}

fn median(sorted: &[f64]) -> Option<f64> {
    let (low, high) = (sorted.get(sorted.len().checked_sub(1)? / 2)?, sorted.get(sorted.len() / 2)?);
    Some(f64::midpoint(*low, *high))
}

#[expect(clippy::cast_precision_loss, reason = "2^53 bytes are 9 PB")]
pub(super) fn mbps(bytes: u64, seconds: f64) -> f64 {
    bytes as f64 * 8.0 / 1e6 / seconds
}

/// Rounded to microseconds; anything finer is scheduler noise.
#[expect(clippy::cast_precision_loss, reason = "2^53 us are 285 years")]
fn millis(duration: Duration) -> f64 {
    duration.as_micros() as f64 / 1e3
}

const RESTARTED: f64 = 0.9;

/// A shorter rest of a phase has no meaningful rate.
const SHORTEST_S: f64 = 0.1;

/// In a shorter queue, a single packet distorts the ratio.
const LEAST_QUEUE: u32 = 64 << 10;

#[cfg(test)]
mod tests;
