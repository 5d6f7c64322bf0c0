//! Runs a program in a host of a planet that is up.
//!
//! The calling process steps into the planet's namespaces and forks: only a child is counted in a new process namespace.
//! The child keeps the terminal, the environment and the working directory, and dies with its parent or its planet. What it
//! leaves behind in the background lives as long as the planet.

use std::{
    ffi::{CString, OsStr, OsString},
    fs::File,
    os::{
        fd::AsFd,
        unix::{ffi::OsStrExt, fs::MetadataExt},
    },
    process::ExitCode,
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
    control::Planet,
    error::{Doing, Error},
    process::die_with_parent,
    sys::process::{end_by_broken_pipe, fork, is_alive, pidfd},
};

impl Planet {
    /// Runs `command` in `host` and returns its exit code, or 128 + N if signal N ended it. The calling process must have
    /// a single thread, and is inside the planet afterwards.
    pub fn run_in(&self, host: &str, command: &[OsString]) -> Result<ExitCode, Error> {
        let namespace = self.locate(host)?;
        let directory = std::env::current_dir().ok();
        self.enter(namespace)?;
        if let Some(directory) = directory {
            // It may be hidden by a mount of the planet; the root directory, where we are now, serves as well.
            let _ = chdir(&directory);
        }
        let arguments = c_strings(command)?;
        let signals = signals();
        sigprocmask(SigmaskHow::SIG_BLOCK, Some(&signals), None).doing(|| "block signals".to_owned())?;
        let parent = pidfd(getpid()).doing(|| "watch this process".to_owned())?;
        match fork().doing(|| format!("fork for {host}"))? {
            ForkResult::Parent { child } => Ok(ExitCode::from(wait_for(child, &signals)?)),
            ForkResult::Child => {
                die_with_parent(|| is_alive(&parent))?;
                end_by_broken_pipe().doing(|| "restore what a broken pipe does".to_owned())?;
                sigprocmask(SigmaskHow::SIG_UNBLOCK, Some(&signals), None)
                    .doing(|| "unblock signals".to_owned())?;
                let Err(errno) = execvp(&arguments[0], &arguments);
                Err(Error::System {
                    operation: format!("run {} in {host}", command[0].display()),
                    source: errno.into(),
                })
            }
        }
    }

    /// Steps into the planet's namespaces and a host's network.
    fn enter(&self, network: i32) -> Result<(), Error> {
        let base = format!("/proc/{}", self.pid());
        let open = |path: String| File::open(&path).doing(|| format!("open {path}"));
        let user = open(format!("{base}/ns/user"))?;
        let network = open(format!("{base}/fd/{network}"))?;
        let processes = open(format!("{base}/ns/pid"))?;
        let mounts = open(format!("{base}/ns/mnt"))?;
        // Root's planets share root's user namespace, and nobody can enter the one he is in.
        let ours = open("/proc/self/ns/user".to_owned())?;
        let inode = |file: &File| {
            file.metadata().map(|data| data.ino()).doing(|| "identify a user namespace".to_owned())
        };
        if inode(&user)? != inode(&ours)? {
            step(&user, CloneFlags::CLONE_NEWUSER, "user")?;
        }
        step(&network, CloneFlags::CLONE_NEWNET, "network")?;
        step(&processes, CloneFlags::CLONE_NEWPID, "process")?;
        step(&mounts, CloneFlags::CLONE_NEWNS, "mount")
    }
}

fn step(namespace: &File, kind: CloneFlags, what: &str) -> Result<(), Error> {
    setns(namespace.as_fd(), kind).doing(|| format!("enter the planet's {what} namespace"))
}

/// Waits for the child and passes on the signals that ask it to end. Those of the keyboard it gets itself.
fn wait_for(child: Pid, signals: &SigSet) -> Result<u8, Error> {
    loop {
        match waitpid(child, Some(WaitPidFlag::WNOHANG)).doing(|| "wait for the program".to_owned())? {
            WaitStatus::Exited(_, code) => return Ok(u8::try_from(code).unwrap_or(u8::MAX)),
            WaitStatus::Signaled(_, signal, _) => return Ok(128 + u8::try_from(signal as i32).unwrap_or(0)),
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

fn c_strings(command: &[OsString]) -> Result<Vec<CString>, Error> {
    let convert = |part: &OsString| CString::new(OsStr::as_bytes(part)).map_err(std::io::Error::from);
    let all: Vec<_> = command
        .iter()
        .map(convert)
        .collect::<Result<_, _>>()
        .doing(|| "run a command with a zero byte".to_owned())?;
    if all.is_empty() {
        return Err(Error::System {
            operation: "run nothing".to_owned(),
            source: std::io::Error::other("a command is expected after --"),
        });
    }
    Ok(all)
}
