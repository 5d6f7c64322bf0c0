//! The grid of a sweep: the values along each axis. Pure.

use std::{ops::RangeInclusive, time::Duration};

use config_file::suggestion;
use tcp::kernel::Rule;
use toml::Table;
use units::{Bitrate, Bytes};

use super::{
    machine::Machine,
    reader::Reader,
    setting::{Setting, Size},
};

/// The values along each axis. The cells are their cross product.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// Round-trip times of the link without queues.
    pub rtt: Vec<Duration>,
    /// Rates of the link.
    pub rate: Vec<Bitrate>,
    /// Maximum receive buffers of the reader: the third number of `net.ipv4.tcp_rmem`.
    pub rmem: Vec<Setting<Size>>,
    /// `net.ipv4.tcp_adv_win_scale` of the reader.
    pub adv_win_scale: Vec<Setting<i8>>,
    /// `net.ipv4.tcp_notsent_lowat` of the sender.
    pub notsent_lowat: Vec<Setting<Size>>,
    /// Congestion control algorithms of the sender.
    pub congestion: Vec<Setting<String>>,
    /// Programmes of the reader.
    pub programme: Vec<Reader>,
    /// Number of runs of each cell.
    pub repeat: u32,
    /// Duration of each run; `None`: the duration of its programme.
    pub duration: Option<Duration>,
    /// Further keys of each cell's `[world]`.
    pub world: Table,
    /// Further keys of each cell's `[[link]]`.
    pub link: Table,
}

impl Default for Grid {
    fn default() -> Self {
        let rate = Bitrate::from_bits_per_second(1_000_000_000).expect("not 0");
        Self {
            rtt: [20, 300].map(Duration::from_millis).to_vec(),
            rate: vec![rate],
            rmem: vec![Setting::Default, Setting::Is(Size(Bytes(512 << 20)))],
            adv_win_scale: vec![Setting::Default],
            notsent_lowat: vec![Setting::Default],
            congestion: vec![Setting::Default],
            programme: vec![Reader::default()],
            repeat: 1,
            duration: None,
            world: Table::from_iter([("lateness".to_owned(), LATENESS.into())]),
            link: Table::new(),
        }
    }
}

/// The reason why a grid is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{axis}: {why}")]
pub struct Refusal {
    /// The axis, by its key in a sweep file. The command-line option has "-" where the key has "_".
    pub axis: &'static str,
    /// The problem and its remedy.
    pub why: String,
}

impl Grid {
    /// Number of cells. Each is measured `repeat` times.
    pub fn cells(&self) -> usize {
        [
            self.rtt.len(),
            self.rate.len(),
            self.rmem.len(),
            self.adv_win_scale.len(),
            self.notsent_lowat.len(),
            self.congestion.len(),
            self.programme.len(),
        ]
        .into_iter()
        .fold(1, usize::saturating_mul)
    }

    /// Checks the grid, and that this machine can run it.
    pub fn check(&self, machine: &Machine) -> Result<(), Refusal> {
        // First: the check for duplicates takes quadratic time.
        self.check_amount()?;
        let shown = |rtt: &Duration| units::duration::show(*rtt);
        distinct("rtt", &self.rtt, shown)?;
        distinct("rate", &self.rate, ToString::to_string)?;
        distinct("rmem", &self.rmem, ToString::to_string)?;
        distinct("adv_win_scale", &self.adv_win_scale, ToString::to_string)?;
        distinct("notsent_lowat", &self.notsent_lowat, ToString::to_string)?;
        distinct("congestion", &self.congestion, ToString::to_string)?;
        distinct("programme", &self.programme, |reader| reader.name.clone())?;
        within("rtt", &self.rtt, SHORTEST..=LONGEST, shown)?;
        within("rmem", &set(&self.rmem), Size(Bytes(4096))..=LARGEST, Size::to_string)?;
        within("notsent_lowat", &set(&self.notsent_lowat), Size(Bytes(1))..=LARGEST, Size::to_string)?;
        within("adv_win_scale", &set(&self.adv_win_scale), -31..=31, i8::to_string)?;
        self.check_scale(machine)?;
        self.check_congestion(machine)?;
        self.check_keys()
    }

    fn check_scale(&self, machine: &Machine) -> Result<(), Refusal> {
        let rule = Rule::WIN_SCALE_IGNORED;
        if set(&self.adv_win_scale).is_empty() || !rule.holds(machine.kernel) {
            return Ok(());
        }
        let why = format!(
            "since Linux {}, and this is {}, {}; vary rmem instead",
            rule.since, machine.kernel, rule.what
        );
        Err(Refusal { axis: "adv_win_scale", why })
    }

