//! An edge network in virtual time: what its tiers and its stores make of a trace of requests, for several topologies side by side.
//!
//! | to see | look into |
//! | --- | --- |
//! | what is simulated, and what comes of it | [`Plan`], [`run`], [`Simulation`] |
//! | where requests come from | [`Source`]: [`Synthetic`], or a [`Trace`] |
//! | one request on its way through the tiers | `side.rs` |
//! | what a data centre has, and what it gives up | `store.rs`, [`Policy`] |
//! | connections to the origin | `connections.rs` |
//! | cities, data centres and the distances between them | `places.rs` |
//! | what is counted | `tally.rs` |
//! | the tables that a terminal shows | [`table`] |
//!
//! Who is asked next is decided by the crate `tiers`, and which objects a full store gives up by `cache::Eviction`: the same code that a
//! data centre runs. Distances are those of the crate `world`.

mod connections;
mod error;
mod left_out;
mod number;
mod places;
mod plan;
mod policy;
mod request;
mod result;
mod run;
mod show;
mod side;
mod store;
mod synthetic;
mod tally;
#[cfg(test)]
mod tests;
mod trace;
mod zipf;

pub use self::{
    error::Error,
    left_out::LeftOut,
    places::Place,
    plan::Plan,
    policy::Policy,
    request::{Request, Source},
    result::{City, Latency, Link, Origin, Side, Simulation, Tier},
    run::{Progress, run},
    show::table,
    synthetic::Synthetic,
    trace::Trace,
    zipf::Zipf,
};
