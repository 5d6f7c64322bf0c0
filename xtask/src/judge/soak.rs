//! Soak test: hours of mixed load on one data centre with every protocol, hits and misses, evictions, a full
//! disk, purges and reloads. No request may fail, and memory must not grow.

use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, bail, ensure};
use serde_json::Value;

use super::{data_centre, free_port, listening, longhaul, median};
use crate::release;

pub(crate) fn judge(minutes: &[&str]) -> anyhow::Result<()> {
    let minutes: u64 = match minutes {
        [] => 60,
        [minutes] => {
            minutes.parse().ok().filter(|minutes| *minutes > 0).context("MINUTES is a number from 1 on")?
        }
        _ => bail!("expected a number of minutes"),
    };
    release::build()?;
    let folder = tempfile::tempdir()?;
    let [small, large, front, tls, admin] = ports()?;
    let ca = authority(folder.path())?;
    let token: Value =
        serde_json::from_slice(&longhaul().args(["edge", "token", "--json"]).output()?.stdout)?;
    let [token, hash] = ["token", "sha256"].map(|name| token[name].as_str().unwrap_or_default().to_owned());
    let _small = origin(small, "1KB")?;
    let _large = origin(large, "200KB")?;
    let network = network(folder.path(), &hash, [small, large, front, tls, admin]);
    let edge = data_centre(longhaul(), folder.path(), &network, &[])?;
    let clear = format!("http://127.0.0.1:{front}");
    let tls = format!("https://127.0.0.1:{tls}");
    let trust = ["--ca", &ca];
    let for_all = format!("{minutes}min");
    let mut loads = Vec::new();
    for (url, rate, objects, more) in [
        (format!("{clear}/kept/{{}}"), "300/s", 20_000, vec!["--connections", "reuse"]),
        (format!("http://localhost:{front}/kept/{{}}"), "20/s", 2000, vec!["--connections", "reuse"]),
        (format!("{clear}/passed/{{}}"), "50/s", 1000, vec![]),
        (format!("{tls}/kept/{{}}"), "100/s", 20_000, vec!["--protocol", "http2", "--connections", "reuse"]),
        (format!("{tls}/kept/{{}}"), "20/s", 20_000, vec!["--protocol", "http1"]),
        (format!("{tls}/kept/{{}}"), "50/s", 20_000, vec!["--protocol", "http3", "--connections", "reuse"]),
    ] {
        let mut probe = longhaul();
        probe.args([
            "probe",
            &url,
            "--rate",
            rate,
            "--for",
            &for_all,
            "--objects",
            &objects.to_string(),
            "--json",
        ]);
        probe.args(more).args(if url.starts_with("https") { &trust[..] } else { &[] });
        let probe = probe.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        loads.push((url, rate, probe));
    }
    let memory = watch(&edge.0, admin, &token, minutes)?;
    let mut failed = 0;
    for (url, rate, probe) in loads {
        let (requests, errors, reasons) = counts(probe)?;
        println!("{url} at {rate}: {requests} requests, {errors} errors {reasons}");
        failed += errors;
    }
    let quarter = memory.len() / 4;
    let (early, late) = (median(&memory[quarter..2 * quarter]), median(&memory[3 * quarter..]));
    println!(
        "resident memory, median of seconds: second quarter {:.1} MB, last quarter {:.1} MB, ratio {:.3}; n = {quarter} each",
        early / 1e6,
        late / 1e6,
        late / early
    );
    ensure!(failed == 0, "{failed} requests failed");
    ensure!(late <= early * MOST_GROWTH, "memory grows");
    Ok(())
}

fn ports() -> anyhow::Result<[u16; 5]> {
    let mut ports = [0; 5];
    for port in &mut ports {
        *port = free_port()?;
    }
    Ok(ports)
}

#[expect(clippy::disallowed_methods, reason = "a sample a second")]
fn watch(edge: &Child, admin: u16, token: &str, minutes: u64) -> anyhow::Result<Vec<f64>> {
    let begin = Instant::now();
    let mut memory = Vec::new();
    for second in 1..=minutes * 60 {
        std::thread::sleep(Duration::from_secs(second).saturating_sub(begin.elapsed()));
        memory.push(resident(edge.id())?);
        if second % 60 == 0 {
            println!("minute {:3}: {:.1} MB", second / 60, median(&memory[memory.len() - 60..]) / 1e6);
            let reloaded = Command::new("kill").args(["-HUP", &edge.id().to_string()]).status()?;
            ensure!(reloaded.success(), "the data centre is gone");
        }
        if second % 300 == 30 {
            let mut purge = longhaul();
            purge.args(["edge", "purge", "small", "--everything", "--admin", &format!("127.0.0.1:{admin}")]);
            let purged = purge.env("LONGHAUL_TOKEN", token).stdout(Stdio::null()).status()?;
            ensure!(purged.success(), "a purge failed");
        }
    }
    Ok(memory)
}

fn resident(process: u32) -> anyhow::Result<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    let kib: f64 = line.trim().trim_end_matches(" kB").parse().context("VmRSS is no number")?;
    Ok(kib * 1024.0)
}

fn counts(probe: Child) -> anyhow::Result<(u64, u64, Value)> {
    let output = probe.wait_with_output()?;
    let summary: Value = serde_json::from_slice(&output.stdout).context("the load did not end in order")?;
    let number = |name: &str| summary[name].as_u64().with_context(|| format!("the load has no {name}"));
    Ok((number("n")?, number("errors")?, summary["errors_by_reason"].clone()))
}

fn authority(folder: &Path) -> anyhow::Result<String> {
    let place = folder.join("ca").display().to_string();
    for words in [&["new", &place][..], &["issue", &place, "lhr", "--for", "127.0.0.1"]] {
        let signed = longhaul().args(["edge", "ca"]).args(words).stdout(Stdio::null()).status()?;
        ensure!(signed.success(), "no certificate was signed");
    }
    Ok(format!("{place}/ca.pem"))
}

/// All small objects fit in memory. Of the large ones, few fit in memory, and not all fit on disk.
fn network(folder: &Path, hash: &str, [small, large, front, tls, admin]: [u16; 5]) -> String {
    let folder = folder.display();
    format!(
        "[network]
name = \"soak\"
[admin]
tokens = [\"{hash}\"]
[[data_centre]]
name = \"lhr\"
listen = [\"127.0.0.1:{front}\"]
listen_tls = [\"127.0.0.1:{tls}\"]
certificate = \"{folder}/ca/lhr.pem\"
key = \"{folder}/ca/lhr-key.pem\"
admin = \"127.0.0.1:{admin}\"
memory = \"64MB\"
disk = \"{folder}/disk\"
disk_size = \"200MB\"
access_log = \"/dev/null\"
[[zone]]
name = \"small\"
hosts = [\"127.0.0.1\"]
origin = [\"http://127.0.0.1:{small}\"]
[[zone.rule]]
path = \"/kept/*\"
edge_ttl = \"5min\"
[[zone]]
name = \"large\"
hosts = [\"localhost\"]
origin = [\"http://127.0.0.1:{large}\"]
[[zone.rule]]
path = \"/kept/*\"
edge_ttl = \"1h\"
"
    )
}

fn origin(port: u16, body: &str) -> anyhow::Result<super::Ended> {
    listening(longhaul().args(["serve", "--listen", &format!("127.0.0.1:{port}"), "--body", body]))
}

/// Maximum ratio of the memory in the last quarter of the run to that in the second quarter.
const MOST_GROWTH: f64 = 1.05;
