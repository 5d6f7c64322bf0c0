//! A scenario with every name checked: what will be run.

use std::{net::Ipv4Addr, path::Path, time::Duration};

use experience::Page;
use recording::Metric;
use units::Bytes;
use world::{Document, Effect, HostDown, Layout, Timed, World};

use self::{check::Check, order::Step};
use crate::{claim::Claim, error::Error, file::File, subject::Source};

mod check;
mod claims;
mod order;

/// What will be run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The file's name without its extension.
    pub name: String,
    /// The report's title.
    pub title: String,
    /// What is asked.
    pub summary: Option<String>,
    /// What claims and report speak of.
    pub metric: Metric,
    /// The page that a person opens.
    pub page: Page,
    /// The world, without its faults.
    pub world: World,
    /// The world with every name resolved.
    pub layout: Layout,
    /// What a user should know of the files that it was read from.
    pub notes: Vec<String>,
    /// What runs: the file's programs, then the servers of its transfers.
    pub programs: Vec<Program>,
    /// Requests that are measured.
    pub probes: Vec<Probe>,
    /// Transfers that are measured.
    pub transfers: Vec<Transfer>,
    /// Pings that are measured.
    pub pings: Vec<Ping>,
    /// Programs that measure themselves.
    pub commands: Vec<Command>,
    /// How much of what each program puts out is kept.
    pub log_limit: Bytes,
    /// How long all that takes, as far as the file says it.
    pub duration: Duration,
    /// What goes wrong meanwhile, in order of time since measuring started. The world's own, and the scenario's.
    pub faults: Vec<Timed>,
    /// What is claimed.
    pub claims: Vec<Claim>,
}

/// Something that runs in a host for as long as the scenario measures.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// Where.
    pub host: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The TCP port on which it must listen before measuring starts.
    pub ready: Option<u16>,
}

/// Requests from one host.
#[derive(Debug, Clone)]
pub struct Probe {
    /// Whose samples these are.
    pub side: String,
    /// Where from.
    pub host: String,
    /// How long it measures.
    pub duration: Duration,
    /// What to ask for, and the command line that says how.
    pub url: String,
    /// Arguments for `longhaul probe` beside the URL.
    pub arguments: Vec<String>,
}

/// A transfer from one host to another.
#[derive(Debug, Clone)]
pub struct Transfer {
    /// Whose it is.
    pub side: String,
    /// Who sends.
    pub from: String,
    /// Who receives.
    pub to: String,
    /// Where the receiver listens.
    pub port: u16,
    /// Whether it goes over Multipath TCP.
    pub is_mptcp: bool,
    /// How long bytes are sent, or with `bytes`, how long that will take.
    pub duration: Duration,
    /// How many bytes are sent.
    pub bytes: Option<Bytes>,
    /// A start that does not count for the goodput.
    pub omit: Option<Duration>,
    /// Congestion control of the sender.
    pub congestion: Option<String>,
    /// How much may wait in the sender's kernel for being sent.
    pub notsent_lowat: Option<Bytes>,
    /// What the receiver's sockets are told.
    pub receiver: Receiver,
    /// The side whose measurements end before this one begins.
    pub after: Option<String>,
}

/// What the sockets of a transfer's receiver are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Receiver {
    /// The receive buffer; absent: the kernel sizes it.
    pub rcvbuf: Option<Bytes>,
    /// The largest window that is announced.
    pub window: Option<Bytes>,
}

/// Pings from one host.
#[derive(Debug, Clone)]
pub struct Ping {
    /// Whose they are.
    pub side: String,
    /// Who sends.
    pub host: String,
    /// Who is asked, in order.
    pub targets: Vec<Target>,
    /// Pings to each.
    pub count: u32,
    /// From one round to the next.
    pub interval: Duration,
    /// After this a ping is lost.
    pub timeout: Duration,
}

/// Who is pinged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Its name.
    pub host: String,
    /// Its address.
    pub address: Ipv4Addr,
    /// The world's round trip to it, without queues.
    pub rtt: Duration,
}

/// A program that measures and prints one JSON value.
#[derive(Debug, Clone)]
pub struct Command {
    /// What it measures.
    pub side: String,
    /// Where it runs.
    pub host: String,
    /// The program and its arguments; [`OUT`] in them is the run's folder.
    pub command: Vec<String>,
    /// Exit codes with which it has measured.
    pub codes: Vec<u8>,
    /// How long it will take.
    pub duration: Duration,
    /// How long it may take.
    pub timeout: Duration,
    /// How much it may print.
    pub limit: Bytes,
    /// The side whose measurements end before this one begins.
    pub after: Option<String>,
}

