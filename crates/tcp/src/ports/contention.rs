//! How long a thread that could run waited for a processor, because other programs had them all.
//!
//! Source: Documentation/scheduler/sched-stats.rst, `/proc/<pid>/schedstat`: time on a processor, time waited for one, both in
//! ns, and how often it got one.

use std::{
    fs::File,
    io::{Read, Seek},
    time::Duration,
};

/// The calling thread's account, kept open: it can be read also when no descriptor is left.
#[derive(Debug)]
pub(super) struct Contention(Option<File>);

impl Contention {
    /// None on kernels that do not keep it (CONFIG_SCHED_INFO).
    pub(super) fn open() -> Self {
        Self(File::open("/proc/thread-self/schedstat").ok())
    }

    /// Since the thread began.
    pub(super) fn waited(&mut self) -> Option<Duration> {
        let file = self.0.as_mut()?;
        let mut text = String::new();
        file.rewind().ok()?;
        file.read_to_string(&mut text).ok()?;
        second(&text)
    }
}

fn second(text: &str) -> Option<Duration> {
    text.split_whitespace().nth(1)?.parse().ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_second_number() {
        assert_eq!(second("1802 54 3\n"), Some(Duration::from_nanos(54)));
        assert_eq!((second(""), second("1 x")), (None, None));
    }

    #[test]
    fn it_never_falls() {
        let mut contention = Contention::open();
        let (first, later) = (contention.waited(), contention.waited());
        assert!(first <= later && first.is_some() == later.is_some());
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(text in "[0-9a-f \n]{0,60}") {
            second(&text);
        }
    }
}
