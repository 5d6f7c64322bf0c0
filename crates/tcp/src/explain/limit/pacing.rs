//! A rate that the sending program asked for (`SO_MAX_PACING_RATE`).

use crate::{
    Info,
    explain::{Case, Finding, Kind, text},
};

/// Whether the program asked for a rate, and that is the rate of sending.
pub(in crate::explain) fn holds(info: &Info) -> bool {
    info.max_pacing_rate < UNPACED && info.pacing_rate as f64 >= info.max_pacing_rate as f64 * NEARLY
}

/// The program asked for a rate.
pub(in crate::explain) fn finding(case: &Case<'_>) -> Finding {
    let figures = &case.figures;
    let program = case.program();
    let asked = figures.now.max_pacing_rate as f64 * 8.0;
    Finding::new(
        Kind::Paced,
        format!("{} asked for no more than {}", case.subject(), text::rate(asked)),
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

/// Rates are measured, and a pacing rate is rounded.
pub(in crate::explain) const NEARLY: f64 = 0.95;

/// No `SO_MAX_PACING_RATE`.
pub(in crate::explain) const UNPACED: u64 = u64::MAX;