/// Where the randomness of a run starts, in place of what its file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seed(pub u64);

impl Plan {
    /// Reads a scenario file and, if it names one, its world file. Starts nothing.
    pub fn read(path: &Path) -> Result<Self, Error> {
        Self::read_with(path, None)
    }

    /// As [`Self::read`]; with a seed, losses, jitter and the schedules of probes are others than those of the file.
    pub fn read_with(path: &Path, seed: Option<Seed>) -> Result<Self, Error> {
        let mut document = open(path)?;
        let mut file: File = document.parse()?;
        let name = path
            .file_stem()
            .map_or_else(|| "scenario".to_owned(), |stem| stem.to_string_lossy().into_owned());
        let (mut world, mut layout, notes) = read_world(&mut file, path, &mut document, seed)?;
        // What goes wrong in a world file counts from when measuring starts, like all else here.
        world.faults.clear();
        let mut faults = std::mem::take(&mut layout.faults);

        let check = Check { document: &document, layout: &layout, seed };
        let log_limit = check.limit(file.scenario.log_limit.as_ref())?;
        let mut programs =
            file.program.into_iter().map(|program| check.program(program)).collect::<Result<Vec<_>, _>>()?;
        let probes = check.probes(&file.probe)?;
        let transfers = check.transfers(&file.transfer)?;
        let pings = check.pings(&file.ping)?;
        let commands = check.commands(&file.command)?;
        programs.extend(servers(&transfers));
        let measured = Measured { probes, transfers, pings, commands };
        if measured.sides().is_empty() {
            let message =
                "the scenario measures nothing; add a [[probe]], a [[transfer]], a [[ping]] or a [[command]]";
            return Err(document.mistake(0..0, message).into());
        }
        let duration = check.duration(&file.transfer, &file.command, &measured)?;
        for fault in file.fault {
            faults.push(check.fault(fault, &measured, duration)?);
        }
        faults.sort_by_key(|fault| fault.at);
        let claims = file
            .claim
            .into_iter()
            .map(|claim| claims::check(claim, &measured, &document))
            .collect::<Result<_, _>>()?;
        let page = Page::new(*file.page.requests.get_ref(), file.page.required.get_ref().get())
            .map_err(|error| document.mistake(file.page.requests.span(), error.to_string()))?;
        let Measured { probes, transfers, pings, commands } = measured;
        let (title, summary, metric) = (file.scenario.title, file.scenario.summary, file.scenario.metric);
        Ok(Self {
            name,
            title,
            summary,
            metric,
            page,
            world,
            layout,
            notes,
            programs,
            probes,
            transfers,
            pings,
            commands,
            log_limit,
            duration,
            faults,
            claims,
        })
    }

    /// Whether a fault has killed what runs in a host by this time since measuring started.
    pub fn is_killed(&self, host: &str, elapsed: Duration) -> bool {
        let kills = |fault: &Timed| match fault.effect {
            Effect::Host { host: killed, how: HostDown::Killed } => self.layout.hosts[killed].name == host,
            _ => false,
        };
        self.faults.iter().any(|fault| fault.at <= elapsed && kills(fault))
    }
}

/// All that is measured.
struct Measured {
    probes: Vec<Probe>,
    transfers: Vec<Transfer>,
    pings: Vec<Ping>,
    commands: Vec<Command>,
}

