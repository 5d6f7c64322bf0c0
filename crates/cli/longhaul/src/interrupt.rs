//! Handles SIGINT, SIGTERM and SIGHUP so that a command can end gracefully.

use std::{
    os::fd::{AsFd, BorrowedFd},
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::{
        signal::{SigSet, Signal},
        signalfd::{SfdFlags, SignalFd},
    },
};
use probe::ShutdownSignal;

pub(crate) struct Interrupt {
    signals: SigSet,
}

impl Interrupt {
    /// Call before starting threads, which inherit the mask of blocked signals.
    pub(crate) fn listen() -> anyhow::Result<Self> {
        Self::listen_for([Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP])
    }

    /// For commands that reload their configuration on SIGHUP.
    pub(crate) fn listen_but_not_for_hangups() -> anyhow::Result<Self> {
        Self::listen_for([Signal::SIGINT, Signal::SIGTERM])
    }

    fn listen_for(signals: impl IntoIterator<Item = Signal>) -> anyhow::Result<Self> {
        let signals: SigSet = signals.into_iter().collect();
        signals.thread_block()?;
        Ok(Self { signals })
    }

    pub(crate) fn ask(self, stop: &ShutdownSignal) {
        let stop = stop.clone();
        std::thread::spawn(move || {
            while self.signals.wait().is_ok() {
                stop.request();
            }
        });
    }

    /// At a second signal or [`PATIENCE_MS`] after the first, calls `clean_up` and exits.
    pub(crate) fn set(
        self,
        stop: &Arc<AtomicBool>,
        clean_up: impl FnOnce() + Send + 'static,
    ) -> anyhow::Result<()> {
        let stop = Arc::clone(stop);
        let descriptor = self.descriptor()?;
        std::thread::spawn(move || {
            // Not a signal: the process must not exit.
            if !matches!(descriptor.read_signal(), Ok(Some(_))) {
                return;
            }
            stop.store(true, Ordering::Relaxed);
            let _ = poll(&mut [PollFd::new(descriptor.as_fd(), PollFlags::POLLIN)], PATIENCE_MS);
            clean_up();
            std::process::exit(ENDED_BY_CTRL_C.into());
        });
        Ok(())
    }

    pub(crate) fn descriptor(&self) -> anyhow::Result<SignalFd> {
        Ok(SignalFd::with_flags(&self.signals, SfdFlags::SFD_CLOEXEC)?)
    }

    pub(crate) fn poll(&self) -> anyhow::Result<impl Fn() -> bool + use<>> {
        let descriptor = SignalFd::with_flags(&self.signals, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        Ok(move || matches!(descriptor.read_signal(), Ok(Some(_))))
    }
}

/// Returns the index of the first readable or closed descriptor.
pub(crate) fn first_ready(descriptors: &[BorrowedFd<'_>]) -> anyhow::Result<usize> {
    let mut wanted: Vec<_> = descriptors.iter().map(|fd| PollFd::new(*fd, PollFlags::POLLIN)).collect();
    loop {
        match poll(&mut wanted, PollTimeout::NONE) {
            Err(Errno::EINTR) => {}
            other => other.map(drop)?,
        }
        if let Some(ready) = wanted.iter().position(|fd| fd.any() == Some(true)) {
            return Ok(ready);
        }
    }
}

pub(crate) fn exit_code() -> ExitCode {
    ExitCode::from(ENDED_BY_CTRL_C)
}

/// Longer than any local step between two checks of `stop`, and short enough for a user who waits.
const PATIENCE_MS: u16 = 1000;

/// 128 + SIGINT, as in shells.
const ENDED_BY_CTRL_C: u8 = 130;
