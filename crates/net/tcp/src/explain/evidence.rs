//! Phrases with figures that several limits use as evidence, and shared advice.

use super::{Case, limit::path, text};

impl Case<'_> {
    pub(super) fn held_by(&self, what: &str, share: f64) -> String {
        let is_counted = what != PROGRAM && self.figures.now.busy_time_us.is_some();
        let counted = if is_counted && !self.figures.is_subflow() { ", as the kernel counts" } else { "" };
        format!("held by {what} for {} of {}{counted}", text::share(share), text::time(self.figures.seconds))
    }

    pub(super) fn ceiling(&self, window: u32, rtt: f64) -> String {
        let ceiling = f64::from(window) * 8.0 / rtt;
        let wanted = 10_f64.powf(ceiling.log10().ceil());
        format!(
            "{} window per {} round trip allows at most {}; measured: {}; {} would take {}",
            text::with_article(&text::bytes(f64::from(window))),
            text::time(rtt),
            text::rate(ceiling),
            text::rate(self.figures.rate()),
            text::rate(wanted),
            text::bytes(wanted * rtt / 8.0)
        )
    }

    pub(super) fn control(&self) -> &str {
        self.figures.socket.congestion.as_deref().unwrap_or("congestion control")
    }

    pub(super) fn repeated(&self) -> String {
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

    pub(super) fn no_queue(&self) -> String {
        let figures = &self.figures;
        format!(
            "a round trip takes {}, and {} when the path is empty: packets do not wait",
            text::time(figures.rtt().unwrap_or_default()),
            text::time(figures.min_rtt().unwrap_or_default())
        )
    }

    pub(super) fn waiting(&self) -> String {
        format!(
            "packets waited on the path at {} of {} looks",
            text::share(path::share(&self.figures)),
            self.figures.looks.len()
        )
    }

    pub(super) fn use_bbr(&self) -> String {
        let known = self.around.settings.tcp_available_congestion_control.as_ref();
        let is_there = known.is_none_or(|all| all.iter().any(|each| each == "bbr"));
        let load = if is_there { "" } else { "modprobe tcp_bbr; " };
        format!("{load}sysctl -w net.ipv4.tcp_congestion_control=bbr, then connect again")
    }

    pub(super) fn requests(&self) -> String {
        let now = self.figures.now;
        format!(
            "the request (SYN) was sent {}; the next follows {} after the last",
            text::plural(now.total_retrans.saturating_add(1).into(), "time"),
            text::time(f64::from(now.rto_us) / 1e6)
        )
    }

    pub(super) fn neighbours(&self) -> String {
        let host = self.figures.socket.remote.ip();
        match self.surroundings.answered_beside(&self.figures) {
            0 => format!("no packet from {host} was received on another connection of this host, either"),
            1 => format!("another connection to {host} receives responses"),
            several => format!("{several} other connections to {host} receive responses"),
        }
    }

    pub(super) fn last_answer(&self) -> String {
        let ago = text::time(f64::from(self.figures.now.last_ack_recv_ms) / 1e3);
        format!("the last packet was received {ago} ago")
    }

    pub(super) fn untouched(&self) -> String {
        let figures = &self.figures;
        format!(
            "no byte of {} was acknowledged since it was opened, after {} in a row",
            text::bytes(figures.socket.send_queue),
            text::plural(figures.now.retransmits.into(), "timeout")
        )
    }
}

pub(super) const PROGRAM: &str = "its program";
