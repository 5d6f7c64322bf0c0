//! Changes in Linux's TCP that matter for tuning, with the release that introduced them and the source.
//!
//! The releases are mainline's, and stable releases with a backport. Many guides recommend
//! `tcp_collapse_max_bytes`, which has no rule here: it was a patch outside the tree and is in no
//! mainline kernel.

use super::Version;

/// A behaviour since a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// The first release of mainline with it.
    pub since: Version,
    /// Earlier stable releases with a backport; later releases of the same series have it as well.
    pub stable: &'static [Version],
    /// The behaviour.
    pub what: &'static str,
    /// The commit of mainline.
    pub source: &'static str,
}

impl Rule {
    /// A connection starts with ten segments (RFC 6928), not three.
    pub const INITIAL_WINDOW: Self = Self {
        since: Version::new(2, 6).stable(39),
        stable: &[],
        what: "a connection starts with a congestion window of 10 segments",
        source: "442b9635c569 (\"tcp: Increase the initial congestion window to 10\")",
    };
    /// Previously 4 MiB and a scale of 2.
    pub const RECEIVE_6_MIB: Self = Self {
        since: Version::new(3, 4),
        stable: &[],
        what: "tcp_rmem ends at 6 MiB by default, and tcp_adv_win_scale is 1: half of a buffer is window",
        source: "b49960a05e32 (\"tcp: change tcp_adv_win_scale and tcp_rmem[2]\")",
    };
    /// `TCP_NOTSENT_LOWAT` and `tcp_notsent_lowat`.
    pub const NOTSENT_LOWAT: Self = Self {
        since: Version::new(3, 12),
        stable: &[],
        what: "tcp_notsent_lowat bounds what a sender queues before it is sent",
        source: "c9bee3b7fdec (\"tcp: TCP_NOTSENT_LOWAT socket option\")",
    };
    /// The reason why half of the ports are tried first.
    pub const EVEN_PORTS_FIRST: Self = Self {
        since: Version::new(4, 2),
        stable: &[],
        what: "connect() tries the even ports before the odd ones",
        source: "07f4c90062f8 (\"tcp/dccp: try to not exhaust ip_local_port_range in connect()\")",
    };
    /// `IP_BIND_ADDRESS_NO_PORT`.
    pub const BIND_ADDRESS_NO_PORT: Self = Self {
        since: Version::new(4, 2),
        stable: &[],
        what: "IP_BIND_ADDRESS_NO_PORT leaves the choice of a port to connect()",
        source: "90c337da1524 (\"inet: add IP_BIND_ADDRESS_NO_PORT to overcome bind(0) limitations\")",
    };
    /// 2, for loopback only; previously 0.
    pub const REUSE_ON_LOOPBACK: Self = Self {
        since: Version::new(4, 19),
        stable: &[],
        what: "tcp_tw_reuse is 2 by default: ports in TIME-WAIT are reused on loopback",
        source: "79e9fed46038 (\"net-tcp: extend tcp_tw_reuse sysctl to enable loopback only optimization\")",
    };
    /// Previously 87380 bytes.
    pub const RECEIVE_STARTS_AT_128_KIB: Self = Self {
        since: Version::new(4, 20),
        stable: &[],
        what: "receive buffers start at 128 KiB",
        source: "a337531b942b (\"tcp: up initial rmem to 128KB and SYN rwin to around 64KB\")",
    };
    /// `IP_LOCAL_PORT_RANGE`.
    pub const LOCAL_PORT_RANGE: Self = Self {
        since: Version::new(6, 3),
        stable: &[],
        what: "IP_LOCAL_PORT_RANGE gives a socket a range of ports of its own",
        source: "91d0b78c5177 (\"inet: Add IP_LOCAL_PORT_RANGE socket option\")",
    };
    /// `tcp_shrink_window`.
    pub const SHRINK_WINDOW: Self = Self {
        since: Version::new(6, 5),
        stable: &[],
        what: "tcp_shrink_window lets a receiver take back window that its buffer has no room for",
        source: "b650d953cd39 (\"tcp: enforce receive buffer memory limits by allowing the tcp window to shrink\")",
    };
    /// The sysctl still exists, and has no effect.
    pub const WIN_SCALE_IGNORED: Self = Self {
        since: Version::new(6, 6),
        stable: &[],
        what: "tcp_adv_win_scale does nothing: each socket measures which share of its buffer is payload",
        source: "dfa2f0483360 (\"tcp: get rid of sysctl_tcp_adv_win_scale\")",
    };
    /// It disables the order of [`Rule::EVEN_PORTS_FIRST`].
    pub const PORT_RANGE_WITHOUT_PARITY: Self = Self {
        since: Version::new(6, 8),
        stable: &[],
        what: "connect() of a socket with IP_LOCAL_PORT_RANGE tries even and odd ports alike",
        source: "207184853dbd (\"tcp/dccp: change source port selection at connect() time\")",
    };
    /// Previously 25 %.
    pub const HALF_IS_WINDOW_AT_FIRST: Self = Self {
        since: Version::new(6, 10),
        stable: &[Version::new(6, 6).stable(33), Version::new(6, 8).stable(12), Version::new(6, 9).stable(3)],
        what: "before the first data, a socket takes 50 % of its buffer for window",
        source: "697a6c8cec03 (\"tcp: increase the default TCP scaling ratio\")",
    };
    /// Previously such a socket kept the window of its initial guess.
    pub const FIXED_BUFFER_IS_MEASURED: Self = Self {
        since: Version::new(6, 11),
        stable: &[Version::new(6, 6).stable(45), Version::new(6, 10).stable(4)],
        what: "the window of a socket with SO_RCVBUF follows the measured share as well",
        source: "05f76b2d634e (\"tcp: Adjust clamping window for applications specifying SO_RCVBUF\")",
    };
    /// Previously 6 MiB.
    pub const RECEIVE_32_MIB: Self = Self {
        since: Version::new(6, 16),
        stable: &[],
        what: "tcp_rmem ends at 32 MiB by default",
        source: "572be9bf9d0d (\"tcp: increase tcp_rmem[2] to 32 MB\")",
    };
    /// Previously 1 MiB (since 5.0).
    pub const QUEUES_4_MIB_BELOW_TCP: Self = Self {
        since: Version::new(6, 16),
        stable: &[],
        what: "tcp_limit_output_bytes is 4 MiB by default",
        source: "9ea3bfa61b09 (\"tcp: increase tcp_limit_output_bytes default value to 4MB\")",
    };
    /// Previously 212992 bytes.
    pub const FIXED_BUFFERS_TO_4_MIB: Self = Self {
        since: Version::new(6, 18),
        stable: &[],
        what: "SO_RCVBUF and SO_SNDBUF are obeyed up to 4 MiB by default",
        source: "a6d4f25888b8 (\"net: set net.core.rmem_max and net.core.wmem_max to 4 MB\")",
    };

