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

use http_stack::ShutdownSignal;
use rustix::process::geteuid;
use tokio::{net, task::spawn_blocking};

use super::{VERSION, protocol::HandoverChannel};
use crate::server::node::Node;

pub(super) struct SuccessorListener {
    listener: UnixListener,
    staging_path: Option<PathBuf>,
    path: PathBuf,
}

impl SuccessorListener {
    pub(super) fn prepare(path: &Path) -> io::Result<Self> {
        let mut staging_path = path.as_os_str().to_owned();
        staging_path.push(format!(".{}", process::id()));
        let staging_path = PathBuf::from(staging_path);
        remove(&staging_path)?;
        let listener = UnixListener::bind(&staging_path)?;
        let waiting = Self { listener, staging_path: Some(staging_path.clone()), path: path.to_owned() };
        fs::set_permissions(&staging_path, Permissions::from_mode(0o600))?;
        waiting.listener.set_nonblocking(true)?;
        Ok(waiting)
    }

    pub(super) fn publish(&mut self) -> io::Result<()> {
        if let Some(staging_path) = self.staging_path.take() {
            fs::rename(&staging_path, &self.path).inspect_err(|_| drop(remove(&staging_path)))?;
        }
        Ok(())
    }

    /// The returned connection must stay open as long as this process runs. Failed attempts are
    /// reported to `failed`. Returns `None` after a stop. The sockets are closed on return.
    pub(super) async fn accept_successor(
        self,
        node: Arc<Node>,
        sockets: Vec<OwnedFd>,
        failed: impl Fn(Error),
        stop: &ShutdownSignal,
    ) -> Option<HandoverChannel> {
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
                accepted = listener.accept() => accepted.and_then(|(stream, _)| is_trusted_user(stream)),
                () = stop.asked() => {
                    let _ = remove(&self.path);
                    return None;
                }
            };
            let (node, sockets) = (Arc::clone(&node), Arc::clone(&sockets));
            let conversation = spawn_blocking(move || hand_over(stream?, &node, &sockets));
            match conversation.await.map_err(Error::other).and_then(|left| left) {
                Ok(Some(channel)) => return Some(channel),
                Ok(None) => {}
                Err(error) => failed(error),
            }
        }
    }
}

impl Drop for SuccessorListener {
    fn drop(&mut self) {
        if let Some(staging_path) = &self.staging_path {
            let _ = remove(staging_path);
        }
    }
}

/// The peer must run as the same user or as root.
fn is_trusted_user(stream: net::UnixStream) -> io::Result<UnixStream> {
    let user = stream.peer_cred()?.uid();
    if user == 0 || user == geteuid().as_raw() {
        return stream.into_std();
    }
    Err(Error::new(
        ErrorKind::PermissionDenied,
        format!("user {user} may not replace a process of another user"),
    ))
}

fn hand_over(stream: UnixStream, node: &Node, sockets: &[OwnedFd]) -> io::Result<Option<HandoverChannel>> {
    let mut channel = HandoverChannel::new(stream)?;
    let greeting = match channel.receive_line() {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        heard => heard?,
    };
    if greeting != super::greeting(&node.data_centre) {
        let why = format!("this is data centre {} with handover version {VERSION}", node.data_centre);
        channel.send_line(&format!("refused {why}"))?;
        return Err(Error::new(ErrorKind::InvalidData, format!("{why}, but the request was \"{greeting}\"")));
    }
    channel.send_sockets(sockets)?;
    channel.expect_line("ready")?;
    node.hand_over();
    let taken = channel.send_line("yours").and_then(|()| channel.expect_line("serving"));
    taken.inspect_err(|_| node.cancel_handover())?;
    Ok(Some(channel))
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
