//! The ways in which a connection is made slow, and what is to be said of it at both ends.
//!
//! Unless something else is said, a path carries 20 Mbit/s with a round trip of 100 ms: 250 KB are under way.

/// A transfer that is slow in one way, or the neighbour that is not.
pub(super) struct Way {
    /// What its hosts are called by.
    pub name: &'static str,
    /// Keys of its link.
    pub path: &'static str,
    /// Kernel settings of the sender.
    pub sender: &'static str,
    /// Kernel settings of the receiver.
    pub receiver: &'static str,
    /// Options of the program that sends.
    pub sends: &'static str,
    /// Options of the program that reads.
    pub reads: &'static str,
    /// How many bytes move before anybody looks.
    pub warm: u32,
    /// Options of `longhaul tcp explain`.
    pub look: &'static [&'static str],
    /// The limit at the sender, and the first kinds that are found.
    pub at_sender: (&'static str, &'static [&'static str]),
    /// The same at the receiver.
    pub at_receiver: (&'static str, &'static [&'static str]),
    /// Kinds that must not be found at either end.
    pub never: &'static [&'static str],
}

const PLAIN: &str = "rtt = \"100ms\"\nrate = \"20Mbit\"";

const LOSSY: &str = "rtt = \"100ms\"\nrate = \"20Mbit\"\nloss = \"2%\"";
const DEEP: &str = "rtt = \"50ms\"\nrate = \"20Mbit\"\nqueue = \"400ms\"";
const NO_LEARNING: &str = "\"net.ipv4.tcp_recovery\" = \"3\", \"net.ipv4.tcp_max_reordering\" = \"3\", \
                           \"net.ipv4.tcp_timestamps\" = \"0\"";

/// A transfer that nothing slows down but its path. BBR fills it, and knows that it has.
const FREE: Way = Way {
    name: "free",
    path: PLAIN,
    sender: "",
    receiver: "",
    sends: "control=bbr",
    reads: "",
    // More than a second at the rate of the path: the start is over.
    warm: 3_000_000,
    look: &[],
    at_sender: ("path", &["path_rate"]),
    // Of what limits the sender there is nothing to be found at the receiver.
    at_receiver: ("other_end", &["other_end"]),
    never: &[],
};

const SMALL_WINDOW: (&str, &[&str]) = ("receiver_window", &["small_window"]);

pub(super) const WAYS: [Way; 29] = [
    // 64 KiB asked for are 128 KiB of buffer, and two thirds of that are window: 7 Mbit/s.
    Way {
        name: "rcvbuf",
        reads: "rcvbuf=65536",
        warm: 500_000,
        at_sender: SMALL_WINDOW,
        at_receiver: ("receiver_window", &["fixed_receive_buffer"]),
        ..FREE
    },
    // A buffer that is fixed and large enough is not a cause.
    Way { name: "rcvbuf-enough", reads: "rcvbuf=2000000", never: &["fixed_receive_buffer"], ..FREE },
    // A receive buffer of 200 KB is a window of 133 KB: 10 Mbit/s. The scale is one that guides recommend, and does nothing.
    Way {
        name: "rmem",
        receiver: "\"net.ipv4.tcp_rmem\" = \"4096 131072 200000\", \"net.ipv4.tcp_adv_win_scale\" = \"-2\"",
        warm: 500_000,
        at_sender: SMALL_WINDOW,
        at_receiver: ("receiver_window", &["setting_below_default", "setting_ignored"]),
        ..FREE
    },
    // Both settings are as wrong here, and limit nothing: 16 MiB are more than the path takes.
    Way {
        name: "rmem-enough",
        receiver: "\"net.ipv4.tcp_rmem\" = \"4096 131072 16777216\", \"net.ipv4.tcp_adv_win_scale\" = \"-2\"",
        never: &["setting_below_default", "setting_ignored"],
        ..FREE
    },
    // The buffer stays at the 128 KiB that it starts with.
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
    // Reno fills the queue, and so would not be the first to slow down.
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
    // It pauses as often, but reads twice as fast as the path brings.
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
    // 128 KiB with the kernel's share are less than half of what is under way.
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
    // 40 Mbit/s, of which the path carries half.
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
    // The same loss, and a congestion control that does not mind it.
    Way { name: "loss-bbr", path: LOSSY, never: &["loss"], ..FREE },
    // Reno without loss but where the path is full: a queue of eight round trips is never empty after it was full once, as
    // half of the window still fills the path. What is unsent waits for longer than it takes to go there and back.
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
    // A queue of 5 ms: a packet is lost where it is longer for a while, and CUBIC gives way. Between two losses it fills the path.
    // From one to the next takes K = cbrt(0.3 W / 0.4) = 3.7 s (RFC 9438) with the W = 69 segments that fill 20 Mbit/s x 40 ms, and
    // in the first of these seconds nothing waits: what is looked at must be longer.
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
    // The same discipline, and packets are lost by chance long before there is a queue.
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
    // Packets overtake each other by up to 40 ms, and the sender waits for a quarter of the least round trip only, 15 ms, does
    // not learn from it, and cannot tell a late packet by its time stamp. There is no queue in which any could be lost.
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
    // The delay varies as much, and the order stays.
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
    // A round trip of 600 ms: in the second after the first data the window doubles twice or so. 1.5 MB fill the path.
    Way {
        name: "start",
        path: "rtt = \"600ms\"\nrate = \"20Mbit\"",
        sends: "control=reno",
        warm: 1,
        at_sender: ("initial_window", &["slow_start"]),
        ..FREE
    },
    // 400 KB are sent in less than a second, so that a second passes without: longer than a retransmission timeout.
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
