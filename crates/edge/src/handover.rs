//! One process takes another one's place, and no visitor notices.
//!
//! Both speak over a Unix socket, a line each time:
//!
//! | the new process | the one that runs |
//! | --- | --- |
//! | `longhaul-handover 1 lhr` | |
//! | | `sockets 5`, with copies of all that it listens on; or `refused`, and why |
//! | `ready`: it can do all that it needs but open the disk | |
//! | | `yours`: it has written what waited for the disk, and does not write there any more |
//! | `serving` | |
//! | | accepts nothing more, finishes what is in flight, and ends |
//!
//! Connections that come meanwhile wait in sockets that both have. A UDP socket cannot be read by both: QUIC is served by the new
//! process as soon as the other one has ended, which until then refuses new connections. Whatever goes wrong before `serving`, the one
//! that runs goes on; without its disk, if it had left that already.

mod predecessor;
mod waiting;
mod wire;

use std::{
    io,
    os::{fd::OwnedFd, unix::net::UnixStream},
    path::PathBuf,
    sync::Arc,
};

use http::Stop;
use tokio::sync::watch;

pub(crate) use self::wire::Wire;
use self::{predecessor::Predecessor, waiting::Waiting};
use crate::{Error, centre::Edge, network::DataCentre, sockets::Sockets};

/// Whose place this process takes, and where it waits for the one that will take its own.
pub(crate) struct Handover {
    path: PathBuf,
    predecessor: Option<Predecessor>,
    waiting: Option<Waiting>,
}

impl Handover {
    /// Looks for a process that runs. Returns its sockets, if there is one.
    pub(crate) fn begin(centre: &DataCentre, takes_over: bool) -> Result<(Self, Option<Sockets>), Error> {
        let Some(path) = centre.handover.clone() else {
            return Ok((Self { path: PathBuf::new(), predecessor: None, waiting: None }, None));
        };
        let mut handover = Self { path, predecessor: None, waiting: None };
        if !takes_over && UnixStream::connect(&handover.path).is_ok() {
            return Err(
                handover.failed(io::Error::other("a data centre runs already; --take-over takes its place"))
            );
        }
        let met = if takes_over { Predecessor::meet(&handover.path, &centre.name) } else { Ok(None) };
        let (predecessor, sockets) = met.map_err(|source| handover.failed(source))?.unzip();
        handover.predecessor = predecessor;
        handover.waiting = Some(Waiting::prepare(&handover.path).map_err(|source| handover.failed(source))?);
        Ok((handover, sockets))
    }

    /// Whether another process runs.
    pub(crate) fn has_predecessor(&self) -> bool {
        self.predecessor.is_some()
    }

    /// Has it leave its disk. Blocks.
    pub(crate) fn relieve(&mut self) -> Result<(), Error> {
        let relieved = self.predecessor.as_mut().map_or(Ok(()), Predecessor::relieve);
        relieved.map_err(|source| self.failed(source))
    }

    /// Serves in its place. What is returned is closed when no other process has these sockets any more.
    pub(crate) fn take_over(&mut self) -> Result<watch::Receiver<()>, Error> {
        let taken = self.predecessor.take().map_or_else(|| Ok(watch::channel(()).1), Predecessor::dismiss);
        let alone = taken.map_err(|source| self.failed(source))?;
        let published = self.waiting.as_mut().map_or(Ok(()), Waiting::publish);
        published.map_err(|source| self.failed(source))?;
        Ok(alone)
    }

    /// Waits for a process that takes this one's place, unless it is asked to stop first. The conversation with it is to be kept open as
    /// long as this process has anything of it.
    pub(crate) async fn be_replaced(
        mut self,
        edge: Arc<Edge>,
        sockets: Vec<OwnedFd>,
        failed: impl Fn(Error),
        stop: Stop,
    ) -> Option<Wire> {
        let waiting = self.waiting.take()?;
        waiting.be_replaced(edge, sockets, |source| failed(self.failed(source)), &stop).await
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::Handover { path: self.path.clone(), source }
    }
}

fn greeting(centre: &str) -> String {
    format!("longhaul-handover {VERSION} {centre}")
}

const VERSION: u32 = 1;
