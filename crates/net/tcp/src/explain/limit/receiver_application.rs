//! The receiving program reads more slowly than data arrives.

use super::{pacing, receiver_window::PROBE_TIMER};
use crate::{
    diag::Multipath,
    explain::{
        Case, Figures, Finding, Kind, Look,
        figures::{median, unread},
        text,
    },
};

/// Whether the peer's window is small because its program does not read: then the window closes at
/// times, or rarely has its full size. A window limited by the buffer stays at its maximum or grows
/// by autotuning.
pub(in crate::explain) fn is_slow(figures: &Figures<'_>) -> bool {
    let (mut largest, mut closed, mut smaller) = (0, 0, 0);
    for (socket, info) in figures.infos() {
        let window = info.snd_wnd.unwrap_or(largest);
        largest = largest.max(window);
        let is_probed = info.snd_wnd.is_none() && socket.timer == PROBE_TIMER && !pacing::holds(info);
        closed += usize::from(is_probed || info.snd_wnd == Some(0) || window < largest / 8);
        smaller += usize::from(window < largest - largest / 8);
    }
    closed * 20 >= figures.looks.len() || smaller * 3 >= figures.looks.len()
}

pub(in crate::explain) fn at_sender(case: &Case<'_>, share: f64) -> Finding {
    let figures = &case.figures;
    let remote = figures.socket.remote;
    let windows = || figures.infos().filter_map(|(_, info)| info.snd_wnd);
    let mut evidence = vec![case.held_by("the peer's window", share)];
    if let (Some(least), Some(most)) = (windows().min(), windows().max()) {
        evidence.push(format!("its window varied from {} to {}", text::bytes(least), text::bytes(most)));
    }
    evidence.push(format!("{} over {}", text::rate(figures.rate()), text::time(figures.seconds)));
    Finding::new(
        Kind::PeerReadsSlowly,
        format!(
            "The program at {remote} reads more slowly than the network brings: its window closes again and again"
        ),
        evidence,
        format!(
            "make the program at {remote} read faster (longhaul tcp explain there names it); larger buffers would \
             only fill as well"
        ),
    )
}

pub(in crate::explain) fn is_behind(look: &Look) -> bool {
    // Data of a subflow moves to its connection immediately, and waits there with the data of other subflows.
    if let Some(Multipath { memory, .. }) = look.multipath {
        return memory.rmem_alloc > 0 && u64::from(memory.rmem_alloc) * 4 >= u64::from(memory.rcvbuf);
    }
    let Some(info) = &look.socket.info else { return false };
    let queued = u64::from(look.socket.receive_queue);
    let room = info.rcv_wnd.map_or(u64::from(info.rcv_ssthresh), |open| queued + u64::from(open));
    queued > 0 && queued * 4 >= room
}

pub(in crate::explain) fn at_receiver(case: &Case<'_>, share: f64) -> Finding {
    let figures = &case.figures;
    let program = case.program();
    let queue = median(figures.looks.iter().map(unread));
    Finding::new(
        Kind::ReadsSlowly,
        format!("{} reads more slowly than the network brings", case.subject()),
        vec![
            format!(
                "much data waited to be read at {1} of {2} looks; usually {0}",
                text::bytes(queue.unwrap_or_default()),
                text::share(share),
                figures.infos().count()
            ),
            format!("{} received over {}", text::rate(figures.rate()), text::time(figures.seconds)),
        ],
        format!(
            "make {program} read faster: see what it does between two reads; larger buffers would only fill as well"
        ),
    )
}
