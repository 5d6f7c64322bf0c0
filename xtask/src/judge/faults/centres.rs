//! Data centres and other hosts of all runs.

#[derive(Debug)]
pub(super) struct Centre {
    pub(super) name: &'static str,
    pub(super) city: &'static str,
    pub(super) region: &'static str,
}

const fn centre(name: &'static str, city: &'static str, region: &'static str) -> Centre {
    Centre { name, city, region }
}

/// The first has the store, the second is in the same region. With two stores, the third has the second
/// store.
pub(super) const CENTRES: [Centre; 4] = [
    centre("lhr", "london", "north"),
    centre("ams", "amsterdam", "north"),
    centre("mil", "milan", "italy"),
    centre("mad", "madrid", "iberia"),
];

pub(super) const ORIGIN_CITY: &str = "paris";
pub(super) const ORIGIN: (&str, &str) = ("origin", "10.0.0.1");

#[derive(Debug, PartialEq, Eq)]
pub(super) struct ServerHost {
    pub(super) name: &'static str,
    pub(super) address: &'static str,
    pub(super) beside: usize,
}

pub(super) const SERVERS: [ServerHost; 2] = [
    ServerHost { name: "server", address: "10.0.0.6", beside: 0 },
    ServerHost { name: "server-2", address: "10.0.0.7", beside: 2 },
];
