//! One cell of a sweep: its parameters, and the scenario that measures it. Pure.

use std::{fmt, time::Duration};

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use toml::{Table, Value};
use trafficgen::slow_reader::{DEFAULT_PORT, Programme};
use units::{Bitrate, Bytes};

use super::{
    grid::Grid,
    reader::Reader,
    setting::{Setting, Size},
};

/// The parameters shared by all runs of a cell. In JSON, parameters left at the machine's default are
/// absent.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Parameters {
    /// Round-trip time of the link without queues, ms.
    #[serde(rename = "rtt_ms", serialize_with = "milliseconds")]
    #[schemars(with = "f64")]
    pub rtt: Duration,
    /// Rate of the link, Mbit/s.
    #[serde(rename = "rate_mbps", serialize_with = "megabits")]
    #[schemars(with = "f64")]
    pub rate: Bitrate,
    /// Maximum receive buffer of the reader: the third number of its `tcp_rmem`.
    #[serde(rename = "rmem_bytes", skip_serializing_if = "Setting::is_default")]
    #[schemars(with = "Option<u64>")]
    pub rmem: Setting<Size>,
    /// The reader's `tcp_adv_win_scale`.
    #[serde(skip_serializing_if = "Setting::is_default")]
    #[schemars(with = "Option<i8>")]
    pub adv_win_scale: Setting<i8>,
    /// The sender's `tcp_notsent_lowat`.
    #[serde(rename = "notsent_lowat_bytes", skip_serializing_if = "Setting::is_default")]
    #[schemars(with = "Option<u64>")]
    pub notsent_lowat: Setting<Size>,
    /// The sender's congestion control.
    #[serde(skip_serializing_if = "Setting::is_default")]
    #[schemars(with = "Option<String>")]
    pub congestion: Setting<String>,
    /// Name of the reader's programme.
    #[serde(serialize_with = "name")]
    #[schemars(with = "String")]
    pub programme: Reader,
}

/// One measurement of a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Index of the cell in the order of [`Grid::parameters`].
    pub cell: usize,
    /// Name of its files: the parameters, and a short hash of the scenario.
    pub name: String,
    /// The scenario, as TOML.
    pub scenario: String,
    /// The reader's programme with all its phases.
    pub programme: Programme,
    /// Duration of the measurement.
    pub duration: Duration,
    /// Rate of the link, which determines the CPU load.
    pub rate: Bitrate,
}

impl Grid {
    /// The parameters of every cell; the last axis changes fastest.
    pub fn parameters(&self) -> Vec<Parameters> {
        let cell = |number| {
            let mut digits = Digits(number);
            let programme = digits.pick(&self.programme);
            let congestion = digits.pick(&self.congestion);
            let notsent_lowat = digits.pick(&self.notsent_lowat);
            let adv_win_scale = digits.pick(&self.adv_win_scale);
            let rmem = digits.pick(&self.rmem);
            let rate = digits.pick(&self.rate);
            let rtt = digits.pick(&self.rtt);
            Parameters { rtt, rate, rmem, adv_win_scale, notsent_lowat, congestion, programme }
        };
        (0..self.cells()).map(cell).collect()
    }

    /// Every cell once, then every cell a second time: a drift of the machine affects all cells
    /// alike.
    pub fn runs(&self) -> Vec<Run> {
        let cells = self.parameters();
        let numbered =
            (1..=self.repeat).flat_map(|number| cells.iter().enumerate().map(move |cell| (number, cell)));
        numbered.map(|(number, (cell, parameters))| self.run(number, cell, parameters)).collect()
    }

    fn run(&self, number: u32, cell: usize, parameters: &Parameters) -> Run {
        let programme = parameters.programme.programme.clone();
        let duration = self.duration.or(programme.duration()).unwrap_or(Duration::MAX);
        let scenario = self.scenario(number, parameters, duration);
        let digest = digest(&format!("{scenario}{programme:?}"));
        let name = format!("{}-{number}-{digest:06x}", parameters.file_name());
        Run { cell, name, scenario, programme, duration, rate: parameters.rate }
    }

