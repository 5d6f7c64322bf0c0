//! What is said of connections on which nothing moves.

use super::{Finding, Kind};
use crate::explain::{Case, Listener, text};

impl Case<'_> {
    /// Its first packet is under way.
    pub(in crate::explain) fn just_connecting(&self) -> Finding {
        let remote = self.figures.socket.remote;
        Finding::new(
            Kind::Connecting,
            format!("The request to connect to {remote} is under way"),
            vec!["it was sent once and is not answered yet".to_owned()],
            "nothing yet; look again in a second (--watch)".to_owned(),
        )
    }

    /// Its first packet was sent again and again.
    pub(in crate::explain) fn not_connected(&self) -> Finding {
        let figures = &self.figures;
        let remote = figures.socket.remote;
        let evidence = vec![self.requests(), self.neighbours()];
        let (sentence, advice) = if self.surroundings.answered_beside(figures) > 0 {
            (
                format!(
                    "Nobody answers the request to connect to {remote}, though the host is there: its program does not \
                     accept as fast as others connect, or a firewall drops the request"
                ),
                format!(
                    "at {0}: longhaul tcp explain --port {1} says whether the queue is full; if it is not, a firewall is \
                     left",
                    remote.ip(),
                    remote.port()
                ),
            )
        } else {
            (
                format!("Nobody answers the request to connect to {remote}"),
                format!(
                    "see whether the host is there: longhaul ping {}; if it is, its listen queue is full or a firewall \
                     drops the request",
                    remote.ip()
                ),
            )
        };
        Finding::new(Kind::NoAnswer, sentence, evidence, advice)
    }

    /// How often it asked to connect.
    fn requests(&self) -> String {
        let now = self.figures.now;
        format!(
            "the request (SYN) was sent {}; the next follows {} after the last",
            text::plural(now.total_retrans.saturating_add(1).into(), "time"),
            text::time(f64::from(now.rto_us) / 1e6)
        )
    }

    /// Whether the host answers others.
    fn neighbours(&self) -> String {
        let host = self.figures.socket.remote.ip();
        match self.surroundings.answered_beside(&self.figures) {
            0 => format!("nothing came from {host} on another connection of this host, either"),
            1 => format!("another connection to {host} is answered"),
            several => format!("{several} other connections to {host} are answered"),
        }
    }

    /// Nobody answers the kernel's question whether somebody is there.
    pub(in crate::explain) fn no_answer_to_probes(&self) -> Finding {
        let figures = &self.figures;
        let remote = figures.socket.remote.ip();
        let (probe, does) = match figures.socket.send_queue {
            0 => ("keep-alive", "gives the connection up after net.ipv4.tcp_keepalive_probes of them"),
            _ => ("window probe", "gives the connection up after net.ipv4.tcp_retries2 of them"),
        };
        Finding::new(
            Kind::NoAnswer,
            format!("Nothing comes back from {remote}: the path is broken, or the host has gone"),
            vec![
                format!("{} sent in a row, none answered", text::plural(figures.now.probes.into(), probe)),
                self.last_answer(),
                self.neighbours(),
            ],
            format!("see whether it is there: longhaul ping {remote}; the kernel {does}"),
        )
    }

    /// When something came from the peer last.
    pub(in crate::explain) fn last_answer(&self) -> String {
        let ago = text::time(f64::from(self.figures.now.last_ack_recv_ms) / 1e3);
        format!("the last packet came {ago} ago")
    }

    /// The peer has closed and this end has not.
    pub(in crate::explain) fn left_open(&self) -> Finding {
        let figures = &self.figures;
        let (program, remote) = (self.program(), figures.socket.remote);
        let mut evidence = vec![
            "the state is CLOSE_WAIT, and nothing was sent since it was looked at first".to_owned(),
            self.last_answer(),
            match figures.socket.receive_queue {
                0 => "the program has read the end of the stream (recv() returned 0)".to_owned(),
                // The end itself counts as a byte.
                1 => "the program has not read the end of the stream".to_owned(),
                more => format!("the program has not read the last {}", text::bytes(more - 1)),
            },
        ];
        let many =
            self.seen.process.as_ref().map_or(1, |process| self.surroundings.left_open_by(process.pid));
        if many > 1 {
            evidence.push(format!("{program} has {many} connections like this one"));
        }
        Finding::new(
            Kind::CloseWait,
            format!("{remote} has closed the connection, and {program} keeps it open"),
            evidence,
            format!(
                "let {program} close the socket when recv() returns 0 or fails; if it is at work on an answer, nothing"
            ),
        )
    }

    /// Who listens at this end of the connection.
    pub(in crate::explain) fn listener(&self) -> Option<&Listener> {
        let local = self.figures.socket.local;
        self.around.listeners.iter().find(|listener| Listener::takes(listener.local, local))
    }

    /// This end's program has not taken it.
    pub(in crate::explain) fn not_accepted(&self) -> Finding {
        let figures = &self.figures;
        let mut evidence = vec![format!(
            "no process has it open; {} wait to be read",
            text::bytes(figures.socket.receive_queue)
        )];
        let listener = self.listener();
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
            format!(
                "{subject} has not accepted this connection for {} or longer",
                text::time(figures.seconds)
            ),
            evidence,
            "see what the program does instead of calling accept()".to_owned(),
        )
    }

    /// No byte was acknowledged, ever.
    fn untouched(&self) -> String {
        let figures = &self.figures;
        format!(
            "no byte of {} was acknowledged since it was opened, after {} in a row",
            text::bytes(figures.socket.send_queue),
            text::plural(figures.now.retransmits.into(), "timeout")
        )
    }

    /// The peer answered the request to connect, and nothing since.
    pub(in crate::explain) fn never_answered(&self) -> Finding {
        let remote = self.figures.socket.remote;
        Finding::new(
            Kind::NoAnswer,
            format!(
                "Nothing has come back from {remote} since the connection was opened: the path is broken, the host has \
                 gone, or the program there does not accept as fast as others connect (from this end they look the same)"
            ),
            vec![self.untouched(), self.last_answer(), self.neighbours()],
            format!(
                "see whether it is there: longhaul ping {}; if it is, longhaul tcp explain there says whether its listen \
                 queue is full",
                remote.ip()
            ),
        )
    }

    /// The peer's program does not take it.
    pub(in crate::explain) fn peer_does_not_accept(&self) -> Finding {
        let figures = &self.figures;
        let remote = figures.socket.remote;
        let is_connecting = figures.now.segs_in == 0;
        let mut evidence = Vec::new();
        if is_connecting {
            evidence.push(self.requests());
        } else {
            evidence.push(self.untouched());
        }
        if self.surroundings.answered_beside(figures) > 0 {
            evidence.push(self.neighbours());
        }
        if figures.now.segs_in > 1 {
            evidence.push(format!(
                "{} came, none of which acknowledges a byte: a host with a full queue repeats that it has the request to \
                 connect",
                text::plural(figures.now.segs_in.into(), "packet")
            ));
        }
        let sentence = |who: &str| {
            format!(
                "{who} at {remote} does not accept connections as fast as they come: its listen queue is full"
            )
        };
        match self.surroundings.full_listener_at(remote) {
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
}
