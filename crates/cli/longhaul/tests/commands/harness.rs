//! Helpers of the tests: run the program, describe a world, start it, and run commands in it.

use std::{
    fmt::Write,
    io::{BufRead, BufReader},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::atomic::{AtomicBool, AtomicU16, Ordering::SeqCst},
    time::Duration,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use tempfile::TempDir;

use crate::documents;

pub(crate) const LONGHAUL: &str = env!("CARGO_BIN_EXE_longhaul");

pub(crate) fn longhaul(arguments: &[&str]) -> Ended {
    Ended::of(Command::new(LONGHAUL).args(arguments).output().unwrap())
}

#[derive(Debug)]
pub(crate) struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    #[track_caller]
    pub(crate) fn of(output: Output) -> Self {
        let stdout = String::from_utf8(output.stdout).unwrap();
        documents::keep(&stdout);
        Self { code: output.status.code(), stdout, stderr: String::from_utf8(output.stderr).unwrap() }
    }

    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.stdout
    }

    #[track_caller]
    pub(crate) fn json(self) -> serde_json::Value {
        serde_json::from_str(&self.ok()).unwrap()
    }

    /// Accepts exit code 1: an invalid result of a busy machine.
    #[track_caller]
    pub(crate) fn measured(self) -> serde_json::Value {
        assert!(matches!(self.code, Some(0 | 1)), "{self:?}");
        serde_json::from_str(&self.stdout).unwrap()
    }

    /// Exit code 2, empty standard output.
    #[track_caller]
    pub(crate) fn refused(self) -> String {
        assert_eq!((self.code, self.stdout.as_str()), (Some(2), ""), "{self:?}");
        self.stderr
    }
}

pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path.display().to_string()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

pub(crate) struct World {
    name: String,
    text: String,
}

impl World {
    /// Unique among concurrent tests and on the machine.
    pub(crate) fn named(name: &str) -> Self {
        Self { name: format!("test-{name}-{}", std::process::id()), text: String::new() }
    }

    pub(crate) fn host(mut self, name: &str, city: &str) -> Self {
        write!(self.text, "[[host]]\nname = \"{name}\"\ncity = \"{city}\"\n").unwrap();
        self
    }

    pub(crate) fn link(mut self, a: &str, b: &str, what: &str) -> Self {
        write!(self.text, "[[link]]\nbetween = [\"{a}\", \"{b}\"]\n{what}\n").unwrap();
        self
    }

    pub(crate) fn tables(mut self, text: &str) -> Self {
        self.text += text;
        self
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    #[track_caller]
    pub(crate) fn up(self) -> Planet {
        let folder = Folder::new();
        let file = folder.file("world.toml", &self.text);
        longhaul(&["lab", "up", &file, "--detach", "--name", &self.name]).ok();
        Planet { name: self.name }
    }
}

pub(crate) struct Planet {
    name: String,
}

impl Planet {
    pub(crate) fn of(name: String) -> Self {
        Self { name }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn exec(&self, host: &str, command: &[&str]) -> Ended {
        Ended::of(self.command(host, command).output().unwrap())
    }

    pub(crate) fn serve(&self, host: &str, arguments: &[&str]) -> Running {
        let mut command = vec![LONGHAUL, "serve", "--listen", "0.0.0.0:80"];
        command.extend(arguments);
        Running::listening(&mut self.command(host, &command)).0
    }

    pub(crate) fn command(&self, host: &str, command: &[&str]) -> Command {
        let mut exec = Command::new(LONGHAUL);
        exec.args(["lab", "exec", "--planet", &self.name, host, "--"]).args(command);
        exec
    }

    pub(crate) fn lab(&self, command: &[&str]) -> Ended {
        longhaul(&[&["lab"], command, &["--planet", &self.name]].concat())
    }

    pub(crate) fn status(&self) -> serde_json::Value {
        self.lab(&["status", "--json"]).json()
    }
}

impl Drop for Planet {
    fn drop(&mut self) {
        longhaul(&["lab", "down", "--planet", &self.name]);
    }
}

/// Sleeps until it is killed; returns when it runs.
pub(crate) fn sleeper(planet: &str, host: &str) -> Running {
    let mut command = Command::new(LONGHAUL);
    command.args([
        "lab",
        "exec",
        "--planet",
        planet,
        host,
        "--",
        "sh",
        "-c",
        "echo asleep >&2; exec sleep 1000",
    ]);
    let mut running = Running::start(command.stderr(Stdio::piped()));
    running.says("asleep");
    running
}

pub(crate) fn is_up(name: &str) -> bool {
    std::fs::read_to_string("/proc/net/unix").unwrap().contains(&format!("/{name}\n"))
}

pub(crate) struct Running(Child);

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        Self::with_stdin(command.stdin(Stdio::null()))
    }

    pub(crate) fn with_stdin(command: &mut Command) -> Self {
        Self(command.spawn().unwrap())
    }

    pub(crate) fn listening(command: &mut Command) -> (Self, String) {
        let mut running = Self(command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
        let address = running.says("listening on ");
        (running, address)
    }

    /// Waits for these words on standard error, and returns the rest of the line.
    #[track_caller]
    pub(crate) fn says(&mut self, words: &str) -> String {
        let lines = BufReader::new(self.0.stderr.as_mut().unwrap()).lines();
        let mut said = Vec::new();
        for line in lines.map_while(Result::ok) {
            if let Some((_, rest)) = line.split_once(words) {
                return rest.to_owned();
            }
            said.push(line);
        }
        panic!("it never said \"{words}\", but {said:?}");
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.0.id().try_into().unwrap()), signal).unwrap();
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }

    pub(crate) fn wait(mut self) -> Option<i32> {
        self.0.wait().unwrap().code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Panics after five minutes, far beyond a slow machine's time.
#[track_caller]
#[expect(
    clippy::disallowed_methods,
    reason = "a loop without a pause takes the processor from what it waits for"
)]
pub(crate) fn wait_until(condition: impl Fn() -> bool) {
    const PAUSE: Duration = Duration::from_millis(2);
    for _ in 0..Duration::from_secs(300).as_millis() / PAUSE.as_millis() {
        if condition() {
            return;
        }
        std::thread::sleep(PAUSE);
    }
    panic!("the condition did not become true");
}

pub(crate) struct SetOnDrop<'a>(pub &'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

#[track_caller]
pub(crate) fn number(json: &serde_json::Value, pointer: &str) -> f64 {
    json.pointer(pointer)
        .and_then(serde_json::Value::as_f64)
        .unwrap_or_else(|| panic!("no number {pointer} in {json}"))
}

pub(crate) fn project(path: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").join(path).display().to_string()
}

/// Below the range of ephemeral ports.
pub fn free_address() -> String {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    loop {
        let offset = u32::from(NEXT.fetch_add(1, SeqCst)) + std::process::id() * 16;
        let address = format!("127.0.0.1:{}", 20_000 + offset % 12_000);
        if TcpListener::bind(&address).is_ok() {
            return address;
        }
    }
}
