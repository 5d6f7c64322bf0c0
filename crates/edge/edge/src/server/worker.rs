//! A worker thread: a single-threaded runtime with its servers and their connections.

use std::sync::Arc;

use http_stack::{MeshIdentity, ShutdownSignal, server::End};
use kv_server::KvHandler;
use tokio::{
    runtime::{self, Runtime},
    sync::{mpsc, watch},
    task::JoinSet,
};
use tracing::warn;

use crate::{
    Error,
    peers::server::PeerHandler,
    request::handler::ClientHandler,
    server::{
        listeners::{Listeners, QuicSockets, WorkerListeners},
        worker_state::WorkerState,
    },
};

pub(crate) struct WorkerThread {
    runtime: Runtime,
    listeners: WorkerListeners,
    state: Arc<WorkerState>,
}

impl WorkerThread {
    pub(crate) fn new(
        worker: WorkerState,
        listeners: &mut Listeners,
        member: Option<&MeshIdentity>,
    ) -> Result<Self, Error> {
        let runtime = own_runtime()?;
        let listeners = {
            let _here = runtime.enter();
            listeners.next_worker(member)?
        };
        Ok(Self { runtime, listeners, state: Arc::new(worker) })
    }

    /// After a stop it continues to run tasks that other workers wait for, until `all_ended`
    /// closes. QUIC is served after `alone` closes: before that, another process may read its
    /// sockets.
    pub(crate) fn work(
        self,
        stop: &ShutdownSignal,
        alone: watch::Receiver<()>,
        ended: mpsc::UnboundedSender<End>,
        mut all_ended: watch::Receiver<()>,
    ) {
        self.runtime.block_on(async {
            let mut prerendered = JoinSet::new();
            for server in self.listeners.servers {
                let (handler, stop) = (ClientHandler(Arc::clone(&self.state)), stop.clone());
                prerendered.spawn(async move { server.serve(handler, &stop).await });
            }
            if let Some(links) = self.listeners.links {
                let (peers, stop) = (PeerHandler(Arc::new(self.state.for_peers())), stop.clone());
                prerendered.spawn(async move { links.serve(peers, &stop).await });
            }
            for (server, scheme) in self.listeners.kv {
                let Some(kv) = &self.state.kv else { break };
                let address = server.addresses().ok().and_then(|all| all.first().copied());
                let (door, stop) = (KvHandler::of(kv).on(scheme, address), stop.clone());
                prerendered.spawn(async move { server.serve(door, &stop).await });
            }
            if let Some(quic) = self.listeners.quic {
                prerendered.spawn(serve_quic(
                    quic,
                    ClientHandler(Arc::clone(&self.state)),
                    stop.clone(),
                    alone,
                ));
            }
            let ends = prerendered.join_all().await;
            let _ = ended.send(if ends.contains(&End::Cut) { End::Cut } else { End::Complete });
            drop(ended);
            let _ = all_ended.changed().await;
        });
        self.runtime.shutdown_background();
    }
}

async fn serve_quic(
    quic: QuicSockets,
    handler: ClientHandler,
    stop: ShutdownSignal,
    mut alone: watch::Receiver<()>,
) -> End {
    tokio::select! {
        _ = alone.changed() => {}
        () = stop.asked() => return End::Complete,
    }
    match quic.server() {
        Ok(server) => server.serve(handler, &stop).await,
        Err(error) => {
            warn!(%error, "HTTP/3 is not served");
            End::Complete
        }
    }
}

pub(crate) fn own_runtime() -> Result<Runtime, Error> {
    runtime::Builder::new_current_thread().enable_all().build().map_err(Error::Runtime)
}
