//! A program that listens and does not accept: its queue is full, and the kernel drops connection requests.

use crate::{
    diag::State,
    explain::{Case, Finding, Kind, Listener, Queue, text},
};

/// A connection that this end has closed belongs to no process either, but is in another state.
pub(in crate::explain) fn holds(case: &Case<'_>) -> bool {
    let figures = &case.figures;
    let is_open = matches!(figures.socket.state, State::Established | State::CloseWait);
    let is_nobodys = figures.infos().all(|(socket, _)| socket.inode == 0);
    is_open && is_nobodys && case.listener().is_some()
}

pub(in crate::explain) fn of_listener(listener: &Listener, after: Queue) -> Finding {
    let Queue { waiting, most, .. } = after;
    let mut evidence = vec![format!(
        "{waiting} connections are established and wait for accept(); the queue takes {most} and one more",
    )];
    match listener.dropped() {
        Some(dropped @ 1..) => {
            evidence
                .push(format!("{} dropped during the observation", text::plural(dropped.into(), "packet")));
        }
        _ => evidence.push("no connection request arrived during the observation".to_owned()),
    }
    Finding {
        kind: Kind::ListenQueueFull,
        sentence: format!(
            "{} does not accept connections at {} as fast as they arrive: the queue is full, and the kernel \
             drops further connection requests",
            listener.subject(),
            listener.local
        ),
        evidence,
        advice: format!(
            "see what {} does instead of calling accept(); a larger backlog of listen(), up to net.core.somaxconn, \
             helps only where connections come in bursts",
            listener.process.as_ref().map_or("the program", |process| process.name.as_str()),
        ),
        is_inferred: false,
    }
}

pub(in crate::explain) fn not_accepted(case: &Case<'_>) -> Finding {
    let figures = &case.figures;
    let mut evidence = vec![format!(
        "no process has it open; {} wait to be read",
        text::bytes(figures.socket.receive_queue)
    )];
    let listener = case.listener();
    let subject = listener.map_or_else(|| "The program".to_owned(), Listener::subject);
    if let Some((listener, queue)) = listener.and_then(|each| Some((each, each.after?))) {
        evidence.push(format!(
            "{} wait to be accepted at {}, where the queue takes {} and one more",
            text::plural(queue.waiting.into(), "connection"),
            listener.local,
            queue.most
        ));
    }
    Finding::new(
        Kind::NotAccepted,
        format!("{subject} has not accepted this connection for {} or longer", text::time(figures.seconds)),
        evidence,
        "see what the program does instead of calling accept()".to_owned(),
    )
}

pub(in crate::explain) fn at_peer(case: &Case<'_>) -> Finding {
    let figures = &case.figures;
    let remote = figures.socket.remote;
    let is_connecting = figures.now.segs_in == 0;
    let mut evidence = Vec::new();
    if is_connecting {
        evidence.push(case.requests());
    } else {
        evidence.push(case.untouched());
    }
    if case.surroundings.answered_beside(figures) > 0 {
        evidence.push(case.neighbours());
    }
    if figures.now.segs_in > 1 {
        evidence.push(format!(
            "{} received without an acknowledgement of data: a host with a full queue repeats its SYN-ACK",
            text::plural(figures.now.segs_in.into(), "packet")
        ));
    }
    let sentence = |who: &str| {
        format!(
            "{who} at {remote} does not accept connections as fast as they arrive: its listen queue is full"
        )
    };
    match case.surroundings.full_listener_at(remote) {
        Some(subject) => {
            evidence.push("it listens in this network namespace, where its queue is seen".to_owned());
            let advice = "see what it does instead of calling accept()".to_owned();
            Finding::new(Kind::PeerDoesNotAccept, sentence(subject), evidence, advice)
        }
        None => Finding::new(
            Kind::PeerDoesNotAccept,
            sentence("The program"),
            evidence,
            format!(
                "make the program at {remote} call accept() more often (longhaul tcp explain there names it)"
            ),
        )
        .inferred(),
    }
}
