//! A core's thread: one runtime, with the servers whose connections it keeps to their end.

use std::sync::Arc;

use http::{Server, Stop, server::End};
use tokio::{
    runtime::{self, Runtime},
    sync::{mpsc, watch},
    task::JoinSet,
};

use crate::{
    Error,
    core::{Core, Visitors},
    doors::Doors,
};

/// A thread that has not begun.
pub(crate) struct Worker {
    runtime: Runtime,
    servers: Vec<Server>,
    core: Arc<Core>,
}

impl Worker {
    /// For a core that has its doors among these.
    pub(crate) fn new(core: Core, doors: &mut Doors) -> Result<Self, Error> {
        let runtime = own_runtime()?;
        let servers = {
            let _here = runtime.enter();
            doors.of_next_core()?
        };
        Ok(Self { runtime, servers, core: Arc::new(core) })
    }

    /// Serves until asked to stop, says how that ended, and goes on with what other cores wait for until `all_ended` is closed.
    pub(crate) fn work(
        self,
        stop: &Stop,
        ended: mpsc::UnboundedSender<End>,
        mut all_ended: watch::Receiver<()>,
    ) {
        self.runtime.block_on(async {
            let mut serving = JoinSet::new();
            for server in self.servers {
                let (visitors, stop) = (Visitors(Arc::clone(&self.core)), stop.clone());
                serving.spawn(async move { server.serve(visitors, &stop).await });
            }
            let ends = serving.join_all().await;
            let _ = ended.send(if ends.contains(&End::Cut) { End::Cut } else { End::Complete });
            drop(ended);
            let _ = all_ended.changed().await;
        });
        self.runtime.shutdown_background();
    }
}

/// A runtime of one thread.
pub(crate) fn own_runtime() -> Result<Runtime, Error> {
    runtime::Builder::new_current_thread().enable_all().build().map_err(Error::Runtime)
}
