//! The data centres of one run: processes that are started, killed and restarted, each with its own clock.

use std::{
    fs::{self, File},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

use anyhow::{Context, ensure};
use serde_json::Value;

use super::{
    ask::Client,
    clock::{Clock, pause},
    cluster::{CENTRES, Place},
};

pub(super) struct Network<'p> {
    place: &'p Place,
    folder: PathBuf,
    clocks: Option<PathBuf>,
    running: Mutex<Vec<Option<Child>>>,
    /// One counter per data centre, incremented on each kill and start. Odd while no process is running.
    lives: [AtomicU32; CENTRES.len()],
    heard: [AtomicU32; CENTRES.len()],
}

impl<'p> Network<'p> {
    pub(super) fn start(place: &'p Place, folder: &Path, clocks: Option<&Path>) -> anyhow::Result<Self> {
        let network = Self {
            place,
            folder: folder.to_owned(),
            clocks: clocks.map(Path::to_owned),
            running: Mutex::new(CENTRES.iter().map(|_| None).collect()),
            lives: [const { AtomicU32::new(1) }; CENTRES.len()],
            heard: [const { AtomicU32::new(0) }; CENTRES.len()],
        };
        for centre in 0..CENTRES.len() {
            network.set_clock(centre, 0)?;
            network.begin(centre)?;
        }
        network.wait_until_whole(AT_START)?;
        Ok(network)
    }

    pub(super) fn set_clock(&self, centre: usize, seconds: i64) -> anyhow::Result<()> {
        // Replaced atomically, because the process may read it at any time.
        let (file, new) = (self.clock(centre), self.folder.join("clock.new"));
        fs::write(&new, format!("{seconds:+}\n"))?;
        Ok(fs::rename(new, file)?)
    }

    fn clock(&self, centre: usize) -> PathBuf {
        self.folder.join(format!("clock-{}", CENTRES[centre].name))
    }

    /// The same value before and after a request proves that the process lived throughout.
    pub(super) fn life(&self, centre: usize) -> Option<u32> {
        Some(self.lives[centre].load(SeqCst)).filter(|life| life % 2 == 0)
    }

    pub(super) fn hear(&self, centre: usize, life: Option<u32>) {
        self.heard[centre].fetch_max(life.unwrap_or_default(), SeqCst);
    }

    pub(super) fn is_heard(&self, centre: usize, life: Option<u32>) -> bool {
        life == Some(self.heard[centre].load(SeqCst))
    }

    pub(super) fn kill(&self, centre: usize) -> anyhow::Result<()> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(mut child) = running[centre].take() {
            self.lives[centre].fetch_add(1, SeqCst);
            child.kill()?;
            child.wait()?;
        }
        Ok(())
    }

    /// Does nothing if the process is running. It may have exited because its disk is full.
    pub(super) fn begin(&self, centre: usize) -> anyhow::Result<()> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(child) = &mut running[centre] {
            if child.try_wait()?.is_none() {
                return Ok(());
            }
            self.lives[centre].fetch_add(1, SeqCst);
        }
        let name = CENTRES[centre].name;
        let log = File::options().create(true).append(true).open(self.folder.join(format!("{name}.log")))?;
        let mut command = Command::new(self.place.program());
        command
            .args(["edge", "run", "--log", "info", "--data-centre", name])
            .arg(self.folder.join("network.toml"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        if let Some(library) = &self.clocks {
            // The monotonic clock is not faked: setting the wall clock does not affect it on a real machine
            // either.
            command.env("LD_PRELOAD", library).env("FAKETIME_TIMESTAMP_FILE", self.clock(centre));
            command
                .env("DONT_FAKE_MONOTONIC", "1")
                .env("NO_FAKE_STAT", "1")
                .env("FAKETIME_CACHE_DURATION", "1");
        }
        let child = self.place.in_centre(centre, || command.spawn())?;
        running[centre] = Some(child.with_context(|| format!("cannot start {name}"))?);
        self.lives[centre].fetch_add(1, SeqCst);
        Ok(())
    }

    pub(super) fn status(&self, centre: usize) -> Option<Value> {
        let ask = || Client::new(operator(), "Host: operator\r\n", PATIENCE).ask("GET", "/status", b"");
        let answer = self.place.in_centre(centre, ask).ok()?.ok()?;
        serde_json::from_slice(&answer.body).ok()
    }

    /// Waits until all data centres are linked and have all purges, and the bus too, if there is one.
    pub(super) fn wait_until_whole(&self, at_most: Duration) -> anyhow::Result<()> {
        let clock = Clock::start();
        loop {
            let lacking = (0..CENTRES.len()).find_map(|centre| match self.status(centre) {
                Some(status) => lacks(&status).map(|what| {
                    format!(
                        "{} lacks {what} ({} {})",
                        CENTRES[centre].name, status["links"], status["purges"]
                    )
                }),
                None => Some(format!("{} does not answer its operator", CENTRES[centre].name)),
            });
            let Some(lacking) = lacking else { return Ok(()) };
            ensure!(clock.now() < at_most, "{lacking} after {} s", at_most.as_secs());
            pause(Duration::from_millis(50));
        }
    }

    pub(super) fn logs(&self) -> String {
        let last = |centre: usize| {
            let name = CENTRES[centre].name;
            let text = fs::read_to_string(self.folder.join(format!("{name}.log"))).unwrap_or_default();
            let lines: Vec<_> = text.lines().rev().take(3).map(|line| format!("{name}: {line}\n")).collect();
            lines.into_iter().rev().collect::<String>()
        };
        (0..CENTRES.len()).map(last).collect()
    }
}

impl Drop for Network<'_> {
    fn drop(&mut self) {
        for centre in 0..CENTRES.len() {
            let _ = self.kill(centre);
        }
    }
}

fn lacks(status: &Value) -> Option<&'static str> {
    let all = |pointer: &str, is_so: &dyn Fn(&Value) -> bool| {
        let others = status.pointer(pointer).and_then(Value::as_array);
        others.is_some_and(|others| others.len() + 1 == CENTRES.len() && others.iter().all(is_so))
    };
    if !all("/links", &|link| link["up"] == true) {
        return Some("a link");
    }
    // If no data centre is behind another, all have the same purges.
    if !all("/purges/data_centres", &|there| there["behind"] == 0) {
        return Some("a purge");
    }
    let bus = &status["purges"]["bus"];
    let is_on_bus = bus.is_null() || (bus["error"].is_null() && bus["waiting"] == 0);
    (!is_on_bus).then_some("the bus, or a purge in its stream")
}

pub(super) fn operator() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 4480))
}

const PATIENCE: Duration = Duration::from_secs(5);
const AT_START: Duration = Duration::from_secs(30);
