//! The bottlenecks of the test connections, and the expected explanations at both ends.
//!
//! By default, a path has 20 Mbit/s and a round trip of 100 ms: 250 KB are in flight.

pub(super) struct Way {
    pub name: &'static str,
    pub path: &'static str,
    pub sender: &'static str,
    pub receiver: &'static str,
    pub sends: &'static str,
    pub reads: &'static str,
    pub warm: u32,
    pub look: &'static [&'static str],
    /// The expected limit at the sender, and the first kinds of findings.
    pub at_sender: (&'static str, &'static [&'static str]),
    pub at_receiver: (&'static str, &'static [&'static str]),
    /// At either end.
    pub never: &'static [&'static str],
}

const PLAIN: &str = "rtt = \"100ms\"\nrate = \"20Mbit\"";

const LOSSY: &str = "rtt = \"100ms\"\nrate = \"20Mbit\"\nloss = \"2%\"";
const DEEP: &str = "rtt = \"50ms\"\nrate = \"20Mbit\"\nqueue = \"400ms\"";
const NO_LEARNING: &str = "\"net.ipv4.tcp_recovery\" = \"3\", \"net.ipv4.tcp_max_reordering\" = \"3\", \
                           \"net.ipv4.tcp_timestamps\" = \"0\"";

/// Only the path limits the transfer. BBR fills the path and reports that.
const FREE: Way = Way {
    name: "free",
    path: PLAIN,
    sender: "",
    receiver: "",
    sends: "control=bbr",
    reads: "",
    // More than a second at the rate of the path: slow start has ended.
    warm: 3_000_000,
    look: &[],
    at_sender: ("path", &["path_rate"]),
    at_receiver: ("other_end", &["other_end"]),
    never: &[],
};

const SMALL_WINDOW: (&str, &[&str]) = ("receiver_window", &["small_window"]);

pub(super) const WAYS: [Way; 29] = [
    // SO_RCVBUF of 64 KiB gives 128 KiB of buffer, two thirds of which are window: 7 Mbit/s.
    Way {
        name: "rcvbuf",
        reads: "rcvbuf=65536",
        warm: 500_000,
        at_sender: SMALL_WINDOW,
        at_receiver: ("receiver_window", &["fixed_receive_buffer"]),
        ..FREE
    },
    Way { name: "rcvbuf-enough", reads: "rcvbuf=2000000", never: &["fixed_receive_buffer"], ..FREE },
    // 200 KB of buffer are a window of 133 KB: 10 Mbit/s. This scale has no effect.
    Way {
        name: "rmem",
        receiver: "\"net.ipv4.tcp_rmem\" = \"4096 131072 200000\", \"net.ipv4.tcp_adv_win_scale\" = \"-2\"",
        warm: 500_000,
        at_sender: SMALL_WINDOW,
        at_receiver: ("receiver_window", &["setting_below_default", "setting_ignored"]),
        ..FREE
    },
    Way {
        name: "rmem-enough",
        receiver: "\"net.ipv4.tcp_rmem\" = \"4096 131072 16777216\", \"net.ipv4.tcp_adv_win_scale\" = \"-2\"",
        never: &["setting_below_default", "setting_ignored"],
        ..FREE
    },
    Way {
        name: "autotuning",
        receiver: "\"net.ipv4.tcp_moderate_rcvbuf\" = \"0\"",
        warm: 500_000,
        at_sender: SMALL_WINDOW,
        at_receiver: ("receiver_window", &["receive_buffer_does_not_grow"]),
        ..FREE
    },
    // 64 KiB in 100 ms are 5 Mbit/s.
    Way {
        name: "scaling",
        receiver: "\"net.ipv4.tcp_window_scaling\" = \"0\"",
        warm: 500_000,
        at_sender: ("receiver_window", &["window_scaling_off"]),
        at_receiver: ("receiver_window", &["window_scaling_off"]),
        ..FREE
    },
    // Without scaling, 64 KiB in 10 ms are 52 Mbit/s: enough.
    Way {
        name: "scaling-near",
        path: "rtt = \"10ms\"\nrate = \"20Mbit\"",
        receiver: "\"net.ipv4.tcp_window_scaling\" = \"0\"",
        never: &["window_scaling_off"],
        ..FREE
    },
    // Reno fills the queue, so it is not the first to slow down.
    Way {
        name: "reader",
        path: DEEP,
        sends: "control=reno",
        reads: "rate=4",
        warm: 1_000_000,
        at_sender: ("receiver_application", &["peer_reads_slowly"]),
        at_receiver: ("receiver_application", &["reads_slowly"]),
        ..FREE
    },
    Way {
        name: "reader-fast",
        path: DEEP,
        sends: "control=reno",
        reads: "rate=40",
        never: &["reads_slowly", "peer_reads_slowly"],
        ..FREE
    },
    Way {
        name: "writer",
        sends: "control=bbr rate=2",
        warm: 500_000,
        at_sender: ("sender_application", &["sender_idle"]),
        ..FREE
    },
    Way { name: "writer-fast", sends: "control=bbr rate=40", never: &["sender_idle"], ..FREE },
    // 128 KiB with the kernel's overhead are less than half of the data in flight.
    Way {
        name: "sndbuf",
        sends: "control=bbr sndbuf=65536",
        warm: 1_000_000,
        at_sender: ("send_buffer", &["fixed_send_buffer"]),
        ..FREE
    },
    Way { name: "sndbuf-enough", sends: "control=bbr sndbuf=1000000", never: &["fixed_send_buffer"], ..FREE },
    Way {
        name: "wmem",
        sender: "\"net.ipv4.tcp_wmem\" = \"4096 16384 131072\"",
        warm: 1_000_000,
        at_sender: ("send_buffer", &["setting_below_default"]),
        ..FREE
    },
    Way {
        name: "wmem-enough",
        sender: "\"net.ipv4.tcp_wmem\" = \"4096 16384 2000000\"",
        never: &["setting_below_default"],
        ..FREE
    },
    // 1 MB/s is 8 Mbit/s.
    Way {
        name: "paced",
        sends: "control=bbr pacing=1000000",
        warm: 1_000_000,
        at_sender: ("pacing", &["paced"]),
        ..FREE
    },
    Way { name: "paced-enough", sends: "control=bbr pacing=5000000", never: &["paced"], ..FREE },
    // Reno gets 1448 bytes / 100 ms * sqrt(3/2) / sqrt(2 %) = 1 Mbit/s.
    Way {
        name: "loss",
        path: LOSSY,
        sends: "control=reno",
        warm: 500_000,
        look: &["--for", "3s"],
        at_sender: ("loss", &["loss"]),
        ..FREE
    },
    Way { name: "loss-bbr", path: LOSSY, never: &["loss"], ..FREE },
    // Once full, a queue of eight round trips never drains: half of the window still fills the
    // path.
    Way {
        name: "queue",
        path: DEEP,
        sends: "control=reno",
        at_sender: ("path", &["path_rate"]),
        never: &["loss"],
        ..FREE
    },
    Way { name: "unsent", at_sender: ("path", &["path_rate", "unsent_data"]), ..FREE },
    Way { name: "unsent-bounded", sends: "control=bbr notsent=131072", never: &["unsent_data"], ..FREE },
    // A queue of 5 ms: CoDel drops a packet when the queue is longer for a while, and CUBIC reduces its
    // window. Between two losses it fills the path. The time between losses is K = cbrt(0.3 W / 0.4) = 3.7 s
    // (RFC 9438) with W = 69 segments, which fill 20 Mbit/s x 40 ms. In the first of these seconds the queue
    // is empty, so the sampling must be longer.
    Way {
        name: "codel",
        path: "rtt = \"40ms\"\nrate = \"20Mbit\"\naqm = \"codel\"",
        sends: "control=cubic",
        warm: 8_000_000,
        look: &["--for", "5s"],
        at_sender: ("path", &["path_rate"]),
        never: &["loss", "slow_growth"],
        ..FREE
    },
    // The same discipline, with random losses long before a queue forms.
    Way {
        name: "chance",
        path: "rtt = \"100ms\"\nrate = \"20Mbit\"\nloss = \"2%\"\naqm = \"codel\"",
        sends: "control=cubic",
        warm: 500_000,
        look: &["--for", "3s"],
        at_sender: ("loss", &["loss"]),
        never: &["path_rate"],
        ..FREE
    },
    // Packets overtake each other by up to 40 ms; the sender waits only 15 ms, a quarter of the
    // minimum round trip.
    Way {
        name: "order",
        path: "rtt = \"100ms\"\njitter = \"20ms free\"",
        sender: NO_LEARNING,
        sends: "control=reno pacing=2500000",
        warm: 1_000_000,
        look: &["--for", "3s"],
        at_sender: ("reordering", &["reordering"]),
        ..FREE
    },
    Way {
        name: "order-kept",
        path: "rtt = \"100ms\"\njitter = \"20ms\"",
        sender: NO_LEARNING,
        sends: "control=reno pacing=2500000",
        look: &["--for", "3s"],
        at_sender: ("pacing", &["paced"]),
        never: &["reordering", "loss"],
        ..FREE
    },
    // With 600 ms, the window doubles about twice in a second. 1.5 MB fill the path.
    Way {
        name: "start",
        path: "rtt = \"600ms\"\nrate = \"20Mbit\"",
        sends: "control=reno",
        warm: 1,
        at_sender: ("initial_window", &["slow_start"]),
        ..FREE
    },
    // 400 KB in less than a second, then an idle second: longer than a retransmission timeout.
    Way {
        name: "pauses",
        sends: "control=reno burst=400000 every=2",
        warm: 800_000,
        look: &["--for", "5s"],
        at_sender: ("sender_application", &["sender_idle", "restart_after_idle"]),
        ..FREE
    },
    Way {
        name: "pauses-kept",
        sender: "\"net.ipv4.tcp_slow_start_after_idle\" = \"0\"",
        sends: "control=reno burst=400000 every=2",
        warm: 800_000,
        look: &["--for", "5s"],
        at_sender: ("sender_application", &["sender_idle"]),
        never: &["restart_after_idle"],
        ..FREE
    },
];
