//! How large windows and buffers have to be for a path, and how fast a path can be with the buffers there are.
//!
//! `throughput <= window / RTT`, so the window has to reach the bandwidth-delay product. The receive buffer holds payload
//! *and* the kernel's own data about each packet, so the window is a part of it only; [`Share`] says which. The sender's
//! buffer holds what is not acknowledged yet.
//!
//! - [`plan`]: from round trip and rate to window, buffers and the sysctl lines for a kernel.
//! - [`ceiling`]: from buffers and round trip to the rate that they allow.
//! - [`check`]: which destinations the buffers of a host slow down.

mod ceiling;
mod check;
mod plan;
mod share;

use std::time::Duration;

pub use self::{
    ceiling::{Buffers, Ceiling, Limit, ceiling},
    check::{Check, Destination, Judged, Place, Verdict, check},
    plan::{Path, Plan, plan},
    share::Share,
};

/// The largest window of TCP: 65535 bytes, 14 times doubled (RFC 7323, section 2.3). 16 KiB less than 1 GiB.
pub const LARGEST_WINDOW: u64 = 65_535 << 14;

/// The largest window of a connection without window scaling.
const UNSCALED_WINDOW: u64 = 65_535;

/// The largest buffer of a socket: the kernel keeps its size in an `int`.
pub const LARGEST_BUFFER: u64 = i32::MAX as u64;

/// The most and the least of something that depends on what the kernel meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// In the worse of the likely cases.
    pub least: u64,
    /// In the better one.
    pub most: u64,
}

#[expect(clippy::cast_precision_loss, reason = "a time is below 2^53 ns, or its nanoseconds do not count")]
fn nanoseconds(time: Duration) -> f64 {
    time.as_nanos() as f64
}

fn milliseconds(time: Duration) -> f64 {
    nanoseconds(time) / 1e6
}

/// Bytes in binary units, as settings of buffers are thought of: to a hundredth.
pub fn binary(bytes: u64) -> String {
    let (unit, scale) = match bytes {
        0..1024 => return format!("{bytes} B"),
        1024..0x10_0000 => ("KiB", 1024),
        0x10_0000..0x4000_0000 => ("MiB", 0x10_0000),
        _ => ("GiB", 0x4000_0000),
    };
    let hundredths = (u128::from(bytes) * 100 + scale / 2) / scale;
    let number = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests;
