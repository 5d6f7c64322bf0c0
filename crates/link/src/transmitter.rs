//! When bits leave: a wire of a given rate behind a drop-tail queue, in logical time.
//!
//! The queue needs no list of packets. What waits at a moment is what the wire has yet to send, and that is the time
//! until it becomes free, times the rate.

use std::time::Duration;

use units::Bitrate;

use crate::{Config, Packet};

/// A wire that sends one segment after the other.
#[derive(Debug, Default)]
pub(crate) struct Transmitter {
    /// When the wire becomes free, in picoseconds: a nanosecond would lose 0.04 % at 5 Gbit/s.
    free_at_ps: u64,
}

/// What the transmitter does with a packet.
pub(crate) struct Admission {
    /// Segments that found room; the rest is dropped from the tail.
    pub segments: u32,
    /// When the first bit leaves, in picoseconds.
    pub start_ps: u64,
}

impl Transmitter {
    /// Puts as much of `packet` into the queue as fits.
    pub(crate) fn admit(&mut self, now: Duration, packet: &Packet, config: &Config) -> Admission {
        let now_ps = picoseconds(now);
        let start_ps = self.free_at_ps.max(now_ps);
        let waiting =
            config.rate.map_or(0, |rate| rate.bytes_in(Duration::from_nanos((start_ps - now_ps) / 1000)));
        let segments = match config.queue_bytes() {
            // A packet that finds the wire idle never waits, so even a queue of 0 bytes lets a segment pass.
            Some(limit) => {
                let least = u32::from(waiting == 0);
                packet.segments_within(limit.saturating_sub(waiting), config.overhead).max(least)
            }
            None => packet.segments(),
        };
        self.free_at_ps = departure_ps(start_ps, packet, segments, config);
        Admission { segments, start_ps }
    }
}

impl Transmitter {
    /// Keeps the bytes that wait when the rate changes, and not the time that they would have taken: a queue that was long at
    /// a low rate is short at a high one.
    pub(crate) fn reprice(&mut self, now: Duration, before: Option<Bitrate>, after: Option<Bitrate>) {
        let now_ps = picoseconds(now);
        let waiting_ps = self.free_at_ps.saturating_sub(now_ps);
        if before == after || waiting_ps == 0 {
            return;
        }
        let waiting_ps = match (before, after) {
            (Some(before), Some(after)) => {
                let bits = u128::from(waiting_ps) * u128::from(before.bits_per_second());
                u64::try_from(bits / u128::from(after.bits_per_second())).unwrap_or(u64::MAX)
            }
            _ => 0,
        };
        self.free_at_ps = now_ps.saturating_add(waiting_ps);
    }
}

/// When the last bit of the first `segments` segments has left.
pub(crate) fn departure_ps(start_ps: u64, packet: &Packet, segments: u32, config: &Config) -> u64 {
    let Some(rate) = config.rate else { return start_ps };
    let bits = u128::from(packet.wire_bytes(segments, config.overhead)) * 8;
    let duration_ps = bits * 1_000_000_000_000 / u128::from(rate.bits_per_second());
    start_ps.saturating_add(u64::try_from(duration_ps).unwrap_or(u64::MAX))
}

/// Picoseconds in a u64 last 213 days: no planet runs that long.
fn picoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos().saturating_mul(1000)).unwrap_or(u64::MAX)
}
