//! The running process waits for a replacement.

use std::{
    fs::{self, Permissions},
    io::{self, Error, ErrorKind},
    os::{
        fd::OwnedFd,
        unix::{
            fs::PermissionsExt as _,
            net::{UnixListener, UnixStream},
        },
    },
    path::{Path, PathBuf},
    process,
    sync::Arc,
};

use http::Stop;
use rustix::process::geteuid;
use tokio::{net, task::spawn_blocking};

use super::{VERSION, wire::Wire};
use crate::centre::Edge;

pub(super) struct Waiting {
    listener: UnixListener,
    /// Its temporary path until [`Self::publish`].
    before: Option<PathBuf>,
    path: PathBuf,
}

impl Waiting {
    /// Listens at a temporary path.
    pub(super) fn prepare(path: &Path) -> io::Result<Self> {
        let mut before = path.as_os_str().to_owned();
        before.push(format!(".{}", process::id()));
        let before = PathBuf::from(before);
        remove(&before)?;
        let listener = UnixListener::bind(&before)?;
        let waiting = Self { listener, before: Some(before.clone()), path: path.to_owned() };
        fs::set_permissions(&before, Permissions::from_mode(0o600))?;
        waiting.listener.set_nonblocking(true)?;
        Ok(waiting)
    }

    /// Moves the listener to its final path and replaces the listener of the previous process.
    pub(super) fn publish(&mut self) -> io::Result<()> {
        if let Some(before) = self.before.take() {
            fs::rename(&before, &self.path).inspect_err(|_| drop(remove(&before)))?;
        }
        Ok(())
    }

    /// Waits for a successor. The returned connection must stay open as long as this
    /// process runs. Failed attempts are reported to `failed`. Returns `None` after a stop. The sockets are
    /// closed on return.
    pub(super) async fn be_replaced(
        self,
        edge: Arc<Edge>,
        sockets: Vec<OwnedFd>,
        failed: impl Fn(Error),
        stop: &Stop,
    ) -> Option<Wire> {
        let sockets = Arc::new(sockets);
        let listener = match self.listener.try_clone().and_then(net::UnixListener::from_std) {
            Ok(listener) => listener,
            Err(error) => {
                failed(error);
                return None;
            }
        };
        loop {
            let stream = tokio::select! {
                accepted = listener.accept() => accepted.and_then(|(stream, _)| known(stream)),
                () = stop.asked() => {
                    let _ = remove(&self.path);
                    return None;
                }
            };
            let (edge, sockets) = (Arc::clone(&edge), Arc::clone(&sockets));
            let conversation = spawn_blocking(move || leave(stream?, &edge, &sockets));
            match conversation.await.map_err(Error::other).and_then(|left| left) {
                Ok(Some(wire)) => return Some(wire),
                // It only checked whether a process is running.
                Ok(None) => {}
                Err(error) => failed(error),
            }
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = remove(before);
        }
    }
}

/// Accepts a process of the same user or of root.
fn known(stream: net::UnixStream) -> io::Result<UnixStream> {
    let user = stream.peer_cred()?.uid();
    if user == 0 || user == geteuid().as_raw() {
        return stream.into_std();
    }
    Err(Error::new(
        ErrorKind::PermissionDenied,
        format!("user {user} may not replace a process of another user"),
    ))
}

/// Runs the protocol of the running process; `None` if the other process closes the connection without a
/// line.
fn leave(stream: UnixStream, edge: &Edge, sockets: &[OwnedFd]) -> io::Result<Option<Wire>> {
    let mut wire = Wire::new(stream)?;
    let greeting = match wire.hear() {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        heard => heard?,
    };
    if greeting != super::greeting(&edge.centre) {
        let why = format!("this is data centre {} with handover version {VERSION}", edge.centre);
        wire.say(&format!("refused {why}"))?;
        return Err(Error::new(ErrorKind::InvalidData, format!("{why}, but the request was \"{greeting}\"")));
    }
    wire.send(sockets)?;
    wire.expect("ready")?;
    edge.leave();
    let taken = wire.say("yours").and_then(|()| wire.expect("serving"));
    taken.inspect_err(|_| edge.stay())?;
    Ok(Some(wire))
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
