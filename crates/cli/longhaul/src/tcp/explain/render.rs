//! The text output of `longhaul tcp explain`.

use std::{collections::HashMap, fmt::Write};

use anstyle::Style;
use tcp::{
    diag::State,
    explain::{Explanation, Kind, Limit, Role, Shares},
};
use units::show::{rate, share, time};

use crate::output::{BOLD, CYAN, DIM, GREEN, PLAIN, RED, YELLOW, paint};
use crate::tcp::finding;

pub(super) fn all(all: &[Explanation], ended: u64, most: usize) -> String {
    let mut text = String::new();
    let (idle, busy): (Vec<_>, Vec<_>) = all.iter().partition(|each| each.limit == Limit::Idle);
    let chosen = together(if busy.is_empty() { idle } else { busy });
    let shown: Vec<_> = chosen.iter().take(most).collect();
    for (each, alike) in &shown {
        one(&mut text, each);
        if *alike > 1 {
            let _ = writeln!(text, "  and {} more like it", alike - 1);
        }
    }
    let more = all.len() - shown.iter().map(|(_, alike)| alike).sum::<usize>();
    if more > 0 {
        let what = if chosen.len() <= most { "idle" } else { "of which fewer bytes moved, or none" };
        let _ = writeln!(text, "and {more} more, {what}");
    }
    match (all.is_empty(), ended) {
        (true, 0) => text.push_str("no TCP connection here\n"),
        (true, _) => {
            let _ = writeln!(text, "no open TCP connection here; {}", waiting(ended));
        }
        (false, _) => {}
    }
    let hidden = all.iter().filter(|each| is_hidden(each)).count();
    if hidden > 0 {
        let connections = if hidden == 1 { "connection" } else { "connections" };
        let _ = writeln!(
            text,
            "{}: the processes of {hidden} {connections} are not visible, nor what they chose: run it as root, or as \
             their user",
            paint("note", DIM)
        );
    }
    for missing in all.first().map_or(&[][..], |each| &each.missing) {
        let _ = writeln!(text, "{}: {missing}", paint("note", DIM));
    }
    text
}

/// Counts connections that wait for the same program.
fn together(all: Vec<&Explanation>) -> Vec<(&Explanation, usize)> {
    let mut kept: Vec<(&Explanation, usize)> = Vec::with_capacity(all.len());
    let mut places = HashMap::new();
    for each in all {
        let at = match each.finding.kind {
            Kind::CloseWait => "",
            Kind::NotAccepted => each.local.as_str(),
            Kind::PeerDoesNotAccept => each.remote.as_str(),
            _ => {
                kept.push((each, 1));
                continue;
            }
        };
        let place = *places.entry((each.limit == Limit::PeerClosed, each.pid, at)).or_insert(kept.len());
        match kept.get_mut(place) {
            Some((_, alike)) => *alike += 1,
            None => kept.push((each, 1)),
        }
    }
    kept
}

/// A connection that this end has closed, or that was not accepted yet, has no process.
fn is_hidden(each: &Explanation) -> bool {
    let is_open = matches!(each.state, Some(State::Established | State::CloseWait | State::SynSent));
    is_open && each.pid.is_none() && each.finding.kind != Kind::NotAccepted
}

fn one(text: &mut String, each: &Explanation) {
    let _ = writeln!(text, "{}", paint(&format!("{} to {}", each.local, each.remote), BOLD));
    let figures = figures(each);
    if !figures.is_empty() {
        let _ = writeln!(text, "  {figures}");
    }
    let part = each.limit_share.filter(|part| *part < 0.995);
    let of_time = part.map(|part| format!(" ({} of the time)", share(part))).unwrap_or_default();
    let sentence = &each.finding.sentence;
    let _ = writeln!(text, "  {}{of_time}: {sentence}", paint(name(each.limit), style(each.limit)));
    if let Some(shares) = &each.shares {
        let _ = writeln!(text, "  {}", bar(shares));
    }
    finding::details(text, &each.finding);
    for also in &each.also {
        let _ = writeln!(text, "  {}: {}", paint("also", YELLOW), also.sentence);
        finding::details(text, also);
    }
}

