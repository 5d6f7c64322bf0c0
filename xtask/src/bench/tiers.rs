//! What tiers cost: the choice of a next hop, a miss that an upper tier answers, purges in all data centres, a way round a broken path, and what is
//! simulated a second; and whether the simulation says what a planet does.

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
