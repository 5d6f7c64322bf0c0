//! From a stored object to a response: status, headers, content coding.

pub(crate) mod build;
pub(crate) mod compress;
pub(crate) mod encoder;
