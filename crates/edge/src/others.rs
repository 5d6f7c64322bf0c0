//! The other data centres of a network, as one of them sees them: which can be asked, who is next for a key, and what all of them
//! measured of the ways to origins.

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
