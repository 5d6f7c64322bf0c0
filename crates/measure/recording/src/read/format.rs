//! The formats that can be read, and their names.

use super::AccessFormat;

/// A format that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON lines with a header: the native format.
    Native,
    /// Rows of columns.
    Csv,
    /// HTTP Archive 1.2, the export format of browsers.
    Har,
    /// HdrHistogram interval log.
    Hlog,
    /// HdrHistogram percentile text.
    Hgrm,
    /// Lines of `curl -w '%{json}'`.
    Curl,
    /// `oha --output-format csv`.
    OhaCsv,
    /// `oha --output-format json`.
    OhaJson,
    /// `k6 run --out json=...`.
    K6,
    /// The same as CSV.
    K6Csv,
    /// JMeter's results (JTL) as CSV.
    JmeterCsv,
    /// The same as XML.
    JmeterXml,
    /// `vegeta encode --to json`.
    Vegeta,
    /// `vegeta encode --to csv`.
    VegetaCsv,
    /// W3C Resource or Navigation Timing.
    Timing,
    /// `hey -o csv`.
    Hey,
    /// `ab -g`.
    Ab,
    /// The output of `wrk --latency`.
    Wrk,
    /// `autocannon --json`.
    Autocannon,
    /// `bombardier -l -p r -o json`.
    Bombardier,
    /// `locust --csv NAME`: `NAME_stats.csv`.
    Locust,
    /// The same, `NAME_stats_history.csv`.
    LocustHistory,
    /// `locust --json`.
    LocustJson,
    /// Gatling's `simulation.log` as text.
    Gatling,
    /// A histogram in Prometheus' text format.
    Prometheus,
    /// Traces of OpenTelemetry as JSON.
    Otlp,
    /// The output of ping.
    Ping,
    /// The output of ping on Windows.
    WindowsPing,
    /// `rrdtool fetch` for a database of smokeping.
    Smokeping,
    /// The output of fping.
    Fping,
    /// Results of pings of RIPE Atlas.
    Atlas,
    /// `mtr --raw`.
    Mtr,
    /// `k6 run --summary-export`, or of `handleSummary`.
    K6Summary,
    /// `fortio load -json`.
    Fortio,
    /// `ghz -O json`.
    Ghz,
    /// `nighthawk_client --output-format json`.
    Nighthawk,
    /// `artillery run --output`.
    Artillery,
    /// `lighthouse --output json`.
    Lighthouse,
    /// An access log.
    Access(AccessFormat),
}

impl Format {
    /// The name for display.
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native recording",
            Self::Csv => "CSV",
            Self::Har => "HAR",
            Self::Hlog => "HdrHistogram log",
            Self::Hgrm => "HdrHistogram percentiles",
            Self::Curl => "curl",
            Self::OhaCsv => "oha CSV",
            Self::OhaJson => "oha JSON",
            Self::K6 => "k6",
            Self::K6Csv => "k6 CSV",
            Self::JmeterCsv => "JMeter CSV",
            Self::JmeterXml => "JMeter XML",
            Self::Vegeta => "vegeta",
            Self::VegetaCsv => "vegeta CSV",
            Self::Timing => "Resource Timing",
            Self::Hey => "hey CSV",
            Self::Ab => "ApacheBench",
            Self::Wrk => "wrk",
            Self::Autocannon => "autocannon JSON",
            Self::Bombardier => "bombardier JSON",
            Self::Locust => "Locust CSV",
            Self::LocustHistory => "Locust history",
            Self::LocustJson => "Locust JSON",
            Self::Gatling => "Gatling log",
            Self::Prometheus => "Prometheus histogram",
            Self::Otlp => "OpenTelemetry traces",
            Self::Ping => "ping",
            Self::WindowsPing => "Windows ping",
            Self::Smokeping => "smokeping",
            Self::Fping => "fping",
            Self::Atlas => "RIPE Atlas",
            Self::Mtr => "mtr",
            Self::K6Summary => "k6 summary",
            Self::Fortio => "fortio JSON",
            Self::Ghz => "ghz JSON",
            Self::Nighthawk => "nighthawk JSON",
            Self::Artillery => "artillery JSON",
            Self::Lighthouse => "Lighthouse JSON",
            Self::Access(format) => format.name(),
        }
    }
}
