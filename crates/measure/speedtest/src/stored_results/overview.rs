//! The operator's overview of all results: distributions in total, by time, and by network.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Network, Row};
use crate::{five_numbers::Spread, rubric::Measured};

const SCHEMA: &str = "longhaul.speed.kept/1";

/// A filter of results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Only results of the last `days` days.
    pub days: Option<u32>,
    /// Only results from this network.
    pub network: Option<Network>,
}

/// All stored results, or the filtered ones.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Overview {
    /// Identifies the schema.
    pub schema: String,
    /// Retention time of results, s.
    pub keep_for_s: u64,
    /// Number of stored results, without the filter.
    pub kept: usize,
    /// All filtered results.
    pub all: Group,
    /// The period of `by_time`: "hour", "day" or "month".
    pub period: &'static str,
    /// Groups by time (UTC), the latest last; at most the last 100.
    pub by_time: Vec<Group>,
    /// Groups by network, the largest first; at most 100.
    pub by_network: Vec<Group>,
    /// Number of networks.
    pub networks: usize,
    /// The last 50 results, the latest first.
    pub latest: Vec<Row>,
}

/// A group of results.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Group {
    /// Its name: a network, "2026-05-04", ...
    pub name: String,
    /// Number of results.
    pub n: usize,
    /// Distributions of their figures.
    pub figures: Figures,
}

/// Distributions of figures. Null if no result contains the figure.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Figures {
    /// Bits per second.
    pub download_bps: Option<Spread>,
    /// Bits per second.
    pub upload_bps: Option<Spread>,
    /// Idle latency, ms.
    pub idle_ms: Option<Spread>,
    /// Latency under load, in the worse direction of each result, ms.
    pub loaded_ms: Option<Spread>,
    /// Jitter, ms.
    pub jitter_ms: Option<Spread>,
    /// Share of lost datagrams.
    pub loss_ratio: Option<Spread>,
}

impl Overview {
    /// The overview of all results. `now_s` is the Unix time in seconds.
    pub fn of(rows: Vec<Row>, wanted: Wanted, now_s: u64, keep_for_s: u64) -> Self {
        let kept = rows.len();
        let since_s = wanted.days.map_or(0, |days| now_s.saturating_sub(u64::from(days) * DAY_S));
        let network = wanted.network.map(|network| network.to_string());
        let is_wanted =
            |row: &Row| row.kept_s >= since_s && network.as_ref().is_none_or(|wanted| row.network == *wanted);
        let mut rows: Vec<Row> = rows.into_iter().filter(is_wanted).collect();
        // The wall clock may have been changed; sort by the stored times.
        rows.sort_by_key(|row| row.kept_s);
        let span_s = rows.last().zip(rows.first()).map_or(0, |(last, first)| last.kept_s - first.kept_s);
        let (period, digits, rest) = period(span_s);
        let mut by_time = groups(&rows, |row| row.kept()[..digits].replace('T', " ") + rest);
        by_time.drain(..by_time.len().saturating_sub(MOST_GROUPS));
        let mut by_network = groups(&rows, |row| row.network.clone());
        let networks = by_network.len();
        by_network.sort_by(|one, other| other.n.cmp(&one.n).then_with(|| one.name.cmp(&other.name)));
        by_network.truncate(MOST_GROUPS);
        Self {
            schema: SCHEMA.to_owned(),
            keep_for_s,
            kept,
            all: Group::of("all", &rows.iter().collect::<Vec<_>>()),
            period,
            by_time,
            by_network,
            networks,
            latest: rows.into_iter().rev().take(LATEST).collect(),
        }
    }
}

/// Also the length of the period's prefix in a timestamp, and the rest of the timestamp.
fn period(span_s: u64) -> (&'static str, usize, &'static str) {
    if span_s <= 2 * DAY_S {
        ("hour", "2026-05-04T03".len(), ":00")
    } else if span_s <= 62 * DAY_S {
        ("day", "2026-05-04".len(), "")
    } else {
        ("month", "2026-05".len(), "")
    }
}

fn groups(rows: &[Row], name: impl Fn(&Row) -> String) -> Vec<Group> {
    let mut groups: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        groups.entry(name(row)).or_default().push(row);
    }
    groups.into_iter().map(|(name, rows)| Group::of(&name, &rows)).collect()
}

