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
    path::Path,
    process::{Child, Command, ExitCode, Stdio},
    sync::{Arc, mpsc},
};

use nix::{
    mount::{MntFlags, MsFlags, mount, umount2},
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

use crate::{
    clock::MachineCpu,
    control::{self, HostStatus, Planet, Reply, Request, Status},
    document::Document,
    error::{Doing, Error},
    fidelity::Surroundings,
    host::Host,
    layout::Layout,
    router::Router,
    switch::{Handle, Order, Switch},
    sys::process::{close_others, fork, ignore_children, is_alive, pidfd},
    world::World,
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
            Ok(Err(failure)) => failure.into(),
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
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.life == Life::WithStarter {
            // Whether it ends by our word or by our ending, it ends.
            let _ = self.planet.down();
            let _ = self.guard.wait();
        }
    }
}

/// The command line argument by which a program starts itself again as a planet's guard.
pub const COMMAND: &str = "planet-process";

/// The guard: what a program does when it is called with [`COMMAND`] as its only argument. It must not have started a
/// thread.
pub fn main() -> ExitCode {
    let orders: Orders = match control::read_line(io::stdin().lock()) {
        Ok(orders) => orders,
        Err(error) => {
            return fail(&Failure::from(&Error::Gone { name: "?".to_owned(), detail: format!(": {error}") }));
        }
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
        .doing(|| "make the planet's mount and process namespaces".to_owned())?;
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
    // Whatever is orphaned in the planet becomes our child. We wait for none, so the kernel shall bury them.
    die_by_panic();
    ignore_children().doing(|| "leave children to the kernel".to_owned())?;
    let listener = control::listen(&orders.name, uid.as_raw())?;
    let document = Document::new(format!("planet \"{}\"", orders.name), orders.world.as_str());
    let (_, layout) = World::read(&document)?;
    furnish(&layout)?;

    // Network namespaces are made by a thread of their own, so that this one keeps the network it came with.
    let make = || layout.hosts.iter().map(Host::make).collect::<Result<Vec<_>, _>>();
    let hosts = std::thread::scope(|scope| scope.spawn(make).join()).expect("making hosts does not panic")?;
    let hosts = Arc::new(hosts);
    let (switch, handle) = Switch::new(Arc::clone(&hosts), Router::new(layout.clone()))
        .doing(|| "set up the switch".to_owned())?;

    let keeper = Keeper { name: orders.name.clone(), layout, hosts, handle, machine: MachineCpu::read() };
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            // A client that goes away mid-sentence is no concern of the others.
            let _ = control::answer(client, |request| keeper.reply(request));
        }
    });
    let ready: Result<(), Failure> = Ok(());
    control::write_line(&mut io::stdout(), &ready).doing(|| "report that the planet is up".to_owned())?;
    switch.run().doing(|| "run the switch".to_owned())?;
    Ok(ExitCode::SUCCESS)
}

/// A planet of which a part is missing must not live on: a panic of any thread ends it.
fn die_by_panic() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        report(panic);
        std::process::abort();
    }));
}

/// Answers what other processes ask.
struct Keeper {
    name: String,
    layout: Layout,
    hosts: Arc<Vec<Host>>,
    handle: Handle,
    machine: Option<MachineCpu>,
}

impl Keeper {
    fn reply(&self, request: Request) -> Reply {
        match request {
            Request::Status => match self.status() {
                Ok(status) => Reply::Status(Box::new(status)),
                Err(error) => Reply::Refused(error.to_string()),
            },
            Request::Locate { host } => match self.layout.host(&host) {
                Some(id) => Reply::Namespace(self.hosts[id].namespace_number()),
                None => Reply::NoHost(self.some_hosts()),
            },
            Request::Change { between, change } => {
                let [a, b] = between.each_ref().map(|name| self.layout.city(name));
                match (a, b) {
                    (Some(a), Some(b)) if a != b => match self.handle.give(Order::Change(a, b, change)) {
                        Ok(()) => Reply::Done,
                        Err(error) => Reply::Refused(error.to_string()),
                    },
                    _ => Reply::Refused(format!(
                        "there is no link between \"{}\" and \"{}\"",
                        between[0], between[1]
                    )),
                }
            }
            Request::Listening { host } => match self.layout.host(&host).map(|id| self.hosts[id].listening())
            {
                Some(Ok(ports)) => Reply::Ports(ports),
                Some(Err(error)) => Reply::Refused(format!("cannot look into {host}: {error}")),
                None => Reply::Refused(format!("there is no host \"{host}\"")),
            },
            // As the first process of its namespace it takes all others with it.
            Request::Down => std::process::exit(0),
        }
    }

