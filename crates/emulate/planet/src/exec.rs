//! Runs a program in a host of a running planet.
//!
//! The calling process enters the planet's namespaces and forks, because only a child becomes a
//! member of the process namespace. The child dies with its parent or its planet; its background
//! children live as long as the planet.

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
    /// Moves the calling thread permanently into the host's network. Only root can join, and only
    /// root's planets.
    pub fn join(&self) -> Result<(), Error> {
        self.0.enter_network()
    }
}

/// The exit status of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// Whether exec succeeded: the program exists and is executable.
    pub has_started: bool,
    /// How it ended.
    pub end: End,
    /// How long it ran.
    pub ran: Duration,
}

impl Ended {
    /// 128 + N if signal N ended the program, as in shells.
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
    /// The network of a host, for threads to join.
    pub fn network(&self, host: &str) -> Result<Network, Error> {
        Namespaces::of(self, host).map(Network)
    }

    /// Runs `command` in `host`. Call it in a process with a single thread; it is inside the planet
    /// afterwards. In the child, this returns only if exec fails.
    pub fn run_in(&self, host: &str, command: &[OsString]) -> Result<Ended, Error> {
        let namespaces = Namespaces::of(self, host)?;
        namespaces.enter_planet()?;
        namespaces.enter_network()?;
        namespaces.enter_processes()?;
        let arguments = c_strings(command)?;
        let signals = signals();
        sigprocmask(SigmaskHow::SIG_BLOCK, Some(&signals), None).doing(|| "block signals".to_owned())?;
        let parent = pidfd(getpid()).doing(|| "watch this process".to_owned())?;
        // The pipe is closed on exec; a byte in it means that exec failed.
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
                let _ = fail.write_all(b"!");
                Err(error)
            }
        }
    }
}

/// Inside the planet's mount namespace, the planet's process is no longer visible in `/proc`.
#[derive(Debug)]
pub(crate) struct Namespaces {
    /// `None` for root's planets: a process cannot enter its current user namespace.
    user: Option<File>,
    mounts: File,
    processes: File,
    network: File,
}

impl Namespaces {
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

    /// Users and mounts. Call it before the other two, in a process with a single thread.
    pub(crate) fn enter_planet(&self) -> Result<(), Error> {
        let folder = std::env::current_dir().ok();
        if let Some(user) = &self.user {
            step(user, CloneFlags::CLONE_NEWUSER, "user")?;
        }
        step(&self.mounts, CloneFlags::CLONE_NEWNS, "mount")?;
        if let Some(folder) = folder {
            // A mount of the planet may hide the directory; the root directory, which is current
            // now, is sufficient.
            let _ = chdir(&folder);
        }
        Ok(())
    }

    /// Future children become members; the process cannot start threads any longer.
    pub(crate) fn enter_processes(&self) -> Result<(), Error> {
        step(&self.processes, CloneFlags::CLONE_NEWPID, "process")
    }

    pub(crate) fn enter_network(&self) -> Result<(), Error> {
        step(&self.network, CloneFlags::CLONE_NEWNET, "network")
    }
}

fn step(namespace: &File, kind: CloneFlags, what: &str) -> Result<(), Error> {
    setns(namespace.as_fd(), kind)
        .doing_with(Needs::Namespaces, || format!("enter the planet's {what} namespace"))
}

/// Forwards termination signals. The terminal sends keyboard signals to the child directly.
fn wait_for(child: Pid, signals: &SigSet) -> Result<End, Error> {
    loop {
        match waitpid(child, Some(WaitPidFlag::WNOHANG)).doing(|| "wait for the program".to_owned())? {
            WaitStatus::Exited(_, code) => return Ok(End::Code(code)),
            WaitStatus::Signaled(_, signal, _) => return Ok(End::Signal(signal as i32)),
            _ => {}
        }
        let signal = signals.wait().doing(|| "wait for a signal".to_owned())?;
        if matches!(signal, Signal::SIGTERM | Signal::SIGHUP) {
            let _ = kill(child, signal);
        }
    }
}

fn signals() -> SigSet {
    [Signal::SIGCHLD, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT].into_iter().collect()
}

pub(crate) fn become_program(command: &[CString], host: &str) -> Error {
    let Err(errno) = execvp(&command[0], command);
    Error::System {
        operation: format!("run {} in {host}", command[0].to_string_lossy()),
        needs: None,
        source: errno.into(),
    }
}

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
