//! The share of a receive buffer that a kernel offers as window.

use std::fmt;

use super::Span;
use crate::kernel::{Rule, Version};

/// The rule by which a kernel splits a receive buffer into window and room for packet metadata.
///
/// Up to 6.5 it is `net.ipv4.tcp_adv_win_scale`, the same for all sockets (`tcp_win_from_space()`).
///
/// From 6.6 each socket has a ratio in 256ths: payload / memory of the packets that actually
/// arrive, measured again whenever they become longer (`tcp_measure_rcv_mss()`), with a guess
/// before the first. The window of a buffer is therefore only known as a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// By `tcp_adv_win_scale`: positive, all but 1/2^scale; else 1/2^-scale.
    Scale(i64),
    /// As measured, in 256ths; this is the guess before the first data.
    Measured(u64),
}

impl Share {
    /// The rule of `kernel`; newer kernels ignore the scale. A scale outside of the valid range (-31 to 31)
    /// is clamped.
    pub fn of(kernel: Version, adv_win_scale: i64) -> Self {
        match (Rule::WIN_SCALE_IGNORED.holds(kernel), Rule::HALF_IS_WINDOW_AT_FIRST.holds(kernel)) {
            (false, _) => Self::Scale(adv_win_scale.clamp(-31, 31)),
            (true, false) => Self::Measured(QUARTER),
            (true, true) => Self::Measured(HALF),
        }
    }

    /// The window for which a buffer of `bytes` has room.
    pub fn window(self, bytes: u64) -> Span {
        match self {
            Self::Scale(scale) => {
                let part = bytes.checked_shr(shift(scale)).unwrap_or(0);
                let window = if scale > 0 { bytes - part } else { part };
                Span { least: window, most: window }
            }
            Self::Measured(guess) => {
                Span { least: ratio(bytes, guess, RATIO_ONE), most: ratio(bytes, FITTED, RATIO_ONE) }
            }
        }
    }

    /// The buffer with room for a window of at least `bytes`.
    pub fn buffer(self, bytes: u64) -> u64 {
        match self {
            Self::Scale(scale @ 1..) => {
                let parts = 1 << shift(scale);
                ratio_up(bytes, parts, parts - 1)
            }
            Self::Scale(scale) => bytes.saturating_mul(1 << shift(scale)),
            Self::Measured(guess) => ratio_up(bytes, RATIO_ONE, guess),
        }
    }

    pub(super) fn buffer_of_pages(self, bytes: u64) -> Option<u64> {
        matches!(self, Self::Measured(_)).then(|| ratio_up(bytes, RATIO_ONE, PAGE_A_PACKET))
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Scale(0) => write!(f, "tcp_adv_win_scale = 0: window = buffer"),
            Self::Scale(scale @ 1..) => {
                write!(f, "tcp_adv_win_scale = {scale}: window = buffer - buffer / {}", 1_u64 << shift(scale))
            }
            Self::Scale(scale) => {
                write!(f, "tcp_adv_win_scale = {scale}: window = buffer / {}", 1_u64 << shift(scale))
            }
            Self::Measured(guess) => write!(
                f,
                "window = buffer x payload / memory of the packets that arrive: {} % before the first, up to {} % with \
                 1448 bytes in each; tcp_adv_win_scale does nothing",
                percent(guess),
                percent(FITTED)
            ),
        }
    }
}

fn shift(scale: i64) -> u32 {
    u32::try_from(scale.unsigned_abs()).unwrap_or(u32::MAX).min(31)
}

/// Rounds down.
fn ratio(bytes: u64, part: u64, whole: u64) -> u64 {
    u64::try_from(u128::from(bytes) * u128::from(part) / u128::from(whole)).unwrap_or(u64::MAX)
}

/// Rounds up.
fn ratio_up(bytes: u64, part: u64, whole: u64) -> u64 {
    u64::try_from((u128::from(bytes) * u128::from(part)).div_ceil(u128::from(whole))).unwrap_or(u64::MAX)
}

fn percent(ratio: u64) -> u64 {
    ratio * 100 / RATIO_ONE
}

/// `TCP_RMEM_TO_WIN_SCALE` is 8 bits.
const RATIO_ONE: u64 = 256;

/// The guess since 697a6c8cec03.
const HALF: u64 = 128;

/// The guess before: 1200 bytes of payload in a page, with the kernel's metadata: 65.
const QUARTER: u64 = 1200 * RATIO_ONE / (4096 + 256 + 320);

/// Two packets of 1448 bytes in 4 KiB, with the kernel's metadata: 170.
const FITTED: u64 = 2 * 1448 * RATIO_ONE / (4096 + 256);

/// A page for each packet of 1448 bytes: 79.
const PAGE_A_PACKET: u64 = 1448 * RATIO_ONE / (4096 + 256 + 320);