impl Measured {
    /// All of it, as far as time is concerned.
    fn steps(&self) -> Vec<Step<'_>> {
        let at_once = |side, lasts| Step { side, after: None, lasts };
        let probes = self.probes.iter().map(|probe| at_once(&probe.side, probe.duration));
        let pings =
            self.pings.iter().map(|ping| at_once(&ping.side, ping.interval.saturating_mul(ping.count)));
        let transfers = self.transfers.iter().map(|transfer| Step {
            side: &transfer.side,
            after: transfer.after.as_deref(),
            lasts: transfer.duration,
        });
        let commands = self.commands.iter().map(|command| Step {
            side: &command.side,
            after: command.after.as_deref(),
            lasts: command.duration,
        });
        probes.chain(pings).chain(transfers).chain(commands).collect()
    }

    /// Whether something measures in this host.
    fn is_from(&self, host: &str) -> bool {
        self.probes.iter().any(|probe| probe.host == host)
            || self.transfers.iter().any(|transfer| transfer.from == host || transfer.to == host)
            || self.pings.iter().any(|ping| ping.host == host)
            || self.commands.iter().any(|command| command.host == host)
    }

    /// The sides that are measured, and by what.
    fn sides(&self) -> Vec<(Source, &str)> {
        let probes = self.probes.iter().map(|probe| (Source::Probe, probe.side.as_str()));
        let transfers = self.transfers.iter().map(|transfer| (Source::Transfer, transfer.side.as_str()));
        let pings = self.pings.iter().map(|ping| (Source::Ping, ping.side.as_str()));
        let commands = self.commands.iter().map(|command| (Source::Command, command.side.as_str()));
        probes.chain(transfers).chain(pings).chain(commands).collect()
    }
}

/// The world in the file, or the one that it names, and what a user should know of it.
fn read_world(
    file: &mut File,
    path: &Path,
    document: &mut Document,
    seed: Option<Seed>,
) -> Result<(World, Layout, Vec<String>), Error> {
    let seeded = |world: &mut World| {
        if let Some(Seed(seed)) = seed {
            world.settings.seed = seed;
        }
    };
    let has_settings = file.world.is_some();
    let mut inline = World {
        settings: file.world.take().unwrap_or_default(),
        cities: std::mem::take(&mut file.city),
        links: std::mem::take(&mut file.link),
        access: std::mem::take(&mut file.access),
        hosts: std::mem::take(&mut file.host),
        visitors: std::mem::take(&mut file.visitors),
        anycast: std::mem::take(&mut file.anycast),
        faults: Vec::new(),
    };
    let tables = [
        inline.cities.len(),
        inline.links.len(),
        inline.access.len(),
        inline.hosts.len(),
        inline.visitors.len(),
        inline.anycast.len(),
    ];
    let Some(other) = &file.scenario.world else {
        let notes = inline.gather(document, document::read_text)?;
        seeded(&mut inline);
        let layout = inline.layout(document)?;
        return Ok((inline, layout, notes));
    };
    if has_settings || tables.into_iter().any(|tables| tables > 0) {
        let message = "the scenario has a world of its own and names a world file; one of them is expected";
        return Err(document.mistake(other.span(), message).into());
    }
    let beside = path.parent().unwrap_or(Path::new("")).join(other.get_ref());
    let mut named = open(&beside)?;
    let (mut world, layout, notes) = World::read_all(&mut named, document::read_text)?;
    if seed.is_none() {
        return Ok((world, layout, notes));
    }
    seeded(&mut world);
    let layout = world.layout(&named)?;
    Ok((world, layout, notes))
}

fn open(path: &Path) -> Result<Document, Error> {
    Document::open(path).map_err(|source| Error::Access { path: path.to_owned(), source })
}

/// A server for each host and port to which somebody transfers. One for Multipath TCP receives TCP as well. All who
/// transfer to one expect the same of its sockets.
fn servers(transfers: &[Transfer]) -> Vec<Program> {
    let mut places: Vec<(&str, u16)> =
        transfers.iter().map(|transfer| (transfer.to.as_str(), transfer.port)).collect();
    places.sort_unstable();
    places.dedup();
    let server = |(host, port): (&str, u16)| {
        let is_here = |transfer: &&Transfer| transfer.to == host && transfer.port == port;
        let is_mptcp = transfers.iter().filter(is_here).any(|transfer| transfer.is_mptcp);
        let receiver = transfers.iter().find(is_here).map_or_else(Receiver::default, |one| one.receiver);
        let mut command = ["longhaul", "transfer", "serve", "--listen"].map(str::to_owned).to_vec();
        command.push(format!("[::]:{port}"));
        command.extend(is_mptcp.then(|| "--mptcp".to_owned()));
        for (flag, size) in [("--rcvbuf", receiver.rcvbuf), ("--window", receiver.window)] {
            command.extend(size.into_iter().flat_map(|size| [flag.to_owned(), size.to_string()]));
        }
        Program { host: host.to_owned(), command, ready: Some(port) }
    };
    places.into_iter().map(server).collect()
}

/// What stands for the run's folder in the arguments of a program or a command.
pub const OUT: &str = "{out}";

#[cfg(test)]
mod tests;
