//! The calls to the operating system that no safe library wraps. All `unsafe` of this crate is here.

pub(crate) mod poll;
pub(crate) mod priority;
pub(crate) mod process;
pub(crate) mod tun;
