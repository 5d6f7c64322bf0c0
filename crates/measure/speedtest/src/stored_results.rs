//! Results stored by a server, if configured: in one file, for a limited time, with the client's
//! network instead of its address. [`Outcome::reported`](crate::result::Outcome::reported)
//! validates a result first.

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
