//! The life of a packet inside a shard: read from a device, offered to its edges in turn, passed to
//! a host or to another shard, or answered by a router.

use std::{io, sync::Arc, time::Duration};

use claim::Service;
use link::{Arrival, Cause, Verdict};
use world::{CityId, Effect, Layout, LinkDown, PortId};

use super::{
    Shared,
    mailbox::Mailbox,
    pool::Pool,
    schedule::{Event, InFlight, Schedule},
};
use crate::{
    capture::Sighting,
    clock::{Clock, since_1970},
    fidelity::{
        Tally,
        flows::{Flows, Key},
    },
    frame::{Frame, Malformed, Treatment, icmp},
    host::Host,
    router::{
        Router,
        edge::Edge,
        edges::{EdgeId, Edges},
        path::{End, Source},
    },
    sys::tun::Tun,
    taps::Taps,
};

pub(super) struct Transit {
    number: usize,
    shards: usize,
    layout: Arc<Layout>,
    hosts: Arc<Vec<Host>>,
    router: Router,
    pub edges: Edges<InFlight>,
    schedule: Schedule,
    pool: Pool,
    pub tally: Tally,
    pub flows: Flows,
    mailboxes: Vec<Arc<Mailbox>>,
    outgoing: Vec<Vec<(Duration, InFlight)>>,
    incoming: Vec<(Duration, InFlight)>,
    whole: Vec<u8>,
    verdicts: Vec<(InFlight, Verdict)>,
    taps: Vec<Arc<Taps>>,
    answers: Allowance,
    clock: Clock,
}

impl Transit {
    pub(super) fn new(number: usize, shared: &Shared<'_>, pool: Pool) -> Self {
        let Shared { layout, hosts, mailboxes, clock, .. } = shared;
        Self {
            number,
            shards: mailboxes.len(),
            layout: Arc::clone(layout),
            hosts: Arc::clone(hosts),
            router: Router::new(Arc::clone(layout)),
            edges: Edges::new(Arc::clone(layout)),
            schedule: Schedule::default(),
            pool,
            tally: Tally::new(),
            flows: Flows::new(),
            mailboxes: mailboxes.to_vec(),
            outgoing: vec![Vec::new(); mailboxes.len()],
            incoming: Vec::new(),
            whole: Vec::new(),
            verdicts: Vec::new(),
            taps: Vec::new(),
            answers: Allowance::default(),
            clock: *clock,
        }
    }

    pub(super) fn is_mine(&self, city: CityId) -> bool {
        city % self.shards == self.number
    }

    pub(super) fn shards(&self) -> usize {
        self.shards
    }

    pub(super) fn tun(&self, port: PortId) -> &Tun {
        let port = &self.layout.ports[port];
        self.hosts[port.host].tun(port.number)
    }

    pub(super) fn next_due(&self) -> Option<Duration> {
        self.schedule.next_due()
    }

    pub(super) fn in_flight(&self) -> u64 {
        let moving: u64 = self.schedule.in_flight().map(bytes).sum();
        moving + self.edges.waiting_bytes()
    }

    pub(super) fn set_faults(&mut self, now: Duration, active: &[Effect]) {
        self.router.set_faults(now, active);
        for id in self.edges.apply(now, self.router.faults()) {
            self.decide(now, id);
        }
    }

    pub(super) fn watch(&mut self, taps: Arc<Taps>) {
        self.taps.push(taps);
    }

    pub(super) fn read(&mut self, port: PortId) -> io::Result<Option<usize>> {
        let (host, number) = (self.layout.ports[port].host, self.layout.ports[port].number);
        self.hosts[host].tun(number).read(self.pool.buffer())
    }

    pub(super) fn accept(
        &mut self,
        arrived: Duration,
        now: Duration,
        waited: Duration,
        from: PortId,
        length: usize,
    ) {
        // Other frames than IP, and packets to unknown addresses, do not enter the network.
        let frame = match Frame::parse(&self.pool.buffer()[..length]) {
            Ok(frame) => frame,
            Err(Malformed::Truncated) => return,
            Err(Malformed::Offload) => {
                self.tally.own_drops += 1;
                return;
            }
        };
        let Some(path) = self.router.path(now, Source::Port(from), frame.to, frame.ttl) else { return };
        let Some(held) = self.pool.hold(length, frame) else {
            self.tally.own_drops += 1;
            return;
        };
        let segments = 0..frame.packet.segments();
        let packet = InFlight { held, segments, path, hop: 0, treatment: Treatment::default(), waited };
        self.tally.bytes_in += bytes(&packet);
        self.watch_port(from, &packet);
        self.arrive(now, arrived, packet);
    }

    /// For at most `most`, so that the devices are polled again.
    pub(super) fn proceed(&mut self, clock: &Clock, most: Duration) -> io::Result<()> {
        self.take_mail();
        self.taps.retain(|tap| tap.is_watched());
        let mut began = None;
        loop {
            let now = clock.now();
            if now > began.get_or_insert(now).saturating_add(most) {
                break;
            }
            let Some((due, event)) = self.schedule.pop_due(now) else { break };
            match event {
                Event::Arrival(packet) => self.arrive(now, due, packet),
                Event::Decision(edge) => self.decide(due, edge),
            }
        }
        self.exchange()
    }

