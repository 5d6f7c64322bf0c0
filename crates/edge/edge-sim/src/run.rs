//! Runs all topologies concurrently, each in its own thread. The calling thread reads the requests.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
        mpsc::{SyncSender, sync_channel},
    },
    thread,
};

use crate::{Error, Plan, Request, Simulation, Source, topology_run::Run};

/// The progress of a simulation, which other threads can read.
#[derive(Debug, Default)]
pub struct Progress {
    done: AtomicU64,
    sides: AtomicU64,
}

impl Progress {
    /// Average number of requests that the topologies have processed.
    pub fn requests(&self) -> u64 {
        self.done.load(Relaxed) / self.sides.load(Relaxed).max(1)
    }

    /// Total number of requests that all topologies have processed.
    pub fn simulated(&self) -> u64 {
        self.done.load(Relaxed)
    }
}

/// Simulates a plan over all requests of a source. The result is deterministic.
///
/// # Errors
/// Fails if the source is invalid.
pub fn run(plan: &Plan, source: &mut dyn Source, progress: &Progress) -> Result<Simulation, Error> {
    let network = plan.network.tiers();
    let runs: Vec<_> =
        plan.topologies(&network).into_iter().map(|named| Run::new(plan, &network, named)).collect();
    progress.sides.store(runs.len() as u64, Relaxed);
    let (mut span, mut failed) = (None, None);
    let runs = thread::scope(|scope| {
        let mut senders: Vec<SyncSender<Arc<Vec<Request>>>> = Vec::new();
        let mut threads = Vec::new();
        for mut run in runs {
            let (sender, blocks) = sync_channel::<Arc<Vec<Request>>>(AHEAD);
            senders.push(sender);
            threads.push(scope.spawn(move || {
                for block in blocks {
                    block.iter().for_each(|request| run.answer(request));
                    progress.done.fetch_add(block.len() as u64, Relaxed);
                }
                run
            }));
        }
        loop {
            match source.next_block() {
                Ok(Some(block)) => {
                    if let (Some(first), Some(last)) = (block.first(), block.last()) {
                        let (begin, _) = span.unwrap_or((first.at_ns, 0));
                        span = Some((begin, last.at_ns));
                    }
                    let block = Arc::new(block);
                    for sender in &senders {
                        // Fails only if the thread has panicked, which `join` reports.
                        let _ = sender.send(Arc::clone(&block));
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        drop(senders);
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect::<Vec<_>>()
    });
    match failed {
        Some(error) => Err(error),
        None => {
            let span_ns = span.map_or(0, |(begin, end)| end - begin);
            Ok(Simulation::of(plan, &runs, span_ns, (source.left_out(), source.notes())))
        }
    }
}

/// Blocks that a slow topology may lag behind.
const AHEAD: usize = 4;
