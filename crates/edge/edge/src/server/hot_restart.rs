//! Handover: a new process replaces a running one without an interruption for users.
//!
//! Both processes communicate over a Unix socket, line by line:
//!
//! | the new process | the running process |
//! | --- | --- |
//! | `longhaul-handover 1 lhr` | |
//! | | `sockets 5`, with copies of all listening sockets; or `refused` with the reason |
//! | `ready`: everything except the disk is initialised | |
//! | | `yours`: pending writes are on disk, and no more will follow |
//! | `serving` | |
//! | | accepts no more connections, finishes requests in flight, and exits |
//!
//! Two processes cannot share a UDP socket: the new process serves QUIC when the old one has
//! exited. If an error occurs before `serving`, the running process continues, without its disk if
//! it has released that.

mod listener;
mod predecessor;
mod protocol;

use std::{
    io,
    os::{fd::OwnedFd, unix::net::UnixStream},
    path::PathBuf,
    sync::Arc,
};

use http_stack::ShutdownSignal;
use tokio::sync::watch;

pub(crate) use self::protocol::HandoverChannel;
use self::{listener::SuccessorListener, predecessor::Predecessor};
use crate::{
    Error,
    config::DataCentre,
    server::{inherited_sockets::InheritedSockets, node::Node},
};

pub(crate) struct HotRestart {
    path: PathBuf,
    predecessor: Option<Predecessor>,
    listener: Option<SuccessorListener>,
}

impl HotRestart {
    pub(crate) fn connect(
        centre: &DataCentre,
        takes_over: bool,
    ) -> Result<(Self, Option<InheritedSockets>), Error> {
        let Some(path) = centre.handover.clone() else {
            return Ok((Self { path: PathBuf::new(), predecessor: None, listener: None }, None));
        };
        let mut handover = Self { path, predecessor: None, listener: None };
        if !takes_over && UnixStream::connect(&handover.path).is_ok() {
            return Err(handover
                .failed(io::Error::other("a data centre is already running; --take-over replaces it")));
        }
        let met = if takes_over { Predecessor::connect(&handover.path, &centre.name) } else { Ok(None) };
        let (predecessor, sockets) = met.map_err(|source| handover.failed(source))?.unzip();
        handover.predecessor = predecessor;
        handover.listener =
            Some(SuccessorListener::prepare(&handover.path).map_err(|source| handover.failed(source))?);
        Ok((handover, sockets))
    }

    pub(crate) fn has_predecessor(&self) -> bool {
        self.predecessor.is_some()
    }

    /// Blocks.
    pub(crate) fn release_disk(&mut self) -> Result<(), Error> {
        let relieved = self.predecessor.as_mut().map_or(Ok(()), Predecessor::release_disk);
        relieved.map_err(|source| self.failed(source))
    }

    /// The returned channel closes when no other process has these sockets.
    pub(crate) fn take_over(&mut self) -> Result<watch::Receiver<()>, Error> {
        let taken =
            self.predecessor.take().map_or_else(|| Ok(watch::channel(()).1), Predecessor::finish_takeover);
        let alone = taken.map_err(|source| self.failed(source))?;
        let published = self.listener.as_mut().map_or(Ok(()), SuccessorListener::publish);
        published.map_err(|source| self.failed(source))?;
        Ok(alone)
    }

    /// Ends after a stop too. The returned connection must stay open as long as this process uses
    /// shared resources.
    pub(crate) async fn wait_for_successor(
        mut self,
        node: Arc<Node>,
        sockets: Vec<OwnedFd>,
        failed: impl Fn(Error),
        stop: ShutdownSignal,
    ) -> Option<HandoverChannel> {
        let waiting = self.listener.take()?;
        waiting.accept_successor(node, sockets, |source| failed(self.failed(source)), &stop).await
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::Handover { path: self.path.clone(), source }
    }
}

fn greeting(centre: &str) -> String {
    format!("longhaul-handover {VERSION} {centre}")
}

const VERSION: u32 = 1;
