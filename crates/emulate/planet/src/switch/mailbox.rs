//! Mailboxes through which shards of the switch exchange packets.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use nix::sys::eventfd::{EfdFlags, EventFd};

use super::schedule::InFlight;
use crate::clock::nanoseconds;

#[derive(Debug)]
pub(crate) struct Mailbox {
    mail: Mutex<Vec<(Duration, InFlight)>>,
    bell: EventFd,
    /// In ns; 0 while the shard runs.
    sleeps_until: AtomicU64,
}

impl Mailbox {
    pub(crate) fn new() -> io::Result<Self> {
        let bell = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?;
        Ok(Self { mail: Mutex::default(), bell, sleeps_until: AtomicU64::new(0) })
    }

    pub(crate) fn post(&self, mail: &mut Vec<(Duration, InFlight)>) -> io::Result<()> {
        let Some(earliest) = mail.iter().map(|(due, _)| *due).min() else { return Ok(()) };
        self.mail.lock().unwrap_or_else(PoisonError::into_inner).append(mail);
        if nanoseconds(earliest) < self.sleeps_until.load(Ordering::SeqCst) { self.ring() } else { Ok(()) }
    }

    pub(crate) fn ring(&self) -> io::Result<()> {
        match self.bell.write(1) {
            // The counter of the descriptor is at its maximum, so the shard will wake.
            Ok(_) | Err(nix::Error::EAGAIN) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn silence(&self) {
        let _ = self.bell.read();
    }

    pub(crate) fn take(&self, mail: &mut Vec<(Duration, InFlight)>) {
        std::mem::swap(&mut *self.mail.lock().unwrap_or_else(PoisonError::into_inner), mail);
    }

    pub(crate) fn may_sleep(&self, until: Option<Duration>) -> bool {
        self.sleeps_until.store(until.map_or(u64::MAX, nanoseconds), Ordering::SeqCst);
        self.mail.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    pub(crate) fn awake(&self) {
        self.sleeps_until.store(0, Ordering::SeqCst);
    }
}

impl AsFd for Mailbox {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}
