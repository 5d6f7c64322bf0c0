//! Benchmarks of tiers: next-hop selection, misses that hit in an upper tier, purges in all data centres,
//! detours around a broken path, simulated requests per second, and agreement of the simulation with a
//! planet.

mod beside;
mod centres;
mod choice;
mod detour;
mod network;
mod nginx;
mod simulated;

pub(super) use self::{
    beside::bench as beside,
    centres::{purges, upper},
    detour::bench as detour,
    simulated::bench as simulated,
};
pub(crate) use choice::bench as choice;