    /// Names of hosts for somebody who misspelt one.
    fn some_hosts(&self) -> String {
        let names: Vec<_> = self.layout.hosts.iter().map(|host| host.name.as_str()).take(20).collect();
        names.join(", ") + if self.layout.hosts.len() > names.len() { ", ..." } else { "" }
    }

    fn status(&self) -> io::Result<Status> {
        let (sender, receiver) = mpsc::channel();
        self.handle.give(Order::Report(sender))?;
        let reading = receiver.recv().map_err(io::Error::other)?;
        // A device that a program in its host removed has no counters; the switch says that it is gone.
        let device_drops = self.hosts.iter().filter_map(|host| host.dropped().ok()).sum();
        let machine = self.machine.as_ref().zip(MachineCpu::read());
        let surroundings = Surroundings {
            switch_cpu_share: reading.cpu.as_secs_f64()
                / reading.running.as_secs_f64().max(f64::MIN_POSITIVE),
            machine_cpu_share: machine.and_then(|(before, now)| now.share_since(before)),
            receive: self.layout.receive,
            lateness_limit: self.layout.lateness,
        };
        let describe = |host: &crate::layout::Host| HostStatus {
            name: host.name.clone(),
            city: self.layout.cities[host.city].name.clone(),
            addresses: vec![host.v4.into(), host.v6.into()],
        };
        Ok(Status {
            name: self.name.clone(),
            ready: true,
            running_s: reading.running.as_secs_f64(),
            hosts: self.layout.hosts.iter().map(describe).collect(),
            fidelity: reading.tally.judge(device_drops, surroundings),
        })
    }
}

/// Whether this user may make what a planet needs. Tries it, in a process that then ends.
pub(crate) fn can_make_namespaces() -> bool {
    let attempt = || -> Result<(), Error> {
        if !Uid::effective().is_root() {
            enter_user_namespace()?;
        }
        unshare(CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWNET)
            .doing(|| "make namespaces".to_owned())
    };
    match fork() {
        Ok(ForkResult::Child) => std::process::exit(i32::from(attempt().is_err())),
        Ok(ForkResult::Parent { child }) => matches!(waitpid(child, None), Ok(WaitStatus::Exited(_, 0))),
        Err(_) => false,
    }
}

/// Becomes user 0 of a new user namespace, which may make all the other namespaces.
fn enter_user_namespace() -> Result<(), Error> {
    let (uid, gid) = (getuid(), getgid());
    unshare(CloneFlags::CLONE_NEWUSER).doing(|| "make a user namespace".to_owned())?;
    for (file, text) in [
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("0 {uid} 1")),
        ("gid_map", format!("0 {gid} 1")),
    ] {
        let path = Path::new("/proc/self").join(file);
        fs::write(&path, text)
            .doing(|| format!("map the user in the user namespace ({})", path.display()))?;
    }
    Ok(())
}

