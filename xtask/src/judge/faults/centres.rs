//! The data centres of all runs, and who else has a host of his own.

/// A data centre, as the network's file has it.
#[derive(Debug)]
pub(super) struct Centre {
    pub(super) name: &'static str,
    pub(super) city: &'static str,
    pub(super) region: &'static str,
}

const fn centre(name: &'static str, city: &'static str, region: &'static str) -> Centre {
    Centre { name, city, region }
}

/// The first one has the store, and the second one is in its region; of two stores the third one has the other.
pub(super) const CENTRES: [Centre; 4] = [
    centre("lhr", "london", "north"),
    centre("ams", "amsterdam", "north"),
    centre("mil", "milan", "italy"),
    centre("mad", "madrid", "iberia"),
];

/// The city of the origin, which no data centre is in.
pub(super) const ORIGIN_CITY: &str = "paris";
/// The host of the origin, and its address: that of the first host.
pub(super) const ORIGIN: (&str, &str) = ("origin", "10.0.0.1");

/// A host with a server of NATS.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ServerHost {
    pub(super) name: &'static str,
    /// Those of the last hosts.
    pub(super) address: &'static str,
    /// The data centre whose city it is in.
    pub(super) beside: usize,
}

/// Beside the data centre with the store; of two stores each has one.
pub(super) const SERVERS: [ServerHost; 2] = [
    ServerHost { name: "server", address: "10.0.0.6", beside: 0 },
    ServerHost { name: "server-2", address: "10.0.0.7", beside: 2 },
];
