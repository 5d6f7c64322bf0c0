//! From a round trip and a rate to the window, the buffers, and their settings.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use units::{Bitrate, duration};

use super::{LARGEST_BUFFER, LARGEST_WINDOW, Share, binary, milliseconds};
use crate::{Error, kernel::Version, settings::Settings};

/// A path to fill with one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Path {
    /// Its round trip. Queues lengthen it: use the value under load if known.
    pub rtt: Duration,
    /// Its rate.
    pub rate: Bitrate,
}

/// The requirements for filling a path: the output of `tcp window --rtt --rate --json`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Plan {
    /// "longhaul.tcp.window/1".
    pub schema: &'static str,
    /// The kernel.
    pub kernel: Version,
    /// The round trip of the path.
    pub rtt_ms: f64,
    /// The rate of the path.
    pub rate_mbps: f64,
    /// The bandwidth-delay product: the data in flight on a full path.
    pub bdp_bytes: u64,
    /// The required window: the product, rounded up by less than an eighth to four binary digits.
    pub window_bytes: u64,
    /// The receiver's `tcp_rmem[2]`, with room for the window and the kernel's metadata.
    pub rmem_max_bytes: u64,
    /// The sender's `tcp_wmem[2]`: twice the window.
    pub wmem_max_bytes: u64,
    /// The equivalent value for `SO_RCVBUF`; the kernel doubles it.
    pub so_rcvbuf_bytes: u64,
    /// The kernel's rule from buffer to window.
    pub rule: String,
    /// The settings to raise, as lines for `sysctl.conf`; empty if all are large enough.
    pub sysctl: Vec<String>,
    /// Further notes.
    pub notes: Vec<String>,
}

/// The requirements for filling `path` on `kernel`, with `settings` at both ends.
///
/// Fails for a round trip of 0, and if TCP's largest window or the kernel's largest buffer is too
/// small.
pub fn plan(path: Path, kernel: Version, settings: &Settings) -> Result<Plan, Error> {
    let Path { rtt, rate } = path;
    let bdp_bytes = product(path)?;
    let share = Share::of(kernel, settings.tcp_adv_win_scale.unwrap_or(1));
    let window_bytes = rounded_up(bdp_bytes).min(LARGEST_WINDOW);
    let rmem_max_bytes = share.buffer(window_bytes);
    if rmem_max_bytes > LARGEST_BUFFER {
        return Err(Error::Input {
            what: format!(
                "a window of {} takes a receive buffer of {} ({share}), and the kernel's largest is 2 GiB",
                binary(window_bytes),
                binary(rmem_max_bytes)
            ),
            remedy: SEVERAL.to_owned(),
        });
    }
    let wmem_max_bytes = 2 * window_bytes;
    let so_rcvbuf_bytes = rmem_max_bytes.div_ceil(2);
    Ok(Plan {
        schema: "longhaul.tcp.window/1",
        kernel,
        rtt_ms: milliseconds(rtt),
        rate_mbps: super::ceiling::megabits(rate),
        bdp_bytes,
        window_bytes,
        rmem_max_bytes,
        wmem_max_bytes,
        so_rcvbuf_bytes,
        rule: share.to_string(),
        sysctl: sysctl(settings, rmem_max_bytes, wmem_max_bytes),
        notes: notes(share, window_bytes, so_rcvbuf_bytes, settings),
    })
}

fn product(Path { rtt, rate }: Path) -> Result<u64, Error> {
    if rtt.is_zero() {
        return Err(super::ceiling::no_round_trip());
    }
    let bits = rtt.as_nanos() * u128::from(rate.bits_per_second());
    let bytes = bits.div_ceil(8 * NANOS_PER_SECOND);
    u64::try_from(bytes).ok().filter(|&bytes| bytes <= LARGEST_WINDOW).ok_or_else(|| Error::Input {
        what: format!(
            "{rate} at {} take a window of {}, and TCP's largest is 1 GiB (window scale 14)",
            duration::show(rtt),
            u64::try_from(bytes).map_or_else(|_| "more bytes than can be counted".to_owned(), binary)
        ),
        remedy: SEVERAL.to_owned(),
    })
}

/// The next number with four significant binary digits: 125.2 MiB become 128, 36.1 become 40.
fn rounded_up(bytes: u64) -> u64 {
    let step = (bytes.next_power_of_two() / 16).max(1);
    bytes.next_multiple_of(step)
}

fn sysctl(settings: &Settings, receive: u64, send: u64) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, buffers, first, needed) in [
        ("tcp_rmem", settings.tcp_rmem, [4096, 131_072], receive),
        ("tcp_wmem", settings.tcp_wmem, [4096, 16_384], send),
    ] {
        let [least, start, most] = buffers.unwrap_or([first[0], first[1], 0]);
        if most < needed {
            lines.push(format!("net.ipv4.{name} = {least} {start} {needed}"));
        }
    }
    for (name, value) in [
        ("tcp_moderate_rcvbuf", settings.tcp_moderate_rcvbuf),
        ("tcp_window_scaling", settings.tcp_window_scaling),
    ] {
        if value == Some(0) {
            lines.push(format!("net.ipv4.{name} = 1"));
        }
    }
    lines
}

fn notes(share: Share, window: u64, so_rcvbuf: u64, settings: &Settings) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(buffer) = share.buffer_of_pages(window) {
        notes.push(format!(
            "where the network card spends a page of memory on each packet, the window takes {} of tcp_rmem",
            binary(buffer)
        ));
    }
    let first = settings.core_rmem_max.filter(|&most| most < so_rcvbuf);
    let first = first
        .map_or_else(String::new, |most| format!(", once net.core.rmem_max is {so_rcvbuf} (it is {most})"));
    notes.push(format!(
        "an application that sets SO_RCVBUF itself would set {so_rcvbuf}{first}; it costs the autotuning: the buffer is that \
         large for every path, and never larger"
    ));
    notes
}

const SEVERAL: &str = "use several connections side by side, each for a part of the rate";
const NANOS_PER_SECOND: u128 = 1_000_000_000;
