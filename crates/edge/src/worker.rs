//! A worker thread: a single-threaded runtime with its servers and their connections.

use std::sync::Arc;

use http::{Membership, Stop, server::End};
use tokio::{
    runtime::{self, Runtime},
    sync::{mpsc, watch},
    task::JoinSet,
};
use tracing::warn;
use values::Door;

use crate::{
    Error,
    core::{Core, Visitors},
    doors::{Doors, Quic, Served},
    for_others::ForOthers,
};

pub(crate) struct Worker {
    runtime: Runtime,
    served: Served,
    core: Arc<Core>,
}

impl Worker {
    /// Takes the sockets of the next worker from `doors`.
    pub(crate) fn new(core: Core, doors: &mut Doors, member: Option<&Membership>) -> Result<Self, Error> {
        let runtime = own_runtime()?;
        let served = {
            let _here = runtime.enter();
            doors.of_next_core(member)?
        };
        Ok(Self { runtime, served, core: Arc::new(core) })
    }

    /// Serves until a stop is requested and reports the result. Then it continues to run tasks that other
    /// workers wait for, until `all_ended` closes. QUIC is served after `alone` closes: before that, another
    /// process may read its sockets.
    pub(crate) fn work(
        self,
        stop: &Stop,
        alone: watch::Receiver<()>,
        ended: mpsc::UnboundedSender<End>,
        mut all_ended: watch::Receiver<()>,
    ) {
        self.runtime.block_on(async {
            let mut serving = JoinSet::new();
            for server in self.served.servers {
                let (visitors, stop) = (Visitors(Arc::clone(&self.core)), stop.clone());
                serving.spawn(async move { server.serve(visitors, &stop).await });
            }
            if let Some(links) = self.served.links {
                let (others, stop) = (ForOthers(Arc::new(self.core.for_others())), stop.clone());
                serving.spawn(async move { links.serve(others, &stop).await });
            }
            for (server, scheme) in self.served.kv {
                let Some(kv) = &self.core.kv else { break };
                let address = server.addresses().ok().and_then(|all| all.first().copied());
                let (door, stop) = (Door::of(kv).on(scheme, address), stop.clone());
                serving.spawn(async move { server.serve(door, &stop).await });
            }
            if let Some(quic) = self.served.quic {
                serving.spawn(serve_quic(quic, Visitors(Arc::clone(&self.core)), stop.clone(), alone));
            }
            let ends = serving.join_all().await;
            let _ = ended.send(if ends.contains(&End::Cut) { End::Cut } else { End::Complete });
            drop(ended);
            let _ = all_ended.changed().await;
        });
        self.runtime.shutdown_background();
    }
}

async fn serve_quic(quic: Quic, visitors: Visitors, stop: Stop, mut alone: watch::Receiver<()>) -> End {
    tokio::select! {
        _ = alone.changed() => {}
        () = stop.asked() => return End::Complete,
    }
    match quic.server() {
        Ok(server) => server.serve(visitors, &stop).await,
        Err(error) => {
            warn!(%error, "HTTP/3 is not served");
            End::Complete
        }
    }
}

pub(crate) fn own_runtime() -> Result<Runtime, Error> {
    runtime::Builder::new_current_thread().enable_all().build().map_err(Error::Runtime)
}
