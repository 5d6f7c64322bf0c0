//! Metrics of the load balancing of origins.

use super::Page;
use crate::admin::api::{PoolMemberStatus, PoolStatus};

pub(super) fn write(page: &mut Page<'_>, pools: &[PoolStatus]) {
    if pools.is_empty() {
        return;
    }
    let number: [Family; 6] = [
        ("zone_origin_up", "gauge", "Whether an origin is neither down nor ejected in a zone.", |origin| {
            f64::from(u8::from(origin.state == "up"))
        }),
        ("zone_origin_weight", "gauge", "Weight of an origin, lower during a slow start.", |origin| {
            origin.weight
        }),
        ("zone_origin_in_flight", "gauge", "Requests of a zone to an origin in flight.", |origin| {
            whole(origin.in_flight)
        }),
        ("zone_origin_requests_total", "counter", "Requests of a zone to an origin.", |origin| {
            whole(origin.requests)
        }),
        ("zone_origin_ejections_total", "counter", "Ejections of an origin in a zone.", |origin| {
            whole(origin.ejections)
        }),
        ("zone_origin_check_failures_total", "counter", "Failed health checks of an origin.", |origin| {
            whole(origin.check_failures)
        }),
    ];
    for (name, kind, help, value) in number {
        page.family(name, kind, help);
        for pool in pools {
            for origin in &pool.origins {
                page.value(name, &[("zone", &pool.zone), ("origin", &origin.address)], value(origin));
            }
        }
    }
}

type Family = (&'static str, &'static str, &'static str, fn(&PoolMemberStatus) -> f64);

#[expect(clippy::cast_precision_loss, reason = "Prometheus stores values as f64")]
fn whole(count: u64) -> f64 {
    count as f64
}
