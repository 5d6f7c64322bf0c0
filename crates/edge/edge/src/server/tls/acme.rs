//! Certificates from an ACME server (RFC 8555): account, orders, challenges, storage and renewal.

mod client;
pub(crate) mod http01;
mod order;
#[cfg(test)]
mod pebble;
pub(crate) mod renewal;
mod schedule;
mod storage;

#[cfg(test)]
mod tests;
