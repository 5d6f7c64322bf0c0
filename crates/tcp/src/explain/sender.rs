//! The sender's view: what its time went to, and what limits it.
//!
//! The kernel counts the time with data to send, and of that the time held by the peer's window and by the send buffer.
//! It does not divide the rest, nor see a send buffer that is full while some of it waits for its turn; the looks do.

use super::{
    Case, Figures, Finding, Limit, Role, Shares, Verdict,
    figures::{USED, median, outstanding},
    finding, text,
};
use crate::{Info, diag::Socket};

/// What holds a sender at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
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

impl Case<'_> {
    pub(super) fn sender(&self) -> Verdict {
        let shares = self.sender_shares();
        let figures = &self.figures;
        let (limit, mut first) = match shares.largest() {
            _ if is_dead(figures) => (Limit::Loss, finding::no_answer(figures)),
            Limit::ReceiverWindow if figures.has_standing_queue() => self.path(),
            Limit::SendBuffer if figures.has_queue_beyond_bursts() => self.path(),
            Limit::ReceiverWindow => (Limit::ReceiverWindow, self.small_window(shares.receiver_window)),
            Limit::ReceiverApplication => {
                (Limit::ReceiverApplication, self.peer_reads_slowly(shares.receiver_application))
            }
            Limit::SendBuffer => (Limit::SendBuffer, self.small_send_buffer(shares.send_buffer)),
            Limit::Pacing => (Limit::Pacing, self.paced()),
            // BBR spreads each of its bursts over the time that it would take at the rate of the path.
            Limit::CongestionWindow if self.leaves_model_unused(shares) => {
                (Limit::SenderApplication, self.sender_idle(shares.sender_application))
            }
            Limit::CongestionWindow => self.network(),
            _ => (Limit::SenderApplication, self.sender_idle(shares.sender_application)),
        };
        let used_up = shares.receiver_window + shares.send_buffer;
        if limit == Limit::Path && used_up >= WORTH_SAYING {
            let share = text::percent(used_up);
            first.evidence.push(format!(
                "window or buffer was used up for {share} of the time; where packets wait already, more would only wait \
                 longer"
            ));
        }
        let mut findings = vec![first];
        findings.extend(self.beside_sender(limit, shares));
        Verdict { role: Role::Sender, limit, shares, findings }
    }

    /// The kernel's times where it tells them, divided further by what the looks saw; else the looks alone.
    fn sender_shares(&self) -> Shares {
        let figures = &self.figures;
        let looks: Vec<_> = figures.infos().map(|(socket, info)| held(socket, info)).collect();
        let seen = |what: Held| looks.iter().filter(|held| **held == what).count() as f64;
        let slow_reader = is_reader_slow(figures);
        let window = |share: f64| if slow_reader { (0.0, share) } else { (share, 0.0) };
        let Some(times) = Times::of(figures) else {
            let (receiver_window, receiver_application) = window(seen(Held::ReceiverWindow));
            return Shares {
                sender_application: seen(Held::Application),
                send_buffer: seen(Held::SendBuffer),
                congestion_window: seen(Held::CongestionWindow),
                pacing: seen(Held::Pacing),
                receiver_window,
                receiver_application,
                other_end: 0.0,
            }
            .normalised();
        };
        // Of the time that the kernel does not divide; an application that trickles keeps its connection busy, too.
        let idle_looks = figures.infos().filter(|(socket, _)| socket.send_queue == 0).count() as f64;
        let trickle = seen(Held::Application) - idle_looks;
        let divided = [trickle, seen(Held::SendBuffer), seen(Held::Pacing), seen(Held::CongestionWindow)];
        let sum: f64 = divided.iter().sum();
        let [trickle, buffer, pacing, congestion] =
            if sum > 0.0 { divided.map(|part| part / sum) } else { [0.0, 0.0, 0.0, 1.0] };
        let (receiver_window, receiver_application) = window(times.window);
        let mut shares = Shares {
            sender_application: times.idle + times.rest * trickle,
            send_buffer: times.buffer + times.rest * buffer,
            congestion_window: times.rest * congestion,
            pacing: times.rest * pacing,
            receiver_window,
            receiver_application,
            other_end: 0.0,
        };
        // A buffer that grows does so behind the congestion window.
        if self.send_buffer_grows() {
            shares.congestion_window += std::mem::take(&mut shares.send_buffer);
        }
        if times.window >= MET && self.has_model_of_window(slow_reader) {
            let (by_buffer, by_program) = window(std::mem::take(&mut shares.congestion_window));
            shares.receiver_window += by_buffer;
            shares.receiver_application += by_program;
        }
        shares.normalised()
    }

    /// Whether congestion control has taken the peer's window for the path: BBR sends as fast as data ever arrived, which
    /// was as fast as the window let it, and meets the window only when it tries to send faster.
    fn has_model_of_window(&self, slow_reader: bool) -> bool {
        let figures = &self.figures;
        let window =
            median(figures.infos().filter_map(|(_, info)| info.snd_wnd)).filter(|&window| window > 0);
        let used = || Some(figures.rate() / 8.0 * figures.min_rtt()? / f64::from(window?));
        figures.has_model() && (slow_reader || used().is_some_and(|share| share >= USED))
    }

    /// Whether the program pauses, and so sends less than congestion control knows that the path carries.
    fn leaves_model_unused(&self, shares: Shares) -> bool {
        let figures = &self.figures;
        let pauses = shares.sender_application >= PAUSES;
        pauses && figures.has_model() && figures.rate() < figures.carried() * NEARLY
    }

    /// What else is worth to be said about a sender.
    fn beside_sender(&self, limit: Limit, shares: Shares) -> Vec<Finding> {
        let figures = &self.figures;
        let mut also = Vec::new();
        let restarts = restarts(figures);
        if restarts > 0 && limit == Limit::SenderApplication {
            also.push(self.restarts_after_idle(restarts));
        }
        if limit == Limit::SenderApplication
            && shares.congestion_window >= WORTH_SAYING
            && figures.repeats() > 0
        {
            let (limit, finding) = self.network();
            also.extend((limit == Limit::Loss || limit == Limit::Reordering).then_some(finding));
        }
        if !matches!(limit, Limit::ReceiverWindow | Limit::ReceiverApplication | Limit::SendBuffer) {
            also.extend(self.unsent());
        }
        also
    }

    /// Bytes that wait in the sender for longer than they need to.
    fn unsent(&self) -> Option<Finding> {
        let figures = &self.figures;
        let unsent = median(figures.infos().map(|(_, info)| info.notsent_bytes))?;
        let wait = f64::from(unsent) * 8.0 / figures.rate();
        let is_much =
            u64::from(unsent) >= 4 * NOTSENT_LOWAT && wait >= 2.0 * figures.rtt()? && wait >= UNSENT_LEAST_S;
        (is_much && wait.is_finite()).then(|| self.unsent_data(unsent, wait))
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
        return Held::Application;
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
pub(super) fn is_paced(info: &Info) -> bool {
    info.max_pacing_rate < UNPACED && info.pacing_rate as f64 >= info.max_pacing_rate as f64 * NEARLY
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

/// Whether nothing is answered any more.
fn is_dead(figures: &Figures<'_>) -> bool {
    figures.acked() == 0 && figures.now.retransmits > 0
}

/// How often the congestion window was given up because nothing was sent for a while (RFC 2861): it fell to half or less,
/// without loss. BBR's falls when it looks for the least round trip.
fn restarts(figures: &Figures<'_>) -> usize {
    if figures.has_model() || figures.repeats() > 0 {
        return 0;
    }
    let windows: Vec<_> = figures.infos().map(|(_, info)| info.snd_cwnd).collect();
    windows.windows(2).filter(|pair| pair[1] <= pair[0] / 2).count()
}

/// Congestion control's state from which on it repairs a loss.
const RECOVERY: u8 = 3;
/// The timer that runs while the peer's window is closed.
pub(super) const PROBE_TIMER: u8 = 4;
/// Rates are measured, and a pacing rate is rounded.
const NEARLY: f64 = 0.95;
/// No `SO_MAX_PACING_RATE`.
const UNPACED: u64 = u64::MAX;
/// BBR tries to send faster in one of eight round trips.
const MET: f64 = 0.05;
/// A full path leaves a sender no pause; what looks like one on a busy host is shorter.
const PAUSES: f64 = 0.25;
/// A second finding costs at least this share of the time.
const WORTH_SAYING: f64 = 0.1;
/// Published as good for all.
pub(super) const NOTSENT_LOWAT: u64 = 131_072;
/// What people begin to feel.
const UNSENT_LEAST_S: f64 = 0.1;
