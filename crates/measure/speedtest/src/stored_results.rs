//! Results stored by a server, if configured: in one file, for a limited time, with the client's network
//! instead of its address.
//!
//! | subject | see |
//! | --- | --- |
//! | the file, and the expiry of results | [`Store`] |
//! | the stored part of an address | [`Network`] |
//! | limits of stored results per household | [`Quota`] |
//! | a summary of each result | [`Row`] |
//! | the operator's overview of all results | [`Overview`] |
//!
//! A result is validated before it is stored: [`Outcome::reported`](crate::result::Outcome::reported).

mod network;
mod operator_token;
mod overview;
mod quota;
mod row;
mod store;
#[cfg(test)]
mod tests;

pub use http_stack::token::TokenHash;

pub use self::{
    network::Network,
    operator_token::Secret,
    overview::{Figures, Group, Overview, Wanted},
    quota::Quota,
    row::Row,
    store::{Config, Moment, Store},
};