    fn check_congestion(&self, machine: &Machine) -> Result<(), Refusal> {
        let known = || machine.congestion.iter().map(String::as_str);
        let Some(name) = set(&self.congestion).into_iter().find(|name| known().all(|known| known != name))
        else {
            return Ok(());
        };
        let hint = suggestion(&name, known());
        let why = format!(
            "this kernel has no congestion control \"{name}\"{hint}; it has {} (modprobe tcp_{name} may bring it)",
            machine.congestion.join(", ")
        );
        Err(Refusal { axis: "congestion", why })
    }

    fn check_keys(&self) -> Result<(), Refusal> {
        let taken = |axis, table: &Table, keys: &[&str]| {
            let key = keys.iter().find(|key| table.contains_key(**key))?;
            let why = format!("\"{key}\" is set by the sweep for each cell; leave it out here");
            Some(Refusal { axis, why })
        };
        let world = taken("world", &self.world, &["name", "include", "matrix", "sysctl"]);
        let link = taken("link", &self.link, &["between", "rtt", "delay", "rate", "trace", "via"]);
        world.or(link).map_or(Ok(()), Err)
    }

    fn check_amount(&self) -> Result<(), Refusal> {
        let repeat = usize::try_from(self.repeat).unwrap_or(usize::MAX);
        if repeat == 0 {
            return Err(Refusal { axis: "repeat", why: "each cell is measured at least once".to_owned() });
        }
        within("for", self.duration.as_slice(), BRIEFEST..=DAY, |duration| units::duration::show(*duration))?;
        let runs = self.cells().saturating_mul(repeat);
        if runs > MOST_RUNS {
            let longest = self.longest_axis();
            let why = format!(
                "{} cells, each measured {repeat} times, are {runs} runs and more than the limit of {MOST_RUNS}; \
                 use fewer values",
                self.cells()
            );
            return Err(Refusal { axis: longest, why });
        }
        Ok(())
    }

    fn longest_axis(&self) -> &'static str {
        let axes = [
            ("repeat", usize::try_from(self.repeat).unwrap_or(usize::MAX)),
            ("programme", self.programme.len()),
            ("congestion", self.congestion.len()),
            ("notsent_lowat", self.notsent_lowat.len()),
            ("adv_win_scale", self.adv_win_scale.len()),
            ("rmem", self.rmem.len()),
            ("rate", self.rate.len()),
            ("rtt", self.rtt.len()),
        ];
        axes.into_iter().max_by_key(|(_, values)| *values).map_or("rtt", |(axis, _)| axis)
    }
}

fn distinct<T: PartialEq>(
    axis: &'static str,
    values: &[T],
    show: impl Fn(&T) -> String,
) -> Result<(), Refusal> {
    if values.is_empty() {
        return Err(Refusal { axis, why: "at least one value is expected".to_owned() });
    }
    let twice = values.iter().enumerate().find(|(index, value)| values[..*index].contains(value));
    twice.map_or(Ok(()), |(_, value)| {
        Err(Refusal { axis, why: format!("{} is listed twice; list it once", show(value)) })
    })
}

fn within<T: PartialOrd>(
    axis: &'static str,
    values: &[T],
    range: RangeInclusive<T>,
    show: impl Fn(&T) -> String,
) -> Result<(), Refusal> {
    values.iter().find(|value| !range.contains(value)).map_or(Ok(()), |value| {
        let (value, from, to) = (show(value), show(range.start()), show(range.end()));
        Err(Refusal { axis, why: format!("{value} is not from {from} to {to}") })
    })
}

fn set<T: Clone>(values: &[Setting<T>]) -> Vec<T> {
    values.iter().filter_map(Setting::value).cloned().collect()
}

/// The resolution of an emulated link, and the maximum of a world.
const SHORTEST: Duration = Duration::from_micros(10);
const LONGEST: Duration = Duration::from_secs(60);

/// The kernel stores buffer sizes as signed 32-bit integers.
const LARGEST: Size = Size(Bytes(2047 << 20));

/// Enough for a few samples, and the memory for all of them.
const BRIEFEST: Duration = Duration::from_millis(200);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// More than a day with the shortest programmes.
const MOST_RUNS: usize = 10_000;

/// Small compared with the measured times.
const LATENESS: &str = "10ms";

#[cfg(test)]
mod tests;
