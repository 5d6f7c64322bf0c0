//! Counters, the access log, traces.

pub(crate) mod access_log;
pub(crate) mod counters;
pub(crate) mod delivery;
pub(crate) mod traces;
