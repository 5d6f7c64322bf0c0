//! Helpers without a subject of their own.

pub(crate) mod clock;
pub(crate) mod compact_headers;
pub(crate) mod detach_on_drop;
pub(crate) mod expiry;
pub(crate) mod format;
pub(crate) mod private_file;
