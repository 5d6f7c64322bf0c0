//! Handles the control requests of other processes.

use std::{io, os::unix::net::UnixStream, sync::Arc, time::Duration};

use claim::{Flow, Held, HeldUp, Journal};
use world::{AnycastId, HostId, Layout, file::Transient};

use crate::{
    clock::{MachineCpu, monotonic, nanoseconds},
    control::{Reply, Request},
    fidelity::{
        Surroundings, Tally,
        flows::{self, Flows},
        heartbeat::Pulse,
        programs::Account,
    },
    host::Host,
    router::{catchment::Serves, edge::Edge, edges::EdgeReading},
    status::{Amount, Catchment, CatchmentOf, HostStatus, LinkStatus, SiteStatus, Status},
    switch::{Handle, Order, Reading},
    taps::Taps,
    timeline::Timeline,
};

pub(crate) struct Keeper {
    pub name: String,
    pub world: String,
    pub layout: Arc<Layout>,
    pub hosts: Arc<Vec<Host>>,
    pub handle: Handle,
    pub timeline: Arc<Timeline>,
    pub machine: Option<MachineCpu>,
    pub pulse: Arc<Pulse>,
    pub programs: Arc<Account>,
}

impl Keeper {
    pub(crate) fn reply(&self, request: Request, client: &UnixStream) -> Option<Reply> {
        if let Request::Capture(tap) = request {
            return self.capture(&tap, client).err().map(Reply::Refused);
        }
        Some(self.answer(request))
    }

    fn answer(&self, request: Request) -> Reply {
        match request {
            Request::Status => status(self.status()),
            Request::Brief => status(self.brief()),
            Request::Locate { host } => self.locate(&host),
            Request::Fault(fault) => match self.timeline.add(*fault) {
                Ok(number) => Reply::Fault(number),
                Err(reason) => Reply::Refused(reason),
            },
            Request::Lift { number } => done(self.timeline.lift(number)),
            Request::Catchment { prefix } => match self.layout.anycast(&prefix) {
                Some(anycast) => Reply::Catchment(Box::new(self.catchment(anycast))),
                None => {
                    let known: Vec<_> = self.layout.anycast.iter().map(|any| any.name.as_str()).collect();
                    Reply::Refused(format!("no anycast prefix \"{prefix}\"; it has {}", known.join(", ")))
                }
            },
            Request::World => Reply::World(self.world.clone()),
            Request::Journal => match self.journal() {
                Ok(journal) => Reply::Journal(Box::new(journal)),
                Err(error) => Reply::Refused(error.to_string()),
            },
            Request::Listening { host } => match self.layout.host(&host).map(|id| self.hosts[id].listening())
            {
                Some(Ok(ports)) => Reply::Ports(ports),
                Some(Err(error)) => Reply::Refused(format!("cannot look into {host}: {error}")),
                None => Reply::Refused(format!("there is no host \"{host}\"")),
            },
            Request::Capture(_) => Reply::Refused("nobody looks".to_owned()),
            // The kernel kills all processes with the first one of the process namespace.
            Request::Down => std::process::exit(0),
        }
    }

    fn locate(&self, name: &str) -> Reply {
        let Some(id) = self.layout.host(name) else { return Reply::NoHost(self.some_hosts()) };
        match self.timeline.host_down(id) {
            None => Reply::Namespace(self.hosts[id].namespace_number()),
            Some((number, what)) => Reply::Refused(format!(
                "host \"{name}\" is down by fault {number} ({what}); wait for its end, or: longhaul lab fault lift {number}"
            )),
        }
    }

    fn some_hosts(&self) -> String {
        let names: Vec<_> = self.layout.hosts.iter().map(|host| host.name.as_str()).take(20).collect();
        names.join(", ") + if self.layout.hosts.len() > names.len() { ", ..." } else { "" }
    }

    fn status(&self) -> io::Result<Status> {
        let readings = self.handle.read()?;
        let describe = |host: &world::Host| HostStatus {
            name: host.name.clone(),
            city: self.layout.cities[host.city].name.clone(),
            addresses: self.layout.ports[host.ports.clone()]
                .iter()
                .flat_map(|port| [port.v4.into(), port.v6.into()])
                .collect(),
        };
        let mut edges: Vec<_> = readings.iter().flat_map(|reading| &reading.edges).collect();
        edges.sort_by_key(|reading| reading.edge);
        let is_shown = |reading: &&&EdgeReading| reading.is_changed || reading.counters.offered.segments > 0;
        Ok(Status {
            hosts: self.layout.hosts.iter().map(describe).collect(),
            links: edges.iter().filter(is_shown).map(|reading| self.link_status(reading)).collect(),
            ..self.describe(&readings)
        })
    }

