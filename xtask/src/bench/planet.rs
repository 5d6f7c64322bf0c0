//! Capacity and accuracy of the emulator, measured with unmodified iperf3 and ping.
//!
//! Needs root, iperf3, ping and ip.

mod cities;
mod delay;
mod shaper;
mod speed;

pub(super) use self::{
    cities::bench as cities, delay::bench as delay, shaper::bench as shaper, speed::bench as speed,
};
