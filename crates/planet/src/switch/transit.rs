//! The life of a packet inside a shard: read from a device, offered to one wire after the other, handed to a host or to
//! another shard, or answered by a router.

use std::{io, sync::Arc, time::Duration};

use link::{Arrival, Cause, Verdict};
use world::{CityId, Effect, Layout, LinkDown, PortId};

use super::{
    mailbox::Mailbox,
    pool::Pool,
    schedule::{Cargo, Event, Schedule},
};
use crate::{
    capture::Sighting,
    clock::{Clock, since_1970},
    fidelity::Tally,
    host::Host,
    router::{
        Router,
        way::{End, Source},
        wire::Wire,
        wires::{WireId, Wires},
    },
    sys::tun::Tun,
    taps::Taps,
    wire::{Frame, Malformed, Treatment, icmp},
};

/// What a shard has under way, and all that it needs to move it on.
pub(super) struct Transit {
    number: usize,
    /// The shard of each city.
    shards: usize,
    layout: Arc<Layout>,
    hosts: Arc<Vec<Host>>,
    router: Router,
    pub wires: Wires<Cargo>,
    schedule: Schedule,
    pool: Pool,
    pub tally: Tally,
    mailboxes: Vec<Arc<Mailbox>>,
    outgoing: Vec<Vec<(Duration, Cargo)>>,
    incoming: Vec<(Duration, Cargo)>,
    /// What wires said and nobody has acted on yet.
    verdicts: Vec<(Cargo, Verdict)>,
    taps: Vec<Arc<Taps>>,
    answers: Allowance,
}

impl Transit {
    pub(super) fn new(
        number: usize,
        layout: &Arc<Layout>,
        hosts: &Arc<Vec<Host>>,
        mailboxes: &[Arc<Mailbox>],
        pool: Pool,
    ) -> Self {
        Self {
            number,
            shards: mailboxes.len(),
            layout: Arc::clone(layout),
            hosts: Arc::clone(hosts),
            router: Router::new(Arc::clone(layout)),
            wires: Wires::new(Arc::clone(layout)),
            schedule: Schedule::default(),
            pool,
            tally: Tally::new(),
            mailboxes: mailboxes.to_vec(),
            outgoing: vec![Vec::new(); mailboxes.len()],
            incoming: Vec::new(),
            verdicts: Vec::new(),
            taps: Vec::new(),
            answers: Allowance::default(),
        }
    }

    /// Whether a city is this shard's.
    pub(super) fn is_mine(&self, city: CityId) -> bool {
        city % self.shards == self.number
    }

    pub(super) fn tun(&self, port: PortId) -> &Tun {
        let port = &self.layout.ports[port];
        self.hosts[port.host].tun(port.number)
    }

    /// When something is to happen next.
    pub(super) fn next_due(&self) -> Option<Duration> {
        self.schedule.next_due()
    }

    /// Bytes of packets that are under way here.
    pub(super) fn in_flight(&self) -> u64 {
        let moving: u64 = self.schedule.cargo().map(bytes).sum();
        moving + self.wires.waiting_bytes()
    }

    /// These faults are active from now on, and no others.
    pub(super) fn set_faults(&mut self, now: Duration, active: &[Effect]) {
        self.router.set_faults(now, active);
        for id in self.wires.apply(now, self.router.faults()) {
            self.decide(now, id);
        }
    }

    /// Shows packets to somebody from now on.
    pub(super) fn watch(&mut self, taps: Arc<Taps>) {
        self.taps.push(taps);
    }

    /// Reads a frame from a device into the pool's buffer.
    pub(super) fn read(&mut self, port: PortId) -> io::Result<Option<usize>> {
        let (host, number) = (self.layout.ports[port].host, self.layout.ports[port].number);
        self.hosts[host].tun(number).read(self.pool.buffer())
    }

