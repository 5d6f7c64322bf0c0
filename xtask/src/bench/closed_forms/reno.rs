//! Reno in virtual time through the link engine, and the formula of Mathis et al. for its throughput.

use std::{cmp::Reverse, collections::BinaryHeap, thread, time::Duration};

use link::{Arrival, Config, Ecn, Link, Packet, Verdict};

use super::{Reference, row, shapes::count};
use crate::bench::{
    iperf,
    lab::{self, Planet},
};

pub(super) struct Outcome {
    /// Payload bits per second.
    pub goodput: f64,
    pub wait_ms: f64,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Flow {
    pub back: Duration,
    pub seconds: u32,
}

/// The window grows by one segment per round trip and is halved at most once per round trip with a
/// loss.
pub(super) fn run(config: Config, flow: Flow) -> Outcome {
    let wire = config.rate.mean().map_or(Duration::ZERO, |rate| rate.time_for(1538));
    let shortest = config.propagation + wire;
    let mut sender = Sender { link: Link::new(config, 1), back: flow.back, shortest, ..Sender::new() };
    let end = Duration::from_secs(flow.seconds.into());
    sender.measure_from = end / 4;
    let mut now = Duration::ZERO;
    while now < end {
        sender.send(now);
        let ack = sender.acks.peek().map(|Reverse((at, _))| *at);
        let Some(next) = [ack, sender.link.next_timeout()].into_iter().flatten().min() else {
            // All packets in flight were lost: the retransmission timeout restarts with one segment.
            sender.time_out();
            now += Duration::from_secs(1);
            continue;
        };
        now = now.max(next);
        if ack == Some(next) {
            sender.take_ack();
        } else {
            sender.advance(now);
        }
    }
    Outcome {
        goodput: count(sender.delivered) * 1448.0 * 8.0 / end.as_secs_f64(),
        wait_ms: sender.waited.as_secs_f64() * 1e3 / count(sender.measured),
    }
}

type Tag = (u64, Duration);

struct Sender {
    link: Link<Tag>,
    back: Duration,
    shortest: Duration,
    measure_from: Duration,
    acks: BinaryHeap<Reverse<(Duration, u64)>>,
    window: f64,
    threshold: f64,
    /// `next`: the next sequence number. `acknowledged`: the last acknowledged number plus one. `recovered`:
    /// the first number after the round trip of the last loss.
    next: u64,
    acknowledged: u64,
    recovered: u64,
    delivered: usize,
    waited: Duration,
    measured: usize,
}

impl Sender {
    fn new() -> Self {
        Self {
            link: Link::new(Config::default(), 1),
            back: Duration::ZERO,
            shortest: Duration::ZERO,
            measure_from: Duration::ZERO,
            acks: BinaryHeap::new(),
            window: 10.0,
            threshold: f64::INFINITY,
            next: 0,
            acknowledged: 0,
            recovered: 0,
            delivered: 0,
            waited: Duration::ZERO,
            measured: 0,
        }
    }

    fn send(&mut self, now: Duration) {
        while count(usize::try_from(self.next - self.acknowledged).unwrap_or(usize::MAX)) + 1.0 <= self.window
        {
            let packet = Packet::segmented(52, 1448, 1448);
            let arrival = Arrival { packet, flow: 0, ecn: Ecn::NotCapable, tag: (self.next, now) };
            self.next += 1;
            self.tell(now, Some(arrival));
        }
    }

    fn advance(&mut self, now: Duration) {
        self.tell(now, None);
    }

    fn tell(&mut self, now: Duration, arrival: Option<Arrival<Tag>>) {
        let Self { link, acks, delivered, waited, measured, .. } = self;
        let (back, shortest, from) = (self.back, self.shortest, self.measure_from);
        let mut each = |(number, sent): &Tag, verdict: Verdict| {
            if let Verdict::Deliver { due, .. } = verdict {
                acks.push(Reverse((due + back, *number)));
                *delivered += 1;
                if *sent >= from {
                    *waited += due.saturating_sub(*sent + shortest);
                    *measured += 1;
                }
            }
        };
        match arrival {
            Some(arrival) => link.offer(now, arrival, &mut each),
            None => link.advance(now, &mut each),
        }
    }

    /// The link preserves order, so a gap in the numbers is a loss.
    fn take_ack(&mut self) {
        let Some(Reverse((_, number))) = self.acks.pop() else { return };
        let is_loss = number > self.acknowledged;
        self.acknowledged = number + 1;
        if is_loss && number >= self.recovered {
            self.threshold = (self.window / 2.0).max(2.0);
            self.window = self.threshold;
            self.recovered = self.next;
        } else if number >= self.recovered {
            self.window += if self.window < self.threshold { 1.0 } else { 1.0 / self.window };
        }
    }

    fn time_out(&mut self) {
        self.threshold = (self.window / 2.0).max(2.0);
        self.window = 1.0;
        self.acknowledged = self.next;
        self.recovered = self.next;
    }
}

/// Mathis, Semke, Mahdavi and Ott (1997): one loss per 1 / p segments yields a sawtooth with a mean
/// of sqrt(3 / 2 p) segments per round trip.
pub(super) fn mathis() -> anyhow::Result<()> {
    let expected = 1448.0 * 8.0 / 0.1 * (3.0_f64 / 2.0 / 0.001).sqrt();
    let config = Config {
        loss: "0.1%".parse()?,
        propagation: Duration::from_millis(50),
        overhead: 38,
        ..Config::default()
    };
    let engine = run(config, Flow { back: Duration::from_millis(50), seconds: 1500 }).goodput;

    let planet =
        Planet::up("forms", &lab::pairs("", vec!["rtt = \"100ms\"\nloss = \"0.1%\"".to_owned(); PAIRS]))?;
    let goodputs: Vec<f64> = thread::scope(|scope| {
        let flow = |pair: usize| {
            let (server, client) = (format!("s{pair}"), format!("c{pair}"));
            let arguments = ["-C", "reno", "-l", "1448", "-t", "93"];
            iperf::run(&|| planet.exec(&server), &|| planet.exec(&client), &server, &arguments)?.steady(2, 90)
        };
        let running: Vec<_> = (0..PAIRS).map(|pair| scope.spawn(move || flow(pair))).collect();
        running.into_iter().map(|each| each.join().expect("no panic")).collect::<anyhow::Result<_>>()
    })?;
    let planet = goodputs.iter().sum::<f64>() / count(PAIRS);
    row(
        &format!("Reno, 100 ms, p = 0.1 %: mean of {PAIRS} flows of 90 s"),
        &format!("{:.3} Mbit/s = MSS / RTT * sqrt(3 / 2 p)", expected / 1e6),
        [engine / 1e6, planet / 1e6],
        "Mbit/s",
        &Reference::Exactly(expected / 1e6),
    );
    Ok(())
}

const PAIRS: usize = 8;
