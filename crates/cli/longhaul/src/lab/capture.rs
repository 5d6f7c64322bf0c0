//! `longhaul lab capture`: captures the packets of a planet for tcpdump and Wireshark.

use std::{
    fs::File,
    io::{self, IsTerminal, Read, Write},
    net::Shutdown,
    os::{
        fd::{AsFd, BorrowedFd},
        unix::net::UnixStream,
    },
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context, bail};
use clap::Args;
use indicatif::{DecimalBytes, ProgressBar};
use nix::sys::{
    time::TimeSpec,
    timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags},
};
use planet::{
    Planet, Tap,
    capture::Blocks,
    cli_documents::{CaptureEnd, Captured},
};

use super::{Which, layout_of, names::Names};
use crate::{
    interrupt::{Interrupt, first_ready},
    output::{self, say},
};

/// Capture the packets of hosts and links as pcapng, until Ctrl-C
///
/// Offloaded packets are split into the packets that a wire would carry. Without hosts and links, captures
/// all hosts.
///
/// Example: longhaul lab capture visitor -o - | tcpdump -n -r -
#[derive(Debug, Args)]
pub(crate) struct Capture {
    /// Capture what these hosts send and receive
    hosts: Vec<String>,
    /// Capture the link between these two cities, in both directions; may be given several times
    #[arg(long, value_name = "CITY-CITY", value_parser = cities)]
    link: Vec<String>,
    /// The file to write, or - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "capture.pcapng")]
    output: PathBuf,
    /// Keep only the first bytes of each packet
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..))]
    snap: Option<u32>,
    /// End after this time
    #[arg(long = "for", value_name = "TIME", value_parser = units::duration::parse)]
    duration: Option<Duration>,
    #[command(flatten)]
    which: Which,
    /// Print a summary as JSON; with -o - as the last line of standard error
    #[arg(long)]
    json: bool,
}

