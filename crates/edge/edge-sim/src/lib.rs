//! A simulation of an edge network in virtual time: it runs a trace of requests through the tiers
//! and stores of several topologies.
//!
//! Input and result: [`Plan`], [`run`], [`Simulation`], [`table`]. Sources of requests: [`Source`],
//! that is [`Synthetic`] or a [`Trace`].
//!
//! The crate `tier_routing` selects the next tier, and `http_cache::Eviction` implements eviction:
//! the simulation runs the same code as a data centre. Distances are from the crate `world`.

mod connections;
mod counters;
mod error;
mod geography;
mod number;
mod plan;
mod policy;
mod request;
mod result;
mod run;
mod skipped;
mod store;
mod synthetic;
mod tables;
#[cfg(test)]
mod tests;
mod topology_run;
mod trace;
mod zipf;

pub use self::{
    error::Error,
    geography::Place,
    plan::Plan,
    policy::Policy,
    request::{Request, Source},
    result::{City, Latency, Link, Origin, Side, Simulation, Tier},
    run::{Progress, run},
    skipped::LeftOut,
    synthetic::Synthetic,
    tables::table,
    trace::Trace,
    zipf::Zipf,
};
