//! `longhaul lab capture`: the packets of a planet, for tcpdump and Wireshark.

mod blocks;

use std::{
    fs::File,
    io::{self, IsTerminal, Read, Write},
    os::{fd::AsFd, unix::net::UnixStream},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context, anyhow, bail};
use clap::Args;
use indicatif::{DecimalBytes, ProgressBar};
use nix::sys::{
    time::TimeSpec,
    timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags},
};
use planet::{Planet, Status, Tap};

use crate::{
    interrupt::{Interrupt, first_ready},
    output::say,
};
use blocks::Blocks;

/// Capture the packets of hosts and links as pcapng, until Ctrl-C
///
/// Packets are shown as a wire would carry them. Without hosts and links it is all hosts.
///
/// Example: longhaul lab capture visitor -o - | tcpdump -n -r -
#[derive(Debug, Args)]
pub(crate) struct Capture {
    /// What these hosts send and receive
    hosts: Vec<String>,
    /// What is on the link between these two cities, both ways; may be given several times
    #[arg(long, value_name = "CITY-CITY")]
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
    /// The planet, if several are up
    #[arg(long)]
    planet: Option<String>,
}

/// Why a capture has ended.
enum End {
    /// Ctrl-C, or its time is up.
    Asked,
    /// The planet sends no more.
    Planet,
    /// Who read standard output went away.
    Reader,
}

impl Capture {
    pub(crate) fn run(&self) -> anyhow::Result<ExitCode> {
        let interrupt = Interrupt::listen()?;
        let planet = Planet::find(self.planet.as_deref())?;
        let tap = self.tap(&planet.status()?)?;
        let mut writing = Writing::begin(&self.output)?;
        let mut stream = planet.capture(&tap)?;
        let (asked, timer) = (interrupt.descriptor()?, timer(self.duration)?);
        let end = loop {
            let is_asked = first_ready(&[asked.as_fd(), timer.as_fd(), stream.as_fd()])? < 2;
            // What has come already is part of it: no more than a buffer, for that is what a socket holds.
            stream.set_nonblocking(is_asked)?;
            match writing.take(&mut stream)? {
                Some(end) => break end,
                None if is_asked => break End::Asked,
                None => {}
            }
        };
        let why = match end {
            End::Asked => String::new(),
            End::Planet => format!("; planet \"{}\" sends no more", planet.name()),
            End::Reader => "; its reader went away".to_owned(),
        };
        writing.bar.finish_and_clear();
        say(&format!("{}: {}{why}", writing.name, writing.summary()));
        Ok(ExitCode::SUCCESS)
    }

    /// What the planet is asked for.
    fn tap(&self, status: &Status) -> anyhow::Result<Tap> {
        let cities: Vec<_> = status.hosts.iter().map(|host| host.city.as_str()).collect();
        let links = self.link.iter().map(|text| link(text, &cities)).collect::<Result<Vec<_>, _>>()?;
        let hosts = if self.hosts.is_empty() && links.is_empty() {
            status.hosts.iter().map(|host| host.name.clone()).collect()
        } else {
            self.hosts.clone()
        };
        Ok(Tap { hosts, links, snap: self.snap })
    }
}

/// The two cities of "london-newyork". Of several hyphens, the one between two cities that have hosts is meant.
fn link(text: &str, cities: &[&str]) -> anyhow::Result<[String; 2]> {
    let splits: Vec<_> = text.match_indices('-').map(|(at, _)| [&text[..at], &text[at + 1..]]).collect();
    let is_known = |pair: &&[&str; 2]| pair.iter().all(|name| cities.contains(name));
    let found: Vec<_> = match splits.len() {
        1 => splits.iter().collect(),
        _ => splits.iter().filter(is_known).collect(),
    };
    match found.as_slice() {
        [pair] => Ok(pair.map(str::to_owned)),
        _ => Err(anyhow!("--link {text}: expected two cities of the planet, such as london-newyork")),
    }
}

/// A descriptor that is readable when the time is up; never without one.
fn timer(duration: Option<Duration>) -> anyhow::Result<TimerFd> {
    let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_CLOEXEC)?;
    if let Some(duration) = duration {
        // Zero would switch it off.
        let after = TimeSpec::from(duration.max(Duration::from_nanos(1)));
        timer.set(Expiration::OneShot(after), TimerSetTimeFlags::empty())?;
    }
    Ok(timer)
}

