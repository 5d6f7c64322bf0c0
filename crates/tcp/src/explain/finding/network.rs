//! What is said of what lies between.

use super::{Finding, Kind};
use crate::explain::{
    Case,
    network::{NO_THRESHOLD, waiting_share},
    others::Others,
    text,
};

impl Case<'_> {
    /// Packets are lost.
    pub(in crate::explain) fn lossy(&self) -> Finding {
        let figures = &self.figures;
        let control = self.control();
        let rtt = figures.rtt().unwrap_or_default();
        let mut evidence = vec![self.repeated()];
        evidence.push(self.no_queue());
        evidence.push(self.waiting());
        if figures.repeats() > 0 && !figures.has_model() && rtt > 0.0 {
            // Mathis et al. 1997: MSS / RTT * sqrt(3/2) / sqrt(loss).
            let bound =
                f64::from(figures.now.snd_mss) * 8.0 / rtt * 1.5_f64.sqrt() / figures.repeated_share().sqrt();
            evidence.push(format!(
                "with so much loss and {} a round trip, Reno gets about {}",
                text::time(rtt),
                text::rate(bound)
            ));
        }
        let finding = if figures.has_model() {
            let sentence = format!("So many packets are lost on the path that {control} gives way, too");
            let remote = figures.socket.remote.ip();
            Finding::new(Kind::Loss, sentence, evidence, format!("find where they are lost: mtr {remote}"))
        } else {
            let sentence = format!(
                "Packets are lost on the path, which is not full, and {control} slows down for each loss"
            );
            Finding::new(Kind::Loss, sentence, evidence, self.use_bbr())
        };
        if figures.repeats() == 0 { finding.inferred() } else { finding }
    }

    /// Packets overtake each other.
    pub(in crate::explain) fn reordered(&self) -> Finding {
        let figures = &self.figures;
        let needless = figures.needless();
        Finding::new(
            Kind::Reordering,
            "Packets overtake each other on the path and are taken for lost".to_owned(),
            vec![
                self.repeated(),
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
            "let the path carry all packets of a connection the same way: balance it by flow, not by packet"
                .to_owned(),
        )
    }

    /// It starts.
    pub(in crate::explain) fn starting(&self) -> Finding {
        let figures = &self.figures;
        let remote = figures.socket.remote.ip();
        let begin = if figures.before.snd_cwnd > 0 { figures.before.snd_cwnd } else { INITIAL_WINDOW };
        Finding::new(
            Kind::SlowStart,
            "The connection is still starting: its window doubles each round trip, from a small one"
                .to_owned(),
            vec![
                format!(
                    "the congestion window went from {begin} to {} segments in {}",
                    figures.now.snd_cwnd,
                    text::time(figures.seconds)
                ),
                format!("a round trip takes {}; no loss yet", text::time(figures.rtt().unwrap_or_default())),
            ],
            format!(
                "keep connections open and use them again; where that cannot be, start larger: ip route change ROUTE \
                 initcwnd 30, ROUTE as ip route get {remote} shows it"
            ),
        )
    }

    /// It carries no more.
    pub(in crate::explain) fn full_path(&self) -> Finding {
        let figures = &self.figures;
        let carried = text::rate(figures.carried());
        let mut evidence =
            vec![format!("{} went in {}", text::rate(figures.rate()), text::time(figures.seconds))];
        if figures.has_queue() {
            evidence.push(format!(
                "a round trip takes {}, and {} when the path is empty: {} of waiting",
                text::time(figures.rtt().unwrap_or_default()),
                text::time(figures.min_rtt().unwrap_or_default()),
                text::time(figures.queueing())
            ));
        }
        if figures.has_model() {
            evidence.push(format!("BBR measures a bottleneck of {carried}"));
        }
        if figures.repeats() > 0 {
            evidence.push(self.repeated());
            evidence.push(self.waiting());
        }
        let advice = if figures.has_queue() && !figures.has_model() {
            format!("no setting here makes it faster; for less waiting in its queue: {}", self.use_bbr())
        } else {
            "no setting here makes it faster; the narrowest link on the way does".to_owned()
        };
        let sentence = match self.others {
            Others { count: 0, .. } => format!("The path carries no more than {carried}"),
            Others { count, rate } => format!(
                "The path is full: it carries {carried} of this connection, and {} of {count} more to {}",
                text::rate(rate),
                figures.socket.remote.ip()
            ),
        };
        Finding::new(Kind::PathRate, sentence, evidence, advice)
    }

    /// It carries no more, or the peer's program reads no faster.
    pub(in crate::explain) fn path_or_reader(&self) -> Finding {
        let figures = &self.figures;
        let remote = figures.socket.remote.ip();
        let mut evidence =
            vec![format!("{} went in {}", text::rate(figures.rate()), text::time(figures.seconds))];
        let windows = || figures.infos().filter_map(|(_, info)| info.snd_wnd);
        if let (Some(least), Some(most)) = (windows().min(), windows().max()) {
            evidence.push(format!(
                "the window of {remote} was met; it went between {} and {}",
                text::bytes(least),
                text::bytes(most)
            ));
        }
        evidence.push(format!(
            "a round trip takes {}, and {} at least: waiting on the path, or acknowledgements that came with what was read",
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
            format!("run longhaul tcp explain at {remote}, which knows"),
        )
        .inferred()
    }

    /// It grows.
    pub(in crate::explain) fn growing(&self) -> Finding {
        let figures = &self.figures;
        let mut evidence = vec![
            format!(
                "{} segments in flight of a congestion window of {}",
                figures.now.unacked, figures.now.snd_cwnd
            ),
            self.no_queue(),
        ];
        if figures.now.total_retrans > 0 {
            evidence.push(self.repeated());
        }
        if figures.now.snd_ssthresh < NO_THRESHOLD {
            evidence.push(format!("slow start ended at {} segments", figures.now.snd_ssthresh));
        }
        let sentence = format!("The congestion window is small, and {} lets it grow slowly", self.control());
        Finding::new(Kind::SlowGrowth, sentence, evidence, self.use_bbr())
    }

    /// Its congestion control, by the name that the kernel gives it.
    fn control(&self) -> &str {
        self.figures.socket.congestion.as_deref().unwrap_or("congestion control")
    }

    fn repeated(&self) -> String {
        let figures = &self.figures;
        match figures.repeats() {
            0 => format!(
                "{} segments sent again since it began, none in the last {}",
                figures.now.total_retrans,
                text::time(figures.seconds)
            ),
            repeats => format!(
                "{repeats} of {} segments sent again in {}, {}",
                figures.segments(),
                text::time(figures.seconds),
                text::share(figures.repeated_share())
            ),
        }
    }

    fn no_queue(&self) -> String {
        let figures = &self.figures;
        format!(
            "a round trip takes {}, and {} when the path is empty: packets do not wait",
            text::time(figures.rtt().unwrap_or_default()),
            text::time(figures.min_rtt().unwrap_or_default())
        )
    }

    /// How often packets wait on the path.
    fn waiting(&self) -> String {
        format!(
            "packets waited on the path at {} of {} looks",
            text::share(waiting_share(&self.figures)),
            self.figures.looks.len()
        )
    }

    /// How to get a congestion control that does not take every loss for a full path.
    fn use_bbr(&self) -> String {
        let known = self.around.settings.tcp_available_congestion_control.as_ref();
        let is_there = known.is_none_or(|all| all.iter().any(|each| each == "bbr"));
        let load = if is_there { "" } else { "modprobe tcp_bbr; " };
        format!("{load}sysctl -w net.ipv4.tcp_congestion_control=bbr, then connect again")
    }
}

/// Segments, since 2.6.39 (RFC 6928).
const INITIAL_WINDOW: u32 = 10;
