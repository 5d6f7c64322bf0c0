//! Child processes of benchmarks: Longhaul and its peers.

use std::{
    env,
    fs::{self, File},
    io::{BufRead, BufReader},
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use anyhow::{Context, bail, ensure};
use nix::{
    sys::{
        resource::{UsageWho, getrusage},
        signal::{Signal, kill},
        time::TimeValLike,
    },
    unistd::Pid,
};

use crate::root;

pub(super) fn longhaul() -> Command {
    Command::new(target().join("release/longhaul"))
}

pub(super) fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |folder| root().join(folder))
}

pub(super) fn is_installed(program: &str) -> bool {
    Command::new("which").arg(program).stdout(Stdio::null()).status().is_ok_and(|status| status.success())
}

pub(super) struct Run {
    pub(super) output: String,
    pub(super) cpu_us: f64,
}

/// Exit status 1 is allowed: a measuring program uses it to report doubts about its result.
pub(super) fn run(command: &mut Command) -> anyhow::Result<Run> {
    let name = command.get_program().to_string_lossy().into_owned();
    let before = children_us()?;
    let output = command.stderr(Stdio::null()).output().with_context(|| format!("cannot run {name}"))?;
    ensure!(matches!(output.status.code(), Some(0 | 1)), "{name} failed: {}", output.status);
    Ok(Run { output: String::from_utf8(output.stdout)?, cpu_us: children_us()? - before })
}

#[expect(clippy::cast_precision_loss, reason = "microseconds of processor time")]
fn children_us() -> anyhow::Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    Ok((usage.user_time().num_microseconds() + usage.system_time().num_microseconds()) as f64)
}

/// "VmRSS" (resident), "RssAnon" (without file-backed pages) or "VmHWM" (peak).
pub(super) fn memory_mb(id: u32, name: &str) -> anyhow::Result<f64> {
    let status = fs::read_to_string(format!("/proc/{id}/status"))?;
    let value = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let value = value.with_context(|| format!("a process has no {name}"))?;
    let kib: f64 =
        value.trim().trim_end_matches(" kB").parse().with_context(|| format!("{name} is no number"))?;
    Ok(kib * 1024.0 / 1e6)
}

pub(super) struct Running(Child);

impl Running {
    pub(super) fn start(command: &mut Command) -> anyhow::Result<Self> {
        Ok(Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?))
    }

    #[expect(clippy::disallowed_methods, reason = "nothing tells when a program begins to listen")]
    pub(super) fn listening(command: &mut Command, address: SocketAddr) -> anyhow::Result<Self> {
        let running = Self::start(command)?;
        for _ in 0..500 {
            if TcpStream::connect(address).is_ok() {
                return Ok(running);
            }
            thread::sleep(Duration::from_millis(10));
        }
        bail!("no listener at {address}")
    }

    pub(super) fn logging(command: &mut Command, log: &Path) -> anyhow::Result<Self> {
        let name = command.get_program().to_string_lossy().into_owned();
        let file = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        Ok(Self(command.spawn().with_context(|| format!("cannot run {name}"))?))
    }

    pub(super) fn saying(command: &mut Command) -> anyhow::Result<(Self, String)> {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let mut said = String::new();
        if let Some(stderr) = child.stderr.take() {
            BufReader::new(stderr).read_line(&mut said)?;
        }
        Ok((Self(child), said.trim().to_owned()))
    }

    pub(super) fn id(&self) -> u32 {
        self.0.id()
    }

    pub(super) fn has_ended(&mut self) -> anyhow::Result<bool> {
        Ok(self.0.try_wait()?.is_some())
    }

    pub(super) fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        Ok(kill(Pid::from_raw(i32::try_from(self.0.id())?), signal)?)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // nginx stops its workers on SIGTERM, but not when it is killed.
        let _ = self.signal(Signal::SIGTERM);
        let _ = self.0.wait();
    }
}