/// A capture that is being written, in whole blocks.
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
        let (name, output, bar) = if path.as_os_str() == "-" {
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

    /// Writes what has come; why nothing more will.
    fn take(&mut self, stream: &mut UnixStream) -> anyhow::Result<Option<End>> {
        let length = match stream.read(&mut self.buffer) {
            Ok(0) => return Ok(Some(End::Planet)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Some(End::Asked)),
            other => other.context("the capture broke off")?,
        };
        self.blocks.add(&self.buffer[..length])?;
        let bytes = self.blocks.complete();
        match self.output.write_all(bytes) {
            Ok(()) => self.written += bytes.len() as u64,
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(Some(End::Reader)),
            Err(error) => {
                // Half a block goes, so that the file can be read. A pipe or a device has nothing to cut.
                let _ = self.output.set_len(self.written);
                return Err(error).with_context(|| {
                    format!(
                        "{}: the capture stopped after {} bytes, which can be read",
                        self.name, self.written
                    )
                });
            }
        }
        self.bar.set_message(self.summary());
        self.bar.tick();
        Ok(None)
    }

    fn summary(&self) -> String {
        let packets = self.blocks.packets();
        format!(
            "{packets} {}, {}",
            if packets == 1 { "packet" } else { "packets" },
            DecimalBytes(self.written)
        )
    }
}

/// A super-packet with its blocks.
const BUFFER: usize = 256 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    /// A section, and a packet of 32 bytes as its block.
    const SECTION: &[u8] =
        b"\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c\x2b\x1a\x01\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\x1c\0\0\0";
    const PACKET: &[u8] = b"\x06\0\0\0\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x20\0\0\0";

    #[test]
    fn a_file_ends_with_a_whole_block_wherever_the_stream_does() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.pcapng");
        let (mut planet, mut stream) = UnixStream::pair().unwrap();
        planet.write_all(&[SECTION, PACKET, PACKET, &PACKET[..31]].concat()).unwrap();
        drop(planet);
        let mut writing = Writing::begin(&path).unwrap();
        assert!(writing.take(&mut stream).unwrap().is_none());
        assert!(matches!(writing.take(&mut stream).unwrap(), Some(End::Planet)));
        assert_eq!(std::fs::read(&path).unwrap(), [SECTION, PACKET, PACKET].concat());
        assert_eq!(writing.summary(), "2 packets, 92 B");
    }

    #[test]
    fn a_full_disk_is_said_with_what_can_be_read() {
        let (mut planet, mut stream) = UnixStream::pair().unwrap();
        planet.write_all(SECTION).unwrap();
        let mut writing = Writing::begin(Path::new("/dev/full")).unwrap();
        let error = writing.take(&mut stream).map(drop).unwrap_err();
        assert_eq!(error.to_string(), "/dev/full: the capture stopped after 0 bytes, which can be read");
        assert_eq!(error.downcast::<io::Error>().unwrap().kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn a_reader_that_goes_away_ends_the_capture() {
        let (mut planet, mut stream) = UnixStream::pair().unwrap();
        planet.write_all(SECTION).unwrap();
        let (reader, writer) = io::pipe().unwrap();
        let mut writing = Writing::begin(Path::new("/dev/null")).unwrap();
        writing.output = File::from(std::os::fd::OwnedFd::from(writer));
        drop(reader);
        assert!(matches!(writing.take(&mut stream).unwrap(), Some(End::Reader)));
    }

    #[test]
    fn a_link_is_two_cities_wherever_the_hyphen_is() {
        let cities = ["porto-novo", "london", "porto", "novo-london"];
        let pair = |a: &str, b: &str| [a.to_owned(), b.to_owned()];
        assert_eq!(link("LHR-JFK", &cities).unwrap(), pair("LHR", "JFK"));
        assert_eq!(link("london-porto-novo", &cities).unwrap(), pair("london", "porto-novo"));
        for text in ["", "london", "porto-novo-london", "a-b-c"] {
            link(text, &cities).unwrap_err();
        }
    }
}
