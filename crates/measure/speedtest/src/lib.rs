//! A speed test: bandwidth, idle and loaded latency of a line, and its suitability for
//! applications.
//!
//! [`client`] and [`serve`] are the two ends, and [`wire`] is their protocol. The other modules
//! choose the requests and compute figures from them, without I/O except [`kept`].

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
