//! Replication of purges through a NATS JetStream stream, in addition to direct links.
//!
//! A data centre publishes its entries that the stream lacks, and after a delay also missing
//! entries of other logs, whose writers cannot reach the stream. A gap in the numbers of a log
//! shows that the stream has dropped entries. If no peer supplies them over a link, everything
//! becomes stale; the same happens when the stream was recreated or restored to an earlier state.
//! Positions are broadcast outside the stream and are not stored.

mod record;
mod session;
pub(crate) mod state;

use std::sync::Arc;

use kv_nats::Journal;

#[doc(hidden)]
pub use self::record::nats_record_round_trips;
use self::state::{NatsSession, RunningSession};
use crate::{Error, admin::api::BusStatus, config::Network, server::node::Node};

/// Blocks.
pub(crate) fn journal_of(network: &Network, centre: &str) -> Result<Option<Journal>, Error> {
    let streams = network.streams_directory(centre);
    let journal =
        |address: &kv_nats::Address| Journal::new(address.clone(), &network.name, streams.as_deref());
    Ok(network.bus.as_ref().map(journal).transpose()?)
}

impl Node {
    /// `None` stops the replication. Must be called in a tokio runtime with I/O and time.
    pub(crate) fn join_nats(self: &Arc<Self>, journal: Option<Journal>) {
        self.purge_log.reset_stream();
        let running = journal.map(|journal| {
            self.purge_log.expect_stream();
            let session = Arc::new(NatsSession::new(journal));
            let task = tokio::spawn(session::run(Arc::downgrade(self), Arc::clone(&session)));
            RunningSession { session, task: task.abort_handle() }
        });
        if running.is_none() {
            self.purge_log.mark_stream_synced();
        }
        self.nats.set_session(running);
    }

    pub(crate) fn uses_nats_of(&self, network: &Network) -> bool {
        let now = self.network();
        let has_files =
            |address: &kv_nats::Address| address.credentials.is_some() || address.authority.is_some();
        now.bus == network.bus && now.name == network.name && !network.bus.as_ref().is_some_and(has_files)
    }

    pub(crate) fn has_nats(&self) -> bool {
        self.nats_session().is_some()
    }

    pub(crate) fn nats_status(&self) -> Option<BusStatus> {
        let session = self.nats_session()?;
        Some(session.report(&self.data_centre, self.purge_log.stream_lag()))
    }

    pub(crate) fn hears_over_nats(&self, name: &str) -> bool {
        self.nats_session().is_some_and(|session| session.is_working())
            && self.purge_log.is_peer_current(name)
    }

    fn nats_session(&self) -> Option<Arc<NatsSession>> {
        self.nats.session()
    }
}
