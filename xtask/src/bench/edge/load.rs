//! Load generators and their results: wrk for HTTP/1.1, h2load for HTTP/2, `longhaul probe` for HTTP/3.

use std::{collections::BTreeMap, fmt::Write as _, fs, net::SocketAddr, path::Path, process::Command};

use anyhow::{Context, ensure};
use serde::Deserialize;

use super::{
    scenario::{HOST, Protocol, Scenario, URLS},
    tls::AUTHORITY,
};
use crate::bench::program::longhaul;

#[derive(Debug, PartialEq)]
pub(super) struct Loaded {
    pub(super) requests: u64,
    pub(super) seconds: f64,
    pub(super) trouble: Option<String>,
}

pub(super) fn run(
    scenario: &Scenario,
    server: SocketAddr,
    seconds: u32,
    core: usize,
    folder: &Path,
) -> anyhow::Result<Loaded> {
    let mut command = Command::new("taskset");
    command.args(["-c", &core.to_string()]);
    let scheme = if scenario.protocol.is_tls() { "https" } else { "http" };
    match scenario.protocol {
        Protocol::Http1 | Protocol::Http1Tls => {
            let file = folder.join("load.lua");
            fs::write(&file, script(scenario))?;
            command.args(["wrk", "-t", "1", "-c", &CONNECTIONS.to_string(), "-d", &format!("{seconds}s")]);
            command.args(["--timeout", "5s", "-s"]).arg(&file).arg(format!("{scheme}://{server}/"));
            wrk(&printed(command)?)
        }
        Protocol::Http2 | Protocol::Http2Tls => {
            let file = folder.join("load.txt");
            let urls = (0..URLS).map(|index| format!("{scheme}://{server}{}\n", scenario.path(index)));
            fs::write(&file, urls.collect::<String>())?;
            command.args(["h2load", "-t", "1", "-c", "8", "-m", "10", "-D", &seconds.to_string(), "-i"]);
            command.arg(&file).args(["-H", &format!(":authority: {HOST}")]);
            for (name, value) in scenario.headers.iter().filter(|(name, _)| *name != "Host") {
                command.args(["-H", &format!("{}: {value}", name.to_ascii_lowercase())]);
            }
            h2load(&printed(command)?)
        }
        Protocol::Http3 => {
            command.arg(longhaul().get_program()).arg("probe");
            command.args([
                &format!("https://{server}/{}/{{}}", scenario.folder),
                "--protocol",
                "http3",
                "--json",
            ]);
            command.args(["--objects", &URLS.to_string(), "--zipf", "0", "--connections", "reuse"]);
            command.args(["--concurrency", &CONNECTIONS.to_string(), "--for", &format!("{seconds}s")]);
            command.arg("--ca").arg(folder.join(AUTHORITY).join("ca.pem"));
            for (name, value) in scenario.headers.iter().filter(|(name, _)| *name != "Host") {
                command.args(["-H", &format!("{name}: {value}")]);
            }
            probe(&printed(command)?)
        }
    }
}

/// `longhaul probe` exits with 1 if it could not keep its rate. This is not an error here, because
/// the benchmark measures the cost per request.
fn printed(mut command: Command) -> anyhow::Result<String> {
    let output = command.output().context("cannot run taskset")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(
        matches!(output.status.code(), Some(0 | 1)),
        "the load generator ended with {}: {}",
        output.status,
        said.trim()
    );
    Ok(String::from_utf8(output.stdout)?)
}

fn script(scenario: &Scenario) -> String {
    let mut headers = String::new();
    for (name, value) in scenario.headers {
        // Quoted strings have the same syntax in Lua and Rust.
        let _ = write!(headers, "[{name:?}] = {value:?}, ");
    }
    let folder = scenario.folder;
    format!(
        r#"
local requests, last = {{}}, 0
function init()
    for index = 1, {URLS} do requests[index] = wrk.format("GET", "/{folder}/" .. index - 1, {{ {headers} }}) end
end
function request()
    last = last % {URLS} + 1
    return requests[last]
end
function done(summary)
    local wrong = summary.errors
    io.write(string.format('\n{MARK}{{"requests":%d,"duration_us":%d,"connect":%d,"read":%d,"write":%d,"timeout":%d,"status":%d}}\n',
        summary.requests, summary.duration, wrong.connect, wrong.read, wrong.write, wrong.timeout, wrong.status))
end
"#
    )
}

#[derive(Deserialize)]
struct Counted {
    requests: u64,
    duration_us: u64,
    connect: u64,
    read: u64,
    write: u64,
    timeout: u64,
    status: u64,
}

#[expect(clippy::cast_precision_loss, reason = "microseconds of a run fit")]
fn wrk(text: &str) -> anyhow::Result<Loaded> {
    let line = text.lines().find_map(|line| line.strip_prefix(MARK));
    let counted: Counted = serde_json::from_str(line.context("wrk printed no counts")?)?;
    let Counted { requests, duration_us, connect, read, write, timeout, status } = counted;
    let trouble = trouble(&[
        (connect, "failed connects"),
        (read, "failed reads"),
        (write, "failed writes"),
        (timeout, "timeouts"),
        (status, "responses of 400 and above"),
    ]);
    Ok(Loaded { requests, seconds: duration_us as f64 / 1e6, trouble })
}

