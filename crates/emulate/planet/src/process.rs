//! The process of a planet: holds the namespaces and runs the switch.
//!
//! ```text
//!  longhaul lab up ── starts ──> guard ── forks ──> planet (pid 1 of its own process namespace)
//!                                                     ├─ switch thread, control thread
//!                                                     └─ everything that runs in its hosts
//! ```
//!
//! The planet dies with its guard, and the guard with its starter (PR_SET_PDEATHSIG). After a
//! Ctrl-C, a panic or a `kill -9` of any of them nothing remains: the kernel kills all processes of
//! a process namespace with its first one.

use std::{
    fs, io,
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{Child, Command, ExitCode, ExitStatus, Stdio},
    sync::{Arc, OnceLock, mpsc},
    thread::JoinHandle,
};

use nix::{
    sched::{CloneFlags, unshare},
    sys::{
        prctl::set_pdeathsig,
        resource::{Resource, getrlimit, setrlimit},
        signal::{SigSet, Signal},
        wait::{WaitStatus, waitpid},
    },
    unistd::{ForkResult, Uid, chdir, getgid, getpid, getppid, getuid, setsid},
};
use serde::{Deserialize, Serialize};
use tracing::{error, info};
use world::{Document, World};

use crate::{
    clock::MachineCpu,
    control::{self, Planet},
    control_server::Keeper,
    error::{Doing, Error, Needs},
    failure::Failure,
    fidelity::{
        heartbeat::{self, Beat},
        programs,
    },
    host::all::make_all,
    host_files::furnish,
    switch,
    sys::process::{close_others, fork, ignore_children, is_alive, pidfd},
    timeline::Timeline,
};

/// The lifetime of a planet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Life {
    /// Until the starting thread ends, or [`Running`] is dropped.
    WithStarter,
    /// Until it receives a request to end.
    Detached,
}

/// A planet that this process has started.
#[derive(Debug)]
pub struct Running {
    planet: Planet,
    guard: Child,
    life: Life,
}

#[derive(Debug, Serialize, Deserialize)]
struct Orders {
    name: String,
    world: String,
    life: Life,
    starter: i32,
}

impl Running {
    /// Returns when all hosts are reachable. The program must dispatch the argument [`COMMAND`] to
    /// [`main`].
    pub fn start(world: &World, name: &str, life: Life) -> Result<Self, Error> {
        control::check_name(name)?;
        if Planet::running()?.iter().any(|running| running == name) {
            return Err(Error::NameTaken { name: name.to_owned() });
        }
        let mut guard = Command::new("/proc/self/exe")
            .arg(COMMAND)
            .args(PASSED_ON.get().into_iter().flatten())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(if life == Life::Detached { Stdio::null() } else { Stdio::inherit() })
            .spawn()
            .doing(|| "start the planet's process".to_owned())?;
        let orders = Orders {
            name: name.to_owned(),
            world: world.to_toml(),
            life,
            starter: i32::try_from(std::process::id()).expect("process ids fit an i32"),
        };
        let told = guard.stdin.take().map(|mut stdin| control::write_line(&mut stdin, &orders));
        let answer = match (told, guard.stdout.take()) {
            (Some(Ok(())), Some(stdout)) => control::read_line::<Result<(), Failure>>(stdout),
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        };
        let failed = match answer {
            Ok(Ok(())) => match Planet::find(Some(name)) {
                Ok(planet) => return Ok(Self { planet, guard, life }),
                Err(error) => error,
            },
            Ok(Err(failure)) => failure.into_error(name),
            Err(error) => {
                Error::Gone { name: name.to_owned(), detail: format!(" during its start: {error}") }
            }
        };
        let _ = guard.kill();
        let _ = guard.wait();
        Err(failed)
    }

    /// The planet.
    pub fn planet(&self) -> &Planet {
        &self.planet
    }

    /// How the planet ended; `None` while it responds, even if slowly.
    pub fn ended(&mut self) -> Option<Ending> {
        let is_gone = matches!(self.planet.brief_status(), Err(Error::Gone { .. }));
        is_gone.then(|| self.guard.wait().map_or(Ending::Unknown, Ending::of))
    }
}

/// The reason for the unexpected end of a planet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// A regular end on request of another process.
    Told,
    /// A signal killed the planet or its guard.
    Killed(i32),
    /// It failed, or the cause is unknown.
    Unknown,
}