    /// Sends the frame in the pool's buffer on its way.
    pub(super) fn accept(&mut self, now: Duration, waited: Duration, from: PortId, length: usize) {
        // What is no IP packet, or for nobody (multicast, an address without a host), never was on a wire.
        let frame = match Frame::parse(&self.pool.buffer()[..length]) {
            Ok(frame) => frame,
            Err(Malformed::Truncated) => return,
            Err(Malformed::Offload) => {
                self.tally.own_drops += 1;
                return;
            }
        };
        let Some(way) = self.router.way(now, Source::Port(from), frame.to, frame.ttl) else { return };
        let Some(held) = self.pool.hold(length, frame) else {
            self.tally.own_drops += 1;
            return;
        };
        let segments = 0..frame.packet.segments();
        let cargo = Cargo { held, segments, way, hop: 0, treatment: Treatment::default(), waited };
        self.tally.bytes_in += bytes(&cargo);
        self.watch_port(from, &cargo);
        self.arrive(now, now, cargo);
    }

    /// Lets everything happen that is due.
    pub(super) fn proceed(&mut self, clock: &Clock) -> io::Result<()> {
        self.take_mail();
        self.taps.retain(|tap| tap.is_watched());
        loop {
            let now = clock.now();
            let Some((due, event)) = self.schedule.pop_due(now) else { break };
            match event {
                Event::Arrival(cargo) => self.arrive(now, due, cargo),
                Event::Decision(wire) => self.decide(due, wire),
            }
        }
        self.exchange()
    }

    /// Brings everything to the present, also what wires need not say yet, so that what waits is what waits now.
    pub(super) fn settle(&mut self, clock: &Clock) -> io::Result<()> {
        self.proceed(clock)?;
        let now = clock.now();
        for wire in self.wires.ids() {
            self.decide(now, wire);
        }
        self.exchange()
    }

    /// Takes what other shards have sent.
    pub(super) fn take_mail(&mut self) {
        if self.shards > 1 {
            self.mailboxes[self.number].take(&mut self.incoming);
            for (due, cargo) in self.incoming.drain(..) {
                self.schedule.push(due, Event::Arrival(cargo));
            }
        }
    }

    /// Sends other shards what is theirs.
    pub(super) fn exchange(&mut self) -> io::Result<()> {
        if self.shards > 1 {
            for (mailbox, outgoing) in self.mailboxes.iter().zip(&mut self.outgoing) {
                mailbox.post(outgoing)?;
            }
        }
        Ok(())
    }

    /// A packet has come to the end of a wire, at logical time `due`: it enters the next one, or is there.
    fn arrive(&mut self, now: Duration, due: Duration, mut cargo: Cargo) {
        let Some(hop) = cargo.way.hops.get(cargo.hop).copied() else {
            cargo.treatment.hops = cargo.treatment.hops.saturating_add(cargo.way.routers);
            return self.end(now, due, cargo);
        };
        cargo.treatment.hops = cargo.treatment.hops.saturating_add(hop.routers);
        let wire = self.wires.find(hop.wire, self.router.faults());
        self.watch_wire(hop.wire, &cargo, None);
        let frame = &cargo.held.frame;
        let arrival =
            Arrival { packet: frame.part(&cargo.segments), flow: frame.flow, ecn: frame.ecn, tag: cargo };
        let verdicts = &mut self.verdicts;
        self.wires.offer(wire, due, arrival, &mut |cargo, verdict| verdicts.push((cargo.clone(), verdict)));
        self.act(now, wire);
    }

    /// A wire decides what it could not before.
    fn decide(&mut self, now: Duration, wire: WireId) {
        let verdicts = &mut self.verdicts;
        self.wires.advance(wire, now, &mut |cargo, verdict| verdicts.push((cargo.clone(), verdict)));
        self.act(now, wire);
    }