    fn brief(&self) -> io::Result<Status> {
        Ok(self.describe(&self.handle.read()?))
    }

    fn describe(&self, readings: &[Reading]) -> Status {
        let running = readings.iter().map(|reading| reading.running).max().unwrap_or_default();
        Status {
            name: self.name.clone(),
            ready: true,
            running_s: running.as_secs_f64(),
            hosts: Vec::new(),
            links: Vec::new(),
            faults: self.timeline.status(),
            fidelity: self.judge(readings),
        }
    }

    fn judge(&self, readings: &[Reading]) -> crate::Fidelity {
        let mut tally = Tally::new();
        readings.iter().for_each(|reading| tally.add(&reading.tally));
        // A device that a program removed has no counters; the switch reports its removal.
        let device_drops = self.hosts.iter().filter_map(|host| host.dropped().ok()).sum();
        let machine = self.machine.as_ref().zip(MachineCpu::read());
        let share = |reading: &Reading| {
            reading.cpu.as_secs_f64() / reading.running.as_secs_f64().max(f64::MIN_POSITIVE)
        };
        let edges = || readings.iter().flat_map(|reading| &reading.edges);
        let duplicated = |reading: &EdgeReading| {
            let amount = reading.counters.duplicated;
            amount.bytes - amount.segments * u64::from(reading.config.overhead)
        };
        let surroundings = Surroundings {
            switch_cpu_share: readings.iter().map(share).sum(),
            machine_cpu_share: machine.and_then(|(before, now)| now.share_since(before)),
            receive: self.layout.receive,
            lateness_limit: self.layout.lateness,
            held_up: self.held_up(machine),
            bytes_in_flight: readings.iter().map(|reading| reading.in_flight).sum(),
            bytes_duplicated: edges().map(duplicated).sum(),
            unbalanced_links: edges().filter(|reading| !reading.is_conserved()).count(),
        };
        tally.judge(device_drops, surroundings)
    }

    fn held_up(&self, machine: Option<(&MachineCpu, MachineCpu)>) -> HeldUp {
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        let (programs, memory) = self.programs.totals();
        let wake = |name: &str, percentile| {
            let wake = self.pulse.wake(percentile);
            (!wake.is_zero()).then(|| (name.to_owned(), wake.as_secs_f64() * 1e6))
        };
        HeldUp {
            wake_us: [wake("50", 50.0), wake("95", 95.0), wake("99", 99.0)].into_iter().flatten().collect(),
            stalls_ms: milliseconds(self.pulse.stalled()),
            programs_ms: milliseconds(programs),
            memory_ms: memory.map(milliseconds),
            steal_ms: machine.map(|(before, now)| milliseconds(now.stolen_since(before))),
        }
    }

    fn journal(&self) -> io::Result<Journal> {
        let mut shards = self.handle.flows()?;
        let slot = shards.iter().map(Flows::slot).max().unwrap_or_default();
        shards.iter_mut().for_each(|flows| flows.coarsen(slot));
        let name = |host: HostId| self.layout.hosts[host].name.clone();
        let flow = |flow: flows::Flow| Flow {
            from: name(flow.key.from),
            to: name(flow.key.to),
            service: flow.key.service,
            slots: flow.slots,
            lateness: flow.bins.to_vec(),
        };
        let held = |(host, delays)| Held { host: name(host), delays };
        Ok(Journal {
            start_ns: nanoseconds(monotonic().saturating_sub(self.handle.now())),
            slot_ns: nanoseconds(slot),
            wake_ns: SHARES.map(|share| (share, nanoseconds(self.pulse.wake(share * 100.0)))).to_vec(),
            flows: shards.into_iter().flat_map(Flows::into_flows).map(flow).collect(),
            hosts: self.programs.of_hosts().into_iter().map(held).collect(),
            machine: [self.pulse.stalls(), self.programs.of_memory()].concat(),
        })
    }

