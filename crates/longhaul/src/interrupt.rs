//! Ctrl-C, a terminal that goes away, or a polite request to end: waited for, so that what was begun can be ended in order.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use nix::sys::{
    signal::{SigSet, Signal},
    signalfd::{SfdFlags, SignalFd},
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
        let signals: SigSet = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP].into_iter().collect();
        signals.thread_block()?;
        Ok(Self { signals })
    }

    /// Returns when one has come.
    pub(crate) fn wait(&self) -> anyhow::Result<()> {
        self.signals.wait()?;
        Ok(())
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

    /// Sets `stop` when one has come.
    pub(crate) fn set(self, stop: &Arc<AtomicBool>) {
        let stop = Arc::clone(stop);
        std::thread::spawn(move || {
            if self.signals.wait().is_ok() {
                stop.store(true, Ordering::Relaxed);
            }
        });
    }

    /// Something that can be asked whether one has come.
    pub(crate) fn poll(&self) -> anyhow::Result<impl Fn() -> bool + use<>> {
        let descriptor = SignalFd::with_flags(&self.signals, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        Ok(move || matches!(descriptor.read_signal(), Ok(Some(_))))
    }
}
