//! What the operator sees and does: status, metrics, explanations, purges, settings.

pub mod api;
pub(crate) mod explain;
pub(crate) mod metrics;
pub(crate) mod server;
pub(crate) mod tier_settings;
