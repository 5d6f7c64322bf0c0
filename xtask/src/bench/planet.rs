//! What the emulator can carry and how exact it is, with the unmodified iperf3 and ping as witnesses.
//!
//! Needs root, iperf3, ping and ip: the peer is a pair of namespaces joined by veth.

mod cities;
mod delay;
mod shaper;
mod speed;

pub(super) use self::{
    cities::bench as cities, delay::bench as delay, shaper::bench as shaper, speed::bench as speed,
};