    /// Also makes optional decisions of edges, so that queue counters are current.
    pub(super) fn settle(&mut self, clock: &Clock) -> io::Result<()> {
        self.proceed(clock, Duration::MAX)?;
        let now = clock.now();
        for edge in self.edges.ids() {
            self.decide(now, edge);
        }
        self.exchange()
    }

    pub(super) fn take_mail(&mut self) {
        if self.shards > 1 {
            self.mailboxes[self.number].take(&mut self.incoming);
            for (due, packet) in self.incoming.drain(..) {
                self.schedule.push(due, Event::Arrival(packet));
            }
        }
    }

    pub(super) fn exchange(&mut self) -> io::Result<()> {
        if self.shards > 1 {
            for (mailbox, outgoing) in self.mailboxes.iter().zip(&mut self.outgoing) {
                mailbox.post(outgoing)?;
            }
        }
        Ok(())
    }

    fn arrive(&mut self, now: Duration, due: Duration, mut packet: InFlight) {
        let Some(hop) = packet.path.hops.get(packet.hop).copied() else {
            packet.treatment.hops = packet.treatment.hops.saturating_add(packet.path.routers);
            return self.end(due, packet);
        };
        packet.treatment.hops = packet.treatment.hops.saturating_add(hop.routers);
        let edge = self.edges.find(hop.edge, self.router.faults());
        self.watch_edge(hop.edge, &packet, None);
        let frame = &packet.held.frame;
        let arrival =
            Arrival { packet: frame.part(&packet.segments), flow: frame.flow, ecn: frame.ecn, tag: packet };
        let verdicts = &mut self.verdicts;
        self.edges.offer(edge, due, arrival, &mut |packet, verdict| verdicts.push((packet.clone(), verdict)));
        self.act(now, edge);
    }

    fn decide(&mut self, now: Duration, edge: EdgeId) {
        let verdicts = &mut self.verdicts;
        self.edges.advance(edge, now, &mut |packet, verdict| verdicts.push((packet.clone(), verdict)));
        self.act(now, edge);
    }

    fn act(&mut self, now: Duration, id: EdgeId) {
        let mut verdicts = std::mem::take(&mut self.verdicts);
        for (mut packet, verdict) in verdicts.drain(..) {
            let part = |segments: std::ops::Range<u32>| {
                packet.segments.start + segments.start..packet.segments.start + segments.end
            };
            match verdict {
                Verdict::Deliver { segments, due, treatment } => {
                    packet.segments = part(segments);
                    packet.treatment.mark |= treatment.mark;
                    packet.treatment.corrupt = packet.treatment.corrupt.or(treatment.corrupt);
                    let due = due + packet.path.hops[packet.hop].detour;
                    packet.hop += 1;
                    self.forward(due, packet);
                }
                Verdict::Drop { segments, cause } => {
                    packet.segments = part(segments);
                    self.tally.bytes_dropped += bytes(&packet);
                    self.watch_edge(self.edges.edge(id), &packet, Some(cause));
                    if cause == Cause::Loss && self.edges.down(id) == Some(LinkDown::Unreachable) {
                        self.refuse(now, id, &packet);
                    }
                    self.pool.release(packet.held);
                }
            }
        }
        self.verdicts = verdicts;
        if let Some(alarm) = self.edges.new_alarm(id) {
            self.schedule.push(alarm, Event::Decision(id));
        }
    }

    fn forward(&mut self, due: Duration, packet: InFlight) {
        let city = match packet.path.hops.get(packet.hop) {
            Some(hop) => hop.edge.city(&self.layout),
            None => packet.path.end.city(&self.layout),
        };
        let shard = city % self.shards;
        if shard == self.number {
            self.schedule.push(due, Event::Arrival(packet));
        } else {
            self.outgoing[shard].push((due, packet));
        }
    }

    fn end(&mut self, due: Duration, packet: InFlight) {
        match packet.path.end {
            End::Port(port) => return self.hand_over(due, port, packet),
            End::Router(city) => {
                // An inverted bit in a packet to a router means a wrong checksum.
                let is_intact = packet.treatment.corrupt.is_none();
                let reply = is_intact.then(|| icmp::echo_reply(packet.held.bytes())).flatten();
                self.answer(due, city, reply);
            }
            End::Expired(city) => {
                let router = self.router.router_address(city, packet.held.frame.from);
                self.answer(due, city, icmp::time_exceeded(router, packet.held.bytes()));
            }
            End::Unroutable(city) => self.unreachable(due, city, &packet, packet.treatment.hops),
            End::Blackhole(_) => {
                self.tally.bytes_dropped += bytes(&packet);
                return self.pool.release(packet.held);
            }
        }
        self.tally.bytes_out += bytes(&packet);
        self.pool.release(packet.held);
    }