impl Ending {
    fn of(guard: ExitStatus) -> Self {
        match (guard.code(), guard.signal()) {
            (Some(0), _) => Self::Told,
            (Some(code), _) if code > BY_SIGNAL.into() => Self::Killed(code - i32::from(BY_SIGNAL)),
            (_, Some(signal)) => Self::Killed(signal),
            _ => Self::Unknown,
        }
    }

    /// The end as an error.
    pub fn into_error(self, name: &str) -> Error {
        let detail = match self {
            Self::Told => ": on request (longhaul lab down)".to_owned(),
            Self::Killed(signal) => format!(": it was killed by signal {signal}"),
            Self::Unknown => String::new(),
        };
        Error::Gone { name: name.to_owned(), detail }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // An ended guard has been reaped, so its process id must not be used.
        let is_there = matches!(self.guard.try_wait(), Ok(None));
        if self.life == Life::WithStarter && is_there {
            let _ = self.planet.down();
            let _ = self.guard.wait();
        }
    }
}

/// The argument with which a program starts itself as a planet's guard.
pub const COMMAND: &str = "planet-process";

/// Sets arguments for the processes of planets, once; they read them with [`passed_on`].
pub fn pass_on(words: Vec<String>) {
    let _ = PASSED_ON.set(words);
}

/// The arguments that the starter passed to this process.
pub fn passed_on() -> Vec<String> {
    std::env::args().skip(2).collect()
}

static PASSED_ON: OnceLock<Vec<String>> = OnceLock::new();

/// The entry point if the first argument is [`COMMAND`]. No thread may have been started before.
pub fn main() -> ExitCode {
    let orders: Orders = match control::read_line(io::stdin().lock()) {
        Ok(orders) => orders,
        // Without input, the starter has ended.
        Err(_) => return fail(&Failure::from(&Error::Abandoned)),
    };
    match guard(&orders) {
        Ok(code) => code,
        Err(error) => fail(&Failure::from(&error)),
    }
}

fn guard(orders: &Orders) -> Result<ExitCode, Error> {
    let uid = getuid();
    close_others().doing(|| "close what the starter left open".to_owned())?;
    SigSet::all().thread_unblock().doing(|| "unblock signals".to_owned())?;
    chdir("/").doing(|| "leave the starter's folder".to_owned())?;
    raise_descriptor_limit();
    // Ctrl-C is handled by the starter, which then ends the planet.
    setsid().doing(|| "leave the terminal's session".to_owned())?;
    if !Uid::effective().is_root() {
        enter_user_namespace()?;
    }
    unshare(CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWPID)
        .doing_with(Needs::Namespaces, || "make the planet's mount and process namespaces".to_owned())?;
    if orders.life == Life::WithStarter {
        die_with_parent(|| getppid().as_raw() == orders.starter)?;
    }
    let guard = pidfd(getpid()).doing(|| "watch the guard".to_owned())?;
    match fork().doing(|| "fork the planet".to_owned())? {
        ForkResult::Parent { child } => {
            // Only the planet holds the pipe to the starter from now on.
            nix::unistd::dup2_stdout(fs::File::open("/dev/null").doing(|| "open /dev/null".to_owned())?)
                .doing(|| "let go of the starter".to_owned())?;
            match waitpid(child, None) {
                Ok(WaitStatus::Exited(_, 0)) => Ok(ExitCode::SUCCESS),
                Ok(WaitStatus::Signaled(_, signal, _)) => Ok(ExitCode::from(
                    u8::try_from(signal as i32).map_or(BY_SIGNAL, |signal| BY_SIGNAL + signal),
                )),
                _ => Ok(ExitCode::FAILURE),
            }
        }
        ForkResult::Child => {
            die_with_parent(|| is_alive(&guard))?;
            planet(orders, uid)
        }
    }
}

