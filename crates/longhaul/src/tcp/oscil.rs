//! `longhaul tcp oscil`: a reader that misbehaves as real applications do, and what it does to a connection.

mod figures;
mod show;

use std::{fs, net::SocketAddr, ops::ControlFlow, path::PathBuf, process::ExitCode, time::Duration};

use anyhow::Context;
use clap::{Args, Subcommand, builder::PossibleValuesParser};
use indicatif::{ProgressBar, ProgressStyle};
use traffic::oscil::{self, Programme, Progress, Reading, Recording, Serving, Tracing};
use units::{Bitrate, Bytes};

use super::charts::Charts;
use crate::{
    interrupt::Interrupt,
    output::{self, say},
    run::write,
};

/// Read as real applications do, fast and slowly by turns, and see what the kernel makes of it
#[derive(Debug, Subcommand)]
pub(crate) enum Oscil {
    Serve(Serve),
    Read(Box<Read>),
    Show(Show),
    Programmes(Programmes),
}

/// Send without end to every client that connects, until Ctrl-C
///
/// There is no handshake: every client that connects is sent data. When a connection ends, prints what the kernel told of it.
///
/// Example: longhaul tcp oscil serve --congestion bbr --notsent-lowat 128KiB
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Where to listen; the default is every address, IPv4 and IPv6
    #[arg(long, value_name = "ADDRESS", default_value_t = Serving::default().listen)]
    listen: SocketAddr,
    /// Congestion control, such as cubic or bbr [default: the kernel's]
    #[arg(long, value_name = "NAME")]
    congestion: Option<String>,
    /// Size of the send buffer (SO_SNDBUF), which switches the kernel's own tuning of it off
    #[arg(long, value_name = "SIZE")]
    sndbuf: Option<Bytes>,
    /// Write no more while more than this is unsent (TCP_NOTSENT_LOWAT)
    #[arg(long, value_name = "SIZE")]
    notsent_lowat: Option<Bytes>,
    /// Send no faster than this (SO_MAX_PACING_RATE)
    #[arg(long, value_name = "RATE")]
    pacing: Option<Bitrate>,
    /// Send this much to each, then close the connection
    #[arg(long, value_name = "SIZE")]
    bytes: Option<Bytes>,
}

/// Read from a sender as a programme says, and show what the connection did meanwhile
///
/// The sender is `longhaul tcp oscil serve` or any server that sends at once. Exit code 1 if the programme was not gone
/// through to its end, or if this machine kept the reader from reading.
///
/// Example: longhaul tcp oscil read 192.0.2.1 --programme stalls --output stalls.json
#[derive(Debug, Args)]
pub(crate) struct Read {
    /// The sender, and its port if it is not 5203
    #[arg(value_name = "HOST[:PORT]")]
    host: String,
    /// How to read: a name that `longhaul tcp oscil programmes` lists, or a file
    #[arg(long, value_name = "NAME|FILE", default_value = "oscillating")]
    programme: String,
    /// How long to read; the programme is repeated or cut to fit [default: as long as it takes]
    #[arg(long = "for", value_name = "TIME", value_parser = units::duration::parse)]
    length: Option<Duration>,
    /// Size of the receive buffer (SO_RCVBUF), which switches the kernel's own tuning of it off
    #[arg(long, value_name = "SIZE")]
    rcvbuf: Option<Bytes>,
    /// From one look at the connection to the next
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = units::duration::parse)]
    interval: Duration,
    /// The most to read at once
    #[arg(long, value_name = "SIZE", default_value = "256KiB")]
    buffer: Bytes,
    /// Time the kernel's search for room in a full receive buffer, where it lets us (`longhaul doctor` says)
    #[arg(long)]
    trace: bool,
    /// Write a recording to this file, for `show`
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    forms: Forms,
}

/// Show a recording again
///
/// Example: longhaul tcp oscil show stalls.json --html stalls.html
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// What `read --output` has written
    #[arg(value_name = "FILE")]
    recording: PathBuf,
    #[command(flatten)]
    forms: Forms,
}

/// How a recording is shown.
#[derive(Debug, Args)]
struct Forms {
    /// Print the recording as one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    charts: Charts,
}

