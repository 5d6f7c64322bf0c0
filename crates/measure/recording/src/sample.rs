//! One measured event, and the metrics that it defines.
//!
//! A phase that did not happen is absent, not 0. Timestamps count from `started_ns`; `started_ns`
//! and `intended_ns` count from the recording's start, on a monotonic clock.

use std::{borrow::Cow, collections::BTreeMap};

use serde::{Deserialize, Serialize};

use crate::unit::nanoseconds;

/// One measured event: a request, a ping, a connect.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sample {
    /// The scheduled start, since the recording's start. Absent in a closed loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intended_ns: Option<u64>,
    /// When it started, since the recording's start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_ns: Option<u64>,
    /// The only number of a recording without phases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_ns: Option<u64>,

    /// Phase: resolve start to addresses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dns_ns: Option<u64>,
    /// Phase: first SYN sent to connection established.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect_ns: Option<u64>,
    /// Phase: ClientHello to handshake finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_ns: Option<u64>,
    /// Phase: first datagram of QUIC to handshake finished, TLS included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quic_ns: Option<u64>,
    /// Phase: first request byte to last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_ns: Option<u64>,
    /// Phase: last request byte to the first byte of the final response's header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_ns: Option<u64>,
    /// Phase: first body byte to last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_ns: Option<u64>,
    /// Start to first byte, used only without `wait_ns`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttfb_ns: Option<u64>,
    /// Metrics as their source states them; they take precedence over the fields above.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub stated_ns: BTreeMap<Metric, u64>,

    /// Stamp: the first interim (1xx) response, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_interim_ns: Option<u64>,
    /// Stamp: the final response's header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_headers_ns: Option<u64>,
    /// Stamp: the first byte of the body. Absent when there is no body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_body_byte_ns: Option<u64>,
    /// Stamp: the last byte of the response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_byte_ns: Option<u64>,

    /// HTTP status of the final response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Bytes of body received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body_bytes: Option<u64>,
    /// Bytes of the connection from this machine for this request, with TLS and handshakes, without
    /// TCP, UDP and IP headers. Absent where other requests were on the connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wire_sent_bytes: Option<u64>,
    /// The same to this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wire_received_bytes: Option<u64>,
    /// Bytes of a server's connection for the response: header, body and framing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_out: Option<u64>,
    /// The cache status: "hit", "miss" and the like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<String>,
    /// The source of the response: a data centre, or "origin".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// The zone of a network's configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// The response's Server-Timing header, unparsed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_timing: Option<String>,
    /// Whether the connection had carried a request before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reused: Option<bool>,
    /// The address and port that the connection led to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
    /// The local address. Absent if no connection was opened for this request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local: Option<String>,
    /// Of that address: "ipv4" or "ipv6".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// Whether the connection uses another address than the first one tried (RFC 8305).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<bool>,
    /// Upper bound of the part of the event's time that an emulator may have caused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_error_ns: Option<u64>,
    /// Identifies the redirect chain that this request belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chain: Option<u64>,
    /// Identifies the page view that this request belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// Why the event failed. A failed event counts as an error and has no latency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Other attributes of the sample: city, network, protocol.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

impl Sample {
    /// The value of `metric` in nanoseconds; `None` if it was not measured or the event failed.
    pub fn get(&self, metric: Metric) -> Option<u64> {
        if self.error.is_some() {
            return None;
        }
        if let Some(&stated) = self.stated_ns.get(&metric) {
            return Some(stated);
        }
        match metric {
            Metric::Latency => self.latency_ns,
            Metric::Dns
            | Metric::Connect
            | Metric::Tls
            | Metric::Quic
            | Metric::Send
            | Metric::Wait
            | Metric::Load => self.phase(metric),
            Metric::FirstInterim => self.first_interim_ns,
            Metric::Ttfb => self.ttfb(self.dns_ns).or(self.ttfb_ns),
            Metric::TtfbWithoutDns => self.ttfb(None),
            Metric::Total => self.last_byte_ns,
            Metric::Response => {
                let late = self.started_ns?.checked_sub(self.intended_ns?)?;
                late.checked_add(self.last_byte_ns.or(self.latency_ns)?)
            }
        }
    }

    /// Sets the field of a metric. Returns `false` for a metric that is a sum of fields.
    pub fn set(&mut self, metric: Metric, nanoseconds: Option<u64>) -> bool {
        let field = match metric {
            Metric::Latency => &mut self.latency_ns,
            Metric::Dns => &mut self.dns_ns,
            Metric::Connect => &mut self.connect_ns,
            Metric::Tls => &mut self.tls_ns,
            Metric::Quic => &mut self.quic_ns,
            Metric::Send => &mut self.send_ns,
            Metric::Wait => &mut self.wait_ns,
            Metric::Load => &mut self.load_ns,
            Metric::FirstInterim => &mut self.first_interim_ns,
            Metric::Ttfb => &mut self.ttfb_ns,
            Metric::Total => &mut self.last_byte_ns,
            Metric::TtfbWithoutDns | Metric::Response => return false,
        };
        *field = nanoseconds;
        true
    }

