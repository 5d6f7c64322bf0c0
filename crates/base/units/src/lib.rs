//! Quantities such as "300ms", "1Gbit", "64KB", "0.1%" or "50/s" as types.
//!
//! Every type parses with [`std::str::FromStr`], prints with [`std::fmt::Display`] in a form that
//! parses to the same value, and reads from configuration files as a string. Durations are
//! [`std::time::Duration`], with functions instead of a type: [`duration::parse`],
//! [`duration::show`], and `#[serde(with = "units::duration")]`.
//!
//! - [`Bitrate`]: decimal, as usual for line rates; 1 Kbit is 1000 bits per second.
//! - [`Bytes`]: KB is 1000, KiB is 1024.
//! - [`Probability`]: a share from 0 to 1, written "0.1%" or "0.001".
//! - [`Frequency`]: events per second, written "50/s" or "3000/min".
//! - [`show`]: formats measured values with three significant digits.
//! - [`nearest`]: the known name nearest to a misspelt one.

mod bitrate;
mod bytes;
pub mod duration;
mod error;
mod frequency;
mod nearest;
mod number;
mod probability;
pub mod show;
mod text;

pub use bitrate::Bitrate;
pub use bytes::Bytes;
pub use error::Error;
pub use frequency::Frequency;
pub use nearest::nearest;
pub use probability::Probability;

/// Serializes a type as a string through its `FromStr` and `Display`.
macro_rules! serde_as_text {
    ($type:ty) => {
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(crate::text::Text { parse: str::parse, example: FORM.example })
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    };
}
pub(crate) use serde_as_text;
