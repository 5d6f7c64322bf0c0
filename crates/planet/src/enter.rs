//! Runs a program in a host of a planet that is up.
//!
//! The calling process steps into the planet's namespaces and forks: only a child is counted in a new process namespace.
//! The child keeps the terminal, the environment and the working directory, and dies with its parent or its planet. What it
//! leaves behind in the background lives as long as the planet.

use std::{
    ffi::{CString, OsStr, OsString},
    fs::File,
    io::{self, Read, Write},
    os::{
        fd::AsFd,
        unix::{ffi::OsStrExt, fs::MetadataExt},
    },
    time::Duration,
};

use nix::{
    sched::{CloneFlags, setns},
    sys::{
        signal::{SigSet, SigmaskHow, Signal, kill, sigprocmask},
        wait::{WaitPidFlag, WaitStatus, waitpid},
    },
    unistd::{ForkResult, Pid, chdir, execvp, getpid},
};

use crate::{
    End,
    clock::monotonic,
    control::Planet,
    error::{Doing, Error, Needs},
    process::die_with_parent,
    sys::process::{end_by_broken_pipe, fork, is_alive, pidfd},
};

/// The network of a host, open for entering.
#[derive(Debug)]
pub struct Network(Namespaces);

impl Network {
    /// Takes the calling thread there, for good: what it connects to, and what programs that it starts listen on, is in the host. Other
    /// threads stay where they are. From there no planet can be found any more. Root's planets are for root alone, and those of others
    /// cannot be joined by a thread.
    pub fn join(&self) -> Result<(), Error> {
        self.0.enter_network()
    }
}

/// How a program that was waited for has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// Whether it began at all: there is such a program, and it may be run.
    pub has_started: bool,
    /// How it ended.
    pub end: End,
    /// How long it ran.
    pub ran: Duration,
}

impl Ended {
    /// The program's exit code, or 128 + N if signal N ended it, as shells have it.
    pub fn exit_code(self) -> u8 {
        let code = match self.end {
            End::Code(code) => code,
            End::Signal(number) => 128 + number,
            End::Unseen => i32::from(u8::MAX),
        };
        u8::try_from(code).unwrap_or(u8::MAX)
    }
}

impl Planet {
    /// The network of a host, for threads that are to be in it.
    pub fn network(&self, host: &str) -> Result<Network, Error> {
        Namespaces::of(self, host).map(Network)
    }

    /// Runs `command` in `host` and says how it ended. The calling process must have a single thread, and is inside the
    /// planet afterwards. In the child that could not become the program this returns an error.
    pub fn run_in(&self, host: &str, command: &[OsString]) -> Result<Ended, Error> {
        let namespaces = Namespaces::of(self, host)?;
        namespaces.enter_planet()?;
        namespaces.enter_network()?;
        namespaces.enter_processes()?;
        let arguments = c_strings(command)?;
        let signals = signals();
        sigprocmask(SigmaskHow::SIG_BLOCK, Some(&signals), None).doing(|| "block signals".to_owned())?;
        let parent = pidfd(getpid()).doing(|| "watch this process".to_owned())?;
        // A program takes no end of this pipe along. What comes out of it was put in by a child that could not become one.
        let (mut failure, mut fail) = io::pipe().doing(|| format!("watch a program in {host}"))?;
        let began = monotonic();
        match fork().doing(|| format!("fork for {host}"))? {
            ForkResult::Parent { child } => {
                drop(fail);
                let end = wait_for(child, &signals)?;
                let ran = monotonic().saturating_sub(began);
                let has_started = matches!(failure.read(&mut [0]), Ok(0));
                Ok(Ended { has_started, end, ran })
            }
            ForkResult::Child => {
                die_with_parent(|| is_alive(&parent))?;
                end_by_broken_pipe().doing(|| "restore what a broken pipe does".to_owned())?;
                sigprocmask(SigmaskHow::SIG_UNBLOCK, Some(&signals), None)
                    .doing(|| "unblock signals".to_owned())?;
                let error = become_program(&arguments, host);
                // Who waits for it is told by its exit code as well.
                let _ = fail.write_all(b"!");
                Err(error)
            }
        }
    }
}

