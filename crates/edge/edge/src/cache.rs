//! Cache lookups, misses, fills, revalidation and ranges: what a request does to the store.

pub(crate) mod collapse;
pub(crate) mod disk_lookup;
pub(crate) mod fill;
pub(crate) mod freshen;
pub(crate) mod hit_for_miss;
pub(crate) mod miss;
pub(crate) mod range_fill;
pub(crate) mod range_hit;
pub(crate) mod response_order;
pub(crate) mod stale_on_error;
