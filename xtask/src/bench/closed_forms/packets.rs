//! Sender and receiver of numbered and timestamped UDP packets, run inside hosts.
//!
//! Both run on one machine and read the same clock, so one-way delays need no clock synchronisation.

use std::{
    fmt::Write as _,
    io,
    net::UdpSocket,
    process::Stdio,
    thread,
    time::{Duration, SystemTime},
};

use anyhow::{Context, bail};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::bench::lab::Planet;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    pub number: u64,
    pub sent: Duration,
    pub received: Duration,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Pace {
    Even,
    Poisson,
}

pub(super) fn exchange(
    planet: &Planet,
    [from, to]: [&str; 2],
    pace: Pace,
    payload: usize,
    per_second: u32,
    seconds: u32,
) -> anyhow::Result<Vec<Seen>> {
    let mut receiver = super::own(planet.exec(to), &["receive"])?.stdout(Stdio::piped()).spawn()?;
    let mut output = io::BufReader::new(receiver.stdout.take().context("no output")?);
    io::BufRead::read_line(&mut output, &mut String::new())?;
    let pace = match pace {
        Pace::Even => "even",
        Pace::Poisson => "poisson",
    };
    let (payload, rate, seconds) = (payload.to_string(), per_second.to_string(), seconds.to_string());
    let status = super::own(planet.exec(from), &["send", to, pace, &payload, &rate, &seconds])?.status()?;
    let text = io::read_to_string(output)?;
    if !status.success() || !receiver.wait()?.success() {
        bail!("sending from {from} to {to} failed");
    }
    text.lines().map(|line| parse(line).with_context(|| format!("the receiver said: {line}"))).collect()
}

fn parse(line: &str) -> Option<Seen> {
    let mut numbers = line.split(' ').map(str::parse);
    let mut next = || numbers.next()?.ok();
    Some(Seen {
        number: next()?,
        sent: Duration::from_nanos(next()?),
        received: Duration::from_nanos(next()?),
    })
}

pub(crate) fn command(arguments: &[&str]) -> anyhow::Result<()> {
    match arguments {
        ["receive"] => receive(),
        ["send", to, pace, payload, per_second, seconds] => {
            let pace = if *pace == "even" { Pace::Even } else { Pace::Poisson };
            send(to, pace, payload.parse()?, per_second.parse()?, seconds.parse()?)
        }
        _ => bail!("expected receive, or send TO even|poisson BYTES PER_SECOND SECONDS"),
    }
}

/// Sends on a fixed schedule, which small delays of the machine do not shift. A long stall shifts
/// it, because a burst that catches up would not be a Poisson process.
#[expect(clippy::disallowed_methods, reason = "a sender keeps a schedule")]
fn send(to: &str, pace: Pace, payload: usize, per_second: f64, seconds: f64) -> anyhow::Result<()> {
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    socket.connect((to, PORT))?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut packet = vec![0; payload.max(HEADER)];
    let (mut start, mut at, mut number) = (now(), 0.0, 0);
    while at < seconds {
        let due = start + Duration::from_secs_f64(at);
        thread::sleep(due.saturating_sub(now()));
        let late = now().saturating_sub(due);
        if late > STANDSTILL {
            start += late;
        }
        write(&mut packet, number, now());
        socket.send(&packet)?;
        number += 1;
        at += match pace {
            Pace::Even => 1.0 / per_second,
            // Time to the next event of a Poisson process: -ln u, for u uniform in (0, 1].
            Pace::Poisson => -uniform(&mut random).ln() / per_second,
        };
    }
    for _ in 0..100 {
        thread::sleep(Duration::from_millis(10));
        write(&mut packet[..HEADER], END, now());
        socket.send(&packet[..HEADER])?;
    }
    Ok(())
}

fn receive() -> anyhow::Result<()> {
    let socket = UdpSocket::bind(("0.0.0.0", PORT))?;
    println!("listening");
    let mut packet = [0; 2048];
    let mut text = String::new();
    loop {
        let length = socket.recv(&mut packet)?;
        let received = now();
        let number = |at: usize| packet.get(at..at + 8)?.try_into().ok().map(u64::from_be_bytes);
        let (Some(first), Some(sent), true) = (number(0), number(8), length >= HEADER) else { continue };
        if first == END {
            break;
        }
        let _ = writeln!(text, "{first} {sent} {}", received.as_nanos());
    }
    print!("{text}");
    Ok(())
}

fn write(packet: &mut [u8], number: u64, at: Duration) {
    let at = u64::try_from(at.as_nanos()).unwrap_or(u64::MAX);
    packet[..8].copy_from_slice(&number.to_be_bytes());
    packet[8..HEADER].copy_from_slice(&at.to_be_bytes());
}

/// The only clock that processes on one machine share and `std` can read.
#[expect(clippy::disallowed_methods, reason = "both ends need the same clock")]
fn now() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// Uniform in (0, 1], with 53 bits, the precision of an f64.
#[expect(clippy::cast_precision_loss, reason = "53 bits are exact in an f64")]
pub(super) fn uniform(random: &mut impl Rng) -> f64 {
    ((random.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

const STANDSTILL: Duration = Duration::from_millis(1);
const PORT: u16 = 4000;
const HEADER: usize = 16;
/// Sequence number that marks the end of the stream.
const END: u64 = u64::MAX;