    /// The host's network stack runs during the call.
    fn hand_over(&mut self, due: Duration, port: PortId, packet: InFlight) {
        self.watch_port(port, &packet);
        let (headers, payload) =
            packet.held.frame.slice(packet.held.bytes(), &packet.segments, packet.treatment);
        let written = if payload.len() > SHORT {
            self.tun(port).write(&headers, &payload)
        } else {
            self.whole.clear();
            self.whole.extend_from_slice(&headers);
            self.whole.extend_from_slice(&payload);
            self.tun(port).write_whole(&self.whole)
        };
        drop(payload);
        match written {
            Ok(()) => {
                self.tally.bytes_out += bytes(&packet);
                let now = self.clock.now();
                let late = now.saturating_sub(due) + packet.waited;
                self.tally.delivered(late, packet.path.allowance);
                if let Some((from, to)) = packet.path.hosts {
                    let frame = &packet.held.frame;
                    let service = Service { protocol: frame.protocol, port: frame.port };
                    self.flows.delivered(Key { from, to, service }, now, late);
                }
            }
            // The host has set its device down, and receives no packets, as on a real machine.
            Err(error) if error.raw_os_error() == Some(libc::EIO) => {
                self.tally.bytes_dropped += bytes(&packet);
            }
            // A device without a carrier accepts no frames, as the fault intends.
            Err(_) if self.router.faults().without_carrier().contains(&port) => {
                self.tally.bytes_dropped += bytes(&packet);
            }
            Err(_) => {
                self.tally.own_drops += 1;
                self.tally.bytes_lost += bytes(&packet);
            }
        }
        self.pool.release(packet.held);
    }

    fn refuse(&mut self, now: Duration, id: EdgeId, packet: &InFlight) {
        // The router before the edge has already been counted.
        let hops = packet.treatment.hops.saturating_sub(packet.path.hops[packet.hop].routers);
        match self.edges.edge(id) {
            Edge::Between(city, _) => self.unreachable(now, city, packet, hops),
            Edge::Down(port) => self.unreachable(now, self.layout.city_of(port), packet, hops),
            Edge::Up(_) => {}
        }
    }

    fn unreachable(&mut self, now: Duration, city: CityId, packet: &InFlight, hops: u8) {
        let router = self.router.router_address(city, packet.held.frame.from);
        let answer = icmp::unreachable(router, packet.held.bytes(), hops, icmp::Unreachable::Net);
        self.answer(now, city, answer);
    }

    fn answer(&mut self, now: Duration, city: CityId, frame: Option<Vec<u8>>) {
        let Some(bytes_of_frame) = frame.filter(|_| self.answers.take(now)) else { return };
        let Ok(frame) = Frame::parse(&bytes_of_frame) else { return };
        let Some(path) = self.router.path(now, Source::Router(city), frame.to, frame.ttl) else { return };
        let held = self.pool.own(bytes_of_frame, frame);
        let packet = InFlight {
            held,
            segments: 0..1,
            path,
            hop: 0,
            treatment: Treatment::default(),
            waited: Duration::ZERO,
        };
        self.tally.bytes_in += bytes(&packet);
        self.arrive(now, now, packet);
    }

    fn watch_port(&self, port: PortId, packet: &InFlight) {
        for tap in &self.taps {
            if let Some(interface) = tap.port(port) {
                tap.see(&sighting(interface, packet, None));
            }
        }
    }

    fn watch_edge(&self, edge: Edge, packet: &InFlight, dropped: Option<Cause>) {
        for tap in &self.taps {
            if let Some(interface) = tap.edge(edge) {
                tap.see(&sighting(interface, packet, dropped));
            }
        }
    }
}

fn sighting(interface: u32, packet: &InFlight, dropped: Option<Cause>) -> Sighting<'_> {
    Sighting {
        at: since_1970(),
        interface,
        frame: &packet.held.frame,
        bytes: packet.held.bytes(),
        segments: packet.segments.clone(),
        treatment: packet.treatment,
        comment: dropped.map(|cause| match cause {
            Cause::Queue => "dropped: queue",
            Cause::Aqm => "dropped: aqm",
            Cause::Loss => "dropped: loss",
        }),
    }
}

fn bytes(packet: &InFlight) -> u64 {
    let shape = packet.held.frame.packet;
    shape.link_bytes(packet.segments.end, 0) - shape.link_bytes(packet.segments.start, 0)
}

const SHORT: usize = 2048;

/// Real routers limit messages too (RFC 1812, section 4.3.2.8).
#[derive(Debug, Default)]
struct Allowance {
    full_at: Duration,
}

impl Allowance {
    fn take(&mut self, now: Duration) -> bool {
        let full_at = self.full_at.max(now) + ANSWER;
        let may = full_at - now <= ANSWER * ANSWERS;
        if may {
            self.full_at = full_at;
        }
        may
    }
}

const ANSWER: Duration = Duration::from_millis(1);
const ANSWERS: u32 = 1000;