/// The namespaces of a planet and one of its hosts, open for entering. Once the calling process is inside the planet's
/// mounts, the planet's process cannot be found in `/proc` any more.
#[derive(Debug)]
pub(crate) struct Namespaces {
    /// Root's planets share root's user namespace, and nobody can enter the one he is in.
    user: Option<File>,
    mounts: File,
    processes: File,
    network: File,
}

impl Namespaces {
    /// Opens them.
    pub(crate) fn of(planet: &Planet, host: &str) -> Result<Self, Error> {
        let network = planet.locate(host)?;
        let base = format!("/proc/{}", planet.pid());
        let open = |path: String| File::open(&path).doing(|| format!("open {path}"));
        let inode = |file: &File| {
            file.metadata().map(|data| data.ino()).doing(|| "identify a user namespace".to_owned())
        };
        let user = open(format!("{base}/ns/user"))?;
        let ours = open("/proc/self/ns/user".to_owned())?;
        let is_shared = inode(&user)? == inode(&ours)?;
        Ok(Self {
            user: (!is_shared).then_some(user),
            mounts: open(format!("{base}/ns/mnt"))?,
            processes: open(format!("{base}/ns/pid"))?,
            network: open(format!("{base}/fd/{network}"))?,
        })
    }

    /// Steps into what the hosts of the planet share: its user and its files. Comes before the other two, and the calling
    /// process must have a single thread. Keeps the folder that it is in where it can.
    pub(crate) fn enter_planet(&self) -> Result<(), Error> {
        let folder = std::env::current_dir().ok();
        if let Some(user) = &self.user {
            step(user, CloneFlags::CLONE_NEWUSER, "user")?;
        }
        step(&self.mounts, CloneFlags::CLONE_NEWNS, "mount")?;
        if let Some(folder) = folder {
            // It may be hidden by a mount of the planet; the root directory, where we are now, serves as well.
            let _ = chdir(&folder);
        }
        Ok(())
    }

    /// Counts the children of the calling process, from here on, among the planet's processes. It can start no thread any
    /// more.
    pub(crate) fn enter_processes(&self) -> Result<(), Error> {
        step(&self.processes, CloneFlags::CLONE_NEWPID, "process")
    }

    /// Steps into the host's network.
    pub(crate) fn enter_network(&self) -> Result<(), Error> {
        step(&self.network, CloneFlags::CLONE_NEWNET, "network")
    }
}

fn step(namespace: &File, kind: CloneFlags, what: &str) -> Result<(), Error> {
    setns(namespace.as_fd(), kind)
        .doing_with(Needs::Namespaces, || format!("enter the planet's {what} namespace"))
}

/// Waits for the child and passes on the signals that ask it to end. Those of the keyboard it gets itself.
fn wait_for(child: Pid, signals: &SigSet) -> Result<End, Error> {
    loop {
        match waitpid(child, Some(WaitPidFlag::WNOHANG)).doing(|| "wait for the program".to_owned())? {
            WaitStatus::Exited(_, code) => return Ok(End::Code(code)),
            WaitStatus::Signaled(_, signal, _) => return Ok(End::Signal(signal as i32)),
            _ => {}
        }
        let signal = signals.wait().doing(|| "wait for a signal".to_owned())?;
        if matches!(signal, Signal::SIGTERM | Signal::SIGHUP) {
            // It may have ended this very moment.
            let _ = kill(child, signal);
        }
    }
}

/// What we wait for: the child's end, and what others send us.
fn signals() -> SigSet {
    [Signal::SIGCHLD, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT].into_iter().collect()
}

/// Turns the calling process into a program; why it could not.
pub(crate) fn become_program(command: &[CString], host: &str) -> Error {
    let Err(errno) = execvp(&command[0], command);
    Error::System {
        operation: format!("run {} in {host}", command[0].to_string_lossy()),
        needs: None,
        source: errno.into(),
    }
}

/// A command as the system wants it; never empty.
pub(crate) fn c_strings(command: &[OsString]) -> Result<Vec<CString>, Error> {
    let convert = |part: &OsString| CString::new(OsStr::as_bytes(part)).map_err(io::Error::from);
    let all: Vec<_> = command
        .iter()
        .map(convert)
        .collect::<Result<_, _>>()
        .doing(|| "run a command with a zero byte".to_owned())?;
    if all.is_empty() {
        return Err(Error::System {
            operation: "run nothing".to_owned(),
            needs: None,
            source: io::Error::other("a command is expected after --"),
        });
    }
    Ok(all)
}