impl Capture {
    pub(crate) fn run(&self) -> anyhow::Result<ExitCode> {
        let interrupt = Interrupt::listen()?;
        let planet = self.which.find()?;
        let tap = self.tap(&planet)?;
        let mut writing = Writing::begin(&self.output)?;
        let stream = planet.capture(&tap)?;
        say(&format!("capturing into {}     (Ctrl-C ends this)", writing.name));
        let end = self.follow(&interrupt, stream, &mut writing)?;
        let why = match end {
            CaptureEnd::Asked => String::new(),
            CaptureEnd::Impatient => "; some packets may be missing".to_owned(),
            CaptureEnd::Planet => format!("; planet \"{}\" sends no more", planet.name()),
            CaptureEnd::Reader => "; its reader closed the pipe".to_owned(),
        };
        writing.bar.finish_and_clear();
        say(&format!("{}: {}{why}", writing.name, writing.summary()));
        if self.json {
            let captured = output::named(
                "longhaul.lab.capture/1",
                Captured {
                    planet: planet.name().to_owned(),
                    file: (!is_standard_output(&self.output)).then(|| writing.name.clone()),
                    packets: writing.blocks.packets(),
                    missed: writing.blocks.missed(),
                    bytes: writing.written,
                    ended: end,
                },
            );
            if is_standard_output(&self.output) {
                say(&serde_json::to_string(&captured)?);
            } else {
                output::print_json(&captured)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn tap(&self, planet: &Planet) -> anyhow::Result<Tap> {
        let layout = layout_of(planet)?;
        let names = Names { planet: planet.name(), layout: &layout };
        Ok(Tap {
            hosts: self.hosts.iter().map(|host| names.host(host)).collect::<Result<_, _>>()?,
            links: self.link.iter().map(|link| names.link(link)).collect::<Result<_, _>>()?,
            snap: self.snap,
        })
    }

    /// On Ctrl-C or after the duration, shuts down the write side; the planet then sends the rest.
    fn follow(
        &self,
        interrupt: &Interrupt,
        mut stream: UnixStream,
        writing: &mut Writing,
    ) -> anyhow::Result<CaptureEnd> {
        let (asked, time) = (interrupt.descriptor()?, Timer::new()?);
        if let Some(duration) = self.duration {
            time.set(duration)?;
        }
        let mut is_ending = false;
        loop {
            match first_ready(&[asked.as_fd(), time.as_fd(), stream.as_fd()])? {
                2 => match writing.take(&mut stream)? {
                    Some(CaptureEnd::Planet) if is_ending => return Ok(CaptureEnd::Asked),
                    Some(end) => return Ok(end),
                    None if is_ending => time.set(PATIENCE)?,
                    None => {}
                },
                _ if is_ending => return Ok(CaptureEnd::Impatient),
                ready => {
                    if ready == 0 {
                        asked.read_signal()?;
                    }
                    time.set(PATIENCE)?;
                    is_ending = true;
                    // Fails if the planet has ended and closed the stream.
                    let _ = stream.shutdown(Shutdown::Write);
                }
            }
        }
    }
}

fn is_standard_output(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// A name without a hyphen is a single city.
fn cities(text: &str) -> Result<String, &'static str> {
    let is_link = text.contains('-');
    is_link
        .then(|| text.to_owned())
        .ok_or("expected two cities with a hyphen between them, such as london-newyork")
}

struct Timer(TimerFd);

impl Timer {
    fn new() -> anyhow::Result<Self> {
        Ok(Self(TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_CLOEXEC)?))
    }

    fn set(&self, duration: Duration) -> anyhow::Result<()> {
        // Zero would disarm the timer.
        let after = TimeSpec::from(duration.max(Duration::from_nanos(1)));
        Ok(self.0.set(Expiration::OneShot(after), TimerSetTimeFlags::empty())?)
    }
}

impl AsFd for Timer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

struct Writing {
    name: String,
    output: File,
    blocks: Blocks,
    written: u64,
    buffer: Vec<u8>,
    bar: ProgressBar,
}

impl Writing {
    fn begin(path: &Path) -> anyhow::Result<Self> {
        let (name, output, bar) = if is_standard_output(path) {
            let stdout = io::stdout();
            if stdout.is_terminal() {
                bail!("packets are not for a terminal: choose a file with -o, or add: | tcpdump -r -");
            }
            let file = File::from(stdout.as_fd().try_clone_to_owned()?);
            ("standard output".to_owned(), file, ProgressBar::hidden())
        } else {
            let name = path.display().to_string();
            let file = File::create(path).with_context(|| format!("{name}: cannot be written"))?;
            (name, file, ProgressBar::new_spinner())
        };
        Ok(Self { name, output, blocks: Blocks::default(), written: 0, buffer: vec![0; BUFFER], bar })
    }

    /// Returns why the capture ended, if it did.
    fn take(&mut self, stream: &mut UnixStream) -> anyhow::Result<Option<CaptureEnd>> {
        let length = match stream.read(&mut self.buffer) {
            Ok(0) => return Ok(Some(CaptureEnd::Planet)),
            other => other.context("the capture ended early")?,
        };
        self.blocks.add(&self.buffer[..length])?;
        let bytes = self.blocks.complete();
        match self.output.write_all(bytes) {
            Ok(()) => self.written += bytes.len() as u64,
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(Some(CaptureEnd::Reader)),
            Err(error) => {
                // Truncate the incomplete block, so that the file stays readable. Fails for pipes
                // and devices.
                let _ = self.output.set_len(self.written);
                let path = PathBuf::from(&self.name);
                return Err(planet::Error::Capture { path, written: self.written, source: error }.into());
            }
        }
        self.bar.set_message(self.summary());
        self.bar.tick();
        Ok(None)
    }

    fn summary(&self) -> String {
        let packets = self.blocks.packets();
        let unit = if packets == 1 { "packet" } else { "packets" };
        let missed = match self.blocks.missed() {
            0 => String::new(),
            missed => format!(", {missed} missed"),
        };
        format!("{packets} {unit}{missed}, {}", DecimalBytes(self.written))
    }
}

/// Large enough for a super-packet with its blocks.
const BUFFER: usize = 256 << 10;

/// For each piece of the remaining data, which is 64 MB at most.
const PATIENCE: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    /// A section header of 28 bytes, a packet of 32, and statistics of 36 that report seven missed
    /// packets.
    const SECTION: &[u8] =
        b"\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c\x2b\x1a\x01\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\x1c\0\0\0";
    const PACKET: &[u8] = b"\x06\0\0\0\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x20\0\0\0";
    const MISSED: &[u8] =
        b"\x05\0\0\0\x24\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x05\0\x08\0\x07\0\0\0\0\0\0\0\x24\0\0\0";

    #[test]
    fn a_file_ends_with_a_whole_block_wherever_the_stream_does() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.pcapng");
        let (mut planet, mut stream) = UnixStream::pair().unwrap();
        planet.write_all(&[SECTION, PACKET, PACKET, MISSED, &PACKET[..31]].concat()).unwrap();
        drop(planet);
        let mut writing = Writing::begin(&path).unwrap();
        assert!(writing.take(&mut stream).unwrap().is_none());
        assert!(matches!(writing.take(&mut stream).unwrap(), Some(CaptureEnd::Planet)));
        assert_eq!(std::fs::read(&path).unwrap(), [SECTION, PACKET, PACKET, MISSED].concat());
        assert_eq!(writing.summary(), "2 packets, 7 missed, 128 B");
    }

    #[test]
    fn a_full_disk_is_said_with_the_remedy() {
        let (mut planet, mut stream) = UnixStream::pair().unwrap();
        planet.write_all(SECTION).unwrap();
        let mut writing = Writing::begin(Path::new("/dev/full")).unwrap();
        let error = writing.take(&mut stream).map(drop).unwrap_err();
        let said = "/dev/full: the capture stopped after 0 bytes: No space left on device (os error 28)";
        assert_eq!(error.to_string(), said);
        let hint = error.downcast::<planet::Error>().unwrap().hint();
        assert_eq!(hint.unwrap(), "make room there, or keep less of each packet with a snap length");
    }

    #[test]
    fn a_reader_that_goes_away_ends_the_capture() {
        let (mut planet, mut stream) = UnixStream::pair().unwrap();
        planet.write_all(SECTION).unwrap();
        let (reader, writer) = io::pipe().unwrap();
        let mut writing = Writing::begin(Path::new("/dev/null")).unwrap();
        writing.output = File::from(std::os::fd::OwnedFd::from(writer));
        drop(reader);
        assert!(matches!(writing.take(&mut stream).unwrap(), Some(CaptureEnd::Reader)));
    }
}
