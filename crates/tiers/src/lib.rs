//! From a network of data centres, and what was measured in it, to who is asked next for what is not here.
//!
//! | to see | look into |
//! | --- | --- |
//! | the data centres, their regions and weights | [`Network`] |
//! | who is asked next, in which role, and why there are no loops | [`Zone::next`], [`Role`] |
//! | the topologies that an operator can choose | [`Topology`] |
//! | the data centre nearest to an origin, and when another becomes it | [`Smart`] |
//! | connect times, from which that follows | [`Measurements`] |
//! | which of several data centres has a key | [`Rendezvous`] |
//! | routes to an origin that failed, and when they are tried again | [`Failures`], [`Fault`] |
//! | through which data centre an origin is reached instead | [`Detours`] |
//! | how long a first request waits before a second route is tried beside it | [`Patience`] |
//! | all the routes that one request tries, in order | [`Reach`] |
//! | what stays when the list of data centres changes | [`Renumbering`] |
//! | what was purged, and how far each data centre has heard of it | [`Ledger`], [`Position`] |
//!
//! Nothing here has a clock or a socket. `now` is the time since any beginning that a caller has, and it does not run backwards.

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
