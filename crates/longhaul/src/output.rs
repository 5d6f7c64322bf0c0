//! Results go to standard output, everything else to standard error. Colour turns itself off where nobody sees it.

use std::{
    io::{self, Write},
    os::fd::AsFd,
    process::ExitCode,
};

use anstyle::{AnsiColor, Style};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde::Serialize;

use crate::wrong_file::WrongFile;

/// Could not run.
pub(crate) const COULD_NOT_RUN: u8 = 2;

/// Prints a result. A reader that went away, as `head` does, is not an error.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    print_to(anstream::stdout(), text)
}

/// Prints a result as JSON: an object with the name of its schema, or an array of such objects. It has no colours, and looking for them would take longer than making it.
pub(crate) fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    print_to(io::stdout(), &(serde_json::to_string_pretty(value)? + "\n"))
}

/// Prints a result as JSON in one line, for those that print one after the other.
pub(crate) fn print_json_line(value: &impl Serialize) -> anyhow::Result<()> {
    print_to(io::stdout(), &(serde_json::to_string(value)? + "\n"))
}

/// A result under the name of its schema: `docs/schema/` has it by that name.
pub(crate) fn named<T: Serialize>(schema: &'static str, document: T) -> Named<T> {
    Named { schema, document }
}

/// A document that begins with the name of its schema.
#[derive(Serialize)]
pub(crate) struct Named<T> {
    schema: &'static str,
    #[serde(flatten)]
    document: T,
}

fn print_to(mut output: impl Write, text: &str) -> anyhow::Result<()> {
    match output.write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// Says something to the person at the terminal.
pub(crate) fn say(text: &str) {
    // If even standard error is gone, nobody is there to be told.
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// Says why it could not be done, once, with the remedy where one is known.
pub(crate) fn fail(error: &anyhow::Error) -> ExitCode {
    let chain: Vec<_> = error.chain().map(ToString::to_string).collect();
    say(&format!("{}: {}", paint("error", RED), joined(&chain)));
    if let Some(hint) = error.chain().find_map(hint) {
        say(&format!("{}: {hint}", paint("hint", CYAN)));
    }
    ExitCode::from(COULD_NOT_RUN)
}

/// Whether somebody still reads what is printed: for those that print until nobody does.
pub(crate) fn has_reader() -> bool {
    let stdout = io::stdout();
    let mut wanted = [PollFd::new(stdout.as_fd(), PollFlags::empty())];
    let gone = PollFlags::POLLERR | PollFlags::POLLHUP;
    poll(&mut wanted, PollTimeout::ZERO).is_err()
        || wanted[0].revents().is_none_or(|events| !events.intersects(gone))
}

/// The remedy that a part of ours knows for its error.
fn hint(cause: &(dyn std::error::Error + 'static)) -> Option<String> {
    if let Some(scenario::Error::Planet(error)) = cause.downcast_ref() {
        return error.hint();
    }
    if let Some(error) = cause.downcast_ref() {
        return tcp::Error::hint(error);
    }
    if let Some(error) = cause.downcast_ref() {
        return traffic::Error::hint(error);
    }
    if let Some(other) = cause.downcast_ref() {
        return Some(WrongFile::hint(other));
    }
    cause.downcast_ref().and_then(planet::Error::hint)
}

/// An error and its causes in one line. A cause that its effect has quoted already is not said again.
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

/// `text` in a style.
pub(crate) fn paint(text: &str, style: Style) -> String {
    format!("{style}{text}{style:#}")
}

/// As the terminal has it.
pub(crate) const PLAIN: Style = Style::new();
pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const RED: Style = AnsiColor::Red.on_default().bold();
pub(crate) const GREEN: Style = AnsiColor::Green.on_default();
pub(crate) const YELLOW: Style = AnsiColor::Yellow.on_default();
pub(crate) const CYAN: Style = AnsiColor::Cyan.on_default();
