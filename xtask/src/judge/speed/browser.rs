//! The page's test in a headless Chromium inside the planet.

use std::fs;

use anyhow::Context;
use speedtest::result::Outcome;

use super::{
    line::{Line, Link, URL},
    rate::{Look, carried, echo, idle, iperf3, limited, mbits, round_trip},
    verdict::Verdicts,
};
use crate::root;

pub(super) fn judge(link: &Link, verdicts: &mut Verdicts) -> anyhow::Result<()> {
    let line = Line::up(link)?;
    let result = tempfile::NamedTempFile::new()?;
    let mut node = line.at_home();
    node.arg("node").arg(root().join("web/scripts/speed_result.mjs")).arg(URL).arg(result.path());
    let said = node.output().context("node cannot be run")?;
    anyhow::ensure!(
        said.status.success(),
        "the page's test failed: {}",
        String::from_utf8_lossy(&said.stderr)
    );
    let outcome: Outcome =
        serde_json::from_slice(&fs::read(result.path())?).context("the page saved no result")?;
    let look: Look = serde_json::from_slice(&said.stdout).context("the page printed no size of a request")?;
    let ping = round_trip(&line, look)?;
    let doubts = line.doubts()?;
    for (what, direction, ends) in [
        ("download, browser", &outcome.download, ["home", "server"]),
        ("upload, browser", &outcome.upload, ["server", "home"]),
    ] {
        let truth = carried(link, what, 0.05);
        let found = mbits(direction);
        let peer = if truth.is_missed(found) { Some(iperf3(&line, ends)?) } else { None };
        verdicts.judge(&link.name(), &truth, found, &doubts, &limited(direction), peer);
    }
    let truth = idle(ping, "idle latency, browser");
    let found = outcome.latency.idle_ms.map(|ms| ms.p50);
    let peer = if truth.is_missed(found) { Some(echo(&line, look)?) } else { None };
    verdicts.judge(&link.name(), &truth, found, &doubts, "", peer);
    Ok(())
}