    /// All rules, oldest first.
    pub const ALL: [Self; 16] = [
        Self::INITIAL_WINDOW,
        Self::RECEIVE_6_MIB,
        Self::NOTSENT_LOWAT,
        Self::EVEN_PORTS_FIRST,
        Self::BIND_ADDRESS_NO_PORT,
        Self::REUSE_ON_LOOPBACK,
        Self::RECEIVE_STARTS_AT_128_KIB,
        Self::LOCAL_PORT_RANGE,
        Self::SHRINK_WINDOW,
        Self::WIN_SCALE_IGNORED,
        Self::PORT_RANGE_WITHOUT_PARITY,
        Self::HALF_IS_WINDOW_AT_FIRST,
        Self::FIXED_BUFFER_IS_MEASURED,
        Self::RECEIVE_32_MIB,
        Self::QUEUES_4_MIB_BELOW_TCP,
        Self::FIXED_BUFFERS_TO_4_MIB,
    ];

    /// Whether it applies to `kernel`.
    pub fn holds(&self, kernel: Version) -> bool {
        kernel >= self.since || self.stable.iter().any(|&from| kernel >= from && kernel.is_of_series(from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_a_release_on() {
        let rule = Rule::WIN_SCALE_IGNORED;
        let holds = ["5.15.0-91-generic", "6.5.13", "6.6.0-rc1", "6.18.44"]
            .map(|text| rule.holds(text.parse().unwrap()));
        assert_eq!(holds, [false, false, true, true]);
    }

    #[test]
    fn in_some_stable_series_before() {
        // 6.7 had reached its end before the backport to 6.6.33, 6.8.12 and 6.9.3.
        let rule = Rule::HALF_IS_WINDOW_AT_FIRST;
        for (text, expected) in [
            ("6.6.32", false),
            ("6.6.33", true),
            ("6.7.12", false),
            ("6.8.11", false),
            ("6.8.12", true),
            ("6.9.2", false),
            ("6.9.3", true),
            ("6.10", true),
        ] {
            assert_eq!(rule.holds(text.parse().unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn oldest_first_and_all_in_the_documentation() {
        assert!(Rule::ALL.is_sorted_by_key(|rule| rule.since));
        let page = include_str!("../../../../../docs/tcp-window.md");
        for Rule { since, stable, source, .. } in Rule::ALL {
            let releases: Vec<_> = [&[since], stable].concat().iter().map(ToString::to_string).collect();
            let (from, commit) = (format!("| {} |", releases.join(", ")), &source[..12]);
            assert!(
                page.lines().any(|row| row.starts_with(&from) && row.contains(commit)),
                "{from} {commit}"
            );
        }
    }
}
