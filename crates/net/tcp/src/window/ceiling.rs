//! From buffers and a round trip to the permitted rate.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use units::Bitrate;

use super::{LARGEST_WINDOW, Share, Span, UNSCALED_WINDOW, nanoseconds};
use crate::{Error, kernel::Version, settings::Settings};

/// The buffers of a host, and the rule for the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buffers {
    /// The kernel.
    pub kernel: Version,
    /// The share of a receive buffer that is window.
    pub share: Share,
    /// The maximum receive buffer; `None` omits receiving.
    pub receive: Option<u64>,
    /// The maximum send buffer; `None` omits sending.
    pub send: Option<u64>,
    /// The largest window that a segment can carry.
    pub largest_window: u64,
}

impl Buffers {
    /// The buffers of a host with these settings. Without autotuning a receive buffer keeps its initial size.
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

/// The maximum rate of one connection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ceiling {
    /// The limit of the receive buffer.
    pub receive: Option<Limit>,
    /// The limit of the send buffer.
    pub send: Option<Limit>,
}

/// The limit of a buffer. If it depends on the packets, the two values are the worst and the best likely
/// case.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Limit {
    /// The maximum size of the buffer.
    pub buffer_bytes: u64,
    /// Maximum number of bytes in flight.
    pub window_bytes: [u64; 2],
    /// The rate: one window per round trip.
    pub mbps: [f64; 2],
}

/// The maximum rate of one connection over a round trip of `rtt` with these buffers. Fails for a
/// round trip of 0.
///
/// Between 5/8 and all of a send buffer is in flight.
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