impl Group {
    fn of(name: &str, rows: &[&Row]) -> Self {
        let spread = |figure: fn(&Measured) -> Option<f64>| {
            Spread::of(&rows.iter().filter_map(|row| figure(&row.measured)).collect::<Vec<_>>())
        };
        let figures = Figures {
            download_bps: spread(|measured| measured.download_bps),
            upload_bps: spread(|measured| measured.upload_bps),
            idle_ms: spread(|measured| measured.idle_ms),
            loaded_ms: spread(|measured| {
                let each = [measured.loaded_down_ms, measured.loaded_up_ms];
                each.into_iter().flatten().reduce(f64::max)
            }),
            jitter_ms: spread(|measured| measured.jitter_ms),
            loss_ratio: spread(|measured| measured.loss_ratio),
        };
        Self { name: name.to_owned(), n: rows.len(), figures }
    }
}

const DAY_S: u64 = 86_400;
const MOST_GROUPS: usize = 100;
const LATEST: usize = 50;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Token;

    /// 2026-05-04T00:00:00Z.
    const MONDAY: u64 = 1_777_852_800;

    fn row(number: u8, kept_s: u64, network: &str, mbits: f64) -> Row {
        let measured = Measured {
            download_bps: Some(mbits * 1e6),
            loaded_down_ms: Some(30.0),
            loaded_up_ms: Some(90.0),
            ..Measured::default()
        };
        let (plan, protocol) = ("quick".to_owned(), "h2".to_owned());
        Row { id: Token([number; 16]), kept_s, network: network.to_owned(), plan, protocol, measured }
    }

    fn names(groups: &[Group]) -> Vec<(&str, usize)> {
        groups.iter().map(|group| (group.name.as_str(), group.n)).collect()
    }

    #[test]
    fn results_are_divided_by_time_and_by_network() {
        let (home, office) = ("192.0.2.0/24", "2001:db8::/48");
        let rows = vec![
            row(1, MONDAY, home, 10.0),
            row(2, MONDAY + 3 * DAY_S, home, 30.0),
            row(3, MONDAY + DAY_S, office, 20.0),
            row(4, MONDAY + 3 * DAY_S + 60, home, 50.0),
        ];
        let overview = Overview::of(rows.clone(), Wanted::default(), MONDAY + 4 * DAY_S, 30 * DAY_S);
        assert_eq!((overview.kept, overview.period, overview.networks), (4, "day", 2));
        assert_eq!(names(&overview.by_time), [("2026-05-04", 1), ("2026-05-05", 1), ("2026-05-07", 2)]);
        assert_eq!(names(&overview.by_network), [(home, 3), (office, 1)]);
        let download = overview.all.figures.download_bps.unwrap();
        assert_eq!((download.n, download.min, download.p50, download.max), (4, 10e6, 25e6, 50e6));
        assert_eq!(overview.all.figures.loaded_ms.unwrap().p50, 90.0);
        assert_eq!(overview.all.figures.loss_ratio, None);
        assert_eq!(overview.latest[0].id, Token([4; 16]));

        let wanted = Wanted { days: Some(2), network: home.parse().ok() };
        let some = Overview::of(rows, wanted, MONDAY + 4 * DAY_S, 30 * DAY_S);
        assert_eq!((some.kept, some.all.n, some.period), (4, 2, "hour"));
        assert_eq!(names(&some.by_time), [("2026-05-07 00:00", 2)]);
        let none = Overview::of(Vec::new(), Wanted::default(), MONDAY, 1);
        assert_eq!((none.all.n, none.by_time.len(), none.all.figures.idle_ms), (0, 0, None));
    }

    #[test]
    fn what_is_told_is_bounded() {
        let network = |number: u32| format!("10.{}.{}.0/24", number >> 8, number & 255);
        let rows = (0..300_u32).map(|number| {
            let kept_s = MONDAY + u64::from(number) * 31 * DAY_S;
            row(1, kept_s, &network(number), 1.0)
        });
        let overview = Overview::of(rows.collect(), Wanted::default(), MONDAY, 1);
        let many =
            (overview.by_time.len(), overview.by_network.len(), overview.networks, overview.latest.len());
        assert_eq!((many, overview.period), ((100, 100, 300, 50), "month"));
    }
}
