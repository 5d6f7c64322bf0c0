//! Connects to one destination until a share of the port range is in use, and times each connect.
//!
//! The sockets are distributed over threads with private descriptor tables ([`table`]), and closed
//! with a reset (`SO_LINGER` 0), so that no port remains in `TIME_WAIT`.

use std::{
    net::{IpAddr, SocketAddr},
    ops::ControlFlow,
    os::fd::{AsRawFd, OwnedFd},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread::{self, Scope, ScopedJoinHandle},
    time::Duration,
};

use nix::{
    errno::Errno,
    sys::{
        socket::{SockaddrStorage, getsockname, getsockopt, setsockopt, sockopt},
        time::TimeVal,
    },
};
use tcp::{
    Clock, RunQueue,
    source_port::{Attempt, Chooser, Range, Strategy, Transport, open},
};

use super::{acceptor, table};

#[derive(Debug)]
pub(super) struct Task {
    pub transport: Transport,
    pub sharing: Sharing,
    pub destination: SocketAddr,
    pub source: Option<IpAddr>,
    pub goal: usize,
    pub accepted: Option<Arc<AtomicU64>>,
}

/// With `SO_REUSEADDR`, two UDP sockets can get the same port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sharing {
    No,
    Yes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Connect {
    pub held: usize,
    pub latency: Duration,
    pub tries: u32,
    pub outcome: Outcome,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// `None` if the peer has reset the connection, which frees the port.
    Port(Option<u16>),
    Error(Errno),
}

#[derive(Debug, Default)]
pub(super) struct Filled {
    pub connects: Vec<Connect>,
    pub busy: Duration,
    pub waited: Option<Duration>,
    pub ending: Ending,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Ending {
    #[default]
    Goal,
    Hopeless,
    Stopped,
    Deaf,
    NoSocket(Errno),
}

pub(super) fn fill(task: &Task, chooser: Chooser, mut watch: impl FnMut(usize) -> ControlFlow<()>) -> Filled {
    let (stop, held) = (AtomicBool::new(watch(0).is_break()), AtomicUsize::new(0));
    let mut filling = Filling::new(task, chooser, &stop, &held);
    thread::scope(|scope| {
        let mut holders = Vec::new();
        let mut ending = None;
        while ending.is_none() {
            let (holder, come_back) = Holder::start(scope, filling);
            holders.push(holder);
            (filling, ending) = loop {
                match come_back.recv_timeout(BETWEEN_LOOKS) {
                    Ok(back) => break back,
                    Err(RecvTimeoutError::Timeout) => {
                        let is_enough = watch(held.load(Ordering::Relaxed)).is_break();
                        stop.fetch_or(is_enough, Ordering::Relaxed);
                    }
                    Err(RecvTimeoutError::Disconnected) => unreachable!("a holder sends before it ends"),
                }
            };
        }
        let ports = holders.into_iter().flat_map(Holder::release).collect();
        filling.end(ports, ending.unwrap_or_default())
    })
}

pub(super) fn try_once(
    transport: Transport,
    destination: SocketAddr,
    source: Option<IpAddr>,
) -> Result<(), Errno> {
    let socket = socket(transport, Sharing::No, destination)?;
    let any = Range::new(1, u16::MAX).expect("ports");
    let attempt = Chooser::within(Strategy::KernelDefault, any).attach(&socket, destination, source);
    let_go(&socket, transport);
    attempt.outcome.map_err(in_time)
}

struct Holder<'scope> {
    release: mpsc::Sender<()>,
    thread: ScopedJoinHandle<'scope, Vec<Option<u16>>>,
}

/// `None`: to be continued by another thread.
type Back<'a> = (Filling<'a>, Option<Ending>);

impl<'scope> Holder<'scope> {
    fn start<'a: 'scope>(
        scope: &'scope Scope<'scope, '_>,
        mut filling: Filling<'a>,
    ) -> (Self, mpsc::Receiver<Back<'a>>) {
        let (release, wait) = mpsc::channel();
        let (back, come_back) = mpsc::channel();
        let hold = move || {
            let mut sockets = Vec::new();
            let transport = filling.task.transport;
            let queue = RunQueue::of_this_thread();
            let before = queue.waited();
            let ending = filling.run(&mut sockets);
            let waited = queue.waited().zip(before).map(|(after, before)| after.saturating_sub(before));
            filling.filled.waited = filling.filled.waited.zip(waited).map(|(sum, more)| sum + more);
            let _ = back.send((filling, ending));
            // Returns an error when the sender is dropped: the signal to release.
            let _: Result<(), _> = wait.recv();
            sockets.into_iter().map(|socket| let_go(&socket, transport)).collect()
        };
        let thread = scope.spawn(|| table::with_its_own(hold));
        (Self { release, thread }, come_back)
    }

    fn release(self) -> Vec<Option<u16>> {
        drop(self.release);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

struct Filling<'a> {
    task: &'a Task,
    chooser: Chooser,
    stop: &'a AtomicBool,
    held: &'a AtomicUsize,
    clock: Clock,
    accepted_before: u64,
    queue: u64,
    failed_in_a_row: u32,
    filled: Filled,
}

impl<'a> Filling<'a> {
    fn new(task: &'a Task, chooser: Chooser, stop: &'a AtomicBool, held: &'a AtomicUsize) -> Self {
        let accepted_before = task.accepted.as_ref().map_or(0, |accepted| accepted.load(Ordering::Relaxed));
        let connects = Vec::with_capacity(task.goal);
        let filled = Filled { connects, waited: Some(Duration::ZERO), ..Filled::default() };
        let (clock, queue) = (Clock::start(), acceptor::half_of_queue());
        Self { task, chooser, stop, held, clock, accepted_before, queue, failed_in_a_row: 0, filled }
    }

