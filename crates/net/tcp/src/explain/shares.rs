//! The division of a connection's time, as shares that sum to 1.

use schemars::JsonSchema;
use serde::Serialize;

use super::Limit;

/// The division of a connection's time, as seen from this end. The sum is 1. For a sender, `send_buffer` and
/// the receiver's two shares are the kernel's own times; the rest of the time is divided by the samples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct Shares {
    /// The sending program had nothing to send.
    pub sender_application: f64,
    /// The send buffer was full (`sndbuf_limited` of `tcp_info`).
    pub send_buffer: f64,
    /// The congestion window: the network, as congestion control sees it.
    pub congestion_window: f64,
    /// The pacing rate that the sending program set.
    pub pacing: f64,
    /// A small segment waited for the acknowledgement of the one before it (Nagle's algorithm, RFC 896).
    pub nagle: f64,
    /// The receiver's window, because its buffer is small.
    pub receiver_window: f64,
    /// The receiver's window, because its program does not read.
    pub receiver_application: f64,
    /// For a receiver: nothing at this end, so the sender or the path.
    pub other_end: f64,
}

impl Shares {
    /// Each share with its name, in the order of the data path from one program to the other.
    pub fn named(&self) -> [(&'static str, f64); 8] {
        [
            ("sender application", self.sender_application),
            ("send buffer", self.send_buffer),
            ("congestion window", self.congestion_window),
            ("pacing", self.pacing),
            ("nagle", self.nagle),
            ("receiver window", self.receiver_window),
            ("receiver application", self.receiver_application),
            ("other end", self.other_end),
        ]
    }

    pub(super) fn largest(&self) -> Limit {
        let limits = [
            Limit::SenderApplication,
            Limit::SendBuffer,
            Limit::CongestionWindow,
            Limit::Pacing,
            Limit::Nagle,
            Limit::ReceiverWindow,
            Limit::ReceiverApplication,
            Limit::OtherEnd,
        ];
        let all = limits.into_iter().zip(self.named().map(|(_, share)| share));
        all.reduce(|best, next| if next.1 > best.1 { next } else { best })
            .map_or(Limit::Idle, |(limit, _)| limit)
    }

    pub(super) fn of(&self, limit: Limit) -> f64 {
        match limit {
            Limit::SenderApplication => self.sender_application,
            Limit::SendBuffer => self.send_buffer,
            Limit::CongestionWindow => self.congestion_window,
            Limit::Pacing => self.pacing,
            Limit::Nagle => self.nagle,
            Limit::ReceiverWindow => self.receiver_window,
            Limit::ReceiverApplication => self.receiver_application,
            Limit::OtherEnd => self.other_end,
            _ => 0.0,
        }
    }

    pub(super) fn normalised(self) -> Self {
        let sum: f64 = self.named().iter().map(|(_, share)| share).sum();
        if sum <= 0.0 {
            return self;
        }
        Self {
            sender_application: self.sender_application / sum,
            send_buffer: self.send_buffer / sum,
            congestion_window: self.congestion_window / sum,
            pacing: self.pacing / sum,
            nagle: self.nagle / sum,
            receiver_window: self.receiver_window / sum,
            receiver_application: self.receiver_application / sum,
            other_end: self.other_end / sum,
        }
    }
}
