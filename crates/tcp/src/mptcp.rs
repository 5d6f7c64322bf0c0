//! Multipath TCP (RFC 8684): one connection over several paths.

mod path_manager;

pub use path_manager::{Endpoint, Limits, PathManager, Purpose};
