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
pub mod bottleneck;
mod chunk_timing;
pub mod client;
mod client_prefix;
mod delivery;
mod error;
mod five_numbers;
pub mod latency;
pub mod plan;
mod random_body;
pub mod responsiveness;
pub mod result;
pub mod rubric;
pub mod serve;
pub mod size_ramp;
pub mod stored_results;
pub mod summary_text;
pub mod wire;

pub use error::Error;
pub use five_numbers::Spread;