/// Print the programmes that come along: examples for one of your own
///
/// Example: longhaul tcp oscil programmes stalls > mine.toml
#[derive(Debug, Args)]
pub(crate) struct Programmes {
    /// Only this one
    #[arg(value_parser = PossibleValuesParser::new(Programme::shipped()))]
    name: Option<String>,
    /// Print an array of JSON objects
    #[arg(long)]
    json: bool,
}

impl Oscil {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Self::Serve(serve) => serve.run(),
            Self::Read(read) => read.run(),
            Self::Show(show) => show.run(),
            Self::Programmes(programmes) => programmes.run(),
        }
    }
}

impl Serve {
    fn run(self) -> anyhow::Result<ExitCode> {
        let serving = Serving {
            listen: self.listen,
            congestion: self.congestion,
            sndbuf: self.sndbuf,
            notsent_lowat: self.notsent_lowat,
            pacing: self.pacing,
            bytes: self.bytes,
        };
        let interrupted = interrupted()?;
        let ready = |address| say(&format!("listening on {address}"));
        oscil::serve(&serving, ready, |served| say(&show::served(&served)), interrupted)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Read {
    fn run(&self) -> anyhow::Result<ExitCode> {
        let reading = Reading {
            length: self.length,
            interval: self.interval,
            buffer: self.buffer,
            rcvbuf: self.rcvbuf,
            tracing: if self.trace { Tracing::Wanted } else { Tracing::Off },
            ..Reading::new(Programme::find(&self.programme)?)
        };
        let (mut interrupted, live) = (interrupted()?, Live::start()?);
        let recording = oscil::read(&self.host, &reading, |progress| {
            live.show(progress);
            interrupted()
        });
        live.finish();
        let recording = recording?.context("stopped before there was a connection")?;
        let json = serde_json::to_string(&recording)? + "\n";
        let written = self.output.as_ref().map_or(Ok(()), |path| write(path, &json));
        // It took its time: a file that cannot be written does not keep us from saying what was seen.
        self.forms.show(&recording)?;
        written?;
        Ok(if recording.is_whole() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

impl Show {
    fn run(&self) -> anyhow::Result<ExitCode> {
        let name = self.recording.display().to_string();
        let text = fs::read_to_string(&self.recording).with_context(|| format!("{name}: cannot be read"))?;
        self.forms.show(&Recording::parse(&name, &text)?)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Programmes {
    fn run(&self) -> anyhow::Result<ExitCode> {
        let names = Programme::shipped().filter(|name| self.name.as_ref().is_none_or(|only| only == name));
        if self.json {
            let found = names.map(Programme::find).collect::<Result<Vec<_>, _>>()?;
            let named =
                found.iter().map(|programme| output::named("longhaul.tcp.oscil.programme/1", programme));
            output::print_json(&named.collect::<Vec<_>>())?;
        } else {
            let texts = names.filter_map(|name| Some(format!("# {name}\n{}", Programme::text(name)?)));
            output::print(&texts.collect::<Vec<_>>().join("\n"))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Forms {
    fn show(&self, recording: &Recording) -> anyhow::Result<()> {
        if self.json {
            output::print_json(recording)?;
        } else {
            output::print(&show::recording(recording))?;
        }
        self.charts.write(|| figures::figures(recording))
    }
}

/// Whether Ctrl-C has been pressed.
fn interrupted() -> anyhow::Result<impl FnMut() -> ControlFlow<()>> {
    let interrupted = Interrupt::listen()?.poll()?;
    Ok(move || if interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
}

/// A line that says how it goes, drawn only where somebody sees it.
struct Live(ProgressBar);

impl Live {
    fn start() -> anyhow::Result<Self> {
        let style = ProgressStyle::with_template("{spinner} {msg}").context("the line of progress")?;
        Ok(Self(ProgressBar::new_spinner().with_style(style).with_message("connecting")))
    }

    fn show(&self, progress: Option<Progress<'_>>) {
        if let Some(progress) = progress {
            self.0.set_message(show::progress(&progress));
        }
        self.0.tick();
    }

    fn finish(self) {
        self.0.finish_and_clear();
    }
}
