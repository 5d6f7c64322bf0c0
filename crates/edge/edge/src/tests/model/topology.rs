//! The edges under test: one data centre, a lower and an upper tier, and a data centre with a disk.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use http_cache::purge::{Depth, Purge};
use http_stack::{Server, ShutdownSignal};
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

use super::{clients::Connections, origin::Origin, plan::By};
use crate::{
    config::Disk,
    request::handler::ClientHandler,
    server::worker_state::WorkerState,
    tests::{Fixture, purges::TO_FRA, test_network::World},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Memory,
    Tiers,
    Disk,
}

pub(super) struct Arm {
    pub(super) kind: Kind,
    pub(super) origin: Arc<Origin>,
    pub(super) connections: Connections,
    pub(super) listeners: Vec<SocketAddr>,
    workers: Vec<Arc<WorkerState>>,
    stop: ShutdownSignal,
    _edge: Edge,
}

enum Edge {
    One { _stage: Fixture, _disk: Option<TempDir> },
    Two { _world: World },
}

impl Arm {
    pub(super) fn new(kind: Kind) -> Self {
        let (origin, stop) = (Arc::new(Origin::default()), ShutdownSignal::new());
        let origins = Arc::clone(&origin);
        let respond = move |request, _| {
            let origin = Arc::clone(&origins);
            async move { origin.respond(request).await }
        };
        let (workers, node) = match kind {
            Kind::Tiers => {
                let world = World::new(&format!("{TO_FRA}{ZONE}largest = \"16KB\"\n"), respond);
                let workers = world.centres[..2].iter().map(|centre| Arc::clone(&centre.worker)).collect();
                (workers, Edge::Two { _world: world })
            }
            Kind::Memory => {
                let zone = format!("{ZONE}requests_decide = true\nlargest = \"16KB\"\n");
                let fixture = Fixture::new(&zone, respond);
                (vec![Arc::clone(&fixture.node)], Edge::One { _stage: fixture, _disk: None })
            }
            Kind::Disk => {
                let directory = TempDir::new().unwrap();
                let disk = Disk { path: directory.path().join("cache"), bytes: 256 << 20 };
                let zone = format!("{ZONE}requests_decide = true\nlargest = \"64KB\"\n");
                let fixture = Fixture::with_memory(SMALL, Some(&disk), &zone, respond);
                (vec![Arc::clone(&fixture.node)], Edge::One { _stage: fixture, _disk: Some(directory) })
            }
        };
        let listeners = workers.iter().map(|worker| door(worker, &stop)).collect();
        Self { kind, origin, connections: Connections::new(), listeners, workers, stop, _edge: node }
    }

    pub(super) fn wide(&self) -> usize {
        if self.kind == Kind::Disk { 3 } else { 8 }
    }

    pub(super) fn obeys_requests(&self) -> bool {
        self.kind != Kind::Tiers
    }

    pub(super) async fn purge(&self, centre: usize, sequence: usize, url: usize, by: By, is_hard: bool) {
        let purge = match by {
            By::Url => Purge::Url(format!("http://shop.example{}", path(sequence, url))),
            By::Tag => Purge::Tag(format!("t{sequence}d{url}")),
            By::Prefix => Purge::Prefix(format!("shop.example/s{sequence}/")),
        };
        let depth = if is_hard { Depth::Hard } else { Depth::Soft };
        self.workers[centre].purge("z", vec![purge], depth).unwrap();
        // On a busy machine the other data centre may exceed the acknowledgement timeout.
        loop {
            let there = self.workers[centre].node.send_and_wait_for_acks(Instant::now()).await;
            if there.iter().all(|there| there.applied_ms.is_some()) {
                break;
            }
            sleep(Duration::from_millis(10)).await;
        }
    }
}

impl Drop for Arm {
    fn drop(&mut self) {
        self.stop.request();
        self.stop.request();
    }
}

pub(super) fn path(sequence: usize, url: usize) -> String {
    format!("/s{sequence}/d{url}")
}

fn door(worker: &Arc<WorkerState>, stop: &ShutdownSignal) -> SocketAddr {
    let server = Server::listen(&["127.0.0.1:0".parse().unwrap()]).unwrap();
    let (address, visitors, stop) =
        (server.addresses().unwrap()[0], ClientHandler(Arc::clone(worker)), stop.clone());
    tokio::spawn(async move { server.serve(visitors, &stop).await });
    address
}

const SMALL: u64 = 512 << 10;
/// An origin that is slow does not fail.
const ZONE: &str = "stale_after = \"60s\"\n";
