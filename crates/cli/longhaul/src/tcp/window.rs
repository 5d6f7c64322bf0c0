//! `longhaul tcp window`: calculates required windows and buffers, and the throughput that the
//! current ones allow.

mod render;

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::Context;
use clap::Args;
use tcp::{
    Error,
    kernel::{Rule, Version},
    settings::Settings,
    window::{self, Buffers, LARGEST_BUFFER, Place},
};
use units::{Bitrate, Bytes};

use crate::output;

/// Calculate the windows and buffers that a path requires, or the throughput that the current ones allow
///
/// With --rate: the window that fills the path, the buffers for it under the kernel's rule, and the sysctl
/// lines that raise settings which are too low. Without: the maximum throughput of one connection with the
/// buffers of this host (of its network namespace), or with those given. With --check and --rate: the
/// destinations that this host's buffers slow down; exits with 1 if there is one. Changes nothing. See
/// docs/tcp-window.md.
///
/// Examples: longhaul tcp window --rtt 300ms --rate 3500Mbit, longhaul tcp window --rtt 121ms,282ms --rmem
/// 16MiB --adv-win-scale -2 --kernel 5.15, longhaul lab exec sydney -- longhaul tcp window --check --rtt
/// 20ms,282ms --rate 1Gbit
#[derive(Debug, Args)]
pub(crate) struct Window {
    /// Round trips: separated by commas, or in several options
    #[arg(long, value_name = "TIME", value_delimiter = ',', value_parser = units::duration::parse, required_unless_present = "check")]
    rtt: Vec<Duration>,
    /// The rate to reach with one connection
    #[arg(long)]
    rate: Option<Bitrate>,
    /// Check the buffers against --rate: for each --rtt, and for each line "NAME RTT" of the file
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    check: Option<Option<PathBuf>>,
    /// Use the defaults of this kernel, such as 5.15, instead of the running kernel and its settings
    #[arg(long, value_name = "VERSION", value_parser = kernel)]
    kernel: Option<Version>,
    /// Limit of the receive buffer, instead of tcp_rmem
    #[arg(long, value_name = "BYTES", value_parser = buffer)]
    rmem: Option<Bytes>,
    /// Limit of the send buffer, instead of tcp_wmem
    #[arg(long, value_name = "BYTES", value_parser = buffer)]
    wmem: Option<Bytes>,
    /// tcp_adv_win_scale, for kernels before 6.6
    #[arg(long, value_name = "SCALE", allow_negative_numbers = true, value_parser = clap::value_parser!(i64).range(-31..=31))]
    adv_win_scale: Option<i64>,
    /// Print JSON: an object; several plans as an array of them
    #[arg(long)]
    json: bool,
}

impl Window {
    pub(crate) fn run(&self) -> anyhow::Result<ExitCode> {
        let (kernel, settings) = self.host()?;
        match (self.rate, &self.check) {
            (Some(rate), None) => self.plan(rate, kernel, &settings),
            (_, check) => self.judge(check.iter().flatten().next(), kernel, &settings),
        }
    }

    fn host(&self) -> anyhow::Result<(Version, Settings)> {
        let (kernel, mut settings) = match self.kernel {
            Some(kernel) => {
                if kernel > Version::NEWEST {
                    output::say(&format!(
                        "note: Linux {kernel} is newer than {}, the newest tested version; its changes are not known here",
                        Version::NEWEST
                    ));
                }
                (kernel, Settings::defaults(kernel, None))
            }
            None => (Version::running()?, Settings::read()?),
        };
        if self.adv_win_scale.is_some() {
            if Rule::WIN_SCALE_IGNORED.holds(kernel) {
                let what = format!("tcp_adv_win_scale does nothing on Linux {kernel}, and on none since 6.6");
                return Err(input(what, "leave --adv-win-scale out, or name an older --kernel such as 5.15"));
            }
            settings.tcp_adv_win_scale = self.adv_win_scale;
        }
        Ok((kernel, settings))
    }

    fn plan(&self, rate: Bitrate, kernel: Version, settings: &Settings) -> anyhow::Result<ExitCode> {
        if self.rmem.is_some() || self.wmem.is_some() {
            let what = "--rate asks how large buffers have to be, and --rmem or --wmem says it".to_owned();
            return Err(input(
                what,
                "leave one of them out, or add --check to judge these buffers by the rate",
            ));
        }
        let plan = |&rtt: &Duration| window::plan(window::Path { rtt, rate }, kernel, settings);
        let plans = self.rtt.iter().map(plan).collect::<Result<Vec<_>, _>>()?;
        match plans.as_slice() {
            [plan] if self.json => output::print_json(plan)?,
            plans if self.json => output::print_json(&plans)?,
            plans => output::print(&render::plans(plans))?,
        }
        Ok(ExitCode::SUCCESS)
    }

    fn judge(
        &self,
        file: Option<&PathBuf>,
        kernel: Version,
        settings: &Settings,
    ) -> anyhow::Result<ExitCode> {
        let mut buffers = Buffers::of(kernel, settings);
        if self.rmem.is_some() || self.wmem.is_some() {
            buffers.receive = self.rmem.map(|bytes| bytes.0);
            buffers.send = self.wmem.map(|bytes| bytes.0);
        }
        let mut places: Vec<_> = self.rtt.iter().map(|&rtt| Place { name: None, rtt }).collect();
        if let Some(path) = file {
            places.extend(read(path)?);
        }
        if places.is_empty() {
            let what = "--check has no destination to check".to_owned();
            return Err(input(what, "add --rtt 20ms,282ms, or a file with lines \"melbourne 282ms\""));
        }
        let check = window::check(&buffers, &places, self.rate)?;
        if self.json {
            output::print_json(&check)?;
        } else {
            output::print(&render::check(&check, self.kernel))?;
        }
        Ok(if check.is_capped() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

fn read(path: &Path) -> anyhow::Result<Vec<Place>> {
    let text = fs::read_to_string(path).with_context(|| format!("{}: cannot be read", path.display()))?;
    let lines =
        text.lines().enumerate().map(|(index, line)| (index + 1, line.split('#').next().unwrap_or_default()));
    lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(number, line)| {
            place(line).map_err(|why| {
                let what = format!("{}:{number}: {why}", path.display());
                input(what, "write a name and a round trip on each line, such as \"melbourne 282ms\"")
            })
        })
        .collect()
}

fn place(line: &str) -> Result<Place, String> {
    let mut words = line.split_whitespace();
    let (Some(name), Some(rtt), None) = (words.next(), words.next(), words.next()) else {
        return Err(format!("\"{}\" is not a name and a round trip", line.trim()));
    };
    let rtt = units::duration::parse(rtt).map_err(|error| error.to_string())?;
    Ok(Place { name: Some(name.to_owned()), rtt })
}

fn kernel(text: &str) -> Result<Version, String> {
    let version = text.parse().and_then(Version::released);
    version.map_err(|error: Error| format!("{error}; {}", error.hint().unwrap_or_default()))
}

fn buffer(text: &str) -> Result<Bytes, String> {
    let bytes: Bytes = text.parse().map_err(|error: units::Error| error.to_string())?;
    match bytes.0 {
        SMALLEST_BUFFER..=LARGEST_BUFFER => Ok(bytes),
        _ => Err("a buffer lies between 4KiB and 2 GiB, as the kernel takes them".to_owned()),
    }
}

fn input(what: String, remedy: &str) -> anyhow::Error {
    Error::Input { what, remedy: remedy.to_owned() }.into()
}

/// The minimum that `sysctl` accepts for `tcp_rmem`.
const SMALLEST_BUFFER: u64 = 4096;
