//! A speed test: bandwidth, idle and loaded latency of a line, and its suitability for applications.
//!
//! | subject | see |
//! | --- | --- |
//! | the requests of a test | [`plan`], [`stop`] |
//! | from requests to a rate | [`bandwidth`] |
//! | idle and loaded latency, and jitter | [`latency`] |
//! | round trips per minute | [`responsiveness`] |
//! | a download measured by acknowledgements | `delivery` |
//! | the limiting component of a transfer | [`limited`] |
//! | points and classes | [`rubric`] |
//! | a summary as text | [`sentence`] |
//! | the result document | [`result`] |
//!
//! | component | see |
//! | --- | --- |
//! | the client | [`client`] |
//! | the server | [`serve`] |
//! | the protocol between them | [`wire`] |
//! | stored results | [`kept`] |
//!
//! All but the last four are pure: time is an input.

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
