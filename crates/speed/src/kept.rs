//! Results that a server keeps, if its operator wants that: in one file, for a time, and with the network that a client came from in the
//! place of its address.
//!
//! | to see | look into |
//! | --- | --- |
//! | the file, and when results go | [`Store`] |
//! | what is kept of an address | [`Network`] |
//! | how often somebody may leave a result | [`Quota`] |
//! | what is known of each without reading all of it | [`Row`] |
//! | what an operator sees of all | [`Overview`] |
//!
//! A result is checked before it is kept: [`Outcome::reported`](crate::result::Outcome::reported).

mod network;
mod overview;
mod quota;
mod row;
mod secret;
mod store;
#[cfg(test)]
mod tests;

pub use http::token::TokenHash;

pub use self::{
    network::Network,
    overview::{Figures, Group, Overview, Wanted},
    quota::Quota,
    row::Row,
    secret::Secret,
    store::{Config, Moment, Store},
};
