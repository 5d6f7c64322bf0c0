//! Packet loss: the confidence interval of a test must contain the true value at its stated rate.

use anyhow::Context;

use super::{
    line::{Line, Link},
    verdict::{Truth, Verdicts},
};

/// Of the 95 % intervals, at most one in five may miss.
pub(super) fn judge(link: &Link, verdicts: &mut Verdicts) -> anyhow::Result<()> {
    let line = Line::up(link)?;
    let plan = line.plan("[[step]]\nloss = 1000\n")?;
    let kept = 1.0 - link.loss_percent / 100.0;
    let lost = 1.0 - kept * kept;
    let mut holds = 0;
    for _ in 0..TIMES {
        let loss = line.test(&plan)?.loss.context("loss was not measured")?;
        holds += u32::from((loss.low..=loss.high).contains(&lost));
    }
    let truth = Truth {
        what: "intervals that hold the loss",
        unit: "tests",
        is: f64::from(TIMES),
        // With ten intervals, eight or more contain the true value with a probability of 98.8 %.
        within: 2.0,
    };
    verdicts.judge(&link.name(), &truth, Some(f64::from(holds)), &line.doubts()?, "", None);
    Ok(())
}

const TIMES: u32 = 10;
