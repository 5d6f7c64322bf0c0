//! Results go to standard output, everything else to standard error. `anstream` disables colours
//! for `NO_COLOR`, pipes and files.

use std::{
    io::{self, IsTerminal, Write},
    os::fd::AsFd,
    path::Path,
    process::ExitCode,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use anyhow::bail;
use indicatif::ProgressBar;
use nix::{
    poll::{PollFd, PollFlags, PollTimeout, poll},
    unistd::{getpgrp, tcgetpgrp},
};
pub(crate) use report::terminal::look::{BOLD, CYAN, DIM, GREEN, PLAIN, RED, YELLOW, paint};
use serde::Serialize;
use terminal_size::terminal_size_of;

use crate::file_kind_hint::FileKindHint;

pub(crate) const COULD_NOT_RUN: u8 = 2;

/// A recording goes to standard output, and text to standard error.
static HAS_RECORDING: AtomicBool = AtomicBool::new(false);

/// Call before the first result.
pub(crate) fn recording_goes_to(path: &Path, json: bool) -> anyhow::Result<()> {
    if !recording::is_standard(path) {
        return Ok(());
    }
    if json {
        bail!("the recording and --json would both go to standard output: write the recording to a file");
    }
    HAS_RECORDING.store(true, Ordering::Relaxed);
    Ok(())
}

/// A reader that closed the pipe, such as `head`, is not an error.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    if HAS_RECORDING.load(Ordering::Relaxed) {
        say(text.trim_end_matches('\n'));
        return Ok(());
    }
    print_to(anstream::stdout(), text)
}

pub(crate) fn print_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    write_to(io::stdout(), bytes)
}

/// 80 if standard output is not a terminal.
pub(crate) fn columns() -> usize {
    terminal_size_of(io::stdout()).map_or(80, |(columns, _)| columns.0.into())
}

/// Writes to standard output directly, without the cost of stripping colours.
pub(crate) fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    print_to(io::stdout(), &(serde_json::to_string_pretty(value)? + "\n"))
}

pub(crate) fn print_json_line(value: &impl Serialize) -> anyhow::Result<()> {
    print_to(io::stdout(), &(serde_json::to_string(value)? + "\n"))
}

pub(crate) fn named<T: Serialize>(schema: &'static str, document: T) -> Named<T> {
    Named { schema, document }
}

#[derive(Serialize)]
pub(crate) struct Named<T> {
    schema: &'static str,
    #[serde(flatten)]
    document: T,
}

/// Clears the screen of a terminal; elsewhere prints a blank line between the two texts.
pub(crate) fn print_again(text: &str, is_first: bool) -> anyhow::Result<()> {
    let before = match (io::stdout().is_terminal(), is_first) {
        (true, _) => CLEAR,
        (false, true) => "",
        (false, false) => "\n",
    };
    print(&format!("{before}{text}"))
}

const CLEAR: &str = "\x1b[H\x1b[2J";

fn print_to(output: impl Write, text: &str) -> anyhow::Result<()> {
    write_to(output, text.as_bytes())
}

fn write_to(mut output: impl Write, bytes: &[u8]) -> anyhow::Result<()> {
    match output.write_all(bytes) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// The view at the bottom of the terminal. Lines are printed above it.
static VIEW: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Prints lines above this view from now on.
pub(crate) fn print_above(view: Option<ProgressBar>) {
    *VIEW.lock().unwrap_or_else(PoisonError::into_inner) = view;
}

/// A job in the background of a shell must not draw over the prompt.
pub(crate) fn is_foreground() -> bool {
    tcgetpgrp(io::stderr()).map_or(true, |group| group == getpgrp())
}

/// Standard error, above the view.
pub(crate) struct StderrLines;

impl Write for StderrLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let view = VIEW.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut stream = anstream::stderr();
        match view.filter(|_| is_foreground()) {
            Some(view) => view.suspend(|| stream.write(bytes)),
            None => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Prints a line to standard error.
pub(crate) fn say(text: &str) {
    // There is no other output for errors of standard error.
    let _ = StderrLines.write_all(format!("{text}\n").as_bytes());
}

pub(crate) fn prompt(text: &str) -> io::Result<()> {
    let mut stream = anstream::stderr();
    write!(stream, "{text}")?;
    stream.flush()
}

/// Prints the remedy too, if one is known.
pub(crate) fn fail(error: &anyhow::Error) -> ExitCode {
    let chain: Vec<_> = error.chain().map(ToString::to_string).collect();
    say(&format!("{}: {}", paint("error", RED), joined(&chain)));
    if let Some(hint) = error.chain().find_map(hint) {
        say(&format!("{}: {hint}", paint("hint", CYAN)));
    }
    ExitCode::from(COULD_NOT_RUN)
}

/// For commands that print until the reader closes the output.
pub(crate) fn has_reader() -> bool {
    let stdout = io::stdout();
    let mut wanted = [PollFd::new(stdout.as_fd(), PollFlags::empty())];
    let gone = PollFlags::POLLERR | PollFlags::POLLHUP;
    poll(&mut wanted, PollTimeout::ZERO).is_err()
        || wanted[0].revents().is_none_or(|events| !events.intersects(gone))
}

fn hint(cause: &(dyn std::error::Error + 'static)) -> Option<String> {
    if let Some(scenario::Error::Planet(error)) = cause.downcast_ref() {
        return error.hint();
    }
    if let Some(error) = cause.downcast_ref() {
        return tcp::Error::hint(error);
    }
    if let Some(error) = cause.downcast_ref() {
        return trafficgen::Error::hint(error);
    }
    if let Some(error) = cause.downcast_ref() {
        return edge::Error::hint(error);
    }
    if let Some(error) = cause.downcast_ref() {
        return kv_server::Error::hint(error);
    }
    if let Some(other) = cause.downcast_ref() {
        return Some(FileKindHint::hint(other));
    }
    cause.downcast_ref().and_then(planet::Error::hint)
}

fn joined(chain: &[String]) -> String {
    let mut said = String::new();
    for cause in chain {
        if said.is_empty() {
            said.push_str(cause);
        } else if !said.contains(cause.as_str()) {
            said = format!("{said}: {cause}");
        }
    }
    said
}