    fn scenario(&self, number: u32, parameters: &Parameters, duration: Duration) -> String {
        let mut world = self.world.clone();
        let seed = world.get("seed").and_then(Value::as_integer).unwrap_or(1);
        world.insert("seed".to_owned(), Value::Integer(seed.saturating_add(i64::from(number) - 1)));
        let mut link = self.link.clone();
        link.insert("rtt".to_owned(), units::duration::show(parameters.rtt).into());
        link.insert("rate".to_owned(), parameters.rate.to_string().into());
        let read = parameters.read(duration).into_iter().map(Value::from).collect();
        format!(
            "# One cell of a sweep; `longhaul run` measures it again.\n\
             [scenario]\n\
             title = {title}\n\n\
             [world]\n{world}\n\
             # The sender's buffer is not what limits it: twice the largest window that TCP has.\n\
             [[host]]\n\
             name = \"sender\"\n\
             city = \"zurich\"\n{congestion}\
             sysctl = {sender}\n\n\
             [[host]]\n\
             name = \"reader\"\n\
             city = \"sydney\"\n\
             sysctl = {reader}\n\n\
             [[link]]\n\
             between = [\"zurich\", \"sydney\"]\n{link}\n\
             [[program]]\n\
             host = \"sender\"\n\
             run = [\"longhaul\", \"tcp\", \"oscil\", \"serve\", \"--listen\", \"[::]:{DEFAULT_PORT}\"]\n\
             ready = {DEFAULT_PORT}\n\n\
             [[command]]\n\
             side = \"{SIDE}\"\n\
             host = \"reader\"\n\
             run = {read}\n\
             codes = [0, 1]\n\
             duration = \"{lasts}\"\n\
             timeout = \"{patience}\"\n",
            title = Value::from(parameters.to_string()),
            congestion = parameters
                .congestion
                .value()
                .map_or_else(String::new, |name| format!("congestion = {}\n", Value::from(name.as_str()))),
            sender = Value::Table(parameters.sender()),
            reader = Value::Table(parameters.reader()),
            read = Value::Array(read),
            lasts = units::duration::show(duration),
            patience = units::duration::show(duration + PATIENCE),
        )
    }
}

impl Parameters {
    fn read(&self, duration: Duration) -> Vec<String> {
        let server = format!("sender:{DEFAULT_PORT}");
        let duration = units::duration::show(duration);
        let programme = self.programme.argument.as_str();
        ["longhaul", "tcp", "oscil", "read", &server, "--programme", programme, "--for", &duration, "--json"]
            .map(str::to_owned)
            .to_vec()
    }

    fn sender(&self) -> Table {
        let wmem = ("net.ipv4.tcp_wmem", "4096 16384 2147483647".to_owned());
        let lowat = self.notsent_lowat.value();
        settings([Some(wmem), lowat.map(|lowat| ("net.ipv4.tcp_notsent_lowat", lowat.0.0.to_string()))])
    }

    /// The initial buffer size is the kernel's default, limited to the maximum.
    fn reader(&self) -> Table {
        let rmem = self
            .rmem
            .value()
            .map(|Size(Bytes(most))| ("net.ipv4.tcp_rmem", format!("4096 {} {most}", most.min(&131_072))));
        let scale = self.adv_win_scale.value();
        settings([rmem, scale.map(|scale| ("net.ipv4.tcp_adv_win_scale", scale.to_string()))])
    }

    fn file_name(&self) -> String {
        let mut name = format!("{}-{}", units::duration::show(self.rtt), self.rate);
        for (setting, value) in [
            ("rmem", self.rmem.value().map(Size::to_string)),
            ("scale", self.adv_win_scale.value().map(i8::to_string)),
            ("notsent", self.notsent_lowat.value().map(Size::to_string)),
            ("", self.congestion.value().cloned()),
        ] {
            name.extend(value.map(|value| format!("-{setting}{value}")));
        }
        let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let programme: String = self.programme.name.chars().filter(is_plain).take(40).collect();
        format!("{name}-{programme}")
    }
}

impl fmt::Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", units::duration::show(self.rtt), self.rate)?;
        for (setting, value) in [
            ("tcp_rmem ", self.rmem.value().map(Size::to_string)),
            ("tcp_adv_win_scale ", self.adv_win_scale.value().map(i8::to_string)),
            ("tcp_notsent_lowat ", self.notsent_lowat.value().map(Size::to_string)),
            ("", self.congestion.value().cloned()),
        ] {
            value.map_or(Ok(()), |value| write!(f, ", {setting}{value}"))?;
        }
        write!(f, ", {}", self.programme.name)
    }
}

fn milliseconds<S: Serializer>(rtt: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(rtt.as_secs_f64() * 1e3)
}

#[expect(clippy::cast_precision_loss, reason = "units bounds it below 2^53")]
fn megabits<S: Serializer>(rate: &Bitrate, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(rate.bits_per_second() as f64 / 1e6)
}

fn name<S: Serializer>(reader: &Reader, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&reader.name)
}

/// A cell number as mixed-radix digits, one per axis.
struct Digits(usize);

impl Digits {
    fn pick<T: Clone>(&mut self, values: &[T]) -> T {
        let value = values[self.0 % values.len()].clone();
        self.0 /= values.len();
        value
    }
}

fn settings<const N: usize>(settings: [Option<(&str, String)>; N]) -> Table {
    settings.into_iter().flatten().map(|(key, value)| (key.to_owned(), value.into())).collect()
}

/// FNV-1a folded to 24 bits. It must not change between versions, because file names contain it.
fn digest(text: &str) -> u32 {
    let hash =
        text.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    (hash >> 24) ^ (hash & 0x00ff_ffff)
}

const SIDE: &str = "read";

/// For connecting over the longest round trip on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

#[cfg(test)]
mod tests;
