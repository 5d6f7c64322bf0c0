//! What a sender's time went to.
//!
//! The kernel counts the time with data to send, and of that the time held by the peer's window and by the send buffer.
//! It does not divide the rest, nor see a send buffer that is full while some of it waits for its turn; the looks do.

use super::{
    Case, Figures, Shares,
    figures::{USED, median, outstanding},
};
use crate::{Info, diag::Socket};

impl Case<'_> {
    /// The kernel's times where it tells them, divided further by what the looks saw; else the looks alone.
    pub(super) fn sender_shares(&self) -> Shares {
        let figures = &self.figures;
        let tally = Tally::of(figures);
        let slow_reader = is_reader_slow(figures);
        let mut shares =
            Times::of(figures).map_or_else(|| tally.alone(), |times| tally.within(&times)).normalised();
        // A buffer that grows does so behind the congestion window.
        if self.send_buffer_grows() {
            shares.congestion_window += std::mem::take(&mut shares.send_buffer);
        }
        // BBR sends as fast as data ever arrived. That was as fast as the window let it, if it meets the window when it tries
        // to send faster, and as fast as the program wrote, if all was sent at many looks.
        if figures.has_model() && shares.receiver_window >= MET && (slow_reader || is_window_used(figures)) {
            shares.receiver_window += std::mem::take(&mut shares.congestion_window);
        } else if figures.has_model() && tally.is_often_drained() {
            shares.sender_application += std::mem::take(&mut shares.congestion_window);
        }
        if slow_reader {
            shares.receiver_application = std::mem::take(&mut shares.receiver_window);
        }
        shares
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
    congestion: f64,
}

impl Tally {
    fn of(figures: &Figures<'_>) -> Self {
        let looks: Vec<_> = figures.infos().map(|(socket, info)| held(socket, info)).collect();
        let seen = |what: Held| looks.iter().filter(|held| **held == what).count() as f64;
        Self {
            idle: seen(Held::Idle),
            trickling: seen(Held::Application),
            buffer: seen(Held::SendBuffer),
            window: seen(Held::ReceiverWindow),
            pacing: seen(Held::Pacing),
            congestion: seen(Held::CongestionWindow),
        }
    }

    /// Whether nothing waited to be sent at a fifth of the looks or more. Behind a full path that is seldom.
    fn is_often_drained(&self) -> bool {
        let drained = self.idle + self.trickling;
        drained * 4.0 >= self.buffer + self.window + self.pacing + self.congestion
    }

    /// What the looks say by themselves.
    fn alone(&self) -> Shares {
        Shares {
            sender_application: self.idle + self.trickling,
            send_buffer: self.buffer,
            congestion_window: self.congestion,
            pacing: self.pacing,
            receiver_window: self.window,
            ..Shares::default()
        }
    }

    /// What they say of the time that the kernel does not divide.
    fn within(&self, times: &Times) -> Shares {
        let sum = self.trickling + self.buffer + self.pacing + self.congestion;
        let part = |looks: f64| if sum > 0.0 { times.rest * looks / sum } else { 0.0 };
        let unseen = if sum > 0.0 { 0.0 } else { times.rest };
        Shares {
            sender_application: times.idle + part(self.trickling),
            send_buffer: times.buffer + part(self.buffer),
            congestion_window: part(self.congestion) + unseen,
            pacing: part(self.pacing),
            receiver_window: times.window,
            ..Shares::default()
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
            let grown = time(figures.now)?.saturating_sub(time(&figures.before).unwrap_or(0));
            Some(grown as f64 / 1e6 / figures.seconds.max(f64::MIN_POSITIVE))
        };
        // The kernel counts in ticks, so that a sum may be a little more than all the time.
        let busy = share(|info| info.busy_time_us)?.min(1.0);
        let window = share(|info| info.rwnd_limited_us)?.min(busy);
        let buffer = share(|info| info.sndbuf_limited_us)?.min(busy - window);
        Some(Self { idle: 1.0 - busy, window, buffer, rest: busy - window - buffer })
    }
}

/// What holds a sender at this moment; in the order in which the kernel finds out (`tcp_write_xmit()`).
fn held(socket: &Socket, info: &Info) -> Held {
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
    let does_not_fit = |window: u32| outstanding(socket, info).saturating_add(info.snd_mss) > window;
    if socket.timer == PROBE_TIMER || waits && info.snd_wnd.is_some_and(does_not_fit) {
        return Held::ReceiverWindow;
    }
    // What a program writes after a pause is paced, and waits for that for a moment.
    match waits && !info.delivery_rate_app_limited {
        false => Held::Application,
        true if is_paced(info) => Held::Pacing,
        true => Held::CongestionWindow,
    }
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
/// then is no slow reader, as any program waits for a processor.
fn is_reader_slow(figures: &Figures<'_>) -> bool {
    let (mut largest, mut closed, mut smaller) = (0, 0, 0);
    for (socket, info) in figures.infos() {
        let window = info.snd_wnd.unwrap_or(largest);
        largest = largest.max(window);
        closed += usize::from(socket.timer == PROBE_TIMER || window < largest / 8);
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
const UNPACED: u64 = u64::MAX;
/// BBR tries to send faster in one of eight round trips.
const MET: f64 = 0.05;
