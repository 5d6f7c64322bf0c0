//! Starts a program in the background of a planet and supervises it until it ends.
//!
//! ```text
//!  longhaul lab exec --detach ── forks ──> watcher (in the planet, but not in the host) ── forks ──> program
//! ```
//!
//! The caller ends, and the watcher writes the program's output to its log and its exit status to
//! its record. It stays outside the host's network, so that faults of the host do not affect it.

use std::{
    ffi::{CString, OsString},
    fs::{self, File, OpenOptions},
    io::{self, PipeReader, PipeWriter, Read},
    os::{
        fd::{AsFd, OwnedFd},
        unix::fs::FileExt,
    },
    path::Path,
};

use nix::{
    fcntl::{FallocateFlags, Flock, FlockArg, fallocate},
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::wait::{WaitStatus, waitpid},
    unistd::{ForkResult, Pid, dup2_stderr, dup2_stdin, dup2_stdout, getpid, setsid},
};

use crate::{
    clock::monotonic,
    control::{Planet, read_line, write_line},
    error::{Doing, Error},
    exec::{Namespaces, become_program, c_strings},
    failure::Failure,
    host_files::RECORDS,
    process::die_with_parent,
    programs::{KEPT, Record, log_path, numbers, record_path},
    status::End,
    sys::process::{close_others, end_by_broken_pipe, fork, is_alive, pidfd},
};

impl Planet {
    /// Starts `command` in the background of `host` and returns its number. Call it in a process
    /// with a single thread; the process is inside the planet afterwards.
    pub fn start_in(&self, host: &str, command: &[OsString]) -> Result<u64, Error> {
        close_others().doing(|| "close what is open".to_owned())?;
        let arguments = c_strings(command)?;
        let namespaces = Namespaces::of(self, host)?;
        namespaces.enter_planet()?;
        namespaces.enter_processes()?;
        let (answer, tell) = io::pipe().doing(|| "make a pipe".to_owned())?;
        match fork().doing(|| format!("fork for {host}"))? {
            ForkResult::Parent { .. } => {
                drop(tell);
                let answer: Result<u64, Failure> =
                    read_line(answer).doing(|| format!("start a program in {host}"))?;
                answer.map_err(|failure| failure.into_error(self.name()))
            }
            ForkResult::Child => {
                drop(answer);
                let ended =
                    Watcher { planet: self.name(), host, namespaces: &namespaces }.run(&arguments, tell);
                std::process::exit(i32::from(ended.is_err()))
            }
        }
    }
}

struct Watcher<'a> {
    planet: &'a str,
    host: &'a str,
    namespaces: &'a Namespaces,
}

impl Watcher<'_> {
    fn run(&self, command: &[CString], mut tell: PipeWriter) -> Result<(), Error> {
        let begun =
            self.leave_the_terminal().and_then(|()| self.start(command)).and_then(|(child, output)| {
                let (number, program) = self.enrol(command)?;
                Ok((child, output, number, program))
            });
        let answer = begun.as_ref().map(|(_, _, number, _)| *number).map_err(Failure::from);
        // The program runs even if the caller has ended.
        let _ = write_line(&mut tell, &answer);
        drop(tell);
        let (child, output, _, program) = begun?;
        program.watch(child, output).doing(|| format!("watch a program in {}", self.host))
    }

    fn leave_the_terminal(&self) -> Result<(), Error> {
        let leave = || -> io::Result<()> {
            setsid()?;
            let nothing = OpenOptions::new().read(true).write(true).open("/dev/null")?;
            dup2_stdin(&nothing)?;
            dup2_stdout(&nothing)?;
            Ok(dup2_stderr(&nothing)?)
        };
        leave().doing(|| format!("leave the terminal for {}", self.host))
    }

    fn start(&self, command: &[CString]) -> Result<(Pid, PipeReader), Error> {
        let pipe = || io::pipe().doing(|| "make a pipe".to_owned());
        let ((output, input), (failed, mut failure)) = (pipe()?, pipe()?);
        let watcher = pidfd(getpid()).doing(|| "watch this process".to_owned())?;
        match fork().doing(|| format!("fork for {}", self.host))? {
            ForkResult::Child => {
                let error = self.become_program(command, &input, &watcher);
                let _ = write_line(&mut failure, &Failure::from(&error));
                std::process::exit(1)
            }
            ForkResult::Parent { child } => {
                drop((input, failure));
                // The pipe closes without data when exec succeeds.
                match read_line::<Failure>(failed) {
                    Ok(failure) => Err(failure.into_error(self.planet)),
                    Err(_) => Ok((child, output)),
                }
            }
        }
    }

    fn become_program(&self, command: &[CString], output: &PipeWriter, watcher: &OwnedFd) -> Error {
        let prepare = || {
            die_with_parent(|| is_alive(watcher))?;
            self.namespaces.enter_network()?;
            dup2_stdout(output).and_then(|()| dup2_stderr(output)).doing(|| "redirect output".to_owned())?;
            end_by_broken_pipe().doing(|| "restore what a broken pipe does".to_owned())
        };
        match prepare() {
            Ok(()) => become_program(command, self.host),
            Err(error) => error,
        }
    }

    fn enrol(&self, command: &[CString]) -> Result<(u64, Enrolled), Error> {
        let enrol = || {
            let number = take_number()?;
            let log = LogWriter::make(&log_path(self.host, number))?;
            let command = command.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            let record = Record { host: self.host.to_owned(), command, started: monotonic(), ended: None };
            write_record(number, &record)?;
            io::Result::Ok((number, Enrolled { number, record, log }))
        };
        enrol().doing(|| format!("make a log for {}", self.host))
    }
}

