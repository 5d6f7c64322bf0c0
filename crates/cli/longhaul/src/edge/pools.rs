//! The load balancing of origins in `longhaul edge status`.

use edge::admin::api::{PoolMemberStatus, PoolStatus};
use report::terminal::table::table;
use units::show::count;

pub(super) fn text(pools: &[PoolStatus]) -> String {
    let pool = |pool: &PoolStatus| {
        let rows = pool.origins.iter().map(row);
        let head = format!("\nzone {}: balance {}\n", pool.zone, pool.balance);
        head + &table(HEAD.map(str::to_owned), rows)
    };
    pools.iter().map(pool).collect()
}

fn row(origin: &PoolMemberStatus) -> [String; 7] {
    let limit = origin.max_connections.map_or_else(String::new, |most| format!(" of {}", count(most)));
    [
        origin.address.clone(),
        state(origin),
        format!("{:.1}", origin.weight),
        count(origin.requests),
        format!("{}{limit}", count(origin.in_flight)),
        count(origin.ejections),
        format!("{} of {}", count(origin.check_failures), count(origin.checks)),
    ]
}

fn state(origin: &PoolMemberStatus) -> String {
    let reason = origin.reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
    let left = origin.ejected_for_s.map_or_else(String::new, |left| format!(", {left} s left"));
    format!("{}{reason}{left}", origin.state)
}

const HEAD: [&str; 7] = ["origin", "state", "weight", "requests", "in flight", "ejections", "failed checks"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ejected_origin_has_its_reason_and_the_rest_of_its_time() {
        let origin = PoolMemberStatus {
            address: "http://a:80".into(),
            state: "ejected".into(),
            reason: Some("status 503".into()),
            weight: 2.0,
            in_flight: 3,
            max_connections: Some(9),
            requests: 41,
            ejections: 2,
            ejected_for_s: Some(7),
            checks: 50,
            check_failures: 4,
        };
        assert_eq!(
            row(&origin),
            ["http://a:80", "ejected: status 503, 7 s left", "2.0", "41", "3 of 9", "2", "4 of 50"]
        );
    }
}
