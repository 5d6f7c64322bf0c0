//! Transfers over loopback.
