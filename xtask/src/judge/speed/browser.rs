//! The page's test in a headless Chromium that runs inside the planet.

use std::fs;

use anyhow::Context;
use speed::result::Outcome;

use super::{
    line::{Line, Link, URL},
    rate::{CHROMIUMS, idle, rates, round_trip},
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
    rates(link, verdicts, &outcome, ("browser", 0.05), &doubts);
    idle(link, verdicts, &outcome, (ping, "idle latency, browser"), &doubts);
    Ok(())
}
