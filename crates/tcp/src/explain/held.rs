//! What a sender's time went to.
//!
//! The kernel counts the time with data to send, and of that the time held by the peer's window and by the send buffer.
//! It does not divide the rest, nor see a send buffer that is full while some of it waits for its turn; the looks do.

use super::{
    Case, Figures, Look, Shares,
    limit::{nagle, pacing, receiver_application, receiver_window, send_buffer},
};
use crate::{Info, diag::Multipath};

/// A sender's time, twice.
pub(super) struct Division {
    /// What its time went to: the kernel's times where it tells them, and only the rest divided by the looks.
    pub shares: Shares,
    /// What limited it for how much of that time. More than the kernel counts: a buffer that is full while a little of it
    /// waits, and a window that BBR has taken the rate of.
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
        // A buffer that grows does so after the congestion window.
        if send_buffer::grows(self) {
            weights.congestion_window += std::mem::take(&mut weights.send_buffer);
        }
        // BBR sends as fast as data ever arrived. That was as fast as the window let it, if it meets the window when it tries
        // to send faster, and as fast as the program wrote, if all was sent at many looks.
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

    /// Whether BBR meets the window when it tries to send faster, and it is not known whether that is what its rate comes from.
    pub(super) fn meets_window(&self, weights: Shares) -> bool {
        self.figures.has_model() && weights.receiver_window + weights.receiver_application >= MET
    }
}

/// What holds a sender at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
    /// Its program has nothing to send, and all was acknowledged.
    Idle,
    /// Its program has nothing to send.
    Application,
    /// Its buffer is full, and nearly all of it is under way.
    SendBuffer,
    /// The peer's window.
    ReceiverWindow,
    /// The rate that its program asked for.
    Pacing,
    /// Nagle's algorithm: a small segment waits for the acknowledgement of another.
    Nagle,
    /// Congestion control.
    CongestionWindow,
}

/// At how many looks what held the sender.
struct Tally {
    /// All was acknowledged.
    idle: f64,
    /// All was sent, and not all acknowledged.
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

    /// Whether nothing waited to be sent at a fifth of the looks or more. Behind a full path that is seldom.
    fn is_often_drained(&self) -> bool {
        let drained = self.idle + self.trickling;
        drained * 4.0 >= self.buffer + self.window + self.pacing + self.nagle + self.congestion
    }

    /// What the looks say by themselves.
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

    /// What limits, by the kernel's times and by what the looks say of the time that it does not divide.
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

    /// The same, and the send buffer's is the kernel's time alone: for the rest of it, data was under way.
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

/// Shares of the time that the kernel counted.
struct Times {
    idle: f64,
    window: f64,
    buffer: f64,
    rest: f64,
}

impl Times {
    /// None before Linux 4.10, which does not count them.
    fn of(figures: &Figures<'_>) -> Option<Self> {
        let share = |time: fn(&Info) -> Option<u64>| {
            Some(figures.grown_us(time)? as f64 / 1e6 / figures.seconds.max(f64::MIN_POSITIVE))
        };
        // The kernel counts in ticks, so that a sum may be a little more than all the time.
        let busy = share(|info| info.busy_time_us)?.min(1.0);
        let window = share(|info| info.rwnd_limited_us)?.min(busy);
        let buffer = share(|info| info.sndbuf_limited_us)?.min(busy - window);
        Some(Self { idle: 1.0 - busy, window, buffer, rest: busy - window - buffer })
    }
}

/// What holds a sender at this moment.
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
    // What a program writes after a pause is paced, and waits for that for a moment.
    match waits && !info.delivery_rate_app_limited {
        false if nagle::holds(look, info) => Held::Nagle,
        false => Held::Application,
        true if pacing::holds(info) => Held::Pacing,
        true => Held::CongestionWindow,
    }
}

/// What holds a subflow that has nothing to send: the window is its connection's, and what that does not let out is not given
/// to any subflow.
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

/// Congestion control's state from which on it repairs a loss.
const RECOVERY: u8 = 3;
/// BBR tries to send faster in one of eight round trips.
const MET: f64 = 0.05;
