//! Reordered packets that were taken for lost.

use crate::explain::{Case, Figures, Finding, Kind};

/// With few retransmissions, the totals since the start of the connection are used.
pub(in crate::explain) fn happens(figures: &Figures<'_>) -> bool {
    let now = figures.now;
    let times = figures.since(|info| info.reord_seen).unwrap_or(0);
    let (needless, repeats) = match figures.repeats() {
        few @ 0..ENOUGH if now.total_retrans > few => (now.dsack_dups.unwrap_or(0), now.total_retrans),
        repeats => (figures.needless(), repeats),
    };
    times > 0 && needless >= repeats.div_ceil(NEEDLESS)
}

pub(in crate::explain) fn finding(case: &Case<'_>) -> Finding {
    let figures = &case.figures;
    let needless = figures.needless();
    Finding::new(
        Kind::Reordering,
        "Packets overtake each other on the path and are taken for lost".to_owned(),
        vec![
            case.repeated(),
            format!(
                "{needless} of the repeats had arrived already, as the peer reported (DSACK); {} of {} since the \
                 connection began",
                figures.now.dsack_dups.unwrap_or_default(),
                figures.now.total_retrans
            ),
            format!(
                "out of order {} times, by up to {} segments",
                figures.since(|info| info.reord_seen).unwrap_or_default(),
                figures.now.reordering
            ),
        ],
        "make the path balance load by flow and not by packet, so that all packets of a connection take the same route"
            .to_owned(),
    )
}

/// With reordering, at least one of this many retransmissions is spurious. Others are genuine,
/// because packets in the queue of a full path are dropped.
const NEEDLESS: u32 = 6;

/// This number of retransmissions is significant: at a share of one in six, 20 of them contain no spurious
/// one in 3 % of the cases.
const ENOUGH: u32 = 20;
