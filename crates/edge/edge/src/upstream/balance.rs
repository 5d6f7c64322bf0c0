//! Load balancing over the origins of a zone.
//!
//! `pool` and the modules that it uses are pure: they choose and judge origins from counters and
//! times that they are given. `zone_pool` and `health_checks` connect them to requests.

mod check_state;
pub(crate) mod choice;
mod ejection;
mod health_checks;
pub(crate) mod in_flight_permit;
mod pool;
pub(crate) mod pools;
mod queue;
mod round_robin;
mod slow_start;
mod state;
mod zone_pool;
