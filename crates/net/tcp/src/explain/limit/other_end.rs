//! A limit that is only visible at the other end.

use crate::explain::{Case, Finding, Kind, figures::unread, text};

pub(in crate::explain) fn at_sender(case: &Case<'_>) -> Finding {
    let figures = &case.figures;
    let remote = figures.socket.remote.ip();
    let mut evidence = vec![format!("{} over {}", text::rate(figures.rate()), text::time(figures.seconds))];
    let windows = || figures.infos().filter_map(|(_, info)| info.snd_wnd);
    if let (Some(least), Some(most)) = (windows().min(), windows().max()) {
        evidence.push(format!(
            "the window of {remote} was used up at times; it varied from {} to {}",
            text::bytes(least),
            text::bytes(most)
        ));
    }
    evidence.push(format!(
        "a round trip takes {}, and at least {}: packets wait on the path, or the reader delays acknowledgements",
        text::time(figures.rtt().unwrap_or_default()),
        text::time(figures.min_rtt().unwrap_or_default())
    ));
    evidence.push("nothing was lost".to_owned());
    Finding::new(
        Kind::PathOrReader,
        format!(
            "Either the path carries no more than {}, or the program at {remote} reads no faster: from this end both \
             look the same",
            text::rate(figures.rate())
        ),
        evidence,
        format!("run longhaul tcp explain at {remote} to see which"),
    )
    .inferred()
}

pub(in crate::explain) fn at_receiver(case: &Case<'_>) -> Finding {
    let figures = &case.figures;
    let remote = figures.socket.remote.ip();
    let unread = figures.looks.iter().map(unread).max().unwrap_or_default();
    let mut evidence = vec![format!(
        "{} received over {}; at most {} waited to be read",
        text::rate(figures.rate()),
        text::time(figures.seconds),
        text::bytes(unread)
    )];
    if let Some(share) = case.window_use() {
        evidence.push(format!(
            "{} of a window of {} was used per round trip",
            text::share(share),
            text::bytes(case.window().unwrap_or_default())
        ));
    }
    if let Some(early @ 1..) = figures.since(|info| info.rcv_ooopack) {
        evidence.push(format!("{early} packets arrived early: others before them were late or lost"));
    }
    Finding::new(
        Kind::OtherEnd,
        "Nothing here holds it up: the sender does, or the path".to_owned(),
        evidence,
        format!("run longhaul tcp explain at {remote}, where it is sent"),
    )
}
