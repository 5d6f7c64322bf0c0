//! Active and scheduled faults.
//!
//! When a fault begins or ends, a thread sends the active faults to the switch, and kills, stops or
//! continues hosts, or sets their carriers.

use std::{
    collections::BTreeMap,
    io,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use nix::sys::signal::Signal;
use tracing::info;
use world::{Effect, HostDown, HostId, Layout, Timed, file::Fault};

use crate::{
    host::Host,
    router::{catchment::Catchments, faults::Faults},
    status::FaultStatus,
    switch::{Handle, Order},
};

pub(crate) struct Timeline {
    layout: Arc<Layout>,
    hosts: Arc<Vec<Host>>,
    handle: Handle,
    plan: Mutex<Plan>,
    /// The same catchments as in every shard.
    catchments: Mutex<Catchments>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Plan {
    faults: BTreeMap<u64, Planned>,
    last_number: u64,
    told: Vec<u64>,
}

#[derive(Debug)]
struct Planned {
    at: Duration,
    until: Option<Duration>,
    fault: Fault,
    effect: Effect,
}

impl Timeline {
    /// With the faults of the world file. A thread must call [`Timeline::run`].
    pub(crate) fn new(layout: Arc<Layout>, hosts: Arc<Vec<Host>>, handle: Handle) -> Self {
        let mut plan = Plan::default();
        for Timed { at, lasts, fault, effect } in layout.faults.clone() {
            plan.add(Planned { at, until: lasts.map(|lasts| at + lasts), fault, effect });
        }
        let catchments = Mutex::new(Catchments::new(&layout));
        Self { layout, hosts, handle, plan: Mutex::new(plan), catchments, changed: Condvar::new() }
    }

    /// The start is relative to the start of the switch; without one the fault starts immediately.
    /// Returns its number, or the reason why it is invalid.
    pub(crate) fn add(&self, fault: Fault) -> Result<u64, String> {
        let effect = self.layout.effect(&fault)?;
        // Read under the lock, so that times are applied in order.
        let mut plan = self.lock();
        let now = self.handle.now();
        let at = fault.at.unwrap_or(now);
        if at < now {
            let (at, now) = (at.as_secs_f64(), now.as_secs_f64());
            return Err(format!(
                "a fault at {at:.3} s is in the past; the planet has been up for {now:.3} s"
            ));
        }
        let until = fault.lasts.map(|lasts| at + lasts);
        if plan.faults.len() >= MOST_FAULTS {
            return Err(format!("{MOST_FAULTS} faults are the limit; lift some"));
        }
        let number = plan.add(Planned { at, until, fault, effect });
        // A fault without a start time is active when this returns, or is discarded on failure.
        if let Err(error) = self.tell(&mut plan, now) {
            plan.faults.remove(&number);
            return Err(error.to_string());
        }
        self.changed.notify_all();
        Ok(number)
    }

    pub(crate) fn lift(&self, number: Option<u64>) -> Result<(), String> {
        let mut plan = self.lock();
        match number {
            None => plan.faults.clear(),
            Some(number) if plan.faults.remove(&number).is_some() => {}
            Some(number) => return Err(format!("there is no fault {number}; it may have ended")),
        }
        self.tell(&mut plan, self.handle.now()).map_err(|error| error.to_string())?;
        self.changed.notify_all();
        Ok(())
    }

    /// In a city that is down programs continue; only their packets are dropped.
    pub(crate) fn host_down(&self, host: HostId) -> Option<(u64, String)> {
        let now = self.handle.now();
        let plan = self.lock();
        let is_down = |(_, planned): &(&u64, &Planned)| {
            planned.is_active(now)
                && matches!(planned.effect, Effect::Host { host: down, .. } if down == host)
        };
        plan.faults.iter().find(is_down).map(|(&number, planned)| (number, planned.fault.to_string()))
    }

    pub(crate) fn status(&self) -> Vec<FaultStatus> {
        let now = self.handle.now();
        let plan = self.lock();
        let describe = |(&number, planned): (&u64, &Planned)| FaultStatus {
            number,
            what: planned.fault.to_string(),
            fault: planned.fault.clone(),
            is_active: planned.is_active(now),
            at_s: planned.at.as_secs_f64(),
            until_s: planned.until.map(|until| until.as_secs_f64()),
        };
        plan.faults.iter().map(describe).collect()
    }

    pub(crate) fn catchments(&self) -> MutexGuard<'_, Catchments> {
        self.catchments.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn run(&self) -> io::Result<()> {
        let mut plan = self.lock();
        loop {
            let now = self.handle.now();
            plan.faults.retain(|_, planned| planned.until.is_none_or(|until| until > now));
            self.tell(&mut plan, now)?;
            plan = match plan.next_change(now) {
                None => self.changed.wait(plan).unwrap_or_else(PoisonError::into_inner),
                Some(at) => {
                    let waited = self.changed.wait_timeout(plan, at - now);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    fn tell(&self, plan: &mut Plan, now: Duration) -> io::Result<()> {
        let active = plan.active(now);
        if active == plan.told {
            return Ok(());
        }
        let effects = |numbers: &[u64]| -> Vec<Effect> {
            let each = numbers.iter().filter_map(|number| plan.faults.get(number));
            each.map(|planned| planned.effect.clone()).collect()
        };
        let new: Vec<_> = active.iter().copied().filter(|number| !plan.told.contains(number)).collect();
        let new = effects(&new);
        let all = Arc::new(effects(&active));
        self.handle.give(|| Order::Faults(now, Arc::clone(&all)))?;
        let faults = Faults::new(&self.layout, &all);
        self.catchments.lock().unwrap_or_else(PoisonError::into_inner).announce(now, &self.layout, &faults);
        self.touch_hosts(&new, &all, &faults)?;
        plan.tell_log(&active);
        plan.told = active;
        Ok(())
    }

    fn touch_hosts(&self, new: &[Effect], all: &[Effect], faults: &Faults) -> io::Result<()> {
        let is = |effect: &Effect, id: usize, wanted: HostDown| matches!(effect, Effect::Host { host, how } if *host == id && *how == wanted);
        let without_carrier = faults.without_carrier();
        for (id, host) in self.hosts.iter().enumerate() {
            for port in self.layout.hosts[id].ports.clone() {
                host.set_carrier(self.layout.ports[port].number, !without_carrier.contains(&port))?;
            }
            if new.iter().any(|effect| is(effect, id, HostDown::Killed)) {
                host.signal_all(Signal::SIGKILL)?;
            }
            let is_frozen = all.iter().any(|effect| is(effect, id, HostDown::Frozen));
            host.freeze(is_frozen)?;
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Plan {
    fn add(&mut self, planned: Planned) -> u64 {
        self.last_number += 1;
        self.faults.insert(self.last_number, planned);
        self.last_number
    }

    fn active(&self, now: Duration) -> Vec<u64> {
        let is_active = |(_, planned): &(&u64, &Planned)| planned.is_active(now);
        self.faults.iter().filter(is_active).map(|(&number, _)| number).collect()
    }

    fn tell_log(&self, active: &[u64]) {
        for number in active.iter().filter(|number| !self.told.contains(number)) {
            let what = self.faults.get(number).map(|planned| planned.fault.to_string());
            info!(number, what, "a fault began");
        }
        for number in self.told.iter().filter(|number| !active.contains(number)) {
            info!(number, "a fault ended");
        }
    }

    fn next_change(&self, now: Duration) -> Option<Duration> {
        let times = self.faults.values().flat_map(|planned| [Some(planned.at), planned.until]);
        times.flatten().filter(|&time| time > now).min()
    }
}

impl Planned {
    fn is_active(&self, now: Duration) -> bool {
        self.at <= now && self.until.is_none_or(|until| now < until)
    }
}

/// Protects against a program that never lifts its faults.
const MOST_FAULTS: usize = 10_000;
