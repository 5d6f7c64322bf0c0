//! The peers of a data centre: their health, the choice of the next tier for a key, and
//! measurements of routes to origins.

pub(crate) mod client;
mod connections;
pub(crate) mod headers;
mod health_check;
mod heartbeat;
mod inherited_state;
mod liveness;
mod origin_routes;
mod peer;
pub(crate) mod server;
mod status;
mod table;
mod tcp_stats;
mod tier_agreement;
pub(crate) mod tunnel;

pub use self::heartbeat::{HeartbeatReply, OriginSamples, Sample, ZoneUpper};
pub(crate) use self::{
    connections::TrafficClass,
    health_check::{ControlRequest, measure_connect, resolve},
    heartbeat::HeartbeatRequest,
    liveness::{PeerDown, abort_when_down, is_link_failure},
    origin_routes::RouteContext,
    peer::Peer,
    table::{Peers, PeersHandle},
};
