//! One thread of the switch: waits for packets and for due events.

use std::{
    io,
    sync::{Arc, mpsc},
    time::Duration,
};

use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};
use world::PortId;

use super::{Order, Reading, Shared, alarm::Alarm, mailbox::Mailbox, pool::Pool, transit::Transit};
use crate::{
    clock::{self, Clock, RunQueue},
    fidelity::heartbeat::Beat,
    sys::{
        poll,
        priority::{self, Turn},
    },
};

pub(crate) struct Shard {
    transit: Transit,
    alarm: Alarm,
    looked: Vec<Duration>,
    /// When this thread last became runnable after a sleep, or found all devices empty.
    awake_since: Duration,
    roused_at: Option<Duration>,
    run_queue: RunQueue,
    epoll: Epoll,
    orders: mpsc::Receiver<Order>,
    mailbox: Arc<Mailbox>,
    beats: Vec<Arc<Beat>>,
    clock: Clock,
}

impl Shard {
    pub(super) fn new(number: usize, shared: &Shared<'_>, orders: mpsc::Receiver<Order>) -> io::Result<Self> {
        let Shared { layout, mailboxes, beats, clock, held, .. } = shared;
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let mailbox = Arc::clone(&mailboxes[number]);
        epoll.add(&*mailbox, EpollEvent::new(EpollFlags::EPOLLIN, BELL))?;
        // Bells are distributed like cities.
        let beats: Vec<_> = beats.iter().skip(number).step_by(mailboxes.len()).cloned().collect();
        for (index, beat) in beats.iter().enumerate() {
            epoll.add(&beat.bell, EpollEvent::new(EpollFlags::EPOLLIN, FIRST_BEAT + index as u64))?;
        }
        let transit = Transit::new(number, shared, Pool::new(Arc::clone(held)));
        for (port, _) in
            layout.ports.iter().enumerate().filter(|&(port, _)| transit.is_mine(layout.city_of(port)))
        {
            epoll.add(transit.tun(port), EpollEvent::new(EpollFlags::EPOLLIN, port as u64))?;
        }
        Ok(Self {
            transit,
            alarm: Alarm::default(),
            looked: vec![Duration::ZERO; layout.ports.len()],
            awake_since: Duration::ZERO,
            roused_at: None,
            run_queue: RunQueue::default(),
            epoll,
            orders,
            mailbox,
            beats,
            clock: *clock,
        })
    }

    pub(crate) fn run(mut self) -> io::Result<()> {
        poll::wake_on_time()?;
        // Programs also need a processor.
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        priority::run_promptly(if self.transit.shards() < processors { Turn::AtOnce } else { Turn::Early });
        let mut events = [EpollEvent::empty(); 64];
        loop {
            self.transit.proceed(&self.clock, BURST)?;
            let ready = self.wait(&mut events)?;
            self.mailbox.awake();
            for event in &events[..ready] {
                match event.data() {
                    BELL => self.handle_orders()?,
                    FIRST_BEAT.. => continue,
                    port => self.collect(usize::try_from(port).expect("ports are numbered from 0"))?,
                }
                self.transit.proceed(&self.clock, BURST)?;
            }
        }
    }

    fn wait(&mut self, events: &mut [EpollEvent]) -> io::Result<usize> {
        let due = self.transit.next_due();
        if !self.mailbox.may_sleep(due) {
            return self.sleep(events, Some(Duration::ZERO));
        }
        let Some(due) = due else { return self.sleep(events, None) };
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

    /// Computes the earliest arrival time of a packet that is read next: when this thread became
    /// runnable, when an unanswered bell rang, or when all devices were last found empty. Replies
    /// to the bells.
    fn sleep(&mut self, events: &mut [EpollEvent], time: Option<Duration>) -> io::Result<usize> {
        self.roused_at = None;
        let is_sleep = time != Some(Duration::ZERO);
        let before = is_sleep.then(|| (self.run_queue.read(), self.clock.now()));
        let ready = poll::wait(&self.epoll, events, time)?;
        if let Some((before, asleep_since)) = before {
            let now = self.clock.now();
            let (turns, waited) = self.run_queue.read_on();
            let runnable = now.saturating_sub(waited);
            let rung = self.beats.iter().filter_map(|beat| beat.waits_since(now)).min();
            self.awake_since = rung.map_or(runnable, |rung| rung.min(runnable));
            // A single device, before the timeout: its frame made this thread runnable.
            let roused_at = now.saturating_sub(turns.waited_since(before)).max(asleep_since);
            let is_by_frame = ready == 1
                && events[0].data() < FIRST_BEAT
                && time.is_none_or(|time| roused_at < asleep_since + time);
            self.roused_at = (is_by_frame && turns.is_next_after(before)).then_some(roused_at);
        } else if ready == 0 {
            self.awake_since = self.clock.now();
        }
        if events[..ready].iter().any(|event| event.data() >= FIRST_BEAT && event.data() != BELL) {
            self.beats.iter().try_for_each(|beat| beat.answer())?;
        }
        Ok(ready)
    }

    /// At most [`BATCH`] frames to be fair to other hosts, and no longer than [`PATIENCE`] while an
    /// event is due.
    fn collect(&mut self, from: PortId) -> io::Result<()> {
        let mut began = None;
        for _ in 0..BATCH {
            match self.transit.read(from) {
                Ok(Some(length)) => {
                    let now = self.clock.now();
                    let (arrived, waited) = match self.roused_at.take() {
                        Some(roused_at) => (roused_at, Duration::ZERO),
                        None => (now, now.saturating_sub(self.looked[from].max(self.awake_since))),
                    };
                    self.transit.accept(arrived, now, waited, from, length);
                    let began = *began.get_or_insert(now);
                    if now > began + PATIENCE && self.transit.next_due().is_some_and(|due| due <= now) {
                        break;
                    }
                }
                Ok(None) => break,
                Err(_) => {
                    self.transit.tally.lost_hosts += 1;
                    return self.epoll.delete(self.transit.tun(from)).map_err(Into::into);
                }
            }
        }
        // Arrival times of frames left behind by a full batch are unknown: now.
        self.looked[from] = self.clock.now();
        Ok(())
    }

    fn handle_orders(&mut self) -> io::Result<()> {
        self.mailbox.silence();
        while let Ok(order) = self.orders.try_recv() {
            match order {
                Order::Faults(at, active) => self.transit.set_faults(at, &active),
                Order::Watch(watcher) => self.transit.watch(watcher),
                Order::Flows(to) => drop(to.send(self.transit.flows.clone())),
                Order::Report(barrier, to) => {
                    self.transit.settle(&self.clock)?;
                    barrier.wait();
                    self.transit.take_mail();
                    let reading = Reading {
                        in_flight: self.transit.in_flight(),
                        edges: self.transit.edges.read(),
                        tally: self.transit.tally.clone(),
                        running: self.clock.now(),
                        cpu: clock::thread_cpu(),
                    };
                    barrier.wait();
                    // The requester may have ended.
                    let _ = to.send(reading);
                }
            }
        }
        Ok(())
    }
}

const BATCH: usize = 64;

/// 64 frames of 64 KB would take longer than the permitted lateness of a packet.
const PATIENCE: Duration = Duration::from_micros(50);

/// Packets of hosts must not wait until a whole window has been delivered; a frame of 64 KB takes
/// about 15 us.
const BURST: Duration = Duration::from_micros(100);

const BELL: u64 = u64::MAX;

const FIRST_BEAT: u64 = 1 << 32;
