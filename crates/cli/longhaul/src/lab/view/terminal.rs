//! Full-screen use of a terminal: single key presses, and pictures that replace each other.
//! Dropping it restores the terminal.

use std::{
    io::{self, Stdin, Write},
    os::fd::AsFd,
    time::Duration,
};

use anstream::{AutoStream, ColorChoice};
use nix::{
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::{
        signal::{SigSet, Signal},
        signalfd::{SfdFlags, SignalFd},
        termios::{LocalFlags, SetArg, SpecialCharacterIndices, Termios, tcgetattr, tcsetattr},
        time::TimeSpec,
        timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags},
    },
    unistd::read,
};
use report::terminal::table::Line;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    Tick,
    Resized,
    Key(u8),
    /// Ctrl-C, or the terminal was closed.
    Ended,
}

pub(super) struct Terminal {
    before: Termios,
    signals: SignalFd,
    ticks: TimerFd,
    has_colour: bool,
}

impl Terminal {
    pub(super) fn take() -> anyhow::Result<Self> {
        let signals: SigSet =
            [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGWINCH].into_iter().collect();
        signals.thread_block()?;
        let signals = SignalFd::with_flags(&signals, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        let ticks = ticks()?;
        let before = tcgetattr(io::stdin())?;
        let mut keys = before.clone();
        keys.local_flags.remove(LocalFlags::ICANON | LocalFlags::ECHO);
        // Ctrl-Z and Ctrl-\ would leave the picture on the screen.
        for character in [SpecialCharacterIndices::VSUSP, SpecialCharacterIndices::VQUIT] {
            keys.control_chars[character as usize] = NO_CHARACTER;
        }
        tcsetattr(io::stdin(), SetArg::TCSANOW, &keys)?;
        let has_colour = AutoStream::choice(&io::stdout()) != ColorChoice::Never;
        let terminal = Self { before, signals, ticks, has_colour };
        write(OTHER_SCREEN)?;
        Ok(terminal)
    }

    pub(super) fn show(&self, lines: &[Line]) -> io::Result<()> {
        let lines = lines.iter().map(|line| {
            let styled = line.to_string();
            if self.has_colour { styled } else { anstream::adapter::strip_str(&styled).to_string() }
        });
        let picture = lines.collect::<Vec<_>>().join(&format!("{CLEAR_REST_OF_LINE}\r\n"));
        write(&format!("{HOME}{picture}{CLEAR_BELOW}"))
    }

    pub(super) fn wait(&self) -> anyhow::Result<Event> {
        let stdin = io::stdin();
        loop {
            let mut wanted = [stdin.as_fd(), self.signals.as_fd(), self.ticks.as_fd()]
                .map(|descriptor| PollFd::new(descriptor, PollFlags::POLLIN));
            poll(&mut wanted, PollTimeout::NONE)?;
            let [is_key, is_signal, is_tick] = wanted.map(|each| each.any().unwrap_or(true));
            if is_signal && let Some(signal) = self.signals.read_signal()? {
                let is_resize = signal.ssi_signo == Signal::SIGWINCH as u32;
                return Ok(if is_resize { Event::Resized } else { Event::Ended });
            }
            if is_key && let Some(event) = key(&stdin)? {
                return Ok(event);
            }
            if is_tick {
                self.ticks.wait()?;
                return Ok(Event::Tick);
            }
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Errors mean that the terminal was closed.
        let _ = write(OWN_SCREEN);
        let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, &self.before);
    }
}

fn key(stdin: &Stdin) -> anyhow::Result<Option<Event>> {
    let mut typed = [0; 64];
    Ok(match read(stdin, &mut typed)? {
        0 => Some(Event::Ended),
        1 => Some(Event::Key(typed[0])),
        _ => None,
    })
}

fn write(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

pub(super) fn ticks() -> anyhow::Result<TimerFd> {
    let ticks = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC)?;
    ticks.set(Expiration::Interval(TimeSpec::from_duration(PERIOD)), TimerSetTimeFlags::empty())?;
    Ok(ticks)
}

const PERIOD: Duration = Duration::from_millis(500);

/// `_POSIX_VDISABLE` on Linux.
const NO_CHARACTER: u8 = 0;

/// xterm control sequences: alternate screen, hidden cursor.
const OTHER_SCREEN: &str = "\x1b[?1049h\x1b[?25l";
const OWN_SCREEN: &str = "\x1b[?25h\x1b[?1049l";
const HOME: &str = "\x1b[H";
const CLEAR_REST_OF_LINE: &str = "\x1b[K";
const CLEAR_BELOW: &str = "\x1b[J";