fn planet(orders: &Orders, uid: Uid) -> Result<ExitCode, Error> {
    // Orphans in the planet become our children. No code waits for them, so the kernel reaps them.
    die_by_panic();
    ignore_children().doing(|| "leave children to the kernel".to_owned())?;
    let listener = control::listen(&orders.name, uid.as_raw())?;
    let document = Document::new(format!("planet \"{}\"", orders.name), orders.world.as_str());
    let (_, layout) = World::read(&document)?;
    furnish(&layout)?;

    let (hosts, layout) = (Arc::new(make_all(&layout)?), Arc::new(layout));
    let beats: Vec<_> = (0..heartbeat::count())
        .map(|_| Beat::new().map(Arc::new))
        .collect::<io::Result<_>>()
        .doing(|| "set up the heartbeat".to_owned())?;
    let (shards, handle) = switch::build(&hosts, &layout, &beats).doing(|| "set up the switch".to_owned())?;
    let timeline = Arc::new(Timeline::new(Arc::clone(&layout), Arc::clone(&hosts), handle.clone()));
    let (count, parts) = (hosts.len(), shards.len());
    let pulse = heartbeat::start(&beats, handle.clock()).doing(|| "start the heartbeat".to_owned())?;
    let programs = programs::start(&hosts, handle.clock());
    let keeper = Keeper {
        name: orders.name.clone(),
        world: orders.world.clone(),
        layout,
        hosts,
        handle,
        timeline: Arc::clone(&timeline),
        machine: MachineCpu::read(),
        pulse,
        programs,
    };
    let mut threads: Vec<_> = shards.into_iter().map(|shard| std::thread::spawn(|| shard.run())).collect();
    threads.push(std::thread::spawn(move || timeline.run()));
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            // A client that disconnects early does not affect other clients.
            let _ = control::answer(client, |request, client| keeper.reply(request, client));
        }
    });
    info!(planet = orders.name, hosts = count, shards = parts, "the planet is up");
    let ready: Result<(), Failure> = Ok(());
    control::write_line(&mut io::stdout(), &ready).doing(|| "report that the planet is up".to_owned())?;
    outlive_none(threads)
}

/// A thread of the planet ends only on failure.
fn outlive_none(threads: Vec<JoinHandle<io::Result<()>>>) -> Result<ExitCode, Error> {
    let (sender, ended) = mpsc::channel();
    for thread in threads {
        let sender = sender.clone();
        std::thread::spawn(move || sender.send(thread.join()));
    }
    match ended.recv() {
        Ok(Ok(result)) => {
            if let Err(error) = &result {
                error!(%error, "the switch ended");
            }
            result.doing(|| "run the switch".to_owned()).map(|()| ExitCode::SUCCESS)
        }
        _ => Ok(ExitCode::FAILURE),
    }
}

/// A panic of any thread ends the planet, because a planet with missing parts must not continue.
fn die_by_panic() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        report(panic);
        std::process::abort();
    }));
}

/// Runs `look` in the namespaces of a temporary process. Its result is below 255; `None` if the
/// namespaces cannot be created.
pub(crate) fn in_new_namespaces(look: impl FnOnce() -> u8) -> Option<u8> {
    let enter = || -> Result<(), Error> {
        if !Uid::effective().is_root() {
            enter_user_namespace()?;
        }
        unshare(CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWNET)
            .doing_with(Needs::Namespaces, || "make namespaces".to_owned())
    };
    match fork().ok()? {
        ForkResult::Child => {
            let found = enter().map_or(CANNOT_ENTER, |()| look());
            std::process::exit(found.into())
        }
        ForkResult::Parent { child } => match waitpid(child, None) {
            Ok(WaitStatus::Exited(_, found)) => {
                u8::try_from(found).ok().filter(|&found| found != CANNOT_ENTER)
            }
            _ => None,
        },
    }
}

const BY_SIGNAL: u8 = 128;

const CANNOT_ENTER: u8 = 255;

/// User 0 of a new user namespace may create the other namespaces.
fn enter_user_namespace() -> Result<(), Error> {
    let (uid, gid) = (getuid(), getgid());
    unshare(CloneFlags::CLONE_NEWUSER)
        .doing_with(Needs::Namespaces, || "make a user namespace".to_owned())?;
    for (file, text) in [
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("0 {uid} 1")),
        ("gid_map", format!("0 {gid} 1")),
    ] {
        let path = Path::new("/proc/self").join(file);
        fs::write(&path, text).doing_with(Needs::Namespaces, || {
            format!("map the user in the user namespace ({})", path.display())
        })?;
    }
    Ok(())
}

pub(crate) fn die_with_parent(is_alive: impl Fn() -> bool) -> Result<(), Error> {
    set_pdeathsig(Signal::SIGKILL).doing(|| "tie this process's life to its parent's".to_owned())?;
    if is_alive() {
        return Ok(());
    }
    Err(Error::Abandoned)
}

/// On failure, the later error of an operation explains the limit.
pub(crate) fn raise_descriptor_limit() {
    if let Ok((_, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}

fn fail(failure: &Failure) -> ExitCode {
    let failed: Result<(), &Failure> = Err(failure);
    let _ = control::write_line(&mut io::stdout(), &failed);
    ExitCode::FAILURE
}
