//! Serializes segments at the link's rate, in logical time.

mod replay;

use std::ops::Range;

use replay::Replay;
use units::Bitrate;

use crate::{Config, Packet, Rate, Receive, amount::Amount, config::SLICE_TIME};

#[derive(Debug)]
pub(crate) struct Transmitter {
    pace: Pace,
    free_at_ps: u64,
    segment_bytes: u64,
}

#[derive(Debug)]
enum Pace {
    Unlimited,
    Constant { rate: Bitrate, slice_bytes: u64 },
    Trace(Replay),
}

impl Transmitter {
    /// A trace starts at `now_ps`.
    pub(crate) fn new(now_ps: u64, config: &Config) -> Self {
        let pace = match &config.rate {
            Rate::Unlimited => Pace::Unlimited,
            Rate::Constant(rate) => Pace::Constant { rate: *rate, slice_bytes: rate.bytes_in(SLICE_TIME) },
            Rate::Trace(trace) => Pace::Trace(Replay::new(trace.clone(), now_ps, config.overhead)),
        };
        Self { pace, free_at_ps: now_ps, segment_bytes: 1 }
    }

    /// The rest of the slice in transmission takes the time of its bytes at the new rate; an
    /// unchanged trace continues at its position.
    pub(crate) fn change(&mut self, now_ps: u64, before: &Config, after: &Config) {
        if before.rate == after.rate {
            if let Pace::Trace(replay) = &mut self.pace {
                replay.frame(after.overhead);
            }
            return;
        }
        let segment_bytes = self.segment_bytes;
        let left_ps = match (&before.rate, &after.rate) {
            (Rate::Constant(before), Rate::Constant(after)) => {
                let left_ps = self.free_at_ps.saturating_sub(now_ps);
                scaled(left_ps, before.bits_per_second(), after.bits_per_second())
            }
            _ => 0,
        };
        *self = Self { segment_bytes, ..Self::new(now_ps, after) };
        self.free_at_ps = now_ps.saturating_add(left_ps);
    }

    pub(crate) fn start_ps(&self, since_ps: u64) -> u64 {
        match &self.pace {
            Pace::Unlimited | Pace::Constant { .. } => self.free_at_ps.max(since_ps),
            Pace::Trace(replay) => replay.start_ps(since_ps),
        }
    }

    /// Segments, at least 1, that form a slice from `start_ps` on; the last one starts before
    /// `until_ps`.
    pub(crate) fn slice(&self, start_ps: u64, until_ps: u64, packet: &Packet, receive: Receive) -> u32 {
        let segment = packet.segment_bytes().max(1);
        let begun = match &self.pace {
            Pace::Unlimited => u64::MAX,
            Pace::Constant { .. } | Pace::Trace(_) if until_ps == u64::MAX => u64::MAX,
            Pace::Constant { rate, .. } => {
                bytes_in(*rate, until_ps.saturating_sub(start_ps)).div_ceil(segment)
            }
            Pace::Trace(replay) => replay.begun_by(start_ps, until_ps) / segment,
        };
        let together = match (receive, &self.pace) {
            (Receive::Segment, _) => 1,
            (Receive::Gso, _) | (Receive::Slice, Pace::Unlimited) => u64::MAX,
            (Receive::Slice, Pace::Constant { slice_bytes, .. }) => slice_bytes / segment,
            (Receive::Slice, Pace::Trace(replay)) => replay.together(start_ps, segment) / segment,
        };
        u32::try_from(together.min(begun).max(1)).unwrap_or(u32::MAX)
    }

    pub(crate) fn send(&mut self, start_ps: u64, packet: &Packet, segments: &Range<u32>) -> u64 {
        let bytes = packet.amount(segments).bytes;
        self.segment_bytes = packet.segment_bytes().max(1);
        self.free_at_ps = match &mut self.pace {
            Pace::Unlimited => start_ps,
            Pace::Constant { rate, .. } => start_ps.saturating_add(time_for_ps(*rate, bytes)),
            Pace::Trace(replay) => replay.send(start_ps, bytes),
        };
        self.free_at_ps
    }

    /// Sent segments that still count as waiting. A trace removes a segment from the queue when it
    /// starts to send it, as mahimahi does.
    pub(crate) fn unsent(&self, now_ps: u64) -> Amount {
        match &self.pace {
            Pace::Constant { rate, .. } if self.free_at_ps > now_ps => {
                let bytes = bytes_in(*rate, self.free_at_ps - now_ps);
                Amount { segments: bytes.saturating_sub(1) / self.segment_bytes, bytes }
            }
            _ => Amount::default(),
        }
    }
}

fn time_for_ps(rate: Bitrate, bytes: u64) -> u64 {
    scaled(bytes, BYTE_PS, rate.bits_per_second())
}

fn bytes_in(rate: Bitrate, ps: u64) -> u64 {
    scaled(ps, rate.bits_per_second(), BYTE_PS)
}

fn scaled(value: u64, by: u64, of: u64) -> u64 {
    match value.checked_mul(by) {
        Some(product) => product / of,
        None => u64::try_from(u128::from(value) * u128::from(by) / u128::from(of)).unwrap_or(u64::MAX),
    }
}

/// At 1 bit/s.
const BYTE_PS: u64 = 8_000_000_000_000;
