//! Shows the current step on a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Dropping it clears the line.
pub(super) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    pub(super) fn start(step: &'static str) -> Self {
        let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}")
            .unwrap_or_else(|_| ProgressStyle::default_spinner());
        let bar = ProgressBar::new_spinner().with_style(style).with_message(step);
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar }
    }

    pub(super) fn turn_to(&self, step: &'static str) {
        self.bar.set_message(step);
    }

    pub(super) fn finish(self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
