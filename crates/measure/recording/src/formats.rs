//! The formats that are read: the table of docs/recording.md.

use crate::{AccessFormat, Format};

/// One row of the table: similar formats.
pub struct Row {
    /// The formats.
    pub formats: &'static [Format],
    title: &'static str,
    how: &'static str,
    /// Start time, page, phases, status and failures of samples, in this order.
    has: [&'static str; 5],
}

/// The rows of the table as Markdown, with its head.
pub fn table() -> String {
    let head = "| format | how to make it | time | pages | phases | status | failures |\n| --- | --- | --- | --- | --- | --- | --- |\n";
    let line = |row: &Row| {
        let Row { title, how, has, .. } = row;
        format!("| {title} | {how} | {} |\n", has.join(" | "))
    };
    head.to_owned() + &ROWS.iter().map(line).collect::<String>()
}

/// Formats that are recognised but not supported, as Markdown.
pub fn refused() -> String {
    let head = "| file | next step |\n| --- | --- |\n";
    head.to_owned() + &REFUSED.iter().map(|(file, step)| format!("| {file} | {step} |\n")).collect::<String>()
}

const fn row(
    formats: &'static [Format],
    title: &'static str,
    how: &'static str,
    has: [&'static str; 5],
) -> Row {
    Row { formats, title, how, has }
}

/// In the order of the docs.
pub const ROWS: &[Row] = &[
    row(
        &[Format::Native],
        "native",
        "`longhaul probe URL --rate 20/s --duration 60s -o a.jsonl`",
        ["yes", "yes", "all", "yes", "yes"],
    ),
    row(
        &[Format::Csv],
        "[CSV, TSV](recording-tools.md#csv)",
        "anything",
        ["column", "column", "columns", "column", "column"],
    ),
    row(
        &[Format::Har],
        "[HAR 1.2](recording-tools.md#har)",
        "browser's network panel: save all as HAR",
        ["yes", "yes", "all", "yes", "yes"],
    ),
    row(
        &[Format::Timing],
        "[Resource Timing](recording-tools.md#resource-and-navigation-timing)",
        "in the page: `JSON.stringify(performance.getEntries())`",
        ["first page", "yes", "all but send", "yes", "status 0"],
    ),
    row(
        &[Format::Curl],
        "[curl](recording-tools.md#curl)",
        "`curl -s -o /dev/null -w '%{json}\\n' URL >> a.jsonl`",
        ["no", "no", "all", "yes", "yes"],
    ),
    row(
        &[Format::K6, Format::K6Csv],
        "[k6](recording-tools.md#k6)",
        "`k6 run --out json=a.json script.js`, or `csv=a.csv`",
        ["yes", "no", "all but dns", "yes", "yes"],
    ),
    row(
        &[Format::Vegeta, Format::VegetaCsv],
        "[vegeta](recording-tools.md#vegeta)",
        "`vegeta attack … \\| vegeta encode --to json > a.json`, or `--to csv`",
        ["yes", "no", "none", "yes", "yes"],
    ),
    row(
        &[Format::JmeterCsv, Format::JmeterXml],
        "[JMeter](recording-tools.md#jmeter)",
        "`jmeter -n -t plan.jmx -l a.jtl`, CSV or XML",
        ["yes", "no", "connect, ttfb, load", "yes", "yes"],
    ),
    row(
        &[Format::Hey],
        "[hey](recording-tools.md#hey-and-ab)",
        "`hey -o csv URL > a.csv`",
        ["yes", "no", "all but connect, tls", "yes", "not in it"],
    ),
    row(
        &[Format::Ab],
        "[ab](recording-tools.md#hey-and-ab)",
        "`ab -n 1000 -g a.tsv URL`",
        ["by the second", "no", "connect, wait, load", "no", "not in it"],
    ),
    row(
        &[Format::Gatling],
        "[Gatling](recording-tools.md#gatling-and-locust)",
        "its `simulation.log`, as text",
        ["yes", "no", "none", "of failures", "yes"],
    ),
    row(
        &[Format::Otlp],
        "[OpenTelemetry](recording-tools.md#opentelemetry)",
        "traces as JSON, as the collector's file exporter writes them",
        ["yes", "no", "none", "yes", "yes"],
    ),
    row(
        &[Format::Lighthouse],
        "[Lighthouse](recording-tools.md#lighthouse-and-crux)",
        "`lighthouse URL --output json`",
        ["first page", "yes", "none", "yes", "no status"],
    ),
    row(
        &[Format::Ping, Format::Fping, Format::Mtr],
        "[ping, fping, mtr](recording-tools.md#ping-fping-mtr-smokeping-and-ripe-atlas)",
        "`ping -D HOST > a.txt`, `fping -D -l HOST`, `mtr --raw HOST`",
        ["with `-D`", "no", "none", "no", "lost"],
    ),
    row(
        &[Format::WindowsPing],
        "[ping of Windows](recording-tools.md#ping-fping-mtr-smokeping-and-ripe-atlas)",
        "`ping -n 100 HOST > a.txt`",
        ["no", "no", "none", "no", "lost"],
    ),
    row(
        &[Format::Smokeping],
        "[smokeping](recording-tools.md#ping-fping-mtr-smokeping-and-ripe-atlas)",
        "it has no text of its own: `rrdtool fetch HOST.rrd AVERAGE -s -1d > a.txt`",
        ["by the round", "no", "none", "no", "lost"],
    ),
    row(
        &[Format::Atlas],
        "[RIPE Atlas](recording-tools.md#ping-fping-mtr-smokeping-and-ripe-atlas)",
        "results of a ping measurement",
        ["by the second", "no", "none", "no", "lost"],
    ),
    row(
        &[Format::Ghz],
        "[ghz](recording-tools.md#summaries)",
        "`ghz -O json …`",
        ["yes", "no", "none", "of gRPC", "yes"],
    ),
    row(
        &[Format::OhaCsv],
        "[oha, CSV](recording-tools.md#oha)",
        "`oha --no-tui --output-format csv URL > a.csv`",
        ["yes", "no", "dns", "yes", "not in it"],
    ),
    row(
        &[Format::OhaJson],
        "[oha, JSON](recording-tools.md#oha)",
        "`oha --no-tui --output-format json URL > a.json`",
        ["no", "no", "none", "no", "counted"],
    ),
    row(
        &[Format::Wrk],
        "[wrk](recording-tools.md#summaries)",
        "`wrk --latency URL > a.txt`",
        ["no", "no", "none", "no", "counted"],
    ),
    row(
        &[Format::Autocannon, Format::Bombardier],
        "[autocannon, bombardier](recording-tools.md#summaries)",
        "`autocannon --json URL`; `bombardier -l -p r -o json URL`",
        ["no", "no", "none", "no", "counted"],
    ),
    row(
        &[Format::Locust, Format::LocustJson],
        "[Locust](recording-tools.md#gatling-and-locust)",
        "`locust --csv a …`: `a_stats.csv`; `locust --json … > a.json`",
        ["no", "no", "none", "no", "counted"],
    ),
    row(
        &[Format::LocustHistory],
        "[Locust, history](recording-tools.md#gatling-and-locust)",
        "`locust --csv a …`: `a_stats_history.csv`",
        ["ten seconds", "no", "none", "no", "counted"],
    ),
    row(
        &[Format::K6Summary],
        "[k6, summary](recording-tools.md#summaries)",
        "`k6 run --summary-export a.json`, or `handleSummary`",
        ["no", "no", "none", "no", "no"],
    ),
    row(
        &[Format::Fortio, Format::Nighthawk, Format::Artillery],
        "[fortio, nighthawk, artillery](recording-tools.md#summaries)",
        "their results as JSON",
        ["no", "no", "none", "no", "counted"],
    ),
    row(
        &[Format::Prometheus],
        "[Prometheus](recording-tools.md#prometheus)",
        "one scrape of a histogram, or two in one file",
        ["no", "no", "none", "no", "no"],
    ),
    row(
        &[Format::Hlog],
        "[HdrHistogram log](recording-tools.md#hdrhistogram) `.hlog`",
        "HdrHistogram's log writers; V0, V1, V2, tags",
        ["intervals", "no", "none", "no", "no"],
    ),
    row(
        &[Format::Hgrm],
        "[HdrHistogram percentiles](recording-tools.md#hdrhistogram) `.hgrm`",
        "`outputPercentileDistribution`, also as CSV; `wrk2 --latency`",
        ["no", "no", "none", "no", "no"],
    ),
    row(
        &[
            Format::Access(AccessFormat::Nginx),
            Format::Access(AccessFormat::Apache),
            Format::Access(AccessFormat::Tomcat),
            Format::Access(AccessFormat::Envoy),
            Format::Access(AccessFormat::Varnish),
        ],
        "[nginx, Apache, Tomcat, Envoy, Varnish](recording-logs.md#format-strings)",
        "an access log, with `--log-format`",
        ["if logged", "no", "of the upstream", "if logged", "gone clients"],
    ),
    row(
        &[Format::Access(AccessFormat::NginxJson)],
        "[nginx, JSON](recording-logs.md#logs-in-json)",
        "its access log with `escape=json` and nginx's names",
        ["if logged", "no", "of the upstream", "if logged", "499"],
    ),
    row(
        &[Format::Access(AccessFormat::Caddy)],
        "[Caddy](recording-logs.md#logs-in-json)",
        "its JSON access log",
        ["yes", "no", "none", "yes", "0, 499"],
    ),
    row(
        &[Format::Access(AccessFormat::EnvoyDefault), Format::Access(AccessFormat::EnvoyJson)],
        "[Envoy, Istio](recording-logs.md#proxies)",
        "the default text, or JSON",
        ["yes", "no", "wait", "yes", "0, DC"],
    ),
    row(
        &[Format::Access(AccessFormat::Traefik), Format::Access(AccessFormat::TraefikJson)],
        "[Traefik](recording-logs.md#proxies)",
        "the common format, or JSON",
        ["yes", "no", "none", "yes", "499, 0"],
    ),
    row(
        &[Format::Access(AccessFormat::Haproxy)],
        "[HAProxy](recording-logs.md#proxies)",
        "`option httplog`",
        ["yes", "no", "send, connect, wait, load", "yes", "by the state"],
    ),
    row(
        &[Format::Access(AccessFormat::Elb)],
        "[AWS ALB, Classic ELB](recording-logs.md#load-balancers-and-cdns)",
        "access logs in S3",
        ["yes", "no", "send, wait, load", "yes", "460, no response of the target"],
    ),
    row(
        &[Format::Access(AccessFormat::CloudFront)],
        "[CloudFront](recording-logs.md#load-balancers-and-cdns)",
        "standard logs",
        ["seconds", "no", "none", "yes", "000"],
    ),
    row(
        &[Format::Access(AccessFormat::Cloudflare)],
        "[Cloudflare](recording-logs.md#load-balancers-and-cdns)",
        "Logpush, `http_requests`",
        ["yes", "no", "of the origin", "yes", "499"],
    ),
    row(
        &[Format::Access(AccessFormat::Fastly)],
        "[Fastly](recording-logs.md#load-balancers-and-cdns)",
        "real-time logs as JSON",
        ["if logged", "no", "none", "if logged", "no"],
    ),
    row(
        &[Format::Access(AccessFormat::Iis)],
        "[IIS](recording-logs.md#iis)",
        "W3C extended, with `time-taken`",
        ["seconds", "no", "none", "yes", "64, 1236"],
    ),
];

const REFUSED: &[(&str, &str)] = &[
    ("zip, spreadsheets", "export the sheet as CSV"),
    ("vegeta's binary format", "`vegeta encode --to json`"),
    (
        "Gatling's binary log",
        "convert it into CSV with a parser of such logs, and name the columns with `--column`",
    ),
    ("`ab -e`", "`ab -g FILE`: percentiles of an unknown number of requests cannot be compared"),
    (
        "Locust's `_failures.csv` and `_exceptions.csv`",
        "`NAME_stats.csv`, `NAME_stats_history.csv` or `--json`",
    ),
    ("mtr's reports", "`mtr --raw`"),
    ("round-robin databases (`.rrd`, `rrdtool dump`)", "of smokeping's: `rrdtool fetch FILE AVERAGE`"),
    (
        "CrUX, from its API or BigQuery",
        "measure with Resource Timing or Lighthouse: CrUX has shares of an unknown number of page loads",
    ),
    ("metrics and logs of OpenTelemetry", "export traces (`resourceSpans`)"),
    ("logs of AWS Network Load Balancers", "the log of the target: they have connections and no requests"),
    (
        "summaries that load generators print for people: ab, artillery, autocannon, bombardier, fortio, Gatling, ghz, hey, JMeter, k6, Locust, oha, vegeta",
        "the option that the message names, which writes a file",
    ),
    ("nighthawk's text and YAML", "`nighthawk_client --output-format json`"),
    (
        "traceroute, tracepath, Windows' tracert",
        "`ping`, or `mtr --raw`: a trace has a few packets to each hop",
    ),
    (
        "JMeter's CSV without its header row",
        "put the row before it: `timeStamp,elapsed,label,responseCode,…`",
    ),
    (
        "JMeter's CSV of nothing but transaction controllers",
        "`--column latency=elapsed:ms`, which reads the transactions; or switch off \"Generate parent sample\"",
    ),
    (
        "JUnit's reports, Taurus' final report",
        "what the load generator wrote: they have times of tests, or averages",
    ),
    (
        "phout of Yandex.Tank",
        "put a header row before it, and map `latency` to `interval_real:us` with `--column`",
    ),
    ("JSON within a call (JSONP)", "remove the call's name and its brackets"),
    ("siege", "write its times as CSV with a header row such as `latency_s`"),
    ("logs of messages, such as `jmeter.log`", "the access log, or the results of the load generator"),
    ("JSON behind a prefix, as syslog writes it", "`sed 's/^[^{]*//' FILE`"),
    ("CloudFront's log without its `#Fields` line", "keep the two lines that begin with `#`"),
    ("W3C extended logs of other servers", "give them a header row and units as CSV"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_format_has_one_row_and_one_name() {
        let all: Vec<Format> = ROWS.iter().flat_map(|row| row.formats).copied().collect();
        for (index, format) in all.iter().enumerate() {
            assert!(!all[..index].contains(format), "{format:?} has two rows");
        }
        let text = table();
        assert_eq!(text.lines().count(), ROWS.len() + 2);
        for line in text.lines().chain(refused().lines()) {
            let ends = line.replace("\\|", "").matches('|').count();
            assert!([3, 8].contains(&ends), "{line}");
        }
    }
}