/// Gives the planet its own view of files: a hosts file with all names, resolved without asking anybody, and its own
/// processes in `/proc`.
fn furnish(layout: &Layout) -> Result<(), Error> {
    let nothing: Option<&str> = None;
    mount(nothing, "/", nothing, MsFlags::MS_REC | MsFlags::MS_PRIVATE, nothing)
        .doing(|| "keep the planet's mounts to itself".to_owned())?;

    // A file can be mounted over another only from a file system that is mounted; once it is, that may go again.
    mount(Some("longhaul"), "/tmp", Some("tmpfs"), MsFlags::empty(), Some("mode=0755"))
        .doing(|| "mount a file system for the planet's files".to_owned())?;
    cover("hosts", "/etc/hosts", &hosts_file(layout))?;
    for (name, path, content) in RESOLVER {
        if Path::new(path).exists() {
            cover(name, path, content)?;
        }
    }
    umount2("/tmp", MntFlags::MNT_DETACH)
        .doing(|| "unmount the file system of the planet's files".to_owned())?;

    // Some containers cover parts of /proc and the kernel then refuses a fresh one. The old one shows too many
    // processes, under numbers of another namespace; the planet works all the same.
    let _ = mount(Some("proc"), "/proc", Some("proc"), MsFlags::empty(), nothing);
    Ok(())
}

/// Mounts a file with this content over one of the machine's, for the planet alone.
fn cover(name: &str, path: &str, content: &str) -> Result<(), Error> {
    let nothing: Option<&str> = None;
    let own = Path::new("/tmp").join(name);
    fs::write(&own, content).doing(|| format!("write the planet's {path}"))?;
    mount(Some(&own), path, nothing, MsFlags::MS_BIND, nothing).doing(|| format!("mount the planet's {path}"))
}

fn hosts_file(layout: &Layout) -> String {
    let local = "127.0.0.1 localhost\n::1 localhost\n".to_owned();
    layout
        .hosts
        .iter()
        .fold(local, |text, host| format!("{text}{} {name}\n{} {name}\n", host.v4, host.v6, name = host.name))
}

/// How names are resolved on a planet, for files that the machine has.
const RESOLVER: [(&str, &str, &str); 3] = [
    // The hosts file first, whatever service the machine would ask.
    (
        "nsswitch.conf",
        "/etc/nsswitch.conf",
        "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n",
    ),
    // No planet has a name server: a name that the hosts file lacks is refused at once instead of after a long silence.
    ("resolv.conf", "/etc/resolv.conf", "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n"),
    // Hosts have unique local IPv6 addresses, and RFC 6724 (section 2.1) prefers IPv4 to those. glibc has an older table,
    // which this line brings up to date (gai.conf(5)).
    ("gai.conf", "/etc/gai.conf", "precedence ::ffff:0:0/96 100\n"),
];

/// Asks the kernel to kill this process when its parent dies, then makes sure that it has not died already.
pub(crate) fn die_with_parent(is_alive: impl Fn() -> bool) -> Result<(), Error> {
    set_pdeathsig(Signal::SIGKILL).doing(|| "tie this process's life to its parent's".to_owned())?;
    if is_alive() {
        return Ok(());
    }
    Err(Error::Gone { name: "?".to_owned(), detail: ": whoever started it went away".to_owned() })
}

/// Lets the planet hold as many hosts as the machine allows. Where that fails, making them will say what is missing.
fn raise_descriptor_limit() {
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

/// An [`Error`] on its way to the process that started the planet.
#[derive(Debug, Serialize, Deserialize)]
struct Failure {
    operation: Option<String>,
    name_taken: Option<String>,
    os_error: Option<i32>,
    text: String,
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        let text = error.to_string();
        match error {
            Error::System { operation, source } => Self {
                operation: Some(operation.clone()),
                name_taken: None,
                os_error: source.raw_os_error(),
                text: source.to_string(),
            },
            Error::NameTaken { name } => {
                Self { operation: None, name_taken: Some(name.clone()), os_error: None, text }
            }
            _ => Self { operation: None, name_taken: None, os_error: None, text },
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        let source = || {
            failure
                .os_error
                .map_or_else(|| io::Error::other(failure.text.clone()), io::Error::from_raw_os_error)
        };
        match (failure.operation.clone(), failure.name_taken.clone()) {
            (_, Some(name)) => Self::NameTaken { name },
            (Some(operation), None) => Self::System { operation, source: source() },
            (None, None) => Self::Gone { name: "?".to_owned(), detail: format!(": {}", failure.text) },
        }
    }
}
