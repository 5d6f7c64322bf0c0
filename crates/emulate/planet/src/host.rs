//! A running host: a network namespace with its TUN devices, and its state as seen from outside.

pub(crate) mod all;
mod configure;
mod multipath;
mod processes;

use std::{
    fs::File,
    io,
    os::{
        fd::{AsFd, AsRawFd},
        unix::fs::MetadataExt,
    },
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use nix::{
    sched::{CloneFlags, setns, unshare},
    sys::signal::Signal,
};

use crate::{
    device::Netlink,
    error::{Doing, Error, Needs},
    host::{all::Common, configure::configure},
    sys::tun::{self, Tun},
};

pub(crate) struct Host {
    pub tuns: Vec<Tun>,
    namespace: File,
    is_frozen: AtomicBool,
    counters: Mutex<Counters>,
}

struct Counters {
    netlink: Netlink,
    /// The drop counter of each device when it lost the carrier; `None` with a carrier.
    at_cut: Vec<Option<u64>>,
    forgiven: u64,
}

impl Host {
    pub(crate) fn make(host: &world::Host, common: Common<'_>) -> Result<Self, Error> {
        let name = &host.name;
        unshare(CloneFlags::CLONE_NEWNET)
            .doing_with(Needs::Namespaces, || format!("make a network namespace for {name}"))?;
        let namespace =
            File::open("/proc/thread-self/ns/net").doing(|| format!("open {name}'s namespace"))?;
        let open =
            |device| Tun::open(device).doing_with(Needs::Tun, || format!("open {} for {name}", tun::PATH));
        let tuns = (0..host.ports.len()).map(open).collect::<Result<Vec<_>, _>>()?;
        let netlink = configure(host, common)?;
        let counters = Counters { netlink, at_cut: vec![None; host.ports.len()], forgiven: 0 };
        Ok(Self { tuns, namespace, is_frozen: AtomicBool::new(false), counters: Mutex::new(counters) })
    }

    pub(crate) fn tun(&self, number: usize) -> &Tun {
        &self.tuns[number]
    }

    pub(crate) fn freeze(&self, is_frozen: bool) -> io::Result<()> {
        // An observer of a stopped process also sees the frozen flag.
        match (self.is_frozen(), is_frozen) {
            (false, true) => {
                self.is_frozen.store(true, Ordering::Release);
                self.signal_all(Signal::SIGSTOP)?;
            }
            (true, false) => {
                self.signal_all(Signal::SIGCONT)?;
                self.is_frozen.store(false, Ordering::Release);
            }
            _ => {}
        }
        Ok(())
    }

    pub(crate) fn is_frozen(&self) -> bool {
        self.is_frozen.load(Ordering::Acquire)
    }

    pub(crate) fn network(&self) -> io::Result<u64> {
        Ok(self.namespace.metadata()?.ino())
    }

    pub(crate) fn namespace_number(&self) -> i32 {
        self.namespace.as_raw_fd()
    }

    /// Without a carrier the host's kernel drops packets of programs.
    pub(crate) fn set_carrier(&self, number: usize, has_carrier: bool) -> io::Result<()> {
        match self.plug(number, has_carrier) {
            // A program in the host has removed the device, which the switch counts.
            Err(error) if matches!(error.raw_os_error(), Some(libc::ENODEV | libc::EBADFD)) => Ok(()),
            result => result,
        }
    }

    fn plug(&self, number: usize, has_carrier: bool) -> io::Result<()> {
        let mut counters = self.counters();
        match (counters.at_cut[number], has_carrier) {
            (None, true) | (Some(_), false) => return Ok(()),
            (None, false) => counters.at_cut[number] = Some(counters.dropped(number)?),
            (Some(at_cut), true) => {
                counters.forgiven += counters.dropped(number)?.saturating_sub(at_cut);
                counters.at_cut[number] = None;
            }
        }
        self.tuns[number].set_carrier(has_carrier)
    }

    pub(crate) fn signal_all(&self, signal: Signal) -> io::Result<usize> {
        processes::signal_all(self.network()?, signal)
    }

    pub(crate) fn listening(&self) -> io::Result<Vec<u16>> {
        // A temporary thread enters the namespace, because a thread cannot return.
        let look = || {
            setns(self.namespace.as_fd(), CloneFlags::CLONE_NEWNET)?;
            let tables =
                ["/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"].map(std::fs::read_to_string);
            // A kernel without IPv6 has no second table.
            Ok(tables.into_iter().flatten().flat_map(|table| listening_ports(&table)).collect())
        };
        std::thread::scope(|scope| scope.spawn(look).join()).expect("reading two files does not panic")
    }

    /// Drops that are caused neither by a link model nor by a fault.
    pub(crate) fn dropped(&self) -> io::Result<u64> {
        let counters = self.counters();
        let so_far = |number: usize| counters.at_cut[number].map_or_else(|| counters.dropped(number), Ok);
        let all: u64 = (0..self.tuns.len()).map(so_far).sum::<io::Result<_>>()?;
        Ok(all.saturating_sub(counters.forgiven))
    }

    fn counters(&self) -> MutexGuard<'_, Counters> {
        self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counters {
    fn dropped(&self, number: usize) -> io::Result<u64> {
        self.netlink.device(&tun::name(number)).map(|device| device.dropped)
    }
}

fn listening_ports(table: &str) -> Vec<u16> {
    let port = |line: &str| {
        let mut fields = line.split_whitespace().skip(1);
        let (local, _remote, state) = (fields.next()?, fields.next()?, fields.next()?);
        let (_, port) = local.rsplit_once(':')?;
        (state == LISTEN).then(|| u16::from_str_radix(port, 16).ok())?
    };
    table.lines().skip(1).filter_map(port).collect()
}

const LISTEN: &str = "0A";

#[cfg(test)]
mod tests;
