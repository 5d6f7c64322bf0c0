//! Thread that writes the lines of all cores to the file.

use std::{
    io, mem,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use http::clock::Clock;
use recording::End;
use tracing::warn;

use super::file::File;

#[derive(Default)]
pub(super) struct Lines {
    pub(super) text: Vec<u8>,
    pub(super) count: u64,
    pub(super) failed: u64,
}

/// State shared by the cores and the thread.
pub(super) struct Shared {
    lines: Vec<Mutex<Lines>>,
    /// Number of lines that were not written.
    pub(super) lost: AtomicU64,
    pub(super) reopens: AtomicBool,
    pub(super) closes: AtomicBool,
    error: Mutex<Option<String>>,
}

impl Shared {
    pub(super) fn new(cores: usize) -> Self {
        Self {
            lines: (0..cores).map(|_| Mutex::default()).collect(),
            lost: AtomicU64::new(0),
            reopens: AtomicBool::new(false),
            closes: AtomicBool::new(false),
            error: Mutex::default(),
        }
    }

    pub(super) fn lines(&self, core: usize) -> MutexGuard<'_, Lines> {
        self.lines[core].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reason why the file is not writable, while this is the case.
    pub(super) fn error(&self) -> MutexGuard<'_, Option<String>> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) struct Writer {
    file: File,
    clock: Clock,
    shared: Arc<Shared>,
    /// Empty buffer to swap with a core's lines.
    spare: Vec<u8>,
    samples: u64,
    failed: u64,
}

impl Writer {
    pub(super) fn new(file: File, clock: Clock, shared: Arc<Shared>) -> Self {
        Self { file, clock, shared, spare: Vec::new(), samples: 0, failed: 0 }
    }

    pub(super) fn start(mut self) -> io::Result<JoinHandle<()>> {
        thread::Builder::new().name("access log".into()).spawn(move || self.work())
    }

    fn work(&mut self) {
        loop {
            let is_last = self.shared.closes.load(Relaxed);
            self.take();
            if is_last {
                let ended = self.end();
                return self.say(ended);
            }
            if self.shared.reopens.swap(false, Relaxed) {
                let moved = self.move_on();
                self.say(moved);
            }
            thread::park_timeout(PAUSE);
        }
    }

    /// Writes the lines of all cores.
    fn take(&mut self) {
        for core in 0..self.shared.lines.len() {
            let mut lines = self.shared.lines(core);
            if lines.count == 0 {
                continue;
            }
            let text = mem::replace(&mut lines.text, mem::take(&mut self.spare));
            let (count, failed) = (mem::take(&mut lines.count), mem::take(&mut lines.failed));
            drop(lines);
            let put = self.file.put(&text);
            if put.is_ok() {
                self.samples += count;
                self.failed += failed;
            } else {
                self.shared.lost.fetch_add(count, Relaxed);
            }
            self.say(put);
            self.spare = text;
            self.spare.clear();
        }
    }

    /// Continues in a new file if the current one was renamed.
    fn move_on(&mut self) -> io::Result<()> {
        if let Some(next) = self.file.next()? {
            let ended = self.end();
            self.file = next;
            (self.samples, self.failed) = (0, 0);
            ended?;
        }
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        self.file.end(&End {
            duration_ns: self.clock.now(),
            samples: self.samples,
            failed: self.failed,
            started_monotonic_ns: self.clock.started_monotonic_ns(),
            ..End::default()
        })
    }

    /// Logs a change from working to failing once, and stores the error.
    fn say(&self, put: io::Result<()>) {
        let why = put.err().map(|error| error.to_string());
        let mut told = self.shared.error();
        if let Some(why) = why.as_ref().filter(|_| told.is_none()) {
            warn!(why, "the access log cannot be written; requests are still served");
        }
        *told = why;
    }
}

/// Maximum time that lines wait in memory.
const PAUSE: Duration = Duration::from_millis(200);
