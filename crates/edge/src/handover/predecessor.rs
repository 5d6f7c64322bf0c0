//! The process whose place this one takes.

use std::{
    io::{self, ErrorKind},
    os::unix::net::UnixStream,
    path::Path,
    thread,
};

use tokio::sync::watch;

use super::{greeting, wire::Wire};
use crate::sockets::Sockets;

/// The process that runs, until it has ended.
#[derive(Debug)]
pub(crate) struct Predecessor {
    wire: Wire,
}

impl Predecessor {
    /// The process that runs, if one does, and copies of its sockets.
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

    /// Has it leave the disk. One that ends instead has left it too.
    pub(crate) fn relieve(&mut self) -> io::Result<()> {
        match self.wire.say("ready").and_then(|()| self.wire.expect("yours")) {
            Err(error) if has_ended(&error) => Ok(()),
            relieved => relieved,
        }
    }

    /// Tells it that this process serves. What is returned is closed when it has ended.
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

/// Whether there is nobody at the other end any more.
fn has_ended(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe | ErrorKind::ConnectionReset)
}
