//! The switch: takes packets from hosts, asks the router what becomes of them, and hands them over when they are due.
//!
//! One thread holds every host's device. It computes in logical time: a packet's arrival is when it was read, its due
//! time follows from the links alone, and waking up late shifts a packet but never a capacity. How late is counted: from the
//! due time to the delivery, and from when the packet can have been sent at the earliest to when it was read.

mod alarm;
pub(crate) mod pool;
pub(crate) mod schedule;

use std::{
    io,
    rc::Rc,
    sync::{Arc, mpsc},
    time::Duration,
};

use link::Verdict;
use nix::sys::{
    epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags},
    eventfd::EventFd,
};

use world::{Change, CityId, HostId, PortId};

use crate::{
    clock::{self, Clock, RunQueue},
    fidelity::Tally,
    host::Host,
    router::{Fate, Route, Router},
    switch::{
        alarm::Alarm,
        pool::Pool,
        schedule::{Flight, Schedule},
    },
    sys::{poll, priority},
    wire::{Frame, Malformed},
};

/// The running heart of a planet.
pub(crate) struct Switch {
    hosts: Arc<Vec<Host>>,
    /// Host and number of each device.
    ports: Vec<(HostId, usize)>,
    router: Router,
    schedule: Schedule,
    pool: Pool,
    tally: Tally,
    clock: Clock,
    alarm: Alarm,
    /// When each host's device was last looked at.
    looked: Vec<Duration>,
    /// When this thread was last ready to run after a sleep, or saw all devices empty.
    awake_since: Duration,
    run_queue: RunQueue,
    epoll: Epoll,
    orders: mpsc::Receiver<Order>,
    bell: Arc<EventFd>,
}

/// What another thread may ask of the switch.
pub(crate) enum Order {
    /// Changes the link between two cities.
    Change(CityId, CityId, Change),
    /// Reports what was counted so far.
    Report(mpsc::Sender<Reading>),
}

/// What the switch counted.
pub(crate) struct Reading {
    pub tally: Tally,
    /// Time since the switch started.
    pub running: Duration,
    /// Processor time it used.
    pub cpu: Duration,
}

/// The other end of a switch, for other threads.
#[derive(Clone)]
pub(crate) struct Handle {
    orders: mpsc::Sender<Order>,
    bell: Arc<EventFd>,
}

impl Handle {
    /// Gives an order.
    pub(crate) fn give(&self, order: Order) -> io::Result<()> {
        self.orders.send(order).map_err(|_| io::Error::other("the switch has stopped"))?;
        self.bell.write(1).map(drop).map_err(Into::into)
    }
}