    fn run(&mut self, sockets: &mut Vec<OwnedFd>) -> Option<Ending> {
        loop {
            let held = self.held.load(Ordering::Relaxed);
            if held >= self.task.goal {
                return Some(if self.listener_keeps_up(0) { Ending::Goal } else { Ending::Deaf });
            } else if self.stop.load(Ordering::Relaxed) {
                return Some(Ending::Stopped);
            } else if self.failed_in_a_row >= HOPELESS {
                return Some(Ending::Hopeless);
            } else if !self.listener_keeps_up(self.queue) {
                return Some(Ending::Deaf);
            }
            match self.connect(held) {
                Ok(Some(socket)) => {
                    sockets.push(socket);
                    self.held.store(held + 1, Ordering::Relaxed);
                    self.failed_in_a_row = 0;
                }
                Ok(None) => self.failed_in_a_row += 1,
                Err(Errno::EMFILE) if !sockets.is_empty() => return None,
                Err(errno) => return Some(Ending::NoSocket(errno)),
            }
        }
    }

    fn connect(&mut self, held: usize) -> Result<Option<OwnedFd>, Errno> {
        let Task { transport, sharing, destination, source, .. } = *self.task;
        let begin = self.clock.now();
        let socket = socket(transport, sharing, destination)?;
        let start = self.clock.now();
        let Attempt { outcome, tries } = self.chooser.attach(&socket, destination, source);
        let end = self.clock.now();
        self.filled.busy += end.saturating_sub(begin);
        let (outcome, socket) = match outcome {
            Ok(()) => (Outcome::Port(None), Some(socket)),
            Err(errno) => (Outcome::Error(in_time(errno)), None),
        };
        self.filled.connects.push(Connect { held, latency: end.saturating_sub(start), tries, outcome });
        Ok(socket)
    }

    /// Waits until at most `queue` connections wait for accept(). False: the listener stopped
    /// accepting.
    fn listener_keeps_up(&self, queue: u64) -> bool {
        let Some(accepted) = &self.task.accepted else { return true };
        let held = u64::try_from(self.held.load(Ordering::Relaxed)).unwrap_or(u64::MAX);
        let is_enough = |accepted| held.saturating_sub(accepted - self.accepted_before) <= queue;
        let mut before = accepted.load(Ordering::Relaxed);
        let mut deadline = None;
        while !is_enough(before) {
            let now = self.clock.now();
            if now >= *deadline.get_or_insert(now + PATIENCE) {
                return false;
            }
            self.clock.wait_until(now + BREATH);
            let after = accepted.load(Ordering::Relaxed);
            if after > before {
                (before, deadline) = (after, None);
            }
        }
        true
    }

    fn end(self, ports: Vec<Option<u16>>, ending: Ending) -> Filled {
        let mut filled = Filled { ending, ..self.filled };
        let made = filled.connects.iter_mut().filter(|connect| matches!(connect.outcome, Outcome::Port(_)));
        for (connect, port) in made.zip(ports) {
            connect.outcome = Outcome::Port(port);
        }
        filled
    }
}

fn socket(transport: Transport, sharing: Sharing, destination: SocketAddr) -> Result<OwnedFd, Errno> {
    let socket = open(transport, destination)?;
    match (transport, sharing) {
        (Transport::Tcp, _) => setsockopt(&socket, sockopt::SendTimeout, &TimeVal::new(PATIENCE_S, 0))?,
        (Transport::Udp, Sharing::Yes) => setsockopt(&socket, sockopt::ReuseAddr, &true)?,
        (Transport::Udp, Sharing::No) => {}
    }
    Ok(socket)
}

/// connect() reports a timeout (`SO_SNDTIMEO`) as EINPROGRESS.
fn in_time(errno: Errno) -> Errno {
    if errno == Errno::EINPROGRESS { Errno::ETIMEDOUT } else { errno }
}

/// Returns the port, `None` if the connection was reset, and prepares a close that frees it
/// immediately.
fn let_go(socket: &OwnedFd, transport: Transport) -> Option<u16> {
    let is_reset =
        transport == Transport::Tcp && getsockopt(socket, sockopt::SocketError).is_ok_and(|code| code != 0);
    let address = getsockname::<SockaddrStorage>(socket.as_raw_fd()).ok();
    if transport == Transport::Tcp {
        // A failure shows later: the port does not become free.
        let _ = setsockopt(socket, sockopt::Linger, &libc::linger { l_onoff: 1, l_linger: 0 });
    }
    let port = address.and_then(|address| {
        let v4 = address.as_sockaddr_in().map(|address| address.port());
        v4.or_else(|| address.as_sockaddr_in6().map(|address| address.port()))
    });
    port.filter(|_| !is_reset)
}

const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// Connect timeout. A lost packet is retransmitted after 1 s (RFC 6298), so one retransmission
/// succeeds.
const PATIENCE_S: i64 = 3;

const PATIENCE: Duration = Duration::from_secs(5);

const BREATH: Duration = Duration::from_millis(1);

/// Consecutive failures. With free ports left, no strategy fails this often: each one tries all
/// ports of its range, or hundreds of them.
const HOPELESS: u32 = 100;
