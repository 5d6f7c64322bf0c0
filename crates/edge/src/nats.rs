//! Purges travel through the network's bus as well, a stream of NATS: two data centres that do not reach each other hear of each other's purges
//! through it, and so does who comes later.
//!
//! A data centre puts into the stream what that lacks of its own log, and after a while what it lacks of others, whose data centres do not
//! reach it. It does what it reads there as what others tell it over links: in any order, and once. What the stream does not have any more, and
//! nobody tells over a link, is known to be lacking by the numbers of what follows; then everything is taken for stale. The same happens when the stream was recreated or has gone back. How far each
//! is goes from one to all beside the stream, and is not kept. Without NATS all of this waits, and the links go on.

mod converse;
mod entry;
pub(crate) mod talk;

use std::sync::Arc;

use jetstream::Journal;

#[doc(hidden)]
pub use self::entry::is_entry_read_as_written;
use self::talk::{Talk, Underway};
use crate::{Error, centre::Edge, network::Network, operator::BusStatus};

/// The bus of a network, if it has one, for a data centre. Blocks.
pub(crate) fn journal_of(network: &Network, centre: &str) -> Result<Option<Journal>, Error> {
    let streams = network.streams_directory(centre);
    let journal =
        |address: &jetstream::Address| Journal::new(address.clone(), &network.name, streams.as_deref());
    Ok(network.bus.as_ref().map(journal).transpose()?)
}

impl Edge {
    /// Takes part in the bus from now on, or in none. To be called in a tokio runtime with I/O and time.
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

    /// Whether the bus of a network is the one that it has now, with files that need not be read again.
    pub(crate) fn is_on_bus_of(&self, network: &Network) -> bool {
        let now = self.network();
        let has_files =
            |address: &jetstream::Address| address.credentials.is_some() || address.authority.is_some();
        now.bus == network.bus && now.name == network.name && !network.bus.as_ref().is_some_and(has_files)
    }

    /// Whether there is a bus.
    pub(crate) fn is_on_bus(&self) -> bool {
        self.talk().is_some()
    }

    /// How the bus fares, if there is one.
    pub(crate) fn bus_status(&self) -> Option<BusStatus> {
        let talk = self.talk()?;
        Some(talk.report(&self.centre, self.bus.stream_is_behind()))
    }

    /// Whether the bus carries what another data centre says of itself, as it did not long ago.
    pub(crate) fn hears_on_bus(&self, name: &str) -> bool {
        self.talk().is_some_and(|talk| talk.is_working()) && self.bus.hears_of(name)
    }

    fn talk(&self) -> Option<Arc<Talk>> {
        self.on_bus.talk()
    }
}
