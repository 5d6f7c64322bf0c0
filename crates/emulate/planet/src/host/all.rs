//! Creates all hosts of a planet, in parallel on all processors.
//!
//! The cache of `/proc/sys` finds the newest network namespace's entry last, so hosts are created
//! in batches, each by a thread with a private `/proc`.

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

#[derive(Debug, Clone, Copy)]
pub(crate) struct Common<'l> {
    pub layout: &'l Layout,
    pub has_ipv6: bool,
    /// If some host uses Multipath TCP, all hosts must enable it.
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

fn make(batch: &[world::Host], common: Common<'_>) -> Result<Vec<Host>, Error> {
    let nothing: Option<&str> = None;
    // If a new mount is refused, the `/proc` of the planet works, but more slowly.
    if unshare(CloneFlags::CLONE_NEWNS).is_ok() {
        let _ = mount(Some("proc"), "/proc", Some("proc"), MsFlags::empty(), nothing);
    }
    batch.iter().map(|host| Host::make(host, common)).collect()
}

/// Small enough for a fast lookup of the last host's settings, and large enough to amortize the
/// thread and its `/proc`.
const BATCH: usize = 32;
