//! The peer has closed, and the program at this end has not.

use crate::explain::{Case, Finding, Kind, text};

pub(in crate::explain) fn finding(case: &Case<'_>) -> Finding {
    let figures = &case.figures;
    let (program, remote) = (case.program(), figures.socket.remote);
    let mut evidence = vec![
        "the state is CLOSE_WAIT, and nothing was sent since it was looked at first".to_owned(),
        case.last_answer(),
        match figures.socket.receive_queue {
            0 => "the program has read the end of the stream (recv() returned 0)".to_owned(),
            // The FIN counts as a byte.
            1 => "the program has not read the end of the stream".to_owned(),
            more => format!("the program has not read the last {}", text::bytes(more - 1)),
        },
    ];
    let many = case.seen.process.as_ref().map_or(1, |process| case.surroundings.left_open_by(process.pid));
    if many > 1 {
        evidence.push(format!("{program} has {many} such connections"));
    }
    Finding::new(
        Kind::CloseWait,
        format!("{remote} has closed the connection, and {program} keeps it open"),
        evidence,
        format!(
            "let {program} close the socket when recv() returns 0 or fails; nothing, if it is still preparing a response"
        ),
    )
}
