//! The process: workers, listeners, hot restart, reload, the state of the node.

pub(crate) mod ca;
pub(crate) mod hot_restart;
pub(crate) mod inherited_sockets;
pub(crate) mod kv;
pub(crate) mod listeners;
pub(crate) mod node;
pub(crate) mod preflight;
pub(crate) mod reload;
pub(crate) mod run;
pub(crate) mod tls;
pub(crate) mod worker;
pub(crate) mod worker_state;