    fn link_status(&self, reading: &EdgeReading) -> LinkStatus {
        let city = |id: usize| self.layout.cities[id].name.clone();
        let host = |port: usize| self.layout.hosts[self.layout.ports[port].host].name.clone();
        let line = |port: usize| self.layout.ports[port].line.as_ref().and_then(|line| line.name.clone());
        let (from, to, access) = match reading.edge {
            Edge::Between(a, b) => (city(a), city(b), None),
            Edge::Up(port) => (host(port), city(self.layout.city_of(port)), line(port)),
            Edge::Down(port) => (city(self.layout.city_of(port)), host(port), line(port)),
        };
        let counters = &reading.counters;
        LinkStatus {
            from,
            to,
            access,
            delay_us: reading.config.propagation.as_secs_f64() * 1e6,
            rate_bps: reading.config.rate.mean().map(units::Bitrate::bits_per_second),
            is_down: reading.is_down,
            offered: counters.offered.into(),
            delivered: counters.delivered.into(),
            duplicated: counters.duplicated.into(),
            lost: counters.lost.into(),
            overflowed: counters.overflowed.into(),
            managed: counters.managed.into(),
            marked: counters.marked.into(),
            corrupted: counters.corrupted.into(),
            waiting: reading.waiting.into(),
        }
    }

    fn catchment(&self, anycast: AnycastId) -> Catchment {
        let (now, catchments) = (self.handle.now(), self.timeline.catchments());
        let described = &self.layout.anycast[anycast];
        let place = |host: HostId| self.layout.hosts[host].city;
        let name = |host: HostId| self.layout.hosts[host].name.clone();
        let of = |city: usize| {
            let (host, transient) = match catchments.serves_prefix(now, anycast, city) {
                Serves::Site(host) => {
                    (Some(host), (!catchments.is_announced(anycast, host)).then_some(Transient::OldSite))
                }
                Serves::Blackhole(host) | Serves::CutOff(host) => (Some(host), Some(Transient::Blackhole)),
                Serves::Loop(host) => (Some(host), Some(Transient::Loop)),
                Serves::Nobody => (None, None),
            };
            let rtt = host.map(|host| self.layout.city_rtt(city, place(host)));
            CatchmentOf {
                city: self.layout.cities[city].name.clone(),
                site: host.map(name),
                rtt_ms: rtt.map(|rtt| rtt.as_secs_f64() * 1000.0),
                transient: transient.map(|transient| transient.name().to_owned()),
            }
        };
        let mut cities: Vec<_> = self.layout.hosts.iter().map(|host| host.city).collect();
        cities.sort_unstable();
        cities.dedup();
        Catchment {
            name: described.name.clone(),
            prefixes: described.prefixes.iter().map(ToString::to_string).collect(),
            sites: described
                .hosts
                .iter()
                .map(|&host| SiteStatus {
                    host: name(host),
                    city: self.layout.cities[place(host)].name.clone(),
                    is_announced: catchments.is_announced(anycast, host),
                })
                .collect(),
            cities: cities.into_iter().map(of).collect(),
        }
    }

    fn capture(&self, tap: &crate::Tap, client: &UnixStream) -> Result<(), String> {
        let taps = Arc::new(Taps::new(&self.layout, tap, client)?);
        let begin = || -> io::Result<()> {
            let client = client.try_clone()?;
            client.set_read_timeout(None)?;
            client.set_write_timeout(None)?;
            self.handle.give(|| Order::Watch(Arc::clone(&taps)))?;
            // A shard that reports has already processed the earlier order.
            self.handle.read()?;
            std::thread::spawn(move || taps.show(&client));
            Ok(())
        };
        begin().map_err(|error| error.to_string())
    }
}

const SHARES: [f64; 14] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.998, 1.0];

fn status(status: io::Result<Status>) -> Reply {
    match status {
        Ok(status) => Reply::Status(Box::new(status)),
        Err(error) => Reply::Refused(error.to_string()),
    }
}

fn done(result: Result<(), String>) -> Reply {
    match result {
        Ok(()) => Reply::Done,
        Err(reason) => Reply::Refused(reason),
    }
}

impl From<link::Amount> for Amount {
    fn from(amount: link::Amount) -> Self {
        Self { segments: amount.segments, bytes: amount.bytes }
    }
}
