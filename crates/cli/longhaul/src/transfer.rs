//! `longhaul transfer`: one bulk transfer over TCP or Multipath TCP, with every byte verified.

pub(crate) mod render;

use std::{net::SocketAddr, ops::ControlFlow, process::ExitCode, time::Duration};

use anyhow::Context;
use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use probe::ShutdownSignal;
use trafficgen::transfer::{self, Protocol, Sending, Serving, Stopping};
use units::Bytes;

use crate::{
    interrupt::Interrupt,
    output::{self, say},
};

/// Transfer bytes over TCP or Multipath TCP, and verify each of them
#[derive(Debug, Subcommand)]
pub(crate) enum Transfer {
    Serve(Serve),
    Send(Send),
}

/// Receive concurrent transfers, until Ctrl-C
///
/// Example: longhaul transfer serve --listen 0.0.0.0:5201 --mptcp
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Listen address; the default is every address, IPv4 and IPv6
    #[arg(long, value_name = "ADDRESS", default_value_t = Serving::default().listen)]
    listen: SocketAddr,
    /// Accept Multipath TCP from senders that use it
    #[arg(long)]
    mptcp: bool,
    /// Set the receive buffer, as applications do with SO_RCVBUF [default: the kernel sizes it]
    #[arg(long, value_name = "SIZE")]
    rcvbuf: Option<Bytes>,
    /// Limit the advertised window with TCP_WINDOW_CLAMP [default: what the buffer allows]
    #[arg(long, value_name = "SIZE")]
    window: Option<Bytes>,
}

/// Send to `longhaul transfer serve` and report the goodput, arrivals over time, and the longest gap
///
/// Exit code 1 if bytes were lost or damaged, or if the server's receipt is missing.
///
/// Example: longhaul transfer send 192.0.2.1:5201 --for 30s --congestion bbr
#[derive(Debug, Args)]
pub(crate) struct Send {
    /// The server and its port
    #[arg(value_name = "HOST:PORT")]
    server: String,
    /// How long to send [default, without --bytes: 10s]
    #[arg(long = "for", value_name = "TIME", value_parser = units::duration::parse, conflicts_with = "bytes")]
    duration: Option<Duration>,
    /// How much to send, such as 1GB
    #[arg(long, value_name = "SIZE")]
    bytes: Option<Bytes>,
    /// Use Multipath TCP
    #[arg(long)]
    mptcp: bool,
    /// Congestion control, such as cubic or bbr [default: the kernel's]
    #[arg(long, value_name = "NAME")]
    congestion: Option<String>,
    /// Exclude arrivals in this initial time from the goodput
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = units::duration::parse)]
    omit: Duration,
    /// Limit unsent data in the kernel with TCP_NOTSENT_LOWAT [default: the kernel's setting]
    #[arg(long, value_name = "SIZE")]
    notsent_lowat: Option<Bytes>,
    /// Resolution of arrival times
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = units::duration::parse)]
    interval: Duration,
    /// Timeout for a path that delivers nothing
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = units::duration::parse)]
    grace: Duration,
    /// Print a summary as one JSON object
    #[arg(long)]
    json: bool,
}

impl Transfer {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Self::Serve(serve) => serve.run(),
            Self::Send(send) => send.run(),
        }
    }
}

impl Serve {
    fn run(&self) -> anyhow::Result<ExitCode> {
        let stop = ShutdownSignal::new();
        Interrupt::listen()?.ask(&stop);
        let config = Serving {
            listen: self.listen,
            protocol: protocol(self.mptcp),
            rcvbuf: self.rcvbuf,
            window: self.window,
        };
        let watch = || if stop.is_requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        transfer::serve(&config, |address| say(&format!("listening on {address}")), say, watch)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Send {
    fn run(self) -> anyhow::Result<ExitCode> {
        let stop = ShutdownSignal::new();
        Interrupt::listen()?.ask(&stop);
        let bar = ProgressBar::new_spinner()
            .with_style(ProgressStyle::with_template("{spinner} {msg}").context("the line of progress")?);
        let sending = Sending {
            duration: self.duration,
            bytes: self.bytes,
            protocol: protocol(self.mptcp),
            congestion: self.congestion,
            omit: self.omit,
            notsent_lowat: self.notsent_lowat,
            interval: self.interval,
            grace: self.grace,
        };
        let watch = |sent| {
            bar.set_message(format!("{} s: {} sent", bar.elapsed().as_secs(), units::show::bytes(sent)));
            bar.tick();
        };
        let stopping = || match (stop.is_requested(), stop.is_insisted()) {
            (_, true) => Stopping::Insisted,
            (true, false) => Stopping::Asked,
            (false, false) => Stopping::No,
        };
        let summary = transfer::send(&self.server, &sending, watch, stopping);
        bar.finish_and_clear();
        let summary = summary?;
        if self.json {
            output::print_json(&summary)?;
        } else {
            output::print(&render::summary(&self.server, &summary))?;
        }
        Ok(if summary.is_whole() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

fn protocol(is_mptcp: bool) -> Protocol {
    if is_mptcp { Protocol::Mptcp } else { Protocol::Tcp }
}
