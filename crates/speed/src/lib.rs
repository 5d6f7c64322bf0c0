//! A speed test: what a line carries, how long it takes with the line idle and full, and what that is good for.
//!
//! | to see | look into |
//! | --- | --- |
//! | which requests a test makes | [`plan`], [`stop`] |
//! | from requests to a rate | [`bandwidth`] |
//! | latency, idle and loaded, and jitter | [`latency`] |
//! | round trips a minute | [`responsiveness`] |
//! | a download by its acknowledgements | `delivery` |
//! | who limited a transfer | [`limited`] |
//! | points, classes and why | [`rubric`] |
//! | the same in words | [`sentence`] |
//! | the document that it comes to | [`result`] |
//!
//! | a test from its first request to its result | [`client`] |
//! | what a server answers | [`serve`] |
//! | what both ends say to each other | [`wire`] |
//! | results that a server keeps | [`kept`] |
//!
//! All but the last four are pure: they are given times and read no clock.

pub mod bandwidth;
pub mod client;
mod delivery;
mod error;
mod household;
pub mod kept;
pub mod latency;
pub mod limited;
mod noise;
mod pieces;
pub mod plan;
pub mod responsiveness;
pub mod result;
pub mod rubric;
pub mod sentence;
pub mod serve;
mod spread;
pub mod stop;
pub mod wire;

pub use error::Error;
pub use spread::Spread;
