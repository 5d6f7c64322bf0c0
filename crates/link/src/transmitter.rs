//! When bits leave: a wire that sends one segment after the other, in logical time.

use std::ops::Range;

use units::Bitrate;

use crate::{Packet, Rate, Receive, config::SLICE_TIME, counters::Amount};

/// A wire and what it sends.
#[derive(Debug)]
pub(crate) struct Transmitter {
    rate: Rate,
    /// Bytes of wire in the time of a slice.
    slice_bytes: u64,
    /// When the last bit of what was sent has left.
    free_at_ps: u64,
    /// Bytes of a full segment of what was sent last.
    segment_bytes: u64,
}

impl Transmitter {
    /// A wire that is free from time zero.
    pub(crate) fn new(rate: Rate) -> Self {
        Self { slice_bytes: slice_bytes(&rate), rate, free_at_ps: 0, segment_bytes: 1 }
    }

    /// Goes on at another rate. What is left of the slice under way takes as long as its bytes take at the new rate.
    pub(crate) fn change(&mut self, now_ps: u64, rate: Rate) {
        let left_ps = self.free_at_ps.saturating_sub(now_ps);
        if rate == self.rate {
            return;
        }
        let left_ps = match (&self.rate, &rate) {
            (Rate::Constant(before), Rate::Constant(after)) => {
                scaled(left_ps, before.bits_per_second(), after.bits_per_second())
            }
            _ => 0,
        };
        let free_at_ps = now_ps.saturating_add(left_ps);
        *self = Self { free_at_ps, segment_bytes: self.segment_bytes, ..Self::new(rate) };
    }

    /// When the first of what waits `since_ps` begins to leave.
    pub(crate) fn start_ps(&self, since_ps: u64) -> u64 {
        self.free_at_ps.max(since_ps)
    }

    /// How many segments of `packet`, at least 1, leave as one slice that begins at `start_ps` and whose last segment
    /// begins before `until_ps`.
    pub(crate) fn slice(&self, start_ps: u64, until_ps: u64, packet: &Packet, receive: Receive) -> u32 {
        let whole = match (receive, &self.rate) {
            (Receive::Segment, _) => 1,
            (Receive::Gso, _) | (Receive::Slice, Rate::Unlimited) => u64::MAX,
            (Receive::Slice, Rate::Constant(_)) => self.slice_bytes / packet.segment_bytes().max(1),
        };
        let calm = match &self.rate {
            Rate::Constant(rate) if until_ps < u64::MAX => {
                bytes_in(*rate, until_ps.saturating_sub(start_ps)).div_ceil(packet.segment_bytes().max(1))
            }
            _ => u64::MAX,
        };
        u32::try_from(whole.min(calm).max(1)).unwrap_or(u32::MAX)
    }

    /// Sends `segments` of `packet` from `start_ps` on; returns when their last bit has left.
    pub(crate) fn send(&mut self, start_ps: u64, packet: &Packet, segments: &Range<u32>) -> u64 {
        let bytes = packet.amount(segments).bytes;
        self.segment_bytes = packet.segment_bytes().max(1);
        self.free_at_ps = match &self.rate {
            Rate::Unlimited => start_ps,
            Rate::Constant(rate) => start_ps.saturating_add(time_for_ps(*rate, bytes)),
        };
        self.free_at_ps
    }

    /// What was handed to the wire and has not left it at `now_ps`: bytes, and segments of which no bit has left.
    pub(crate) fn unsent(&self, now_ps: u64) -> Amount {
        match &self.rate {
            Rate::Constant(rate) if self.free_at_ps > now_ps => {
                let bytes = bytes_in(*rate, self.free_at_ps - now_ps);
                Amount { segments: bytes / self.segment_bytes, bytes }
            }
            _ => Amount::default(),
        }
    }
}

fn slice_bytes(rate: &Rate) -> u64 {
    match rate {
        Rate::Constant(rate) => rate.bytes_in(SLICE_TIME),
        Rate::Unlimited => u64::MAX,
    }
}

/// How long `bytes` occupy the wire, rounded down to a picosecond.
fn time_for_ps(rate: Bitrate, bytes: u64) -> u64 {
    scaled(bytes, BYTE_PS, rate.bits_per_second())
}

/// How many whole bytes pass in `ps` picoseconds.
fn bytes_in(rate: Bitrate, ps: u64) -> u64 {
    scaled(ps, rate.bits_per_second(), BYTE_PS)
}

fn scaled(value: u64, by: u64, of: u64) -> u64 {
    match value.checked_mul(by) {
        Some(product) => product / of,
        None => u64::try_from(u128::from(value) * u128::from(by) / u128::from(of)).unwrap_or(u64::MAX),
    }
}

/// Picoseconds that a byte takes at 1 bit/s.
const BYTE_PS: u64 = 8_000_000_000_000;
