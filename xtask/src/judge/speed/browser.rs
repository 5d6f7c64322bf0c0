//! The page's test in a headless Chromium that runs inside the planet.

use std::fs;

use anyhow::Context;
use speed::result::Outcome;

use super::{
    line::{Line, Link, URL},
    rate::{CHROMIUMS, carried, idle, limited, mbits, round_trip},
    verdict::Verdicts,
};
use crate::root;

/// Both rates within 5 %, the idle latency within 0.3 ms of ping's.
pub(super) fn judge(link: &Link, verdicts: &mut Verdicts) -> anyhow::Result<()> {
    let line = Line::up(link)?;
    let ping = round_trip(&line, CHROMIUMS)?;
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
    let doubts = line.doubts()?;
    for (what, direction) in [("download, browser", &outcome.download), ("upload, browser", &outcome.upload)]
    {
        let truth = carried(link, what, 0.05);
        verdicts.judge(&link.name(), &truth, mbits(direction), &doubts, &limited(direction), None);
    }
    let found = outcome.latency.idle_ms.map(|ms| ms.p50);
    verdicts.judge(&link.name(), &idle(ping, "idle latency, browser"), found, &doubts, "", None);
    Ok(())
}
