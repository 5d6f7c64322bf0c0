//! What the emulator can carry and how exact it is, with the unmodified iperf3 and ping as witnesses.
//!
//! Needs root, iperf3, ping and ip: the peer is a pair of namespaces joined by veth.

mod cities;
mod delay;
mod shaper;
mod speed;

/// Prints all rows.
pub(super) fn bench() -> anyhow::Result<()> {
    speed::bench()?;
    delay::bench()?;
    shaper::bench()?;
    cities::bench()
}
