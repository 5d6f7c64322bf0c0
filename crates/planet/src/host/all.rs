//! Makes all hosts of a planet, as many at a time as there are processors.
//!
//! What costs most is not the kernel's work for a host but its looking for the host's settings: the cache of `/proc/sys`
//! has the entries of all network namespaces under one name, and finds that of the newest behind those of all others. Made
//! one after the other, 3000 hosts took a hundred times as long as 300. So hosts are made in batches, each by a thread with a
//! `/proc` of its own, which goes with the thread and all that was cached.

use std::{
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use nix::{
    mount::{MsFlags, mount},
    sched::{CloneFlags, unshare},
};
use world::Layout;

use super::Host;
use crate::error::Error;

/// What all hosts have in common.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Common<'l> {
    pub layout: &'l Layout,
    pub has_ipv6: bool,
    /// Whether some host uses Multipath TCP, and so all must admit it.
    pub has_mptcp: bool,
}

impl<'l> Common<'l> {
    pub(crate) fn of(layout: &'l Layout) -> Self {
        Self {
            layout,
            has_ipv6: Path::new("/proc/sys/net/ipv6").exists(),
            has_mptcp: layout.hosts.iter().any(|host| host.mptcp.is_some()),
        }
    }
}

/// All hosts of a layout, in its order. The calling thread stays in the network that it is in.
pub(crate) fn make_all(layout: &Layout) -> Result<Vec<Host>, Error> {
    let common = Common::of(layout);
    let batches: Vec<_> = layout.hosts.chunks(BATCH).collect();
    let (next, made) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(batch) = batches.get(number) else { return };
            let hosts = thread::scope(|scope| scope.spawn(|| make(batch, common)).join());
            let hosts = hosts.expect("making hosts does not panic");
            if hosts.is_err() {
                next.store(batches.len(), Ordering::Relaxed);
            }
            made.lock().unwrap_or_else(PoisonError::into_inner).push((number, hosts));
        }
    };
    let at_a_time = thread::available_parallelism().map_or(1, usize::from).min(batches.len());
    thread::scope(|scope| (0..at_a_time).for_each(|_| drop(scope.spawn(work))));
    let mut made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    made.sort_by_key(|(number, _)| *number);
    let mut hosts = Vec::with_capacity(layout.hosts.len());
    for (_, batch) in made {
        hosts.append(&mut batch?);
    }
    Ok(hosts)
}

/// Makes some hosts in a thread that ends with them.
fn make(batch: &[world::Host], common: Common<'_>) -> Result<Vec<Host>, Error> {
    let nothing: Option<&str> = None;
    // Where there can be no fresh one, that of the planet does, only slower.
    if unshare(CloneFlags::CLONE_NEWNS).is_ok() {
        let _ = mount(Some("proc"), "/proc", Some("proc"), MsFlags::empty(), nothing);
    }
    batch.iter().map(|host| Host::make(host, common)).collect()
}

/// As many that looking for the settings of the last one is still quick, and that a thread and its `/proc` cost little for
/// each.
const BATCH: usize = 32;
