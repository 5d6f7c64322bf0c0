//! The running process that is replaced.

use std::{
    io::{self, ErrorKind},
    os::unix::net::UnixStream,
    path::Path,
    thread,
};

use tokio::sync::watch;

use super::{greeting, wire::Wire};
use crate::sockets::Sockets;

/// A connection to the running process.
#[derive(Debug)]
pub(crate) struct Predecessor {
    wire: Wire,
}

impl Predecessor {
    /// Connects to the running process, if there is one, and receives copies of its sockets.
    pub(crate) fn meet(path: &Path, centre: &str) -> io::Result<Option<(Self, Sockets)>> {
        let stream = match UnixStream::connect(path) {
            Ok(stream) => stream,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let mut wire = Wire::new(stream)?;
        wire.say(&greeting(centre))?;
        let sockets = Sockets::among(wire.receive()?)?;
        Ok(Some((Self { wire }, sockets)))
    }

    /// Makes it release the disk. If it exits instead, the disk is free as well.
    pub(crate) fn relieve(&mut self) -> io::Result<()> {
        match self.wire.say("ready").and_then(|()| self.wire.expect("yours")) {
            Err(error) if has_ended(&error) => Ok(()),
            relieved => relieved,
        }
    }

    /// Reports that this process serves. The returned channel closes when the other process has exited.
    pub(crate) fn dismiss(mut self) -> io::Result<watch::Receiver<()>> {
        match self.wire.say("serving") {
            Err(error) if !has_ended(&error) => return Err(error),
            _ => {}
        }
        let (runs, has_ended) = watch::channel(());
        thread::Builder::new().name("predecessor".into()).spawn(move || {
            self.wire.wait_for_end();
            drop(runs);
        })?;
        Ok(has_ended)
    }
}

fn has_ended(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe | ErrorKind::ConnectionReset)
}
