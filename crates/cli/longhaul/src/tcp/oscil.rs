//! `longhaul tcp oscil`: a reader that alternates between fast and slow like real applications, and
//! its effect on a connection.

mod figures;
mod render;

use std::{fs, net::SocketAddr, ops::ControlFlow, path::PathBuf, process::ExitCode, time::Duration};

use anyhow::Context;
use clap::{Args, Subcommand, builder::PossibleValuesParser};
use indicatif::{ProgressBar, ProgressStyle};
use trafficgen::slow_reader::{self, Programme, Progress, Reading, Recording, Serving, Tracing};
use units::{Bitrate, Bytes};

use super::charts::Charts;
use crate::{
    interrupt::Interrupt,
    output::{self, say},
    run::write,
};

/// Read like real applications, alternately fast and slow, and record the kernel's reaction
#[derive(Debug, Subcommand)]
pub(crate) enum Oscil {
    Serve(Serve),
    Read(Box<Read>),
    Show(Show),
    Programmes(Programmes),
}

/// Send without end to every client that connects, until Ctrl-C
///
/// There is no handshake: the server sends as soon as a client connects. When a connection ends, prints the
/// kernel's statistics.
///
/// Example: longhaul tcp oscil serve --congestion bbr --notsent-lowat 128KiB
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Listen address; the default is every address, IPv4 and IPv6
    #[arg(long, value_name = "ADDRESS", default_value_t = Serving::default().listen)]
    listen: SocketAddr,
    /// Congestion control, such as cubic or bbr [default: the kernel's]
    #[arg(long, value_name = "NAME")]
    congestion: Option<String>,
    /// Size of the send buffer (SO_SNDBUF), which disables the kernel's autotuning
    #[arg(long, value_name = "SIZE")]
    sndbuf: Option<Bytes>,
    /// Stop writing while more than this is unsent (TCP_NOTSENT_LOWAT)
    #[arg(long, value_name = "SIZE")]
    notsent_lowat: Option<Bytes>,
    /// Send no faster than this (SO_MAX_PACING_RATE)
    #[arg(long, value_name = "RATE")]
    pacing: Option<Bitrate>,
    /// Send this much to each client, then close the connection
    #[arg(long, value_name = "SIZE")]
    bytes: Option<Bytes>,
}

/// Read from a sender by a programme, and show the behaviour of the connection
///
/// The sender is `longhaul tcp oscil serve` or any server that sends without a request. Exit code 1 if the
/// programme did not complete, or if this machine delayed the reader.
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
    /// Size of the receive buffer (SO_RCVBUF), which disables the kernel's autotuning
    #[arg(long, value_name = "SIZE")]
    rcvbuf: Option<Bytes>,
    /// Sampling interval of the connection
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = units::duration::parse)]
    interval: Duration,
    /// Maximum size of a read
    #[arg(long, value_name = "SIZE", default_value = "256KiB")]
    buffer: Bytes,
    /// Time how long the kernel searches for room in a full receive buffer, if permitted (see `longhaul
    /// doctor`)
    #[arg(long)]
    trace: bool,
    /// Write a recording to this file, for `show`
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    forms: Forms,
}

/// Show an existing recording
///
/// Example: longhaul tcp oscil show stalls.json --html stalls.html
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The output of `read --output`
    #[arg(value_name = "FILE")]
    recording: PathBuf,
    #[command(flatten)]
    forms: Forms,
}

/// Output options of a recording.
#[derive(Debug, Args)]
struct Forms {
    /// Print the recording as one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    charts: Charts,
}

/// Print the built-in programmes, as examples for new ones
///
/// Example: longhaul tcp oscil programmes stalls > mine.toml
#[derive(Debug, Args)]
pub(crate) struct Programmes {
    /// Print only this programme
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
        slow_reader::serve(&serving, ready, |served| say(&render::served(&served)), interrupted)?;
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
        let recording = slow_reader::read(&self.host, &reading, |progress| {
            live.show(progress);
            interrupted()
        });
        live.finish();
        let recording = recording?.context("stopped before there was a connection")?;
        let json = serde_json::to_string(&recording)? + "\n";
        let written = self.output.as_ref().map_or(Ok(()), |path| write(path, &json));
        // Show the results even if the file could not be written.
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
            output::print(&render::recording(recording))?;
        }
        self.charts.write(|| figures::figures(recording))
    }
}

fn interrupted() -> anyhow::Result<impl FnMut() -> ControlFlow<()>> {
    let interrupted = Interrupt::listen()?.poll()?;
    Ok(move || if interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
}

struct Live(ProgressBar);

impl Live {
    fn start() -> anyhow::Result<Self> {
        let style = ProgressStyle::with_template("{spinner} {msg}").context("the line of progress")?;
        Ok(Self(ProgressBar::new_spinner().with_style(style).with_message("connecting")))
    }

    fn show(&self, progress: Option<Progress<'_>>) {
        if let Some(progress) = progress {
            self.0.set_message(render::progress(&progress));
        }
        self.0.tick();
    }

    fn finish(self) {
        self.0.finish_and_clear();
    }
}