struct Enrolled {
    number: u64,
    record: Record,
    log: LogWriter,
}

impl Enrolled {
    fn watch(mut self, child: Pid, mut output: PipeReader) -> io::Result<()> {
        let process = pidfd(child)?;
        let mut buffer = vec![0; PIPE];
        // The order matters: if the program has ended, all its output is in the pipe, and one read
        // drains it.
        let mut ended = false;
        while !ended {
            let mut wanted = [process.as_fd(), output.as_fd()].map(|fd| PollFd::new(fd, PollFlags::POLLIN));
            poll(&mut wanted, PollTimeout::NONE)?;
            let [has_ended, has_output] = wanted.map(|fd| fd.any() == Some(true));
            ended = has_ended;
            if has_output {
                let length = output.read(&mut buffer)?;
                self.log.append(&buffer[..length])?;
                ended |= length == 0;
            }
        }
        let end = match waitpid(child, None)? {
            WaitStatus::Exited(_, code) => End::Code(code),
            WaitStatus::Signaled(_, signal, _) => End::Signal(signal as i32),
            _ => End::Unseen,
        };
        self.record.ended = Some((monotonic(), end));
        write_record(self.number, &self.record)?;
        // Background children of the program may still write.
        loop {
            match output.read(&mut buffer)? {
                0 => return Ok(()),
                length => self.log.append(&buffer[..length])?,
            }
        }
    }
}

/// The log's beginning becomes a hole in the file, so that offsets remain valid for a concurrent
/// reader.
struct LogWriter {
    file: Flock<File>,
    length: u64,
    hole: u64,
    lost: u64,
}

impl LogWriter {
    fn make(path: &str) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).create(true).truncate(true).open(path)?;
        let file = Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, error)| error)?;
        Ok(Self { file, length: 0, hole: 0, lost: 0 })
    }

    /// Drops what does not fit: a full file system must not block the program.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.lost > 0 && self.put(format!("\n[{} bytes found no room in /srv]\n", self.lost).as_bytes())? {
            self.lost = 0;
        }
        if !self.put(bytes)? {
            self.lost += bytes.len() as u64;
        }
        let hole = self.length.saturating_sub(KEPT) / STEP * STEP;
        if hole > self.hole {
            let mode = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
            fallocate(&*self.file, mode, 0, hole.cast_signed())?;
            self.hole = hole;
        }
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<bool> {
        match self.file.write_all_at(bytes, self.length) {
            Ok(()) => self.length += bytes.len() as u64,
            Err(error) if error.kind() == io::ErrorKind::StorageFull => {
                self.file.set_len(self.length)?;
                return Ok(false);
            }
            Err(error) => return Err(error),
        }
        Ok(true)
    }
}

fn take_number() -> io::Result<u64> {
    let mut number = numbers(Path::new(RECORDS))?.last().map_or(1, |last| last + 1);
    loop {
        match File::create_new(record_path(number)) {
            Ok(_) => return Ok(number),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Atomically, because a record may be read concurrently. No sync is needed: /srv is in memory.
fn write_record(number: u64, record: &Record) -> io::Result<()> {
    let draft = format!("{RECORDS}/{number}.draft");
    fs::write(&draft, serde_json::to_vec(record)?)?;
    fs::rename(draft, record_path(number))
}

const PIPE: usize = 64 << 10;

const STEP: u64 = 1 << 20;