    /// Does what a wire has said.
    fn act(&mut self, now: Duration, id: WireId) {
        let mut verdicts = std::mem::take(&mut self.verdicts);
        for (mut cargo, verdict) in verdicts.drain(..) {
            let part = |segments: std::ops::Range<u32>| {
                cargo.segments.start + segments.start..cargo.segments.start + segments.end
            };
            match verdict {
                Verdict::Deliver { segments, due, treatment } => {
                    cargo.segments = part(segments);
                    cargo.treatment.mark |= treatment.mark;
                    cargo.treatment.corrupt = cargo.treatment.corrupt.or(treatment.corrupt);
                    let due = due + cargo.way.hops[cargo.hop].detour;
                    cargo.hop += 1;
                    self.forward(due, cargo);
                }
                Verdict::Drop { segments, cause } => {
                    cargo.segments = part(segments);
                    self.tally.bytes_dropped += bytes(&cargo);
                    self.watch_wire(self.wires.wire(id), &cargo, Some(cause));
                    if cause == Cause::Loss && self.wires.down(id) == Some(LinkDown::Unreachable) {
                        self.refuse(now, id, &cargo);
                    }
                    self.pool.release(cargo.held);
                }
            }
        }
        self.verdicts = verdicts;
        if let Some(alarm) = self.wires.new_alarm(id) {
            self.schedule.push(alarm, Event::Decision(id));
        }
    }

    /// Plans a packet's arrival at the end of a wire, here or in another shard.
    fn forward(&mut self, due: Duration, cargo: Cargo) {
        let city = match cargo.way.hops.get(cargo.hop) {
            Some(hop) => hop.wire.city(&self.layout),
            None => cargo.way.end.city(&self.layout),
        };
        let shard = city % self.shards;
        if shard == self.number {
            self.schedule.push(due, Event::Arrival(cargo));
        } else {
            self.outgoing[shard].push((due, cargo));
        }
    }

    /// A packet is where its way ends.
    fn end(&mut self, now: Duration, due: Duration, cargo: Cargo) {
        match cargo.way.end {
            End::Port(port) => return self.hand_over(now, due, port, cargo),
            End::Router(city) => {
                // A wrong bit is only put into what is handed to a host; here it means that the checksum is wrong.
                let is_intact = cargo.treatment.corrupt.is_none();
                let reply = is_intact.then(|| icmp::echo_reply(cargo.held.bytes())).flatten();
                self.answer(due, city, reply);
            }
            End::Expired(city) => {
                let router = self.router.router_address(city, cargo.held.frame.from);
                self.answer(due, city, icmp::time_exceeded(router, cargo.held.bytes()));
            }
            End::Unroutable(city) => self.unreachable(due, city, &cargo, cargo.treatment.hops),
            End::Blackhole(_) => {
                self.tally.bytes_dropped += bytes(&cargo);
                return self.pool.release(cargo.held);
            }
        }
        self.tally.bytes_out += bytes(&cargo);
        self.pool.release(cargo.held);
    }

    /// Hands a packet to a host. Its stack runs meanwhile.
    fn hand_over(&mut self, now: Duration, due: Duration, port: PortId, cargo: Cargo) {
        self.watch_port(port, &cargo);
        let (headers, payload) = cargo.held.frame.slice(cargo.held.bytes(), &cargo.segments, cargo.treatment);
        let written = self.tun(port).write(&headers, &payload);
        drop(payload);
        match written {
            Ok(()) => {
                self.tally.bytes_out += bytes(&cargo);
                self.tally.delivered(now.saturating_sub(due) + cargo.waited, cargo.way.allowance);
            }
            // The host has switched its device off, and hears nothing, as any host would.
            Err(error) if error.raw_os_error() == Some(libc::EIO) => {
                self.tally.bytes_dropped += bytes(&cargo);
            }
            // Nothing can be handed to a device without a carrier, which is the fault's doing.
            Err(_) if self.router.faults().without_carrier().contains(&port) => {
                self.tally.bytes_dropped += bytes(&cargo);
            }
            Err(_) => {
                self.tally.own_drops += 1;
                self.tally.bytes_lost += bytes(&cargo);
            }
        }
        self.pool.release(cargo.held);
    }