impl Switch {
    /// A switch between `hosts`, which are those of the router's layout, in its order.
    pub(crate) fn new(hosts: Arc<Vec<Host>>, router: Router) -> io::Result<(Self, Handle)> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let ports = router.ports();
        for (id, &(host, number)) in ports.iter().enumerate() {
            epoll.add(hosts[host].tun(number), EpollEvent::new(EpollFlags::EPOLLIN, id as u64))?;
        }
        let bell = Arc::new(EventFd::new()?);
        epoll.add(&*bell, EpollEvent::new(EpollFlags::EPOLLIN, BELL))?;
        let looked = vec![Duration::ZERO; ports.len()];
        let (sender, orders) = mpsc::channel();
        let handle = Handle { orders: sender, bell: Arc::clone(&bell) };
        let switch = Self {
            hosts,
            ports,
            router,
            schedule: Schedule::default(),
            pool: Pool::default(),
            tally: Tally::new(),
            clock: Clock::start(),
            alarm: Alarm::default(),
            looked,
            awake_since: Duration::ZERO,
            run_queue: RunQueue::default(),
            epoll,
            orders,
            bell,
        };
        Ok((switch, handle))
    }

    /// Runs until the process ends.
    pub(crate) fn run(mut self) -> io::Result<()> {
        poll::wake_on_time()?;
        priority::run_promptly();
        let mut events = [EpollEvent::empty(); 64];
        loop {
            self.deliver();
            let ready = self.wait(&mut events)?;
            for event in &events[..ready] {
                match usize::try_from(event.data()) {
                    Ok(port) if port < self.ports.len() => self.collect(port)?,
                    _ => self.obey()?,
                }
                self.deliver();
            }
        }
    }

    /// Sleeps until a host has sent something or the next packet is due, and spins for the last moments before that.
    fn wait(&mut self, events: &mut [EpollEvent]) -> io::Result<usize> {
        let Some(due) = self.schedule.next_due() else { return self.sleep(events, None) };
        let now = self.clock.now();
        let sleep = self.alarm.sleep(now, due.saturating_sub(now));
        let ready = self.sleep(events, Some(sleep))?;
        if ready > 0 || sleep.is_zero() && due <= now {
            return Ok(ready);
        }
        let woke = self.clock.now();
        if !sleep.is_zero() {
            self.alarm.woke(woke.saturating_sub(now + sleep));
        }
        while self.clock.now() < due {
            let ready = self.sleep(events, Some(Duration::ZERO))?;
            if ready > 0 {
                self.alarm.spun(self.clock.now() - woke);
                return Ok(ready);
            }
        }
        self.alarm.spun(self.clock.now().saturating_sub(woke));
        Ok(0)
    }

    /// Waits, and notes since when a packet that is read next can have been there: since this thread was ready to run after
    /// a sleep, or since all devices were seen empty.
    fn sleep(&mut self, events: &mut [EpollEvent], time: Option<Duration>) -> io::Result<usize> {
        let ready = poll::wait(&self.epoll, events, time)?;
        if time != Some(Duration::ZERO) {
            self.awake_since = self.clock.now().saturating_sub(self.run_queue.waited());
        } else if ready == 0 {
            self.awake_since = self.clock.now();
        }
        Ok(ready)
    }

    /// Takes what a host has sent, at most [`BATCH`] frames so that nobody else waits long.
    fn collect(&mut self, from: PortId) -> io::Result<()> {
        for _ in 0..BATCH {
            let (host, number) = self.ports[from];
            match self.hosts[host].tun(number).read(self.pool.buffer()) {
                Ok(Some(length)) => self.accept(from, length),
                Ok(None) => break,
                // A program in the host removed its device. The other hosts live on.
                Err(_) => {
                    self.tally.lost_hosts += 1;
                    return self.epoll.delete(self.hosts[host].tun(number)).map_err(Into::into);
                }
            }
        }
        // What a full batch leaves behind is taken to have come since now: nothing says when it did.
        self.looked[from] = self.clock.now();
        Ok(())
    }

    /// Sends the frame in the pool's buffer on its way.
    fn accept(&mut self, from: PortId, length: usize) {
        let now = self.clock.now();
        let waited = now.saturating_sub(self.looked[from].max(self.awake_since));
        // What is no IP packet, or for nobody (multicast, an address without a host), never was on a wire.
        let frame = match Frame::parse(&self.pool.buffer()[..length]) {
            Ok(frame) => frame,
            Err(Malformed::Truncated) => return,
            Err(Malformed::Offload) => {
                self.tally.own_drops += 1;
                return;
            }
        };
        let Route::Host(to) = self.router.route(frame.to) else { return };
        let Some(held) = self.pool.hold(length, frame) else {
            self.tally.own_drops += 1;
            return;
        };
        let (schedule, tally) = (&mut self.schedule, &mut self.tally);
        self.router.send(now, from, to, &frame, |Fate { verdict, wire_bytes, allowance }| {
            tally.bytes_in += wire_bytes;
            match verdict {
                Verdict::Deliver { segments, due } => {
                    tally.bytes_in_flight += wire_bytes;
                    schedule.push(Flight {
                        due,
                        waited,
                        allowance,
                        to,
                        segments,
                        wire_bytes,
                        held: Rc::clone(&held),
                    });
                }
                Verdict::Drop { .. } => tally.bytes_dropped += wire_bytes,
            }
        });
        self.pool.release(held);
    }

    /// Hands over everything that is due.
    fn deliver(&mut self) {
        loop {
            let now = self.clock.now();
            let Some(flight) = self.schedule.pop_due(now) else { break };
            let held = &flight.held;
            let (headers, payload) = held.frame.slice(held.bytes(), &flight.segments);
            let (host, number) = self.ports[flight.to];
            let written = self.hosts[host].tun(number).write(&headers, payload);
            self.tally.bytes_in_flight -= flight.wire_bytes;
            if written.is_ok() {
                self.tally.bytes_out += flight.wire_bytes;
                self.tally.delivered(now.saturating_sub(flight.due) + flight.waited, flight.allowance);
            } else {
                self.tally.own_drops += 1;
                self.tally.bytes_lost += flight.wire_bytes;
            }
            self.pool.release(flight.held);
        }
    }

    /// Does what other threads asked for.
    fn obey(&mut self) -> io::Result<()> {
        self.bell.read()?;
        while let Ok(order) = self.orders.try_recv() {
            match order {
                Order::Change(a, b, change) => self.router.change(self.clock.now(), a, b, change),
                Order::Report(to) => {
                    let reading = Reading {
                        tally: self.tally.clone(),
                        running: self.clock.now(),
                        cpu: clock::thread_cpu(),
                    };
                    // Whoever asked may have gone away, which is no concern of ours.
                    let _ = to.send(reading);
                }
            }
        }
        Ok(())
    }
}

/// Frames taken from one host before what is due is delivered.
const BATCH: usize = 64;

/// The event of the bell; hosts count from 0.
const BELL: u64 = u64::MAX;
