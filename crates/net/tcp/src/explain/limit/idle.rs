//! There was no data to transfer.

use crate::explain::{Figures, Finding, Kind, text};

pub(in crate::explain) fn finding(figures: &Figures<'_>) -> Finding {
    let last = figures.now.last_data_sent_ms.min(figures.now.last_data_recv_ms);
    Finding::new(
        Kind::Idle,
        "No byte moved, and none waits to".to_owned(),
        vec![
            format!("0 bytes in {}", text::time(figures.seconds)),
            format!("the last data moved {} ago", text::time(f64::from(last) / 1e3)),
        ],
        "nothing; look while it is at work (--watch, or a longer --for)".to_owned(),
    )
}
