//! Runs scripts concurrently.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use super::servers::Server;

/// The results have the order of the items.
pub(super) fn side_by_side<T: Sync, R: Send>(items: &[T], work: impl Fn(usize, &T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_A_TIME.min(items.len()) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { break };
                    let result = work(at, item);
                    let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                    done.push((at, result));
                    if done.len().is_multiple_of(50) {
                        eprintln!("{} of {}", done.len(), items.len());
                    }
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// A server whose thread panics has no result.
pub(super) fn on_each<R: Send>(
    servers: &[Server; 3],
    work: impl Fn(&Server) -> Option<R> + Sync,
) -> [Option<R>; 3] {
    let work = &work;
    thread::scope(|scope| {
        let started = servers.each_ref().map(|server| scope.spawn(move || work(server)));
        started.map(|started| started.join().unwrap_or_default())
    })
}

/// Each waits most of its time.
const AT_A_TIME: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_the_order_of_their_items() {
        let items: Vec<usize> = (0..40).collect();
        assert_eq!(
            side_by_side(&items, |_, item| item * 2),
            (0..40).map(|item| item * 2).collect::<Vec<_>>()
        );
    }
}
