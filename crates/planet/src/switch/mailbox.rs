//! How shards of the switch hand packets to each other.
//!
//! A shard that works looks into its mailbox by itself. One that sleeps says until when, and is woken only for a packet that
//! is due before that.

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

/// Packets for a shard, each with the time of its arrival there.
#[derive(Debug)]
pub(crate) struct Mailbox {
    mail: Mutex<Vec<(Duration, InFlight)>>,
    bell: EventFd,
    /// Until when the shard sleeps, in ns; 0 while it works.
    sleeps_until: AtomicU64,
}

impl Mailbox {
    pub(crate) fn new() -> io::Result<Self> {
        let bell = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?;
        Ok(Self { mail: Mutex::default(), bell, sleeps_until: AtomicU64::new(0) })
    }

    /// Puts packets in, and empties `mail`.
    pub(crate) fn post(&self, mail: &mut Vec<(Duration, InFlight)>) -> io::Result<()> {
        let Some(earliest) = mail.iter().map(|(due, _)| *due).min() else { return Ok(()) };
        self.mail.lock().unwrap_or_else(PoisonError::into_inner).append(mail);
        if nanoseconds(earliest) < self.sleeps_until.load(Ordering::SeqCst) { self.ring() } else { Ok(()) }
    }

    /// Wakes the shard.
    pub(crate) fn ring(&self) -> io::Result<()> {
        match self.bell.write(1) {
            // It has been rung so often that it cannot count any more.
            Ok(_) | Err(nix::Error::EAGAIN) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The bell was heard.
    pub(crate) fn silence(&self) {
        // It may have been silent already.
        let _ = self.bell.read();
    }

    /// Takes everything out.
    pub(crate) fn take(&self, mail: &mut Vec<(Duration, InFlight)>) {
        std::mem::swap(&mut *self.mail.lock().unwrap_or_else(PoisonError::into_inner), mail);
    }

    /// The shard means to sleep until then; false if there is mail to look at first.
    pub(crate) fn may_sleep(&self, until: Option<Duration>) -> bool {
        self.sleeps_until.store(until.map_or(u64::MAX, nanoseconds), Ordering::SeqCst);
        self.mail.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// The shard works again.
    pub(crate) fn awake(&self) {
        self.sleeps_until.store(0, Ordering::SeqCst);
    }
}

impl AsFd for Mailbox {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}
