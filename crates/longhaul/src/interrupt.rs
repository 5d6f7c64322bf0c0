//! Ctrl-C, a terminal that goes away, or a polite request to end: waited for, so that what was begun can be ended in order.

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
use probe::Stop;

/// Listens for the signals that ask a program to end.
pub(crate) struct Interrupt {
    signals: SigSet,
}

impl Interrupt {
    /// From here on these signals wait to be asked for instead of ending the process. To be called before any thread is
    /// started: threads inherit it.
    pub(crate) fn listen() -> anyhow::Result<Self> {
        Self::listen_for([Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP])
    }

    /// As [`Self::listen`], for a program to which a hang-up means something else.
    pub(crate) fn listen_but_not_for_hangups() -> anyhow::Result<Self> {
        Self::listen_for([Signal::SIGINT, Signal::SIGTERM])
    }

    fn listen_for(signals: impl IntoIterator<Item = Signal>) -> anyhow::Result<Self> {
        let signals: SigSet = signals.into_iter().collect();
        signals.thread_block()?;
        Ok(Self { signals })
    }

    /// Asks `stop` for an end at each that comes.
    pub(crate) fn ask(self, stop: &Stop) {
        let stop = stop.clone();
        std::thread::spawn(move || {
            while self.signals.wait().is_ok() {
                stop.ask();
            }
        });
    }

    /// Sets `stop` when one has come. If the process has not ended [`PATIENCE_MS`] later, or when another comes, it ends
    /// here, whatever it waits for: after `clean_up`, with the code that shells give to what Ctrl-C ended.
    pub(crate) fn set(
        self,
        stop: &Arc<AtomicBool>,
        clean_up: impl FnOnce() + Send + 'static,
    ) -> anyhow::Result<()> {
        let stop = Arc::clone(stop);
        let descriptor = self.descriptor()?;
        std::thread::spawn(move || {
            // Without a signal it must not end the process.
            if !matches!(descriptor.read_signal(), Ok(Some(_))) {
                return;
            }
            stop.store(true, Ordering::Relaxed);
            // Returns at the second, or in the end.
            let _ = poll(&mut [PollFd::new(descriptor.as_fd(), PollFlags::POLLIN)], PATIENCE_MS);
            clean_up();
            std::process::exit(ENDED_BY_CTRL_C.into());
        });
        Ok(())
    }

    /// Something that is readable when one has come, to be waited for together with other descriptors.
    pub(crate) fn descriptor(&self) -> anyhow::Result<SignalFd> {
        Ok(SignalFd::with_flags(&self.signals, SfdFlags::SFD_CLOEXEC)?)
    }

    /// Something that can be asked whether one has come.
    pub(crate) fn poll(&self) -> anyhow::Result<impl Fn() -> bool + use<>> {
        let descriptor = SignalFd::with_flags(&self.signals, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        Ok(move || matches!(descriptor.read_signal(), Ok(Some(_))))
    }
}

/// Waits until one of these can be read or has ended; the number of the first that can.
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

/// What a program ends with that was interrupted, and ended in order.
pub(crate) fn exit_code() -> ExitCode {
    ExitCode::from(ENDED_BY_CTRL_C)
}

/// How long what was asked to stop may take: longer than any step between two looks at `stop` that does not wait for
/// somebody else, shorter than a person's patience.
const PATIENCE_MS: u16 = 1000;

/// 128 + SIGINT, as shells count.
const ENDED_BY_CTRL_C: u8 = 130;
