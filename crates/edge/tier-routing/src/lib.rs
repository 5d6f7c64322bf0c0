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

mod centre;
mod custom;
mod detour;
mod failures;
mod fault;
mod health;
#[cfg(test)]
mod histories;
mod key;
mod ledger;
mod measurements;
mod network;
mod patience;
mod reach;
mod rendezvous;
mod renumber;
mod smart;
mod zone;

pub use self::{
    centre::{Centre, CentreId},
    custom::{Custom, Loop},
    detour::Detours,
    failures::{Failures, Listed, Met, Route},
    fault::Fault,
    health::{Health, State},
    key::KeyHash,
    ledger::{Ledger, LogId, MOST_LOGS, New, News, NoPosition, Piece, Position, REMEMBERED},
    measurements::{Measurements, Typical},
    network::Network,
    patience::Patience,
    reach::{Next, Reach, Replay, Surroundings, Tries},
    rendezvous::Rendezvous,
    renumber::Renumbering,
    smart::{Basis, Choice, Smart, Tuning},
    zone::{Asked, Hop, Regional, Role, Topology, Zone},
};
