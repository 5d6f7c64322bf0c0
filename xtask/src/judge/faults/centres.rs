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

/// The host of the server of NATS, beside the data centre with the store, and its address: that of the last host.
pub(super) const SERVER: (&str, &str) = ("server", "10.0.0.6");
