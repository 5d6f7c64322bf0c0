//! What is said of a receiver.

use super::{Finding, Fixed, Kind, is_at_most};
use crate::{
    Options,
    explain::{
        Case,
        figures::{median, unread},
        text,
    },
    kernel::Rule,
    settings::Settings,
};

impl Case<'_> {
    /// The program does not keep up.
    pub(in crate::explain) fn reads_slowly(&self, share: f64) -> Finding {
        let figures = &self.figures;
        let program = self.program();
        let queue = median(figures.looks.iter().map(unread));
        Finding::new(
            Kind::ReadsSlowly,
            format!("{} reads more slowly than the network brings", self.subject()),
            vec![
                format!(
                    "much waited to be read at {1} of {2} looks; usually {0}",
                    text::bytes(queue.unwrap_or_default()),
                    text::share(share),
                    figures.infos().count()
                ),
                format!("{} came in {}", text::rate(figures.rate()), text::time(figures.seconds)),
            ],
            format!(
                "make {program} read faster: see what it does between two reads; larger buffers would only fill as well"
            ),
        )
    }

    /// The receive buffer is small for the distance.
    pub(in crate::explain) fn small_receive_buffer(&self) -> Finding {
        let figures = &self.figures;
        let settings = &self.around.settings;
        let buffer = figures.socket.memory.unwrap_or_default().rcvbuf;
        if !figures.now.has(Options::WindowScale) {
            return self.no_window_scaling();
        }
        let evidence = self.window_evidence(buffer);
        let sizes = || figures.infos().filter_map(|(socket, _)| Some(socket.memory?.rcvbuf));
        let grows = settings.tcp_moderate_rcvbuf != Some(0);
        let chosen = self.seen.chosen.map(|chosen| chosen.has_fixed_receive_buffer);
        match Fixed::of(chosen.or((!grows).then_some(false)), sizes, settings.tcp_rmem) {
            Fixed::Yes => self.fixed_receive_buffer(buffer, evidence),
            Fixed::Seemingly => self.fixed_receive_buffer(buffer, evidence).inferred(),
            Fixed::No if !grows => does_not_grow(evidence),
            Fixed::No if is_at_most(buffer, settings.tcp_rmem) => self.receive_buffer_maximum(evidence),
            Fixed::No => Finding::new(
                Kind::ReceiveBufferGrows,
                "The receive buffer is still growing to what the distance takes".to_owned(),
                evidence,
                "look again in some round trips (--watch)".to_owned(),
            ),
        }
    }

    /// How much of the window is used.
    fn window_evidence(&self, buffer: u32) -> Vec<String> {
        let window = self.window().unwrap_or_default();
        vec![
            self.ceiling(window, self.round_trip().unwrap_or_default()),
            format!("the receive buffer is {}; nothing waited to be read", text::bytes(buffer)),
        ]
    }

    fn fixed_receive_buffer(&self, buffer: u32, mut evidence: Vec<String>) -> Finding {
        let program = self.program();
        let asked = u64::from(buffer / 2);
        if let Some((_, who)) = KNOWN.iter().find(|(size, _)| *size == asked) {
            evidence.push(format!("SO_RCVBUF={asked} is {who}"));
        }
        if self.around.settings.core_rmem_max == Some(asked) {
            evidence.push(format!("it may have asked for more: net.core.rmem_max is {asked}"));
        }
        Finding::new(
            Kind::FixedReceiveBuffer,
            format!(
                "{} has fixed its receive buffer (SO_RCVBUF={asked}): too small for the distance, and it does not grow",
                self.subject()
            ),
            evidence,
            format!(
                "do not set SO_RCVBUF in {program} (Kafka: receive.buffer.bytes=-1): the kernel then lets it grow; whether \
                 something at {} limits as well, longhaul tcp explain says there",
                self.figures.socket.remote.ip()
            ),
        )
    }

    fn receive_buffer_maximum(&self, evidence: Vec<String>) -> Finding {
        let limits = self.around.settings.tcp_rmem.unwrap_or_default();
        let [least, start, _] = limits;
        let (kind, said, wanted) = self.most_of("net.ipv4.tcp_rmem[2]", limits);
        Finding::new(
            kind.unwrap_or(Kind::ReceiveBufferMaximum),
            format!(
                "The receive buffer has grown to the maximum of net.ipv4.tcp_rmem{said}, and the distance takes more"
            ),
            evidence,
            format!("sysctl -w net.ipv4.tcp_rmem=\"{least} {start} {wanted}\", then connect again"),
        )
    }

    /// Of three buffer sizes: whether the largest is below the kernel's own choice, and says so; and what it should be.
    pub(super) fn most_of(&self, setting: &str, [_, _, most]: [u64; 3]) -> (Option<Kind>, String, u64) {
        let below = self.around.kernel.and_then(|kernel| {
            let all = self.around.settings.below_default(kernel);
            all.into_iter().find(|each| each.setting == setting).map(|each| (kernel, each.default))
        });
        match below {
            // What the kernel chooses depends a little on the machine's memory.
            Some((kernel, default)) => {
                let said = format!(
                    ", {}, where Linux {kernel} itself would go to {}",
                    text::bytes(most as f64),
                    text::bytes(default as f64)
                );
                (Some(Kind::SettingBelowDefault), said, default)
            }
            None => (None, format!(", {}", text::bytes(most as f64)), most.saturating_mul(4)),
        }
    }

    /// A setting that does nothing any more.
    pub(in crate::explain) fn ignored_scale(&self) -> Option<Finding> {
        let kernel = self.around.kernel?;
        let scale = self.around.settings.tcp_adv_win_scale?;
        let usual = Settings::defaults(kernel, None).tcp_adv_win_scale?;
        (Rule::WIN_SCALE_IGNORED.holds(kernel) && scale != usual).then(|| {
            Finding::new(
                Kind::SettingIgnored,
                format!("net.ipv4.tcp_adv_win_scale was set, and Linux {kernel} ignores it"),
                vec![format!(
                    "it is {scale}; {}, since {}",
                    Rule::WIN_SCALE_IGNORED.what,
                    Rule::WIN_SCALE_IGNORED.since
                )],
                "change the maximum of net.ipv4.tcp_rmem (its third value) instead: longhaul tcp window computes it".to_owned(),
            )
        })
    }

    /// Nothing here.
    pub(in crate::explain) fn limited_elsewhere(&self) -> Finding {
        let figures = &self.figures;
        let remote = figures.socket.remote.ip();
        let unread = figures.looks.iter().map(unread).max().unwrap_or_default();
        let mut evidence = vec![format!(
            "{} came in {}; at most {} waited to be read",
            text::rate(figures.rate()),
            text::time(figures.seconds),
            text::bytes(unread)
        )];
        if let Some(share) = self.window_use() {
            evidence.push(format!(
                "{} of the window of {} was used each round trip",
                text::share(share),
                text::bytes(self.window().unwrap_or_default())
            ));
        }
        if let Some(early @ 1..) = figures.since(|info| info.rcv_ooopack) {
            evidence.push(format!("{early} packets came too early: others before them were late or lost"));
        }
        Finding::new(
            Kind::OtherEnd,
            "Nothing here holds it up: the sender does, or the path".to_owned(),
            evidence,
            format!("run longhaul tcp explain at {remote}, where it is sent"),
        )
    }
}

fn does_not_grow(evidence: Vec<String>) -> Finding {
    Finding::new(
        Kind::ReceiveBufferDoesNotGrow,
        "Receive buffers do not grow: net.ipv4.tcp_moderate_rcvbuf is 0".to_owned(),
        evidence,
        "sysctl -w net.ipv4.tcp_moderate_rcvbuf=1".to_owned(),
    )
}

/// Sizes that a program is known to ask for by itself.
const KNOWN: [(u64, &str); 3] = [
    (32_768, "what Kafka's producers ask for by default (receive.buffer.bytes)"),
    (65_536, "what Kafka's consumers ask for by default (receive.buffer.bytes)"),
    (102_400, "what Kafka's brokers ask for by default (socket.receive.buffer.bytes)"),
];
