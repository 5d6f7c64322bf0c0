//! Required sizes of windows and buffers for a path, and the maximum rate of a path with given buffers.
//!
//! - [`plan`]: from round trip and rate to window, buffers and the sysctl lines for a kernel.
//! - [`ceiling`]: from buffers and round trip to the permitted rate.
//! - [`check`]: destinations that the buffers of a host slow down.

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

const UNSCALED_WINDOW: u64 = 65_535;

/// The largest buffer of a socket: the kernel stores its size in an `int`.
pub const LARGEST_BUFFER: u64 = i32::MAX as u64;

/// The bounds of a value that depends on the packets that the kernel receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// In the worst likely case.
    pub least: u64,
    /// In the best likely case.
    pub most: u64,
}

#[expect(clippy::cast_precision_loss, reason = "a time is below 2^53 ns, or its nanoseconds do not count")]
fn nanoseconds(time: Duration) -> f64 {
    time.as_nanos() as f64
}

fn milliseconds(time: Duration) -> f64 {
    nanoseconds(time) / 1e6
}

/// Formats bytes in binary units, as is usual for buffer settings, to a hundredth.
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
