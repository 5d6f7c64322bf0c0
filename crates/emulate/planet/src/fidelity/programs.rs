//! Delays of the programs of hosts: waits for a processor and stops that would not occur on
//! separate machines.
//!
//! Sources: `/proc/<pid>/task/<tid>/schedstat` (run queue), `/proc/<pid>/stat` (stopped), and
//! `/proc/pressure/memory`.

use std::{
    collections::HashMap,
    fs::{self, File},
    io,
    os::unix::fs::{FileExt, MetadataExt},
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use claim::Delay;
use world::HostId;

use super::delays::Delays;
use crate::{
    clock::{self, Clock},
    host::Host,
};

#[derive(Debug, Default)]
pub(crate) struct Account(Mutex<Found>);

#[derive(Debug, Default)]
struct Found {
    hosts: HashMap<HostId, Delays>,
    memory: Option<Delays>,
}

impl Account {
    pub(crate) fn of_hosts(&self) -> Vec<(HostId, Vec<Delay>)> {
        let mut all: Vec<_> = self.found().hosts.iter().map(|(&host, delays)| (host, delays.all())).collect();
        all.sort_unstable_by_key(|(host, _)| *host);
        all
    }

    pub(crate) fn of_memory(&self) -> Vec<Delay> {
        self.found().memory.as_ref().map(Delays::all).unwrap_or_default()
    }

    pub(crate) fn totals(&self) -> (Duration, Option<Duration>) {
        let found = self.found();
        (found.hosts.values().map(Delays::total).sum(), found.memory.as_ref().map(Delays::total))
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn start(hosts: &Arc<Vec<Host>>, clock: Clock) -> Arc<Account> {
    let account = Arc::new(Account::default());
    let mut watch = Watch {
        hosts: Arc::clone(hosts),
        clock,
        account: Arc::clone(&account),
        threads: HashMap::new(),
        leaders: HashMap::new(),
        memory: Pressure::open(),
        looked: clock.now(),
        searched: None,
    };
    std::thread::spawn(move || {
        loop {
            let used = clock::thread_cpu();
            watch.look();
            let cost = clock::thread_cpu().saturating_sub(used);
            clock::sleep(PERIOD.max(cost * COST_SHARE));
        }
    });
    account
}

struct Watch {
    hosts: Arc<Vec<Host>>,
    clock: Clock,
    account: Arc<Account>,
    threads: HashMap<PathBuf, Thread>,
    leaders: HashMap<PathBuf, Leader>,
    memory: Option<Pressure>,
    looked: Duration,
    searched: Option<Duration>,
}

struct Thread {
    host: HostId,
    account: tcp::RunQueue,
    waited: Duration,
    /// For a new thread: the time of the last search that did not find it.
    new_since: Option<Duration>,
    is_here: bool,
}

struct Leader {
    host: HostId,
    stat: File,
    stops: Stops,
    is_here: bool,
}

#[derive(Default)]
struct Stops {
    was_stopped: bool,
    was_frozen: bool,
}

impl Stops {
    /// Stopped since the last poll, other than by a fault. A program that a fault stopped at the
    /// last poll may still be stopped when the fault has just ended.
    fn look(&mut self, is_stopped: bool, is_frozen: bool) -> bool {
        let is_by_fault = is_frozen || self.was_frozen;
        let was_stopped = (is_stopped || self.was_stopped) && !is_by_fault;
        *self = Self { was_stopped: is_stopped && !is_by_fault, was_frozen: is_frozen };
        was_stopped
    }
}

impl Watch {
    fn look(&mut self) {
        let now = self.clock.now();
        if self.searched.is_none_or(|searched| now >= searched + SEARCH_EVERY) {
            let _ = self.search();
            self.searched = Some(now);
        }
        let since = std::mem::replace(&mut self.looked, now);
        let mut held: HashMap<HostId, (Duration, Duration)> = HashMap::new();
        let mut hold = |host: HostId, from: Duration, delay: Duration| {
            let (earliest, sum) = held.entry(host).or_insert((from, Duration::ZERO));
            *earliest = from.min(*earliest);
            *sum += delay;
        };
        for thread in self.threads.values_mut() {
            let Some(waited) = thread.account.waited() else { continue };
            let delay = waited.saturating_sub(thread.waited);
            thread.waited = waited;
            // The kernel counts a wait when it ends, so it may have started before the last poll.
            let from = thread.new_since.take().unwrap_or(since.saturating_sub(delay));
            if !delay.is_zero() {
                hold(thread.host, from, delay);
            }
        }
        for leader in self.leaders.values_mut() {
            let is_stopped = leader.looks_stopped();
            // Read afterwards, because the host is marked frozen before its programs are stopped.
            let is_frozen = self.hosts[leader.host].is_frozen();
            // Stop and continuation may have occurred at any time between two polls.
            if leader.stops.look(is_stopped, is_frozen) {
                hold(leader.host, since, now.saturating_sub(since));
            }
        }
        let memory = self.memory.as_mut().and_then(Pressure::since);
        let mut found = self.account.found();
        for (host, (from, delay)) in held {
            found.hosts.entry(host).or_default().push(from, now, delay);
        }
        if let Some(memory) = memory {
            let delays = found.memory.get_or_insert_default();
            if !memory.is_zero() {
                delays.push(since, now, memory);
            }
        }
    }

    fn search(&mut self) -> io::Result<()> {
        let networks =
            self.hosts.iter().enumerate().filter_map(|(id, host)| Some((host.network().ok()?, id)));
        let networks: HashMap<u64, HostId> = networks.collect();
        self.threads.values_mut().for_each(|thread| thread.is_here = false);
        self.leaders.values_mut().for_each(|leader| leader.is_here = false);
        for process in fs::read_dir("/proc")?.flatten() {
            let is_process = process.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit);
            let Some(&host) = is_process
                .then(|| fs::metadata(process.path().join("ns/net")).ok())
                .flatten()
                .and_then(|network| networks.get(&network.ino()))
            else {
                continue;
            };
            if let Some(known) = self.leaders.get_mut(&process.path()) {
                known.is_here = true;
            } else if let Ok(stat) = File::open(process.path().join("stat")) {
                let leader = Leader { host, stat, stops: Stops::default(), is_here: true };
                self.leaders.insert(process.path(), leader);
            }
            for thread in fs::read_dir(process.path().join("task")).into_iter().flatten().flatten() {
                self.add(thread.path(), host);
            }
        }
        self.leaders.retain(|_, leader| leader.is_here);
        self.threads.retain(|_, thread| thread.is_here);
        Ok(())
    }

    fn add(&mut self, folder: PathBuf, host: HostId) {
        let new_since = Some(self.searched.unwrap_or_default());
        let known = self.threads.entry(folder).or_insert_with_key(|folder| Thread {
            host,
            account: tcp::RunQueue::of_thread(folder),
            waited: Duration::ZERO,
            new_since,
            is_here: true,
        });
        known.is_here = true;
    }
}

impl Leader {
    fn looks_stopped(&self) -> bool {
        let mut text = [0; 128];
        let Ok(length) = self.stat.read_at(&mut text, 0) else { return false };
        matches!(state(&text[..length]), Some(b'T' | b't'))
    }
}

/// The letter after the name, which is in parentheses and may contain parentheses
/// (proc_pid_stat(5)).
fn state(stat: &[u8]) -> Option<u8> {
    let end = stat.iter().rposition(|&byte| byte == b')')?;
    stat.get(end + 2).copied()
}

struct Pressure {
    file: File,
    seen: Duration,
}

impl Pressure {
    fn open() -> Option<Self> {
        let file = File::open("/proc/pressure/memory").ok()?;
        let mut pressure = Self { file, seen: Duration::ZERO };
        pressure.since()?;
        Some(pressure)
    }

    fn since(&mut self) -> Option<Duration> {
        let mut text = [0; 256];
        let length = self.file.read_at(&mut text, 0).ok()?;
        let total = stalled(std::str::from_utf8(&text[..length]).ok()?)?;
        Some(total.saturating_sub(std::mem::replace(&mut self.seen, total)))
    }
}

/// "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234", in us.
fn stalled(text: &str) -> Option<Duration> {
    let (_, total) = text.lines().find(|line| line.starts_with("some "))?.split_once("total=")?;
    total.trim().parse().ok().map(Duration::from_micros)
}

/// Extended if polling would cost more than a fiftieth of a processor.
const PERIOD: Duration = Duration::from_millis(10);
const COST_SHARE: u32 = 50;

const SEARCH_EVERY: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_fault_stops_is_not_held_up() {
        let looks = |looks: &[(bool, bool)]| {
            let mut stops = Stops::default();
            looks.iter().map(|&(stopped, frozen)| stops.look(stopped, frozen)).collect::<Vec<_>>()
        };
        assert_eq!(
            looks(&[(false, false), (true, false), (false, false), (false, false)]),
            [false, true, true, false]
        );
        assert_eq!(looks(&[(false, true), (true, true), (false, false), (false, false)]), [false; 4]);
        assert_eq!(looks(&[(true, true), (true, false), (false, false)]), [false; 3]);
        assert_eq!(looks(&[(true, true), (false, false), (true, false)]), [false, false, true]);
    }

    #[test]
    fn the_letter_after_the_name_whatever_that_is() {
        assert_eq!(state(b"4711 (sh) T 1 2 3"), Some(b'T'));
        assert_eq!(state(b"4711 (a) R (b) S 1"), Some(b'S'));
        assert_eq!((state(b""), state(b"1 (x")), (None, None));
    }

    #[test]
    fn the_pressure_is_that_of_some() {
        let text = "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234\nfull avg10=0.00 total=99\n";
        assert_eq!(stalled(text), Some(Duration::from_micros(1234)));
        assert_eq!((stalled(""), stalled("some total=x")), (None, None));
    }

    #[test]
    fn a_thread_of_ours_is_found_and_its_wait_grows() {
        let account = tcp::RunQueue::of_thread(std::path::Path::new("/proc/thread-self"));
        assert!(account.waited().is_none_or(|waited| waited < Duration::from_secs(3600)));
    }
}
