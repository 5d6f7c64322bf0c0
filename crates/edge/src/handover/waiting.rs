//! Where the process that runs waits for the one that will take its place.

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

/// Where a process waits for the one that will take its place.
pub(super) struct Waiting {
    listener: UnixListener,
    /// Where it listens until [`Self::publish`].
    before: Option<PathBuf>,
    path: PathBuf,
}

impl Waiting {
    /// Listens near the path, where nobody looks yet.
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

    /// Listens at the path, in place of whoever did.
    pub(super) fn publish(&mut self) -> io::Result<()> {
        if let Some(before) = self.before.take() {
            fs::rename(&before, &self.path).inspect_err(|_| drop(remove(&before)))?;
        }
        Ok(())
    }

    /// Waits for a process that takes this one's place, and says who: the conversation is to be kept open as long as this process runs.
    /// Tells of those that failed. The sockets are closed when it returns, which it does with `None` when asked to stop.
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
                // Who only looked whether a process runs here.
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

/// A process of the same user, or of root.
fn known(stream: net::UnixStream) -> io::Result<UnixStream> {
    let user = stream.peer_cred()?.uid();
    if user == 0 || user == geteuid().as_raw() {
        return stream.into_std();
    }
    Err(Error::new(
        ErrorKind::PermissionDenied,
        format!("user {user} may not take the place of another's process"),
    ))
}

/// The conversation with one that takes this one's place; `None` if it says nothing.
fn leave(stream: UnixStream, edge: &Edge, sockets: &[OwnedFd]) -> io::Result<Option<Wire>> {
    let mut wire = Wire::new(stream)?;
    let greeting = match wire.hear() {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        heard => heard?,
    };
    if greeting != super::greeting(&edge.centre) {
        let why = format!("this is data centre {} of a process that knows version {VERSION}", edge.centre);
        wire.say(&format!("refused {why}"))?;
        return Err(Error::new(ErrorKind::InvalidData, format!("{why}, and was asked for \"{greeting}\"")));
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
