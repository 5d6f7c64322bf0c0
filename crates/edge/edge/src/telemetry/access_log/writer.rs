//! Thread that writes the lines of all workers to the file.

use std::{
    io, mem,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use http_stack::clock::Clock;
use recording::End;
use tracing::warn;

use super::file::LogFile;

#[derive(Default)]
pub(super) struct LineBuffer {
    pub(super) text: Vec<u8>,
    pub(super) count: u64,
    pub(super) failed: u64,
}

pub(super) struct SharedBuffers {
    lines: Vec<Mutex<LineBuffer>>,
    pub(super) lost: AtomicU64,
    pub(super) reopens: AtomicBool,
    pub(super) closes: AtomicBool,
    error: Mutex<Option<String>>,
}

impl SharedBuffers {
    pub(super) fn new(workers: usize) -> Self {
        Self {
            lines: (0..workers).map(|_| Mutex::default()).collect(),
            lost: AtomicU64::new(0),
            reopens: AtomicBool::new(false),
            closes: AtomicBool::new(false),
            error: Mutex::default(),
        }
    }

    pub(super) fn lines(&self, worker: usize) -> MutexGuard<'_, LineBuffer> {
        self.lines[worker].lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn error(&self) -> MutexGuard<'_, Option<String>> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) struct Writer {
    file: LogFile,
    clock: Clock,
    shared: Arc<SharedBuffers>,
    spare: Vec<u8>,
    samples: u64,
    failed: u64,
}

impl Writer {
    pub(super) fn new(file: LogFile, clock: Clock, shared: Arc<SharedBuffers>) -> Self {
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
                return self.report_error(ended);
            }
            if self.shared.reopens.swap(false, Relaxed) {
                let moved = self.reopen();
                self.report_error(moved);
            }
            thread::park_timeout(FLUSH_INTERVAL);
        }
    }

    fn take(&mut self) {
        for worker in 0..self.shared.lines.len() {
            let mut lines = self.shared.lines(worker);
            if lines.count == 0 {
                continue;
            }
            let text = mem::replace(&mut lines.text, mem::take(&mut self.spare));
            let (count, failed) = (mem::take(&mut lines.count), mem::take(&mut lines.failed));
            drop(lines);
            let put = self.file.append(&text);
            if put.is_ok() {
                self.samples += count;
                self.failed += failed;
            } else {
                self.shared.lost.fetch_add(count, Relaxed);
            }
            self.report_error(put);
            self.spare = text;
            self.spare.clear();
        }
    }

    fn reopen(&mut self) -> io::Result<()> {
        if let Some(next) = self.file.rotate()? {
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

    /// Logs only a change from working to failing.
    fn report_error(&self, put: io::Result<()>) {
        let why = put.err().map(|error| error.to_string());
        let mut reported = self.shared.error();
        if let Some(why) = why.as_ref().filter(|_| reported.is_none()) {
            warn!(why, "the access log cannot be written; requests are still served");
        }
        *reported = why;
    }
}

const FLUSH_INTERVAL: Duration = Duration::from_millis(200);
