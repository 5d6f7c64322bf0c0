//! The reading thread. It reads as its pace permits, and waits only for the network.

use std::{
    io::{self, Read},
    net::TcpStream,
    ops::ControlFlow,
    os::fd::AsFd,
    sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed},
    time::Duration,
};

use nix::poll::PollFlags;
use tcp::{Clock, RunQueue};

use super::{
    pace::{Account, Allow, Pace},
    pattern::Kind,
};
use crate::wait;

#[derive(Debug, Default)]
pub(super) struct Shared {
    pub stop: AtomicBool,
    pub is_over: AtomicBool,
    pub bytes: AtomicU64,
    pub phase: AtomicUsize,
}

impl Shared {
    pub(super) fn handle_order(&self, order: ControlFlow<()>) {
        if order.is_break() {
            self.stop.store(true, Relaxed);
        }
    }
}

#[derive(Debug)]
pub(super) struct Outcome {
    pub account: Account,
    pub end: End,
    pub idle: Duration,
    pub kept_waiting: Option<Duration>,
}

#[derive(Debug)]
pub(super) enum End {
    Programme,
    Asked,
    PeerClosed,
    Lost(io::Error),
}

pub(super) struct Reader<'r> {
    pub stream: &'r TcpStream,
    pub pace: Pace,
    pub clock: Clock,
    pub buffer: usize,
    pub shared: &'r Shared,
}

impl Reader<'_> {
    pub(super) fn run(mut self) -> Outcome {
        let queue = RunQueue::of_this_thread();
        let before = queue.waited();
        let mut idle = Duration::ZERO;
        let end = self.pump(&mut idle).unwrap_or_else(End::Lost);
        self.shared.is_over.store(true, Relaxed);
        let kept_waiting = queue.waited().zip(before).map(|(after, before)| after.saturating_sub(before));
        Outcome { account: self.pace.finish(self.clock.now()), end, idle, kept_waiting }
    }

    fn pump(&mut self, idle: &mut Duration) -> io::Result<End> {
        let mut buffer = vec![0; self.buffer];
        let mut is_drained = true;
        let mut now = self.clock.now();
        while let Some(Allow { bytes, until }) = self.pace.next(now) {
            if self.shared.stop.load(Relaxed) {
                return Ok(End::Asked);
            }
            self.shared.phase.store(self.pace.phase().unwrap_or_default(), Relaxed);
            let until = until.min(now + wait::CALL);
            if bytes == 0 {
                self.clock.wait_until(until);
                now = self.clock.now();
                continue;
            }
            if is_drained {
                is_drained = !wait::for_event(self.stream.as_fd(), PollFlags::POLLIN, self.clock, until)?;
                let before = std::mem::replace(&mut now, self.clock.now());
                if self.pace.kind() == Some(Kind::Fast) {
                    *idle += now - before;
                }
                continue;
            }
            let most = usize::try_from(bytes).unwrap_or(usize::MAX).min(buffer.len());
            match self.stream.read(&mut buffer[..most]) {
                Ok(0) => return Ok(End::PeerClosed),
                Ok(length) => {
                    now = self.clock.now();
                    self.pace.add(now, length as u64);
                    self.shared.bytes.fetch_add(length as u64, Relaxed);
                    is_drained = length < most;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => is_drained = true,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(End::Programme)
    }
}
