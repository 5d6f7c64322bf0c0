//! Formats of access logs for uses that need no durations.

use super::{AccessLog, format};
use crate::error::Unknown;

impl AccessLog {
    /// As [`str::parse`], also of a format without a duration, such as `combined`.
    ///
    /// # Errors
    /// The error quotes the format from where it is wrong.
    pub fn of_requests(text: &str) -> Result<Self, Unknown> {
        Ok(Self { parsed: format::parse_requests(text)? })
    }
}
