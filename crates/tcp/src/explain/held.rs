//! What a sender's time went to.
//!
//! The kernel counts the time with data to send, and of that the time held by the peer's window and by the send buffer.
//! It does not divide the rest, nor see a send buffer that is full while some of it waits for its turn; the looks do.

use super::{
    Case, Figures, Look, Shares,
    figures::{USED, median, outstanding},
};
use crate::{
    Info,
    diag::{Multipath, Socket},
};

/// A sender's time, twice.
pub(super) struct Divided {
    /// What its time went to: the kernel's times where it tells them, and only the rest divided by the looks.
    pub shares: Shares,
    /// What limited it for how much of that time. More than the kernel counts: a buffer that is full while a little of it
    /// waits, and a window that BBR has taken the rate of.
    pub weights: Shares,
}

impl Case<'_> {
    pub(super) fn divided(&self) -> Divided {
        let figures = &self.figures;
        let tally = Tally::of(figures, self.may_delay());
        let slow_reader = is_reader_slow(figures);
        let times = Times::of(figures).filter(|_| !figures.is_subflow());
        let [mut shares, mut weights] = times
            .map_or_else(|| [tally.alone(); 2], |times| [tally.between(&times), tally.within(&times)])
            .map(Shares::normalised);
        // A buffer that grows does so after the congestion window.
        if self.send_buffer_grows() {
            weights.congestion_window += std::mem::take(&mut weights.send_buffer);
        }
        // BBR sends as fast as data ever arrived. That was as fast as the window let it, if it meets the window when it tries
        // to send faster, and as fast as the program wrote, if all was sent at many looks.
        if figures.has_model() && weights.receiver_window >= MET && (slow_reader || is_window_used(figures)) {
            weights.receiver_window += std::mem::take(&mut weights.congestion_window);
        } else if figures.has_model() && tally.is_often_drained() {
            weights.sender_application += std::mem::take(&mut weights.congestion_window);
        }
        if slow_reader {
            for each in [&mut shares, &mut weights] {
                each.receiver_application = std::mem::take(&mut each.receiver_window);
            }
        }
        Divided { shares, weights }
    }

    /// Whether BBR meets the window when it tries to send faster, and it is not known whether that is what its rate comes from.
    pub(super) fn meets_window(&self, weights: Shares) -> bool {
        self.figures.has_model() && weights.receiver_window + weights.receiver_application >= MET
    }

    /// Whether its kernel may hold small segments back; so it is where the program's choice is not known.
    pub(super) fn may_delay(&self) -> bool {
        self.seen.chosen.is_none_or(|chosen| !chosen.has_no_delay)
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
    if info.ca_state < RECOVERY && is_buffer_full(socket, info) {
        return Held::SendBuffer;
    }
    let [sent, repeated, arrived, lost] = [info.unacked, info.retrans, info.sacked, info.lost].map(u64::from);
    let in_flight = (sent + repeated).saturating_sub(arrived + lost);
    if info.ca_state >= RECOVERY || in_flight + in_flight / 16 >= u64::from(info.snd_cwnd) {
        return Held::CongestionWindow;
    }
    if is_window_closed(socket, info) {
        return Held::ReceiverWindow;
    }
    // What a program writes after a pause is paced, and waits for that for a moment.
    match waits && !info.delivery_rate_app_limited {
        false if is_delayed(look, info) => Held::Nagle,
        false => Held::Application,
        true if is_paced(info) => Held::Pacing,
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

/// Whether the peer's window lets no further segment out. The probe timer is a sign of that only where the window is not told:
/// it also runs while all that waits is paced and nothing is under way (`tcp_check_probe_timer()`).
fn is_window_closed(socket: &Socket, info: &Info) -> bool {
    match info.snd_wnd {
        Some(window) => {
            let next = info.notsent_bytes.min(info.snd_mss);
            next > 0 && outstanding(socket, info).saturating_add(next) > window
        }
        None => socket.timer == PROBE_TIMER && !is_paced(info),
    }
}

/// Whether less than a segment waits although little is under way: for an acknowledgement (RFC 896). Where a program writes
/// more all the time, the end of what it wrote waits as well, and costs nothing: there, much is under way.
fn is_delayed(look: &Look, info: &Info) -> bool {
    let under_way = outstanding(&look.socket, info);
    let waits = info.notsent_bytes > 0 && info.notsent_bytes < info.snd_mss;
    waits && under_way > 0 && under_way < info.snd_mss
}

/// Whether the buffer takes no more, and what is in it is nearly all under way. The kernel wakes a writer when a third is
/// free (`sk_stream_is_writeable()`). A buffer that grows with the congestion window holds twice of it at least
/// (`tcp_sndbuf_expand()`), so that half of it waits.
fn is_buffer_full(socket: &Socket, info: &Info) -> bool {
    socket.memory.is_some_and(|memory| {
        let is_full = u64::from(memory.wmem_queued) * 10 >= u64::from(memory.sndbuf) * 6;
        is_full && u64::from(info.notsent_bytes) * 10 <= u64::from(socket.send_queue) * 3
    })
}

/// Whether the program asked for a rate, and that is the rate of sending.
fn is_paced(info: &Info) -> bool {
    info.max_pacing_rate < UNPACED && info.pacing_rate as f64 >= info.max_pacing_rate as f64 * NEARLY
}

/// Whether as much goes each round trip as the peer's window lets out.
fn is_window_used(figures: &Figures<'_>) -> bool {
    let window = median(figures.infos().filter_map(|(_, info)| info.snd_wnd)).filter(|&window| window > 0);
    let used = || Some(figures.rate() / 8.0 * figures.rtt()? / f64::from(window?));
    used().is_some_and(|share| share >= USED)
}

/// Whether the peer's window is small because its program does not read. Then it closes at times, or is seldom as large as it
/// was. One that is small because of the buffer stays at its largest, or grows while autotuning is at it; a dip now and
/// then is not a slow reader, as any program waits for a processor.
pub(super) fn is_reader_slow(figures: &Figures<'_>) -> bool {
    let (mut largest, mut closed, mut smaller) = (0, 0, 0);
    for (socket, info) in figures.infos() {
        let window = info.snd_wnd.unwrap_or(largest);
        largest = largest.max(window);
        let is_probed = info.snd_wnd.is_none() && socket.timer == PROBE_TIMER && !is_paced(info);
        closed += usize::from(is_probed || info.snd_wnd == Some(0) || window < largest / 8);
        smaller += usize::from(window < largest - largest / 8);
    }
    closed * 20 >= figures.looks.len() || smaller * 3 >= figures.looks.len()
}

/// Congestion control's state from which on it repairs a loss.
const RECOVERY: u8 = 3;
/// The timer that runs while the peer's window is closed.
pub(super) const PROBE_TIMER: u8 = 4;
/// Rates are measured, and a pacing rate is rounded.
pub(super) const NEARLY: f64 = 0.95;
/// No `SO_MAX_PACING_RATE`.
pub(super) const UNPACED: u64 = u64::MAX;
/// BBR tries to send faster in one of eight round trips.
const MET: f64 = 0.05;
