//! Purges: applied, logged, synchronized with peers and through NATS, acknowledged.

pub(crate) mod acks;
pub(crate) mod apply;
pub(crate) mod log;
pub(crate) mod nats;
pub(crate) mod record;
pub(crate) mod sync;
