//! Divides a sender's time by the limiting factor.
//!
//! The kernel counts the time with data to send, and the parts of it that were limited by the
//! peer's window and by the send buffer.

use super::{
    Case, Figures, Look, Shares,
    limit::{nagle, pacing, receiver_application, receiver_window, send_buffer},
};
use crate::{Info, diag::Multipath};

pub(super) struct Division {
    pub shares: Shares,
    /// The weight of each limit. Differs from the kernel's times for a full buffer with a little unsent data,
    /// and for a window from which BBR derived its rate.
    pub weights: Shares,
}

impl Case<'_> {
    pub(super) fn divided(&self) -> Division {
        let figures = &self.figures;
        let tally = Tally::of(figures, nagle::may_hold(self));
        let slow_reader = receiver_application::is_slow(figures);
        let times = Times::of(figures).filter(|_| !figures.is_subflow());
        let [mut shares, mut weights] = times
            .map_or_else(|| [tally.alone(); 2], |times| [tally.between(&times), tally.within(&times)])
            .map(Shares::normalised);
        if send_buffer::grows(self) {
            weights.congestion_window += std::mem::take(&mut weights.send_buffer);
        }
        // BBR sends at the highest measured delivery rate. That rate was limited by the window if BBR reaches
        // the window when it probes for bandwidth, and by the program if all data was sent in many samples.
        if figures.has_model()
            && weights.receiver_window >= MET
            && (slow_reader || receiver_window::is_used(figures))
        {
            weights.receiver_window += std::mem::take(&mut weights.congestion_window);
        } else if figures.has_model() && tally.is_often_drained() {
            weights.sender_application += std::mem::take(&mut weights.congestion_window);
        }
        if slow_reader {
            for each in [&mut shares, &mut weights] {
                each.receiver_application = std::mem::take(&mut each.receiver_window);
            }
        }
        Division { shares, weights }
    }

    pub(super) fn meets_window(&self, weights: Shares) -> bool {
        self.figures.has_model() && weights.receiver_window + weights.receiver_application >= MET
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
    Idle,
    Application,
    SendBuffer,
    ReceiverWindow,
    Pacing,
    /// A small segment waits for the acknowledgement of another.
    Nagle,
    CongestionWindow,
}

struct Tally {
    idle: f64,
    trickling: f64,
    buffer: f64,
    window: f64,
    pacing: f64,
    nagle: f64,
    congestion: f64,
}

impl Tally {
    fn of(figures: &Figures<'_>, may_delay: bool) -> Self {
        let held = figures.looks.iter().filter_map(|look| {
            let held = held(look, look.socket.info.as_ref()?);
            Some(if held == Held::Nagle && !may_delay { Held::Application } else { held })
        });
        let looks: Vec<_> = held.collect();
        let seen = |what: Held| looks.iter().filter(|held| **held == what).count() as f64;
        Self {
            idle: seen(Held::Idle),
            trickling: seen(Held::Application),
            buffer: seen(Held::SendBuffer),
            window: seen(Held::ReceiverWindow),
            pacing: seen(Held::Pacing),
            nagle: seen(Held::Nagle),
            congestion: seen(Held::CongestionWindow),
        }
    }

    fn is_often_drained(&self) -> bool {
        let drained = self.idle + self.trickling;
        drained * 4.0 >= self.buffer + self.window + self.pacing + self.nagle + self.congestion
    }

    fn alone(&self) -> Shares {
        Shares {
            sender_application: self.idle + self.trickling,
            send_buffer: self.buffer,
            congestion_window: self.congestion,
            pacing: self.pacing,
            nagle: self.nagle,
            receiver_window: self.window,
            ..Shares::default()
        }
    }

    fn within(&self, times: &Times) -> Shares {
        let sum = self.trickling + self.buffer + self.pacing + self.nagle + self.congestion;
        let part = |looks: f64| if sum > 0.0 { times.rest * looks / sum } else { 0.0 };
        let unseen = if sum > 0.0 { 0.0 } else { times.rest };
        Shares {
            sender_application: times.idle + part(self.trickling),
            send_buffer: times.buffer + part(self.buffer),
            congestion_window: part(self.congestion) + unseen,
            pacing: part(self.pacing),
            nagle: part(self.nagle),
            receiver_window: times.window,
            ..Shares::default()
        }
    }

    fn between(&self, times: &Times) -> Shares {
        let within = self.within(times);
        let under_way = within.send_buffer - times.buffer;
        Shares {
            send_buffer: times.buffer,
            congestion_window: within.congestion_window + under_way,
            ..within
        }
    }
}

struct Times {
    idle: f64,
    window: f64,
    buffer: f64,
    rest: f64,
}

impl Times {
    /// `None` before Linux 4.10, which does not count them.
    fn of(figures: &Figures<'_>) -> Option<Self> {
        let share = |time: fn(&Info) -> Option<u64>| {
            Some(figures.grown_us(time)? as f64 / 1e6 / figures.seconds.max(f64::MIN_POSITIVE))
        };
        // The kernel counts in ticks, so a sum may slightly exceed the whole time.
        let busy = share(|info| info.busy_time_us)?.min(1.0);
        let window = share(|info| info.rwnd_limited_us)?.min(busy);
        let buffer = share(|info| info.sndbuf_limited_us)?.min(busy - window);
        Some(Self { idle: 1.0 - busy, window, buffer, rest: busy - window - buffer })
    }
}

fn held(look: &Look, info: &Info) -> Held {
    let socket = &look.socket;
    if let Some(connection) = &look.multipath
        && info.notsent_bytes < info.snd_mss
    {
        return held_above(connection, info);
    }
    if socket.send_queue == 0 {
        return Held::Idle;
    }
    let waits = u64::from(info.notsent_bytes) >= u64::from(info.snd_mss);
    if info.ca_state < RECOVERY && send_buffer::is_full(socket, info) {
        return Held::SendBuffer;
    }
    let [sent, repeated, arrived, lost] = [info.unacked, info.retrans, info.sacked, info.lost].map(u64::from);
    let in_flight = (sent + repeated).saturating_sub(arrived + lost);
    if info.ca_state >= RECOVERY || in_flight + in_flight / 16 >= u64::from(info.snd_cwnd) {
        return Held::CongestionWindow;
    }
    if receiver_window::is_closed(socket, info) {
        return Held::ReceiverWindow;
    }
    // Data written after a pause is paced, and therefore waits briefly.
    match waits && !info.delivery_rate_app_limited {
        false if nagle::holds(look, info) => Held::Nagle,
        false => Held::Application,
        true if pacing::holds(info) => Held::Pacing,
        true => Held::CongestionWindow,
    }
}

/// The factor that limits a subflow without unsent data: the window is its connection's, and data beyond the
/// window is not assigned to any subflow.
fn held_above(connection: &Multipath, info: &Info) -> Held {
    match connection.pending {
        0 => Held::Idle,
        pending
            if info.snd_wnd.is_some_and(|window| pending + u64::from(info.snd_mss) > u64::from(window)) =>
        {
            Held::ReceiverWindow
        }
        _ => Held::Application,
    }
}

/// The first state of congestion control in which it repairs a loss.
const RECOVERY: u8 = 3;
/// BBR probes for bandwidth in one of eight round trips.
const MET: f64 = 0.05;
