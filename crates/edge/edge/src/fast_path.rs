//! Requests that are answered or forwarded without the whole pipeline.

pub(crate) mod disk_heads;
pub(crate) mod fingerprint;
pub(crate) mod hit_table;
pub(crate) mod pass_table;
pub(crate) mod prerendered;
pub(crate) mod raw_forward;
pub(crate) mod request_table;
