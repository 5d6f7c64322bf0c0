//! The peers of a data centre: their health, the choice of the next tier for a key, and measurements of
//! routes to origins.

mod carried;
mod choices;
mod gone;
mod hello;
mod inherited;
mod lanes;
mod peer;
mod report;
mod view;
mod watch;
mod ways;

pub use self::hello::{OfOrigin, OfZone, Sample, Told};
pub(crate) use self::{
    gone::{Gone, is_of_link, until_gone},
    hello::Hello,
    lanes::Lane,
    peer::Peer,
    view::{Linked, Others},
    watch::{Question, connect_to, look_up},
    ways::Around,
};
