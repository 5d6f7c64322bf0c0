//! The process of a planet: it holds the namespaces, runs the switch, and takes everything with it when it ends.
//!
//! ```text
//!  longhaul lab up ── starts ──> guard ── forks ──> planet (pid 1 of its own process namespace)
//!                                                     ├─ switch thread, control thread
//!                                                     └─ everything that runs in its hosts
//! ```
//!
//! When the first process of a process namespace ends, the kernel kills all others in it. The planet is told to die with
//! its guard, and the guard with whoever started it, so after a Ctrl-C, a panic or a `kill -9` of any of them nothing
//! stays: namespaces and devices live no longer than the processes and descriptors that hold them.

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
    error::{Doing, Error, Needs},
    failure::Failure,
    fidelity::{
        heartbeat::{self, Beat},
        programs,
    },
    furnish::furnish,
    host::all::make_all,
    keeper::Keeper,
    switch,
    sys::process::{close_others, fork, ignore_children, is_alive, pidfd},
    timeline::Timeline,
};

/// How long a planet lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Life {
    /// Until the thread that started it ends, or [`Running`] is dropped.
    WithStarter,
    /// Until it is told to end.
    Detached,
}

/// A planet that this process has started.
#[derive(Debug)]
pub struct Running {
    planet: Planet,
    guard: Child,
    life: Life,
}

/// What the starter tells the guard, as one line of JSON on its standard input.
#[derive(Debug, Serialize, Deserialize)]
struct Orders {
    name: String,
    world: String,
    life: Life,
    starter: i32,
}

impl Running {
    /// Starts a planet under `name` and returns when every host can be reached. The calling program must hand the
    /// command line [`COMMAND`] over to [`main`].
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
                Error::Gone { name: name.to_owned(), detail: format!(" while it came up: {error}") }
            }
        };
        // It has said its last word, or has nothing more to say to us.
        let _ = guard.kill();
        let _ = guard.wait();
        Err(failed)
    }

    /// The planet.
    pub fn planet(&self) -> &Planet {
        &self.planet
    }

    /// How the planet ended; `None` while it answers, or is only slow to.
    pub fn ended(&mut self) -> Option<Ending> {
        let is_gone = matches!(self.planet.brief_status(), Err(Error::Gone { .. }));
        is_gone.then(|| self.guard.wait().map_or(Ending::Unknown, Ending::of))
    }
}

/// How a planet ended that its starter did not end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// In order: somebody told it to.
    Told,
    /// It or its guard was killed by this signal.
    Killed(i32),
    /// It failed, or nobody saw how.
    Unknown,
}

impl Ending {
    /// What the guard's end says of the planet's.
    fn of(guard: ExitStatus) -> Self {
        match (guard.code(), guard.signal()) {
            (Some(0), _) => Self::Told,
            (Some(code), _) if code > BY_SIGNAL.into() => Self::Killed(code - i32::from(BY_SIGNAL)),
            (_, Some(signal)) => Self::Killed(signal),
            _ => Self::Unknown,
        }
    }

    /// That planet's end as an error.
    pub fn into_error(self, name: &str) -> Error {
        let detail = match self {
            Self::Told => ": somebody told it to (longhaul lab down)".to_owned(),
            Self::Killed(signal) => format!(": it was killed by signal {signal}"),
            Self::Unknown => String::new(),
        };
        Error::Gone { name: name.to_owned(), detail }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // What has ended already has a number no more, by which it could be told.
        let is_there = matches!(self.guard.try_wait(), Ok(None));
        if self.life == Life::WithStarter && is_there {
            // Whether it ends by our word or by our ending, it ends.
            let _ = self.planet.down();
            let _ = self.guard.wait();
        }
    }
}

/// The command line argument by which a program starts itself again as a planet's guard.
pub const COMMAND: &str = "planet-process";

/// Words for the processes of the planets that this one starts, which get them from [`passed_on`]. The first call counts.
pub fn pass_on(words: Vec<String>) {
    let _ = PASSED_ON.set(words);
}

/// The words that the process got which started this planet's.
pub fn passed_on() -> Vec<String> {
    std::env::args().skip(2).collect()
}

static PASSED_ON: OnceLock<Vec<String>> = OnceLock::new();

/// The guard: what a program does when it is called with [`COMMAND`] as its first argument. It must not have started a
/// thread.
pub fn main() -> ExitCode {
    let orders: Orders = match control::read_line(io::stdin().lock()) {
        Ok(orders) => orders,
        // Without orders there is nobody to work for.
        Err(_) => return fail(&Failure::from(&Error::Abandoned)),
    };
    match guard(&orders) {
        Ok(code) => code,
        Err(error) => fail(&Failure::from(&error)),
    }
}

/// Becomes the planet's guard, forks the planet, and waits for it.
fn guard(orders: &Orders) -> Result<ExitCode, Error> {
    let uid = getuid();
    // What the starter had open or blocked is its own business, and so is the folder it was in.
    close_others().doing(|| "close what the starter left open".to_owned())?;
    SigSet::all().thread_unblock().doing(|| "unblock signals".to_owned())?;
    chdir("/").doing(|| "leave the starter's folder".to_owned())?;
    raise_descriptor_limit();
    // A Ctrl-C is for whoever started us, who will then end the planet in order.
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
            // The planet alone holds the pipe to the starter now.
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

/// The planet itself.
fn planet(orders: &Orders, uid: Uid) -> Result<ExitCode, Error> {
    // Whatever is orphaned in the planet becomes our child. Nobody waits for these children, so let the kernel reap them.
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
            // A client that goes away mid-sentence is not a concern of the others.
            let _ = control::answer(client, |request, client| keeper.reply(request, client));
        }
    });
    info!(planet = orders.name, hosts = count, shards = parts, "the planet is up");
    let ready: Result<(), Failure> = Ok(());
    control::write_line(&mut io::stdout(), &ready).doing(|| "report that the planet is up".to_owned())?;
    outlive_none(threads)
}

/// Waits until a thread of the planet ends, which none does without a reason.
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
        // A panic has ended the process before.
        _ => Ok(ExitCode::FAILURE),
    }
}

/// A planet of which a part is missing must not live on: a panic of any thread ends it.
fn die_by_panic() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        report(panic);
        std::process::abort();
    }));
}

/// Makes the namespaces that a planet needs, in a process that then ends, and looks around in them. What was found, below
/// 255; `None`: they cannot be made.
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

/// A guard whose planet was killed ends with this and the signal's number, as shells have it.
const BY_SIGNAL: u8 = 128;

/// What no look around finds.
const CANNOT_ENTER: u8 = 255;

/// Becomes user 0 of a new user namespace, which may make all the other namespaces.
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

/// Asks the kernel to kill this process when its parent dies, then makes sure that it has not died already.
pub(crate) fn die_with_parent(is_alive: impl Fn() -> bool) -> Result<(), Error> {
    set_pdeathsig(Signal::SIGKILL).doing(|| "tie this process's life to its parent's".to_owned())?;
    if is_alive() {
        return Ok(());
    }
    Err(Error::Abandoned)
}

/// Lets this process hold as many hosts or connections as the machine allows. Where that fails, what is one too many says
/// what is missing.
pub(crate) fn raise_descriptor_limit() {
    if let Ok((_, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}

fn fail(failure: &Failure) -> ExitCode {
    let failed: Result<(), &Failure> = Err(failure);
    // Nobody may be listening any more; the exit code says it too.
    let _ = control::write_line(&mut io::stdout(), &failed);
    ExitCode::FAILURE
}
