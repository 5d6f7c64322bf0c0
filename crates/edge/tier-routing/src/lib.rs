//! Tiered caching as pure logic: the data centre or origin that a request uses next
//! ([`Zone::next`], [`RouteSelector`]), and the distribution of purges ([`ReplicatedLog`]).
//!
//! This crate has no clock and no sockets. `now` is a monotonic time since an arbitrary start,
//! supplied by the caller.

mod custom_tiers;
mod data_centre;
mod detour;
mod fault;
mod health;
mod hedge_delay;
mod key;
mod measurements;
mod network;
#[cfg(test)]
mod proptest_cases;
mod rendezvous;
mod renumber;
mod replicated_log;
mod route_failures;
mod route_selector;
mod smart;
mod zone;

pub use self::{
    custom_tiers::{Custom, Loop},
    data_centre::{Centre, DataCentreId},
    detour::Detours,
    fault::Fault,
    health::{Health, State},
    hedge_delay::Patience,
    key::KeyHash,
    measurements::{Measurements, Typical},
    network::Network,
    rendezvous::Rendezvous,
    renumber::Renumbering,
    replicated_log::{
        LogDelta, LogId, LogSlice, MOST_LOGS, New, NoPosition, Position, REMEMBERED, ReplicatedLog,
    },
    route_failures::{Failures, Listed, Met, Route},
    route_selector::{Next, Replay, RouteInputs, RouteSelector, Tries},
    smart::{Basis, Choice, Smart, Tuning},
    zone::{Asked, Hop, Regional, Role, Topology, Zone},
};
