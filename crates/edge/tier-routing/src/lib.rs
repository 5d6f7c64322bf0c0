//! Tiered caching as pure logic: which data centre or origin route a request uses next, and how purges are
//! distributed.
//!
//! | subject | items |
//! | --- | --- |
//! | the data centres, their regions and weights | [`Network`] |
//! | the next hop of a request, and why requests do not loop | [`Zone::next`], [`Role`] |
//! | the topologies that an operator can configure | [`Topology`] |
//! | the data centre nearest to an origin, and when the choice changes | [`Smart`] |
//! | the connect times that decide this choice | [`Measurements`] |
//! | which of several data centres holds a key | [`Rendezvous`] |
//! | failed routes to an origin, and when they are retried | [`Failures`], [`Fault`] |
//! | the data centre through which an unreachable origin is reached | [`Detours`] |
//! | when a second route is raced against the direct one | [`Patience`] |
//! | the sequence of routes that one request tries | [`Reach`] |
//! | the state that is kept when the list of data centres changes | [`Renumbering`] |
//! | the log of purges, and how much of it each data centre has received | [`Ledger`], [`Position`] |
//!
//! This crate has no clock and no sockets. `now` is a monotonic time since an arbitrary start, supplied by
//! the caller.

mod custom;
mod data_centre;
mod detour;
mod fault;
mod health;
mod hedge_delay;
#[cfg(test)]
mod histories;
mod key;
mod measurements;
mod network;
mod rendezvous;
mod renumber;
mod replicated_log;
mod route_failures;
mod route_selector;
mod smart;
mod zone;

pub use self::{
    custom::{Custom, Loop},
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
