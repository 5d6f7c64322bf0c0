//! Counters, the access log, traces.

pub(crate) mod access_log;
pub(crate) mod counters;
pub(crate) mod delivery;
pub(crate) mod histogram;
pub(crate) mod traces;
pub(crate) mod traffic;