#[derive(Deserialize)]
struct Probed {
    duration_s: f64,
    n: u64,
    errors: u64,
    status: BTreeMap<String, u64>,
}

fn probe(text: &str) -> anyhow::Result<Loaded> {
    let Probed { duration_s, n, errors, status } =
        serde_json::from_str(text).context("longhaul printed no JSON")?;
    let others = status.iter().filter(|(status, _)| *status != "200").map(|(_, count)| count).sum();
    let trouble = trouble(&[(errors, "failed requests"), (others, "responses of another status than 200")]);
    Ok(Loaded { requests: n, seconds: duration_s, trouble })
}

fn h2load(text: &str) -> anyhow::Result<Loaded> {
    let line = |start: &str| {
        let found = text.lines().find_map(|line| line.strip_prefix(start));
        found.with_context(|| format!("h2load printed no line \"{start}\""))
    };
    let counts = [line("requests: ")?, line("status codes: ")?].join(", ");
    let count = |what: &str| -> anyhow::Result<u64> {
        let of = |part: &str| part.trim().strip_suffix(what)?.trim().parse().ok();
        counts.split(',').find_map(of).with_context(|| format!("h2load counted no \"{what}\""))
    };
    let seconds = duration(line("finished in ")?.split(',').next().unwrap_or_default());
    let trouble = trouble(&[
        (count("failed")?, "failed requests"),
        (count("errored")?, "errors"),
        (count("timeout")?, "timeouts"),
        (count("3xx")? + count("4xx")? + count("5xx")?, "responses of 300 and above"),
    ]);
    Ok(Loaded { requests: count("done")?, seconds: seconds.context("h2load printed no duration")?, trouble })
}

fn duration(text: &str) -> Option<f64> {
    match text.strip_suffix("ms") {
        Some(number) => Some(number.parse::<f64>().ok()? / 1e3),
        None => text.strip_suffix('s')?.parse().ok(),
    }
}

fn trouble(counts: &[(u64, &str)]) -> Option<String> {
    let wrong = counts.iter().filter(|(count, _)| *count > 0);
    let wrong: Vec<_> = wrong.map(|(count, what)| format!("{count} {what}")).collect();
    (!wrong.is_empty()).then(|| wrong.join(", "))
}

pub(super) const CONNECTIONS: u32 = 64;

const MARK: &str = "counted ";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::edge::scenario::SCENARIOS;

    #[test]
    fn what_wrk_counted_is_read() {
        let text = "Running 3s test\n\ncounted {\"requests\":150000,\"duration_us\":3000000,\"connect\":0,\"read\":0,\
                    \"write\":0,\"timeout\":0,\"status\":0}\n";
        assert_eq!(wrk(text).unwrap(), Loaded { requests: 150_000, seconds: 3.0, trouble: None });
        let wrong = text.replace("\"read\":0", "\"read\":2").replace("\"status\":0", "\"status\":7");
        let trouble = wrk(&wrong).unwrap().trouble.unwrap();
        assert_eq!(trouble, "2 failed reads, 7 responses of 400 and above");
        assert!(wrk("Running 3s test\n").is_err());
    }

    #[test]
    fn what_h2load_printed_is_read() {
        let text = "finished in 3.00s, 81000.33 req/s, 91.45MB/s\n\
                    requests: 243001 total, 243081 started, 243001 done, 243001 succeeded, 0 failed, 0 errored, 0 timeout\n\
                    status codes: 243001 2xx, 0 3xx, 0 4xx, 0 5xx\n\
                    traffic: 274.35MB (287680000) total\n";
        assert_eq!(h2load(text).unwrap(), Loaded { requests: 243_001, seconds: 3.0, trouble: None });
        let wrong = text.replace("0 4xx", "9 4xx").replace("0 failed", "4 failed");
        assert_eq!(
            h2load(&wrong).unwrap().trouble.unwrap(),
            "4 failed requests, 9 responses of 300 and above"
        );
        assert!(h2load("finished in 3.00s, 1 req/s\n").is_err());
    }

    #[test]
    fn what_the_probe_printed_is_read() {
        let text = r#"{"duration_s": 2.5, "n": 1000, "errors": 0, "status": {"200": 1000}, "phases": {}}"#;
        assert_eq!(probe(text).unwrap(), Loaded { requests: 1000, seconds: 2.5, trouble: None });
        let wrong = text.replace("\"200\": 1000", "\"200\": 999, \"502\": 1");
        assert_eq!(probe(&wrong).unwrap().trouble.unwrap(), "1 responses of another status than 200");
    }

    #[test]
    fn durations_have_units() {
        assert_eq!([duration("3.00s"), duration("812.50ms"), duration("3")], [Some(3.0), Some(0.8125), None]);
    }

    #[test]
    fn the_script_has_the_headers() {
        let script = script(&SCENARIOS[0]);
        assert!(script.contains(r#"["Sec-CH-UA-Platform"] = "\"Linux\"", "#), "{script}");
        assert!(script.contains(r#"wrk.format("GET", "/1k/" .. index - 1, { ["Host"] = "#), "{script}");
    }
}