    /// Sets the part of the event's time that an emulator may have caused, at most.
    pub fn set_own_error(&mut self, milliseconds: f64) {
        self.own_error_ns = Some(nanoseconds(milliseconds));
    }

    /// How long a phase took, also if the event failed afterwards.
    pub fn phase(&self, phase: Metric) -> Option<u64> {
        match phase {
            Metric::Dns => self.dns_ns,
            Metric::Connect => self.connect_ns,
            Metric::Tls => self.tls_ns,
            Metric::Quic => self.quic_ns,
            Metric::Send => self.send_ns,
            Metric::Wait => self.wait_ns,
            Metric::Load => self.load_ns,
            _ => None,
        }
    }

    /// Whether any phase was measured.
    pub fn has_phases(&self) -> bool {
        Metric::PHASES.into_iter().any(|phase| self.phase(phase).is_some())
    }

    /// The value of a label, ignoring case: one of `labels`, or `status`, `reused`, `remote`,
    /// `local`, `family`, `fallback`, `cache`, `tier`, `zone` or `error`.
    pub fn label(&self, name: &str) -> Option<Cow<'_, str>> {
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        if let Some((_, text)) = self.labels.iter().find(|(known, _)| is(known)) {
            return Some(text.as_str().into());
        }
        if is("status") {
            return self.status.map(|status| status.to_string().into());
        }
        if is("reused") {
            return self.reused.map(|reused| if reused { "reused" } else { "new" }.into());
        }
        if is("remote") {
            return self.remote.as_deref().map(Cow::from);
        }
        if is("local") {
            return self.local.as_deref().map(Cow::from);
        }
        if is("family") {
            return self.family.as_deref().map(Cow::from);
        }
        if is("fallback") {
            return self.fallback.map(|fallback| if fallback { "fallback" } else { "first" }.into());
        }
        for (known, text) in [("cache", &self.cache), ("tier", &self.tier), ("zone", &self.zone)] {
            if is(known) {
                return text.as_deref().map(Cow::from);
            }
        }
        if is("error") { self.error.as_deref().map(Cow::from) } else { None }
    }

    /// connect + tls + quic + send + wait, which must be there, and `dns` if it counts.
    ///
    /// A sender that was stopped between its write and the stamp after it has a long `send` and a
    /// short `wait`: only both together are never less than a round trip.
    fn ttfb(&self, dns: Option<u64>) -> Option<u64> {
        let wait = self.wait_ns?;
        let mut parts = [dns, self.connect_ns, self.tls_ns, self.quic_ns, self.send_ns].into_iter().flatten();
        let sum = parts.try_fold(wait, u64::checked_add)?;
        // The first byte arrived while the client was still sending.
        let early = self.final_headers_ns.filter(|_| wait == 0);
        Some(early.map_or(sum, |head| sum.min(head)))
    }
}

/// A metric of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// The single number of a recording without phases.
    Latency,
    /// Resolve start to addresses.
    Dns,
    /// First SYN to established.
    Connect,
    /// ClientHello to finished.
    Tls,
    /// First datagram to finished, TLS included.
    Quic,
    /// First request byte to last.
    Send,
    /// Last request byte to first byte of the final response's header.
    Wait,
    /// First body byte to last.
    Load,
    /// Start to the first interim response, a 103 or a 100.
    FirstInterim,
    /// dns + connect + tls + quic + send + wait.
    Ttfb,
    /// The same without dns, for fair comparisons of providers.
    TtfbWithoutDns,
    /// Start to last byte.
    Total,
    /// Intended start to last byte: the latency of a user in an open-loop schedule.
    Response,
}

impl Metric {
    /// Every metric, in the order in which a request meets them.
    pub const ALL: [Self; 13] = [
        Self::Latency,
        Self::Dns,
        Self::Connect,
        Self::Tls,
        Self::Quic,
        Self::Send,
        Self::Wait,
        Self::Load,
        Self::FirstInterim,
        Self::Ttfb,
        Self::TtfbWithoutDns,
        Self::Total,
        Self::Response,
    ];

    /// The phases of a request, in sequence.
    pub const PHASES: [Self; 7] =
        [Self::Dns, Self::Connect, Self::Tls, Self::Quic, Self::Send, Self::Wait, Self::Load];

    /// The default metric: the first of these that a sample has.
    pub const CANDIDATES: [Self; 3] = [Self::Latency, Self::Ttfb, Self::Total];

