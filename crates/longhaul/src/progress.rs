//! What a person sees of a measurement while it lasts: on a terminal a view that is drawn again and again, elsewhere a line now
//! and then.

use std::{
    io::IsTerminal,
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};
use terminal_size::terminal_size_of;

use crate::output::say;

/// The view, drawn by a thread of its own until it is dropped.
pub(crate) struct Watch {
    bar: ProgressBar,
    done: mpsc::Sender<()>,
    thread: Option<thread::JoinHandle<()>>,
}

/// Shows what `view` says, given the time since the beginning and the columns of the terminal, if that is where it is shown.
pub(crate) fn watch(
    mut view: impl FnMut(Duration, Option<usize>) -> String + Send + 'static,
) -> anyhow::Result<Watch> {
    let is_seen = std::io::stderr().is_terminal();
    let bar = ProgressBar::new_spinner().with_style(ProgressStyle::with_template("{spinner} {msg}")?);
    let (done, ended) = mpsc::channel();
    let shown = bar.clone();
    let pause = if is_seen { REDRAW } else { NEXT_LINE };
    let thread = thread::spawn(move || {
        while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
            let columns = terminal_size_of(std::io::stderr()).map_or(80, |(columns, _)| columns.0.into());
            let text = view(shown.elapsed(), is_seen.then_some(columns));
            if is_seen {
                shown.set_message(text);
                shown.tick();
            } else {
                say(&text);
            }
        }
    });
    Ok(Watch { bar, done, thread: Some(thread) })
}

impl Drop for Watch {
    fn drop(&mut self) {
        // The thread ends when it is told to, or when its order can no longer come.
        let _ = self.done.send(());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}

/// Often enough to look alive.
const REDRAW: Duration = Duration::from_millis(200);

/// Seldom enough for a log.
const NEXT_LINE: Duration = Duration::from_secs(10);
