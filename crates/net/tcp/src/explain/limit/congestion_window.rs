//! The congestion window, which still grows after it was set without loss.

use super::initial_window::NO_THRESHOLD;
use crate::explain::{Case, Finding, Kind};

pub(in crate::explain) fn finding(case: &Case<'_>) -> Finding {
    let figures = &case.figures;
    let mut evidence = vec![
        format!(
            "{} segments in flight of a congestion window of {}",
            figures.now.unacked, figures.now.snd_cwnd
        ),
        case.no_queue(),
    ];
    if figures.now.total_retrans > 0 {
        evidence.push(case.repeated());
    }
    if figures.now.snd_ssthresh < NO_THRESHOLD {
        evidence.push(format!("slow start ended at {} segments", figures.now.snd_ssthresh));
    }
    let sentence = format!("The congestion window is small, and {} lets it grow slowly", case.control());
    Finding::new(Kind::SlowGrowth, sentence, evidence, case.use_bbr())
}
