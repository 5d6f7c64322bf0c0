//! Progress of a measurement: a view that is redrawn on a terminal, or a line every ten seconds
//! elsewhere.

use std::{
    io::IsTerminal,
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};
use terminal_size::terminal_size_of;

use crate::output::{is_foreground, print_above, say};

pub(crate) struct Watch {
    bar: ProgressBar,
    done: mpsc::Sender<()>,
    thread: Option<thread::JoinHandle<()>>,
}

pub(crate) fn watch(
    mut view: impl FnMut(Duration, Option<usize>) -> String + Send + 'static,
) -> anyhow::Result<Watch> {
    let is_seen = std::io::stderr().is_terminal();
    let bar = ProgressBar::new_spinner().with_style(ProgressStyle::with_template("{spinner} {msg}")?);
    let (done, ended) = mpsc::channel();
    let shown = bar.clone();
    print_above(is_seen.then(|| bar.clone()));
    let pause = if is_seen { REDRAW } else { NEXT_LINE };
    let thread = thread::spawn(move || {
        while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
            let columns = terminal_size_of(std::io::stderr()).map_or(80, |(columns, _)| columns.0.into());
            let text = view(shown.elapsed(), is_seen.then_some(columns));
            if is_seen {
                if is_foreground() {
                    shown.set_message(text);
                    shown.tick();
                }
            } else {
                say(&text);
            }
        }
    });
    Ok(Watch { bar, done, thread: Some(thread) })
}

impl Drop for Watch {
    fn drop(&mut self) {
        // The thread ends on this message or when the channel closes.
        let _ = self.done.send(());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        print_above(None);
        self.bar.finish_and_clear();
    }
}

const REDRAW: Duration = Duration::from_millis(200);

const NEXT_LINE: Duration = Duration::from_secs(10);
