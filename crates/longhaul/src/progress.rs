//! A line that shows how far a run is.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use probe::load::Progress;

/// The line, drawn by a thread of its own and only where somebody sees it.
pub(crate) struct Watch {
    bar: ProgressBar,
    done: std::sync::mpsc::Sender<()>,
    thread: Option<std::thread::JoinHandle<()>>,
}

pub(crate) fn watch(progress: &Progress, duration: Option<Duration>) -> anyhow::Result<Watch> {
    let bar = ProgressBar::new_spinner().with_style(ProgressStyle::with_template("{spinner} {msg}")?);
    let (done, ended) = std::sync::mpsc::channel();
    let (shown, progress) = (bar.clone(), progress.clone());
    let of = duration.map_or_else(String::new, |duration| format!(" of {}", units::duration::show(duration)));
    let thread = std::thread::spawn(move || {
        while ended.recv_timeout(REDRAW) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            let elapsed = shown.elapsed().as_secs();
            shown.set_message(format!(
                "{elapsed} s{of}: {} sent, {} done, {} failed",
                progress.sent(),
                progress.done(),
                progress.failed()
            ));
            shown.tick();
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
