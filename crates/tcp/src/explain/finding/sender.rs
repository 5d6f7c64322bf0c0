//! What is said of a sender.

use super::{Finding, Fixed, Kind, is_at_most};
use crate::{
    Options,
    explain::{
        Case,
        sender::{DELAYED_S, NOTSENT_LOWAT},
        text,
    },
};

impl Case<'_> {
    /// The peer's window is small for the distance.
    pub(in crate::explain) fn small_window(&self, share: f64) -> Finding {
        let figures = &self.figures;
        let remote = figures.socket.remote.ip();
        let window = figures.infos().filter_map(|(_, info)| info.snd_wnd).max();
        if !figures.now.has(Options::WindowScale) {
            return self.no_window_scaling();
        }
        let mut evidence = vec![self.held_by("the peer's window", share)];
        if let (Some(window), Some(rtt)) = (window, figures.rtt()) {
            evidence.push(self.ceiling(window, rtt));
        }
        // 64 KiB asked for become 128 KiB, of which half or two thirds are window.
        let is_as_kafka = window.is_some_and(|window| (57_000..=90_000).contains(&window));
        let known = if is_as_kafka { " (Kafka's consumers do: receive.buffer.bytes=-1)" } else { "" };
        Finding::new(
            Kind::SmallWindow,
            if figures.has_constant_window() {
                format!("The window of {remote} is too small for the distance, and constant: its receive buffer is")
            } else {
                format!(
                    "The window of {remote} is too small for the distance: its receive buffer is, or its program reads \
                     slowly and evenly (from this end both look the same)"
                )
            },
            evidence,
            format!(
                "run longhaul tcp explain at {remote}, which knows; if it is the buffer, do not set SO_RCVBUF \
                 there{known}, or raise the maximum of net.ipv4.tcp_rmem (its third value)"
            ),
        )
        .inferred()
    }

    /// The most that a window lets through (window / round trip), and what the next power of ten would take.
    pub(super) fn ceiling(&self, window: u32, rtt: f64) -> String {
        let ceiling = f64::from(window) * 8.0 / rtt;
        let wanted = 10_f64.powf(ceiling.log10().ceil());
        format!(
            "a window of {} per round trip of {} allows at most {}; measured: {}; {} would take {}",
            text::bytes(f64::from(window)),
            text::time(rtt),
            text::rate(ceiling),
            text::rate(self.figures.rate()),
            text::rate(wanted),
            text::bytes(wanted * rtt / 8.0)
        )
    }

    /// Windows of 64 KiB at most.
    pub(in crate::explain) fn no_window_scaling(&self) -> Finding {
        let is_ours = self.around.settings.tcp_window_scaling == Some(0);
        let advice = if is_ours {
            "sysctl -w net.ipv4.tcp_window_scaling=1, then connect again".to_owned()
        } else {
            let remote = self.figures.socket.remote.ip();
            format!(
                "at {remote}: sysctl -w net.ipv4.tcp_window_scaling=1, then connect again; if it is 1, something on \
                 the path removes the option"
            )
        };
        let rtt = self.figures.rtt().unwrap_or_default();
        Finding::new(
            Kind::WindowScalingOff,
            "Windows end at 64 KiB, since the two ends did not agree on larger ones".to_owned(),
            vec![format!(
                "65535 bytes each round trip of {} are {} at most",
                text::time(rtt),
                text::rate(65_535.0 * 8.0 / rtt)
            )],
            advice,
        )
    }

    /// The peer's program does not keep up.
    pub(in crate::explain) fn peer_reads_slowly(&self, share: f64) -> Finding {
        let figures = &self.figures;
        let remote = figures.socket.remote;
        let windows = || figures.infos().filter_map(|(_, info)| info.snd_wnd);
        let mut evidence = vec![self.held_by("the peer's window", share)];
        if let (Some(least), Some(most)) = (windows().min(), windows().max()) {
            evidence.push(format!(
                "its window went between {} and {}",
                text::bytes(least),
                text::bytes(most)
            ));
        }
        evidence.push(format!("{} in {}", text::rate(figures.rate()), text::time(figures.seconds)));
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

    /// The send buffer is full, and all of it is under way.
    pub(in crate::explain) fn small_send_buffer(&self, share: f64) -> Finding {
        let figures = &self.figures;
        let memory = figures.socket.memory.unwrap_or_default();
        let buffer = memory.sndbuf;
        let evidence = vec![
            self.held_by("its send buffer", share),
            format!(
                "the send buffer is {}; {} were written and not acknowledged, {} of them unsent; a round trip takes {}",
                text::bytes(buffer),
                text::bytes(figures.socket.send_queue),
                text::bytes(figures.now.notsent_bytes),
                text::time(figures.rtt().unwrap_or_default())
            ),
        ];
        match self.is_send_buffer_fixed() {
            Fixed::Yes => return self.fixed_send_buffer(buffer, evidence),
            Fixed::Seemingly => return self.fixed_send_buffer(buffer, evidence).inferred(),
            Fixed::No => {}
        }
        let limits @ [least, start, _] = self.around.settings.tcp_wmem.unwrap_or_default();
        let (kind, said, wanted) = self.most_of("net.ipv4.tcp_wmem[2]", limits);
        Finding::new(
            kind.unwrap_or(Kind::SendBufferMaximum),
            format!(
                "The send buffer has grown to the maximum of net.ipv4.tcp_wmem{said}, and the distance takes more"
            ),
            evidence,
            format!("sysctl -w net.ipv4.tcp_wmem=\"{least} {start} {wanted}\""),
        )
    }

    /// Whether the program has fixed its send buffer.
    fn is_send_buffer_fixed(&self) -> Fixed {
        let sizes = || self.figures.infos().filter_map(|(socket, _)| Some(socket.memory?.sndbuf));
        let chosen = self.seen.chosen.map(|chosen| chosen.has_fixed_send_buffer);
        Fixed::of(chosen, sizes, self.around.settings.tcp_wmem)
    }

    /// Whether the send buffer may still grow: the kernel lets it, as the congestion window does.
    pub(in crate::explain) fn send_buffer_grows(&self) -> bool {
        let buffer = self.figures.socket.memory.unwrap_or_default().sndbuf;
        self.is_send_buffer_fixed() == Fixed::No && !is_at_most(buffer, self.around.settings.tcp_wmem)
    }

    /// The program asked for a rate.
    pub(in crate::explain) fn paced(&self) -> Finding {
        let figures = &self.figures;
        let program = self.program();
        let asked = figures.now.max_pacing_rate as f64 * 8.0;
        Finding::new(
            Kind::Paced,
            format!("{} asked for no more than {}", self.subject(), text::rate(asked)),
            vec![
                format!(
                    "SO_MAX_PACING_RATE is {}, and the kernel paces at {}",
                    text::rate(asked),
                    text::rate(figures.now.pacing_rate as f64 * 8.0)
                ),
                format!("{} went in {}", text::rate(figures.rate()), text::time(figures.seconds)),
            ],
            format!("raise SO_MAX_PACING_RATE in {program}, or do not set it"),
        )
    }

    /// Small segments wait for acknowledgements.
    pub(in crate::explain) fn delayed(&self, share: f64) -> Finding {
        let figures = &self.figures;
        let remote = figures.socket.remote.ip();
        let small = |least: u32, info: &crate::Info| info.notsent_bytes > 0 && info.notsent_bytes < least;
        let waiting: Vec<_> = figures
            .infos()
            .filter(|(_, info)| small(info.snd_mss, info))
            .map(|(_, info)| info.notsent_bytes)
            .collect();
        let mut evidence = vec![format!(
            "at {} of {} looks up to {} waited for the acknowledgement of less than a segment, {} of the time",
            waiting.len(),
            figures.infos().count(),
            text::bytes(waiting.iter().copied().max().unwrap_or_default()),
            text::share(share)
        )];
        if let (Some(usual), Some(least)) = (figures.rtt(), figures.min_rtt())
            && figures.queueing() >= DELAYED_S / 4.0
        {
            evidence.push(format!(
                "acknowledgements come after {}, and after {} where {remote} does not delay them",
                text::time(usual),
                text::time(least)
            ));
        }
        match self.seen.chosen {
            Some(_) => evidence.push("TCP_NODELAY is not set".to_owned()),
            None => evidence.push("whether TCP_NODELAY is set is not visible".to_owned()),
        }
        let program = self.program();
        let finding = Finding::new(
            Kind::Nagle,
            format!(
                "{} writes in small pieces, and the kernel holds each piece back until the one before it is acknowledged \
                 (Nagle's algorithm)",
                self.subject()
            ),
            evidence,
            format!("set TCP_NODELAY in {program}, or let it write what belongs together at once (writev)"),
        );
        if self.seen.chosen.is_none() { finding.inferred() } else { finding }
    }

    /// The program has nothing to send.
    pub(in crate::explain) fn sender_idle(&self, share: f64) -> Finding {
        let figures = &self.figures;
        let program = self.program();
        let without = figures.infos().filter(|(_, info)| info.notsent_bytes < info.snd_mss).count();
        let mut evidence = vec![
            self.held_by(PROGRAM, share),
            format!(
                "at {without} of {} looks less than a segment waited to be sent",
                figures.infos().count()
            ),
        ];
        if figures.now.delivery_rate > 0 {
            evidence.push(format!(
                "the latest data went at {}",
                text::rate(figures.now.delivery_rate as f64 * 8.0)
            ));
        }
        Finding::new(
            Kind::SenderIdle,
            format!("{} has nothing to send most of the time", self.subject()),
            evidence,
            format!(
                "see what {program} waits for: its disk, its own work, or an answer before it sends more"
            ),
        )
    }

    /// The congestion window is given up after a pause.
    pub(in crate::explain) fn restarts_after_idle(&self, times: usize) -> Finding {
        let figures = &self.figures;
        let windows = || figures.infos().map(|(_, info)| info.snd_cwnd);
        Finding::new(
            Kind::RestartAfterIdle,
            "After each pause the connection starts from a small window again".to_owned(),
            vec![format!(
                "the congestion window fell {times} times in {} without loss, between {} and {} segments",
                text::time(figures.seconds),
                windows().min().unwrap_or_default(),
                windows().max().unwrap_or_default()
            )],
            "sysctl -w net.ipv4.tcp_slow_start_after_idle=0".to_owned(),
        )
    }

    /// More waits here than the path needs.
    pub(in crate::explain) fn unsent_data(&self, unsent: u32, wait: f64) -> Finding {
        Finding::new(
            Kind::UnsentData,
            format!(
                "What the program writes now leaves in {}: so much waits unsent in this host",
                text::time(wait)
            ),
            vec![format!("{} unsent, and {} leave", text::bytes(unsent), text::rate(self.figures.rate()))],
            format!(
                "sysctl -w net.ipv4.tcp_notsent_lowat={NOTSENT_LOWAT} (or TCP_NOTSENT_LOWAT in the program): it costs no \
                 speed"
            ),
        )
    }

    /// For how long something held the connection.
    fn held_by(&self, what: &str, share: f64) -> String {
        let is_counted = what != PROGRAM && self.figures.now.busy_time_us.is_some();
        let counted = if is_counted && !self.figures.is_subflow() { ", as the kernel counts" } else { "" };
        format!("held by {what} for {} of {}{counted}", text::share(share), text::time(self.figures.seconds))
    }

    fn fixed_send_buffer(&self, buffer: u32, evidence: Vec<String>) -> Finding {
        let buffer = text::bytes(buffer);
        Finding::new(
            Kind::FixedSendBuffer,
            format!(
                "{} has fixed its send buffer at {buffer} (SO_SNDBUF): too small for the distance",
                self.subject()
            ),
            evidence,
            format!(
                "do not set SO_SNDBUF in {} (Kafka: send.buffer.bytes=-1): the kernel then lets it grow",
                self.program()
            ),
        )
    }
}

/// What the kernel does not count.
const PROGRAM: &str = "its program";
