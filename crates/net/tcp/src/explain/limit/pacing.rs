//! A pacing rate that the sending program set (`SO_MAX_PACING_RATE`).

use crate::{
    Info,
    explain::{Case, Finding, Kind, text},
};

pub(in crate::explain) fn holds(info: &Info) -> bool {
    info.max_pacing_rate < UNPACED && info.pacing_rate as f64 >= info.max_pacing_rate as f64 * NEARLY
}

pub(in crate::explain) fn finding(case: &Case<'_>) -> Finding {
    let figures = &case.figures;
    let program = case.program();
    let asked = figures.now.max_pacing_rate as f64 * 8.0;
    Finding::new(
        Kind::Paced,
        format!("{} limits its rate to {}", case.subject(), text::rate(asked)),
        vec![
            format!(
                "SO_MAX_PACING_RATE is {}, and the kernel paces at {}",
                text::rate(asked),
                text::rate(figures.now.pacing_rate as f64 * 8.0)
            ),
            format!("{} over {}", text::rate(figures.rate()), text::time(figures.seconds)),
        ],
        format!("raise SO_MAX_PACING_RATE in {program}, or do not set it"),
    )
}

/// Tolerance, because rates are measured and pacing rates are rounded.
pub(in crate::explain) const NEARLY: f64 = 0.95;

/// No `SO_MAX_PACING_RATE`.
pub(in crate::explain) const UNPACED: u64 = u64::MAX;
