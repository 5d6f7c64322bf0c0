//! A speed test: what a line carries, how long it takes with the line idle and full, and what that is good for.
//!
//! | to see | look into |
//! | --- | --- |
//! | which requests a test makes | [`plan`], [`stop`] |
//! | from requests to a rate | [`bandwidth`] |
//! | latency, idle and loaded, and jitter | [`latency`] |
//! | round trips a minute | [`responsiveness`] |
//! | who limited a transfer | [`limited`] |
//! | points, classes and why | [`rubric`] |
//! | the same in words | [`sentence`] |
//! | the document that it comes to | [`result`] |
//!
//! All of these are pure.
pub mod bandwidth;
pub mod latency;
pub mod limited;
pub mod plan;
pub mod responsiveness;
pub mod result;
pub mod rubric;
pub mod sentence;
mod spread;
pub mod stop;

pub use spread::Spread;
