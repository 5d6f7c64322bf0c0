//! The time that a runnable thread waited for a processor: a quality criterion of every measurement on this
//! machine.

use std::{fs::File, os::unix::fs::FileExt, path::Path, time::Duration};

/// The open statistics of one thread. Reading needs no new descriptor and allocates no memory.
#[derive(Debug)]
pub struct RunQueue(Option<File>);

impl RunQueue {
    /// The statistics of the calling thread. Another thread may read them later.
    pub fn of_this_thread() -> Self {
        Self(File::open("/proc/thread-self/schedstat").ok())
    }

    /// The statistics of a thread, by its folder in `/proc`.
    pub fn of_thread(folder: &Path) -> Self {
        Self(File::open(folder.join("schedstat")).ok())
    }

    /// The total wait of the thread since its start. `None` on kernels that do not count it
    /// (CONFIG_SCHED_INFO).
    pub fn waited(&self) -> Option<Duration> {
        self.account().map(|(waited, _)| waited)
    }

    /// The total wait, and the number of time slices.
    pub fn account(&self) -> Option<(Duration, u64)> {
        let mut text = [0; LONGEST];
        let length = self.0.as_ref()?.read_at(&mut text, 0).ok()?;
        parsed(std::str::from_utf8(&text[..length]).ok()?)
    }
}

fn parsed(text: &str) -> Option<(Duration, u64)> {
    let mut numbers = text.split_whitespace().skip(1).map(str::parse);
    let (waited, turns) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    Some((Duration::from_nanos(waited), turns))
}

const LONGEST: usize = 64;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_second_number_and_the_third() {
        assert_eq!(parsed("1802 54 3\n"), Some((Duration::from_nanos(54), 3)));
        assert_eq!((parsed(""), parsed("1 x 3"), parsed("1 54")), (None, None, None));
    }

    #[test]
    fn it_never_falls() {
        let queue = RunQueue::of_this_thread();
        let (first, later) = (queue.waited(), queue.waited());
        assert!(first <= later && first.is_some() == later.is_some());
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(text in "[0-9a-f \n]{0,60}") {
            parsed(&text);
        }
    }
}
