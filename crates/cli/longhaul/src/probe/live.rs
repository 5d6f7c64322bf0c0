//! The live view of a run: request rate, latency, failures, and how late the probe's own requests
//! start.

use std::{collections::VecDeque, time::Duration};

use probe::load::{Live, Progress};
use report::terminal::table::{Line, table};
use units::show::{count, latency};

struct Row {
    url: String,
    progress: Progress,
    done: VecDeque<(Duration, u64)>,
}

pub(super) struct View {
    rows: Vec<Row>,
    of: String,
}

impl View {
    pub(super) fn new(runs: impl Iterator<Item = (String, Progress)>, ends: Option<Duration>) -> Self {
        let rows = runs.map(|(url, progress)| Row { url, progress, done: VecDeque::new() });
        let of = ends.map_or_else(String::new, |ends| format!(" of {}", units::duration::show(ends)));
        Self { rows: rows.collect(), of }
    }

    pub(super) fn draw(&mut self, now: Duration, columns: Option<usize>) -> String {
        let elapsed = format!("{} s{}", now.as_secs(), self.of);
        let cells: Vec<_> = self.rows.iter_mut().map(|row| row.cells(now)).collect();
        if let Some(columns) = columns {
            return tabled(&elapsed, cells, columns);
        }
        let lines = cells.iter().map(|[url, done, rate, failed, p50, _, p99, max, late]| {
            format!(
                "{elapsed}: {url}: {done} done, {rate}/s, {failed} failed, p50 {p50}, p99 {p99}, max {max} ms, \
                 late p99 {late} ms"
            )
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

fn tabled(elapsed: &str, mut cells: Vec<[String; 9]>, columns: usize) -> String {
    let title = match &mut cells[..] {
        [[url, ..]] => format!("{elapsed}  {}", std::mem::take(url)),
        _ => elapsed.to_owned(),
    };
    let text = format!("{title}\n{}", table(HEADER.map(str::to_owned), cells));
    let lines = text.lines().map(|line| Line::from(line).cut(columns.saturating_sub(2)).to_string());
    lines.collect::<Vec<_>>().join("\n")
}

impl Row {
    fn cells(&mut self, now: Duration) -> [String; 9] {
        let done = self.progress.done();
        let rate = self.rate(now, done);
        let live = self.progress.live();
        let ms = |of: fn(Live) -> Option<u64>| live.and_then(of).map_or_else(|| "-".to_owned(), shown);
        [
            self.url.clone(),
            count(done),
            rate,
            count(self.progress.failed()),
            ms(|live| Some(live.p50)),
            ms(|live| Some(live.p90)),
            ms(|live| Some(live.p99)),
            ms(|live| Some(live.max)),
            ms(|live| live.late_p99),
        ]
    }

    fn rate(&mut self, now: Duration, done: u64) -> String {
        while self.done.len() > 1 && self.done.front().is_some_and(|(at, _)| now.saturating_sub(*at) > SECOND)
        {
            self.done.pop_front();
        }
        let (since, before) = self.done.front().copied().unwrap_or_default();
        self.done.push_back((now, done));
        #[expect(clippy::cast_precision_loss, reason = "a count of requests of a second")]
        let rate = (done - before) as f64 / (now - since).as_secs_f64().max(1e-3);
        format!("{rate:.0}")
    }
}

#[expect(clippy::cast_precision_loss, reason = "nanoseconds of a request")]
fn shown(nanos: u64) -> String {
    latency(nanos as f64 / 1e6)
}

const HEADER: [&str; 9] = ["", "done", "/s", "failed", "p50 ms", "p90", "p99", "max", "late p99"];

const SECOND: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_has_a_row_for_each_url_and_a_line_has_the_same() {
        let runs = ["http://a/", "http://b/"].map(|url| (url.to_owned(), Progress::default()));
        let mut view = View::new(runs.into_iter(), Some(Duration::from_secs(10)));
        let table = view.draw(Duration::from_millis(2500), Some(120));
        assert!(table.starts_with("2 s of 10s\n"), "{table}");
        assert_eq!(table.lines().filter(|line| line.contains("http://")).count(), 2, "{table}");
        let narrow = view.draw(Duration::from_millis(2500), Some(40));
        assert!(narrow.lines().all(|line| line.chars().count() <= 38), "{narrow}");
        let lines = view.draw(Duration::from_millis(3500), None);
        assert!(lines.starts_with("3 s of 10s: http://a/: 0 done, 0/s, 0 failed, p50 -,"), "{lines}");
        assert_eq!(lines.lines().count(), 2);
    }
}