fn figures(each: &Explanation) -> String {
    let mut figures = Vec::new();
    if let (Some(process), Some(pid)) = (&each.process, each.pid) {
        figures.push(format!("{process} ({pid})"));
    }
    let direction = match each.role {
        Some(Role::Sender) => Some("sends"),
        Some(Role::Receiver) => Some("receives"),
        Some(Role::Neither) | None => None,
    };
    if let Some(direction) = direction {
        figures.push(format!("{direction} {}", rate(each.rate_mbps * 1e6)));
    }
    if let Some(rtt) = each.rtt_ms {
        let min = each.min_rtt_ms.map(|min| format!(" (min {})", time(min / 1e3))).unwrap_or_default();
        figures.push(format!("round trip {}{min}", time(rtt / 1e3)));
    }
    figures.extend(each.congestion.clone());
    if each.is_subflow {
        figures.push("subflow of MPTCP".to_owned());
    }
    if each.has_closed {
        figures.push("closed meanwhile".to_owned());
    }
    figures.join("  ")
}

fn bar(shares: &Shares) -> String {
    let mut bar = String::new();
    let mut words = Vec::new();
    let (mut sum, mut drawn) = (0.0, 0_u8);
    for ((name, part), (sign, style)) in shares.named().into_iter().zip(SIGNS) {
        sum += part;
        // Rounds the ends, not the lengths: the bar always has the same length.
        let length =
            (drawn..WIDTH).take_while(|cell| f64::from(*cell) + 0.5 <= sum * f64::from(WIDTH)).count();
        drawn += u8::try_from(length).unwrap_or(WIDTH);
        bar += &paint(&sign.repeat(length), style);
        if part >= 0.005 {
            words.push(format!("{} {name} {}", paint(sign, style), share(part)));
        }
    }
    format!("{bar}  {}", words.join("  "))
}

pub(super) fn waiting(ended: u64) -> String {
    match ended {
        1 => "1 has ended and keeps its port for a minute (TIME_WAIT)".to_owned(),
        _ => format!("{ended} have ended, and each keeps its port for a minute (TIME_WAIT)"),
    }
}

fn name(limit: Limit) -> &'static str {
    match limit {
        Limit::ReceiverWindow => "receiver window",
        Limit::ReceiverApplication => "receiver application",
        Limit::SenderApplication => "sender application",
        Limit::SendBuffer => "send buffer",
        Limit::CongestionWindow => "congestion window",
        Limit::Pacing => "pacing",
        Limit::Loss => "loss",
        Limit::Reordering => "reordering",
        Limit::InitialWindow => "initial window",
        Limit::Path => "path",
        Limit::OtherEnd => "other end",
        Limit::Nagle => "Nagle's algorithm",
        Limit::AcceptQueue => "accept queue",
        Limit::PeerClosed => "closed by the peer",
        Limit::SourcePorts => "source ports",
        Limit::Idle => "idle",
    }
}

/// Red: a setting or the network. Yellow: a program or the congestion window. Green: the path.
fn style(limit: Limit) -> Style {
    match limit {
        Limit::Path => GREEN,
        Limit::OtherEnd | Limit::Idle => PLAIN,
        Limit::SenderApplication
        | Limit::ReceiverApplication
        | Limit::PeerClosed
        | Limit::InitialWindow
        | Limit::CongestionWindow => YELLOW,
        Limit::ReceiverWindow
        | Limit::SendBuffer
        | Limit::Pacing
        | Limit::Nagle
        | Limit::AcceptQueue
        | Limit::Loss
        | Limit::Reordering
        | Limit::SourcePorts => RED,
    }
}

/// Distinguishable without colour.
const SIGNS: [(&str, Style); 8] =
    [("·", DIM), ("▚", RED), ("█", GREEN), ("▒", CYAN), ("╳", RED), ("▓", RED), ("▞", YELLOW), ("░", PLAIN)];

const WIDTH: u8 = 40;
