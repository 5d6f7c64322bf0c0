//! From buffers and a round trip to the rate that they allow.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use units::Bitrate;

use super::{LARGEST_WINDOW, Share, Span, UNSCALED_WINDOW, nanoseconds};
use crate::{Error, kernel::Version, settings::Settings};

/// How far the buffers of a host go, and by which rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buffers {
    /// The kernel that it has.
    pub kernel: Version,
    /// Which part of a receive buffer is window.
    pub share: Share,
    /// How large a receive buffer grows; `None` to say nothing of receiving.
    pub receive: Option<u64>,
    /// How large a send buffer grows; `None` to say nothing of sending.
    pub send: Option<u64>,
    /// The largest window that can be written into a segment.
    pub largest_window: u64,
}

impl Buffers {
    /// The buffers of a host with these settings. Without autotuning a receive buffer stays as it starts.
    pub fn of(kernel: Version, settings: &Settings) -> Self {
        let receive = settings.tcp_rmem.map(|[_, start, most]| match settings.tcp_moderate_rcvbuf {
            Some(0) => start,
            _ => most,
        });
        let is_unscaled = settings.tcp_window_scaling == Some(0);
        Self {
            kernel,
            share: Share::of(kernel, settings.tcp_adv_win_scale.unwrap_or(1)),
            receive,
            send: settings.tcp_wmem.map(|[.., most]| most),
            largest_window: if is_unscaled { UNSCALED_WINDOW } else { LARGEST_WINDOW },
        }
    }
}

/// How fast one connection can be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ceiling {
    /// What the receive buffer allows.
    pub receive: Option<Limit>,
    /// What the send buffer allows.
    pub send: Option<Limit>,
}

/// What a buffer allows. Where that depends on what the kernel meets, the two ends are the worse and the better of the likely
/// cases.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Limit {
    /// How large the buffer grows.
    pub buffer_bytes: u64,
    /// How many bytes can be on the way at the same time.
    pub window_bytes: [u64; 2],
    /// How fast that is: one window in each round trip.
    pub mbps: [f64; 2],
}

/// How fast one connection over a round trip of `rtt` can be with these buffers. Fails for a round trip of 0.
///
/// Of a send buffer, 5/8 to all is under way: a sender that waits for room is woken when a third is free
/// (`sk_stream_write_space()`), and a few hundredths are the kernel's own data. Measured on 6.18 at 100 ms with a sender that
/// writes and waits: 0.65 of 1 MiB, 0.68 of 4 MiB, 0.74 of 1 MiB in writes of 1000 bytes.
pub fn ceiling(buffers: &Buffers, rtt: Duration) -> Result<Ceiling, Error> {
    if rtt.is_zero() {
        return Err(no_round_trip());
    }
    let limit = |buffer_bytes, span: Span| {
        let window_bytes = [span.least, span.most].map(|window| window.min(buffers.largest_window));
        Limit { buffer_bytes, window_bytes, mbps: window_bytes.map(|window| rate(window, rtt)) }
    };
    let send = |bytes: u64| Span { least: bytes - bytes.div_ceil(8) * 3, most: bytes };
    Ok(Ceiling {
        receive: buffers.receive.map(|bytes| limit(bytes, buffers.share.window(bytes))),
        send: buffers.send.map(|bytes| limit(bytes, send(bytes))),
    })
}

/// One window a round trip, in Mbit/s.
#[expect(clippy::cast_precision_loss, reason = "8000 windows of 2^30 are below 2^53")]
fn rate(window: u64, rtt: Duration) -> f64 {
    (window * 8 * 1000) as f64 / nanoseconds(rtt)
}

#[expect(clippy::cast_precision_loss, reason = "rates are below 2^53")]
pub(super) fn megabits(rate: Bitrate) -> f64 {
    rate.bits_per_second() as f64 / 1e6
}

pub(super) fn no_round_trip() -> Error {
    Error::Input {
        what: "a round trip of 0 ms has no window: nothing is ever on the way".to_owned(),
        remedy: "give the round trip that ping shows, such as 0.2ms".to_owned(),
    }
}
