//! The live view of a speed test.

use std::{collections::VecDeque, time::Duration};

use report::terminal::table::Line;
use speedtest::{
    client::Progress,
    plan::{Direction, Step},
};
use units::show;

pub(super) struct View {
    progress: Progress,
    moved: VecDeque<(Duration, [u64; 2])>,
}

impl View {
    pub(super) fn new(progress: Progress) -> Self {
        Self { progress, moved: VecDeque::new() }
    }

    pub(super) fn draw(&mut self, now: Duration, columns: Option<usize>) -> String {
        let (doing, figures) = (self.doing(now), self.figures());
        match columns {
            Some(columns) => {
                let cut = |text: String| Line::from(text).cut(columns.saturating_sub(2)).to_string();
                format!("{}\n{}", cut(doing), cut(format!("  {figures}")))
            }
            None => format!("{} s: {doing}; {figures}", now.as_secs()),
        }
    }

    fn doing(&mut self, now: Duration) -> String {
        let live = self.progress.live();
        let rate = self.rate(now);
        let Some(step) = live.step else { return "connecting".to_owned() };
        let place = format!("step {} of {}", live.done + 1, live.of);
        match step {
            Step::WarmUp { .. } => format!("{place}: warming up"),
            Step::Latency { samples } => format!("{place}: latency, {samples} times"),
            Step::Transfer { direction, bytes, count } => {
                let now = rate[direction as usize];
                let size = units::Bytes(bytes);
                format!("{place}: {direction} of {size}, up to {count} times: {}", show::rate(now))
            }
            Step::Loss { messages } => {
                let back = live.datagrams.unwrap_or(0);
                format!("{place}: loss, {back} of {messages} datagrams returned")
            }
        }
    }

    fn figures(&self) -> String {
        let live = self.progress.live();
        let rate =
            |direction: Direction| live.bps[direction as usize].map_or_else(|| "-".to_owned(), show::rate);
        let ms = |ms: Option<f64>| ms.map_or_else(|| "-".to_owned(), |ms| show::time(ms / 1e3));
        format!(
            "download {}, upload {}, latency {} idle, {} loaded",
            rate(Direction::Download),
            rate(Direction::Upload),
            ms(live.idle_ms),
            ms(live.loaded_ms)
        )
    }

    fn rate(&mut self, now: Duration) -> [f64; 2] {
        while self.moved.len() > 1
            && self.moved.front().is_some_and(|(at, _)| now.saturating_sub(*at) > SECOND)
        {
            self.moved.pop_front();
        }
        let moved = Direction::BOTH.map(|direction| self.progress.moved(direction));
        let (since, before) = self.moved.front().copied().unwrap_or_default();
        self.moved.push_back((now, moved));
        let seconds = now.saturating_sub(since).as_secs_f64().max(1e-3);
        #[expect(clippy::cast_precision_loss, reason = "bytes of a second")]
        Direction::BOTH.map(|direction| {
            let of = direction as usize;
            moved[of].saturating_sub(before[of]) as f64 * 8.0 / seconds
        })
    }
}

const SECOND: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_has_two_lines_that_fit_and_a_log_one() {
        let mut view = View::new(Progress::default());
        let drawn = view.draw(Duration::from_secs(1), Some(30));
        assert_eq!(drawn.lines().count(), 2);
        assert!(
            drawn.starts_with("connecting") && drawn.lines().all(|line| line.chars().count() <= 28),
            "{drawn}"
        );
        let line = view.draw(Duration::from_secs(10), None);
        assert_eq!(line, "10 s: connecting; download -, upload -, latency - idle, - loaded");
    }
}
