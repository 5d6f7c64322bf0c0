//! The running process that is replaced.

use std::{
    io::{self, ErrorKind},
    os::unix::net::UnixStream,
    path::Path,
    thread,
};

use tokio::sync::watch;

use super::{greeting, protocol::HandoverChannel};
use crate::server::inherited_sockets::InheritedSockets;

#[derive(Debug)]
pub(crate) struct Predecessor {
    channel: HandoverChannel,
}

impl Predecessor {
    pub(crate) fn connect(path: &Path, centre: &str) -> io::Result<Option<(Self, InheritedSockets)>> {
        let stream = match UnixStream::connect(path) {
            Ok(stream) => stream,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let mut channel = HandoverChannel::new(stream)?;
        channel.send_line(&greeting(centre))?;
        let sockets = InheritedSockets::from_descriptors(channel.receive_sockets()?)?;
        Ok(Some((Self { channel }, sockets)))
    }

    pub(crate) fn release_disk(&mut self) -> io::Result<()> {
        match self.channel.send_line("ready").and_then(|()| self.channel.expect_line("yours")) {
            Err(error) if has_ended(&error) => Ok(()),
            relieved => relieved,
        }
    }

    pub(crate) fn finish_takeover(mut self) -> io::Result<watch::Receiver<()>> {
        match self.channel.send_line("serving") {
            Err(error) if !has_ended(&error) => return Err(error),
            _ => {}
        }
        let (runs, has_ended) = watch::channel(());
        thread::Builder::new().name("predecessor".into()).spawn(move || {
            self.channel.wait_for_end();
            drop(runs);
        })?;
        Ok(has_ended)
    }
}

fn has_ended(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe | ErrorKind::ConnectionReset)
}
