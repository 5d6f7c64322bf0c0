//! `longhaul lab publish`: publishes a server of a planet on loopback, so that a browser
//! experiences its latency.

use std::{
    net::{SocketAddr, TcpListener},
    os::fd::AsFd,
    process::ExitCode,
};

use anyhow::{Context, anyhow};
use clap::Args;
use planet::{Status, cli_documents::Publishing};

use super::Which;
use crate::{
    interrupt::{Interrupt, first_ready},
    output::{self, say},
};

/// Publish a server of the planet to a browser, at the distance of a host or city
///
/// Listens on this machine and forwards each connection to the server across the planet, with that host as
/// the client.
///
/// Example: longhaul lab publish origin:80 --from sydney
#[derive(Debug, Args)]
pub(crate) struct Publish {
    /// The server: a host of the planet and a port
    #[arg(value_name = "HOST:PORT", value_parser = server)]
    server: String,
    /// The location of the client: a host, or a city that has one
    #[arg(long, value_name = "HOST|CITY")]
    from: String,
    /// Listen address; a port alone listens on loopback, another address admits other machines
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDRESS:PORT")]
    listen: SocketAddr,
    #[command(flatten)]
    which: Which,
    /// Print the listen address as one JSON object
    #[arg(long)]
    json: bool,
}

impl Publish {
    pub(crate) fn run(&self) -> anyhow::Result<ExitCode> {
        let interrupt = Interrupt::listen()?;
        let planet = self.which.find()?;
        let status = planet.status()?;
        let (from, city) = visitor(&status, &self.from)?;
        let listener =
            TcpListener::bind(self.listen).with_context(|| format!("cannot listen on {}", self.listen))?;
        let listen = listener.local_addr()?;
        let end_of_planet = planet.watch()?;
        let published = planet.publish(&self.server, from, listener)?;

        if self.json {
            output::print_json_line(&output::named(
                "longhaul.lab.publish/1",
                Publishing {
                    planet: planet.name().to_owned(),
                    listen,
                    server: self.server.clone(),
                    from: from.to_owned(),
                    city: city.to_owned(),
                },
            ))?;
        }
        let scheme = if self.server.ends_with(":443") { "https" } else { "http" };
        say(&format!("listening on {scheme}://{listen}/"));
        say(&format!("which is {} as {from} in {city} sees it     (Ctrl-C ends this)", self.server));

        // The thread ends only on failure. It then closes its end of the pipe, which wakes this
        // thread.
        let (failed, alive) = std::io::pipe()?;
        let passing_on = std::thread::spawn(move || {
            let _alive = alive;
            published.run(say)
        });
        match first_ready(&[interrupt.descriptor()?.as_fd(), end_of_planet.as_fd(), failed.as_fd()])? {
            0 => {}
            1 => say(&format!("planet \"{}\" is gone", planet.name())),
            _ => passing_on.join().map_err(|_| anyhow!("a thread panicked"))??,
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn visitor<'a>(status: &'a Status, name: &str) -> anyhow::Result<(&'a str, &'a str)> {
    let pairs = || status.hosts.iter().map(|host| (host.name.as_str(), host.city.as_str()));
    let found = pairs().find(|(host, _)| *host == name).or_else(|| pairs().find(|(_, city)| *city == name));
    found.ok_or_else(|| {
        let remedy = match units::nearest(name, pairs().flat_map(|(host, city)| [host, city])) {
            Some(nearest) => format!("did you mean \"{nearest}\"?"),
            None => "longhaul lab status lists what there is".to_owned(),
        };
        anyhow!("no host \"{name}\" on planet \"{}\", nor one in a city of that name; {remedy}", status.name)
    })
}

fn server(text: &str) -> Result<String, String> {
    let is_port = |port: &str| port.parse::<u16>().is_ok_and(|port| port > 0);
    match text.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && is_port(port) => Ok(text.to_owned()),
        _ => Err("expected a host and a port, such as origin:80 or [fd6c::1]:80".to_owned()),
    }
}
