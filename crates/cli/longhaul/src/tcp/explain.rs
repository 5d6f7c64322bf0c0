//! `longhaul tcp explain`: reports the bottleneck of TCP connections, and one change that would
//! help.

mod render;

use std::{
    net::{IpAddr, SocketAddr, ToSocketAddrs},
    ops::ControlFlow,
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context, bail};
use clap::Args;
use tcp::explain::{End, Explanation, Filter, Observer, judge};

use crate::{interrupt::Interrupt, output};

/// Explain the speed of TCP connections, and suggest one change that would help
///
/// Samples the TCP connections of its network namespace for a second and changes nothing. For each connection
/// it reports the bottleneck: the receiver's window or program, the sender's program or buffer, the network,
/// or a configured rate. Exits with 0 on success, 2 on errors. See docs/tcp-explain.md.
///
/// Examples: longhaul tcp explain --port 443, longhaul lab exec visitor -- longhaul tcp explain origin:80
/// --watch
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// Only connections with this address at either end; a name stands for all its addresses
    #[arg(value_name = "ADDRESS[:PORT]")]
    end: Option<String>,
    /// Only connections of this process
    #[arg(long, value_name = "PID")]
    pid: Option<u32>,
    /// Only connections with this port at either end
    #[arg(long)]
    port: Option<u16>,
    /// Sampling time
    #[arg(long = "for", value_name = "TIME", default_value = "1s", value_parser = duration)]
    duration: Duration,
    /// Repeat until Ctrl-C
    #[arg(long)]
    watch: bool,
    /// Number of connections to show; --json always prints all
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Print JSON: one array, with --watch one in each line
    #[arg(long)]
    json: bool,
}

impl Explain {
    pub(crate) fn run(&self) -> anyhow::Result<ExitCode> {
        let asked_to_stop = Interrupt::listen()?.poll()?;
        let end = self.end.as_deref().map(end).transpose()?;
        let observer = Observer::open(Filter { pid: self.pid, port: self.port, end })?;
        let mut has_stopped = false;
        let mut go_on = || {
            has_stopped = has_stopped || asked_to_stop();
            if has_stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let mut first = true;
        loop {
            let observation = match observer.observe(self.duration, &mut go_on) {
                Err(tcp::Error::Input { what, .. }) if !first => {
                    output::say(&what);
                    break;
                }
                other => other?,
            };
            let all = judge(&observation);
            if self.json && all.is_empty() && observation.ended > 0 {
                output::say(&format!("no open TCP connection here; {}", render::waiting(observation.ended)));
            }
            self.print(&all, observation.ended, first)?;
            first = false;
            if !self.watch || go_on().is_break() || !output::has_reader() {
                break;
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn print(&self, all: &[Explanation], ended: u64, is_first: bool) -> anyhow::Result<()> {
        let named = || -> Vec<_> { all.iter().map(|each| output::named(SCHEMA, each)).collect() };
        match (self.json, self.watch) {
            (true, false) => output::print_json(&named()),
            (true, true) => output::print(&(serde_json::to_string(&named())? + "\n")),
            (false, false) => output::print(&render::all(all, ended, self.top)),
            (false, true) => output::print_again(&render::all(all, ended, self.top), is_first),
        }
    }
}

fn end(text: &str) -> anyhow::Result<End> {
    if let Ok(address) = text.parse::<IpAddr>() {
        return Ok(End { addresses: vec![address.to_canonical()], port: None });
    }
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Ok(End { addresses: vec![address.ip().to_canonical()], port: Some(address.port()) });
    }
    let (name, port) = match text.rsplit_once(':') {
        Some((name, port)) => {
            let port = port.parse().ok().filter(|port| *port > 0);
            (
                name,
                Some(port.with_context(|| {
                    format!("\"{text}\" is not an ADDRESS[:PORT]: a port is between 1 and 65535")
                })?),
            )
        }
        None => (text, None),
    };
    let resolved =
        (name, 0).to_socket_addrs().with_context(|| format!("cannot find the address of \"{name}\""))?;
    let addresses: Vec<_> = resolved.map(|address| address.ip().to_canonical()).collect();
    if addresses.is_empty() {
        bail!("\"{name}\" has no address");
    }
    Ok(End { addresses, port })
}

/// A tenth of a second is a few samples; an hour is the longest useful wait.
fn duration(text: &str) -> Result<Duration, String> {
    let duration = units::duration::parse(text).map_err(|error| error.to_string())?;
    if !(Duration::from_millis(100)..=Duration::from_secs(3600)).contains(&duration) {
        return Err("expected a time between 100ms and 1h".to_owned());
    }
    Ok(duration)
}

const SCHEMA: &str = "longhaul.tcp.explain/1";
