//! System calls without a safe wrapper. All `unsafe` of this crate is here.

pub(crate) mod poll;
pub(crate) mod priority;
pub(crate) mod process;
pub(crate) mod tun;