    /// A wire is down, and the router before it says so.
    fn refuse(&mut self, now: Duration, id: WireId, cargo: &Cargo) {
        // The router before the wire has counted itself already.
        let hops = cargo.treatment.hops.saturating_sub(cargo.way.hops[cargo.hop].routers);
        match self.wires.wire(id) {
            Wire::Between(city, _) => self.unreachable(now, city, cargo, hops),
            Wire::Down(port) => self.unreachable(now, self.layout.city_of(port), cargo, hops),
            // Before this one is not a router.
            Wire::Up(_) => {}
        }
    }

    fn unreachable(&mut self, now: Duration, city: CityId, cargo: &Cargo, hops: u8) {
        let router = self.router.router_address(city, cargo.held.frame.from);
        let answer = icmp::unreachable(router, cargo.held.bytes(), hops, icmp::Unreachable::Net);
        self.answer(now, city, answer);
    }

    /// The router of a city sends a packet of its own, if it may.
    fn answer(&mut self, now: Duration, city: CityId, frame: Option<Vec<u8>>) {
        let Some(bytes_of_frame) = frame.filter(|_| self.answers.take(now)) else { return };
        let Ok(frame) = Frame::parse(&bytes_of_frame) else { return };
        let Some(way) = self.router.way(now, Source::Router(city), frame.to, frame.ttl) else { return };
        let held = self.pool.own(bytes_of_frame, frame);
        let cargo = Cargo {
            held,
            segments: 0..1,
            way,
            hop: 0,
            treatment: Treatment::default(),
            waited: Duration::ZERO,
        };
        self.tally.bytes_in += bytes(&cargo);
        self.arrive(now, now, cargo);
    }

    fn watch_port(&self, port: PortId, cargo: &Cargo) {
        for tap in &self.taps {
            if let Some(interface) = tap.port(port) {
                tap.see(&sighting(interface, cargo, None));
            }
        }
    }

    /// A packet enters a wire, or was dropped by it.
    fn watch_wire(&self, wire: Wire, cargo: &Cargo, dropped: Option<Cause>) {
        for tap in &self.taps {
            if let Some(interface) = tap.wire(wire) {
                tap.see(&sighting(interface, cargo, dropped));
            }
        }
    }
}

fn sighting(interface: u32, cargo: &Cargo, dropped: Option<Cause>) -> Sighting<'_> {
    Sighting {
        at: since_1970(),
        interface,
        frame: &cargo.held.frame,
        bytes: cargo.held.bytes(),
        segments: cargo.segments.clone(),
        treatment: cargo.treatment,
        comment: dropped.map(|cause| match cause {
            Cause::Queue => "dropped: queue",
            Cause::Aqm => "dropped: aqm",
            Cause::Loss => "dropped: loss",
        }),
    }
}

/// The bytes of IP packets that a cargo stands for.
fn bytes(cargo: &Cargo) -> u64 {
    let packet = cargo.held.frame.packet;
    packet.wire_bytes(cargo.segments.end, 0) - packet.wire_bytes(cargo.segments.start, 0)
}

/// How many answers routers may give: real ones limit them too (RFC 1812, section 4.3.2.8).
#[derive(Debug, Default)]
struct Allowance {
    /// When the allowance would be full again.
    full_at: Duration,
}

impl Allowance {
    /// Takes one answer, if there is one.
    fn take(&mut self, now: Duration) -> bool {
        let full_at = self.full_at.max(now) + ANSWER;
        let may = full_at - now <= ANSWER * ANSWERS;
        if may {
            self.full_at = full_at;
        }
        may
    }
}

/// A thousand answers a second from the cities of a shard, and as many at once.
const ANSWER: Duration = Duration::from_millis(1);
const ANSWERS: u32 = 1000;