    /// Whether `phase` is a part of it.
    pub fn contains(self, phase: Self) -> bool {
        match self {
            Self::Latency | Self::Total | Self::Response => Self::PHASES.contains(&phase),
            Self::Ttfb => phase != Self::Load && Self::PHASES.contains(&phase),
            Self::TtfbWithoutDns => phase != Self::Dns && Self::Ttfb.contains(phase),
            _ => false,
        }
    }

    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Latency => "latency",
            Self::Dns => "dns",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Quic => "quic",
            Self::Send => "send",
            Self::Wait => "wait",
            Self::Load => "load",
            Self::FirstInterim => "first_interim",
            Self::Ttfb => "ttfb",
            Self::TtfbWithoutDns => "ttfb_without_dns",
            Self::Total => "total",
            Self::Response => "response",
        }
    }

    /// The metric of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.name() == name)
    }
}

impl std::fmt::Display for Metric {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ttfb_is_the_sum_of_the_phases_that_happened() {
        let fresh = Sample {
            dns_ns: Some(1),
            connect_ns: Some(20),
            tls_ns: Some(300),
            send_ns: Some(50_000),
            wait_ns: Some(4000),
            ..Sample::default()
        };
        assert_eq!(fresh.get(Metric::Ttfb), Some(54_321));
        assert_eq!(fresh.get(Metric::TtfbWithoutDns), Some(54_320));
        let reused = Sample { wait_ns: Some(4000), ..Sample::default() };
        assert_eq!(reused.get(Metric::Ttfb), Some(4000));
        assert_eq!(reused.get(Metric::Connect), None);
    }

    #[test]
    fn no_first_byte_comes_sooner_than_a_round_trip_after_the_request() {
        // The sender was stopped for 70 of the 100 ns between its write and the stamp after it.
        let stalled = Sample { send_ns: Some(70), wait_ns: Some(30), ..Sample::default() };
        assert_eq!(stalled.get(Metric::Ttfb), Some(100));
        assert_eq!(stalled.get(Metric::TtfbWithoutDns), Some(100));
        assert!(Metric::Ttfb.contains(Metric::Send) && Metric::TtfbWithoutDns.contains(Metric::Send));
        assert!(!Metric::Ttfb.contains(Metric::Load) && !Metric::TtfbWithoutDns.contains(Metric::Dns));
        let early =
            Sample { send_ns: Some(900), wait_ns: Some(0), final_headers_ns: Some(100), ..Sample::default() };
        assert_eq!(early.get(Metric::Ttfb), Some(100));
    }

    #[test]
    fn what_the_source_states_goes_before_the_sum() {
        let stated_ns = [(Metric::Ttfb, 70), (Metric::Response, 90)].into();
        let sample = Sample { wait_ns: Some(50), stated_ns, ..Sample::default() };
        assert_eq!((sample.get(Metric::Ttfb), sample.get(Metric::TtfbWithoutDns)), (Some(70), Some(50)));
        assert_eq!(sample.get(Metric::Response), Some(90));
        let text = serde_json::to_string(&sample).unwrap();
        assert_eq!(text, r#"{"wait_ns":50,"stated_ns":{"ttfb":70,"response":90}}"#);
        assert_eq!(serde_json::from_str::<Sample>(&text).unwrap(), sample);
    }

    #[test]
    fn a_failed_event_has_no_latency() {
        let failed = Sample { wait_ns: Some(5), error: Some("reset".to_owned()), ..Sample::default() };
        assert_eq!(failed.get(Metric::Wait), None);
    }

    #[test]
    fn where_a_connection_led_is_asked_for_like_a_label() {
        let sample = Sample {
            remote: Some("[::1]:80".to_owned()),
            family: Some("ipv6".to_owned()),
            fallback: Some(true),
            ..Sample::default()
        };
        let said = |name| sample.label(name).map(Cow::into_owned);
        assert_eq!(said("remote").as_deref(), Some("[::1]:80"));
        assert_eq!(said("Family").as_deref(), Some("ipv6"));
        assert_eq!(said("fallback").as_deref(), Some("fallback"));
        let first = Sample { fallback: Some(false), ..Sample::default() };
        assert_eq!(first.label("fallback").as_deref(), Some("first"));
        assert_eq!(Sample::default().label("fallback"), None);
    }

    #[test]
    fn response_time_counts_from_the_intended_start() {
        let late = Sample {
            intended_ns: Some(100),
            started_ns: Some(150),
            last_byte_ns: Some(7),
            ..Sample::default()
        };
        assert_eq!(late.get(Metric::Response), Some(57));
        assert_eq!(late.get(Metric::Total), Some(7));
    }

    #[test]
    fn names_are_unique_and_found_again() {
        for metric in Metric::ALL {
            assert_eq!(Metric::from_name(metric.name()), Some(metric));
        }
    }
}
