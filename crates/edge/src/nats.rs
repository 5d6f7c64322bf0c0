//! Replication of purges through a NATS JetStream stream, in addition to direct links. Two data centres that
//! cannot reach each other exchange purges through the stream, and so does a data centre that joins later.
//!
//! A data centre publishes its entries that the stream lacks, and after a delay also missing entries of other
//! logs, whose writers cannot reach the stream. Received entries are applied like those from links: in any
//! order, and once. A gap in the numbers of a log shows that the stream has dropped entries. If no peer
//! supplies them over a link, everything becomes stale. The same happens when the stream was recreated or
//! restored to an earlier state. Positions are broadcast outside the stream and are not stored. While NATS is
//! unavailable, only links are used.

mod converse;
mod entry;
pub(crate) mod talk;

use std::sync::Arc;

use jetstream::Journal;

#[doc(hidden)]
pub use self::entry::is_entry_read_as_written;
use self::talk::{Talk, Underway};
use crate::{Error, centre::Edge, network::Network, operator::BusStatus};

/// The journal of the network's stream for a data centre, if a stream is configured. Blocks.
pub(crate) fn journal_of(network: &Network, centre: &str) -> Result<Option<Journal>, Error> {
    let streams = network.streams_directory(centre);
    let journal =
        |address: &jetstream::Address| Journal::new(address.clone(), &network.name, streams.as_deref());
    Ok(network.bus.as_ref().map(journal).transpose()?)
}

impl Edge {
    /// Starts replication through this stream, or stops it. Must be called in a tokio runtime with I/O and
    /// time.
    pub(crate) fn take_part(self: &Arc<Self>, journal: Option<Journal>) {
        self.bus.stream_is_anew();
        let underway = journal.map(|journal| {
            self.bus.awaits_stream();
            let talk = Arc::new(Talk::new(journal));
            let task = tokio::spawn(converse::run(Arc::downgrade(self), Arc::clone(&talk)));
            Underway { talk, task: task.abort_handle() }
        });
        if underway.is_none() {
            self.bus.asked_stream();
        }
        self.on_bus.is_now(underway);
    }

    /// Whether the stream is unchanged in this network, and refers to no files that must be read again.
    pub(crate) fn is_on_bus_of(&self, network: &Network) -> bool {
        let now = self.network();
        let has_files =
            |address: &jetstream::Address| address.credentials.is_some() || address.authority.is_some();
        now.bus == network.bus && now.name == network.name && !network.bus.as_ref().is_some_and(has_files)
    }

    pub(crate) fn is_on_bus(&self) -> bool {
        self.talk().is_some()
    }

    pub(crate) fn bus_status(&self) -> Option<BusStatus> {
        let talk = self.talk()?;
        Some(talk.report(&self.centre, self.bus.stream_is_behind()))
    }

    /// Whether the stream works and the state of a peer is recent.
    pub(crate) fn hears_on_bus(&self, name: &str) -> bool {
        self.talk().is_some_and(|talk| talk.is_working()) && self.bus.hears_of(name)
    }

    fn talk(&self) -> Option<Arc<Talk>> {
        self.on_bus.talk()
    }
}
