//! A scenario with every name checked: what will be run.

use std::{path::Path, time::Duration};

use experience::Page;
use recording::Metric;
use toml::Spanned;
use world::{Change, Document, Layout, Mistake, World, suggestion};

use crate::{
    claim::{Claim, Says},
    error::Error,
    file::{self, File},
};

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
    /// The world, and its names resolved.
    pub world: World,
    /// The world with every name resolved.
    pub layout: Layout,
    /// What a user should know of the files that it was read from.
    pub notes: Vec<String>,
    /// What runs.
    pub programs: Vec<Program>,
    /// What is measured.
    pub probes: Vec<Probe>,
    /// What happens meanwhile, in order of time.
    pub faults: Vec<Fault>,
    /// What is claimed.
    pub claims: Vec<Claim>,
}

/// Something that runs in a host for as long as the scenario measures.
#[derive(Debug, Clone)]
pub struct Program {
    /// Where.
    pub host: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The TCP port on which it must listen before measuring starts.
    pub ready: Option<u16>,
}

/// A measurement from one host.
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

/// A change to a link.
#[derive(Debug, Clone)]
pub struct Fault {
    /// When, since measuring started.
    pub at: Duration,
    /// When it is over; `None`: not before the end.
    pub until: Option<Duration>,
    /// The cities.
    pub between: [String; 2],
    /// What changes.
    pub change: Change,
}

impl Plan {
    /// Reads a scenario file and, if it names one, its world file. Starts nothing.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let open = |path: &Path| {
            Document::open(path).map_err(|source| Error::Access { path: path.to_owned(), source })
        };
        let mut document = open(path)?;
        let file: File = document.parse()?;
        let name = path
            .file_stem()
            .map_or_else(|| "scenario".to_owned(), |stem| stem.to_string_lossy().into_owned());

        let has_settings = file.world.is_some();
        let settings = file.world.unwrap_or_default();
        let mut inline = World {
            settings,
            cities: file.city,
            links: file.link,
            hosts: file.host,
            access: Vec::new(),
            visitors: Vec::new(),
            anycast: Vec::new(),
            faults: Vec::new(),
        };
        let is_described = has_settings || inline.hosts.len() + inline.links.len() + inline.cities.len() > 0;
        let (world, layout, notes) = match &file.scenario.world {
            Some(other) if is_described => {
                let message =
                    "the scenario has a world of its own and names a world file; one of them is expected";
                return Err(document.mistake(other.span(), message).into());
            }
            Some(other) => {
                let beside = path.parent().unwrap_or(Path::new("")).join(other.get_ref());
                World::read_all(&mut open(&beside)?, world::read_text)?
            }
            None => {
                let notes = inline.gather(&mut document, world::read_text)?;
                let layout = inline.layout(&document)?;
                (inline, layout, notes)
            }
        };
        let check = Check { document: &document, layout: &layout };
        let programs =
            file.program.into_iter().map(|program| check.program(program)).collect::<Result<_, _>>()?;
        let probes = check.probes(&file.probe)?;
        let end = probes.iter().map(|probe: &Probe| probe.duration).max().unwrap_or_default();
        let mut faults =
            file.fault.iter().map(|fault| check.fault(fault, end)).collect::<Result<Vec<_>, _>>()?;
        faults.sort_by_key(|fault| fault.at);
        let claims =
            file.claim.into_iter().map(|claim| check.claim(claim, &probes)).collect::<Result<_, _>>()?;
        let page = Page::new(*file.page.requests.get_ref(), file.page.required.get_ref().get())
            .map_err(|error| document.mistake(file.page.requests.span(), error.to_string()))?;
        Ok(Self {
            name,
            title: file.scenario.title,
            summary: file.scenario.summary,
            metric: file.scenario.metric,
            page,
            world,
            layout,
            notes,
            programs,
            probes,
            faults,
            claims,
        })
    }

    /// How long it measures.
    pub fn duration(&self) -> Duration {
        self.probes.iter().map(|probe| probe.duration).max().unwrap_or_default()
    }

    /// The sides, in the order in which the file names them.
    pub fn sides(&self) -> Vec<&str> {
        let mut sides = Vec::new();
        for probe in &self.probes {
            if !sides.contains(&probe.side.as_str()) {
                sides.push(&probe.side);
            }
        }
        sides
    }
}

/// Holds names against the world.
struct Check<'d> {
    document: &'d Document,
    layout: &'d Layout,
}

impl Check<'_> {
    fn program(&self, program: file::Program) -> Result<Program, Mistake> {
        self.host(&program.host)?;
        if program.run.get_ref().is_empty() {
            return Err(self
                .document
                .mistake(program.run.span(), "a program and its arguments are expected"));
        }
        Ok(Program {
            host: program.host.into_inner(),
            command: program.run.into_inner(),
            ready: program.ready,
        })
    }

    fn probes(&self, probes: &[file::Probe]) -> Result<Vec<Probe>, Mistake> {
        if probes.is_empty() {
            return Err(self.document.mistake(0..0, "the scenario measures nothing; add a [[probe]]"));
        }
        let mut checked: Vec<Probe> = Vec::new();
        for probe in probes {
            let side = probe.side.get_ref();
            if !is_file_name(side) {
                let message = format!(
                    "\"{side}\" cannot be a side's name; expected a-z, A-Z, 0-9, \".\", \"_\" and \"-\", as in a file's name"
                );
                return Err(self.document.mistake(probe.side.span(), message));
            }
            if probe.from.get_ref().is_empty() {
                return Err(self
                    .document
                    .mistake(probe.from.span(), "a probe measures from at least one host"));
            }
            if probe.duration.is_zero() {
                return Err(self
                    .document
                    .mistake(probe.side.span(), "this probe has a duration of 0 and would measure nothing"));
            }
            self.url(&probe.url)?;
            for from in probe.from.get_ref() {
                self.host(from)?;
                if checked.iter().any(|other| other.side == *side && other.host == *from.get_ref()) {
                    let message = format!("{side} is measured from \"{}\" twice", from.get_ref());
                    return Err(self.document.mistake(from.span(), message));
                }
                checked.push(Probe {
                    side: side.clone(),
                    host: from.get_ref().clone(),
                    duration: probe.duration,
                    url: probe.url.get_ref().clone(),
                    arguments: arguments(probe, checked.len()),
                });
            }
        }
        Ok(checked)
    }

    fn fault(&self, fault: &file::Fault, end: Duration) -> Result<Fault, Mistake> {
        let [a, b] = &fault.between;
        for city in [a, b] {
            if self.layout.city(city.get_ref()).is_none() {
                let hint =
                    suggestion(city.get_ref(), self.layout.cities.iter().map(|city| city.name.as_str()));
                let message = format!("no host lives in \"{}\"{hint}", city.get_ref());
                return Err(self.document.mistake(city.span(), message));
            }
        }
        if a.get_ref() == b.get_ref() {
            return Err(self.document.mistake(b.span(), "a fault is between two different cities"));
        }
        if fault.at >= end {
            let message = format!(
                "this fault begins at {}, and measuring ends at {}",
                units::duration::show(fault.at),
                units::duration::show(end)
            );
            return Err(self.document.mistake(a.span(), message));
        }
        let change = Change {
            loss: fault.loss,
            rtt: fault.rtt,
            rate: fault.rate,
            down: fault.down.then_some(world::LinkDown::Silent),
        };
        if change.is_empty() {
            let message = "this fault changes nothing; expected loss, rtt, rate or down";
            return Err(self.document.mistake(a.span(), message));
        }
        Ok(Fault {
            at: fault.at,
            until: fault.lasts.map(|lasts| fault.at + lasts),
            between: self.in_order(a.get_ref(), b.get_ref()),
            change,
        })
    }

    /// Two cities by the names and in the order that the world has, so that one link is written in one way.
    fn in_order(&self, a: &str, b: &str) -> [String; 2] {
        let mut ids = [a, b].map(|name| self.layout.city(name).expect("checked before"));
        ids.sort_unstable();
        ids.map(|id| self.layout.cities[id].name.clone())
    }

    fn claim(&self, claim: file::Claim, probes: &[Probe]) -> Result<Claim, Mistake> {
        let side = |name: Spanned<String>| {
            if probes.iter().any(|probe| probe.side == *name.get_ref()) {
                return Ok(name.into_inner());
            }
            let hint = suggestion(name.get_ref(), probes.iter().map(|probe| probe.side.as_str()));
            let message = format!("no probe measures the side \"{}\"{hint}", name.get_ref());
            Err(self.document.mistake(name.span(), message))
        };
        let at = claim.at.span();
        let measure =
            claim.at.get_ref().parse().map_err(|message: String| self.document.mistake(at, message))?;
        let says = match (claim.faster, claim.than, claim.side, claim.below) {
            (Some(faster), Some(than), None, None) => {
                Says::Faster { side: side(faster)?, than: side(than)?, by: claim.by.unwrap_or_default() }
            }
            (None, None, Some(one), Some(limit)) if claim.by.is_none() => {
                Says::Below { side: side(one)?, limit }
            }
            _ => {
                let message = "a claim has either faster and than (and perhaps by), or side and below";
                return Err(self.document.mistake(claim.claim.span(), message));
            }
        };
        Ok(Claim { text: claim.claim.into_inner(), measure, says })
    }

    /// A URL must lead to a host of the world, by name or address: there is nobody else.
    fn url(&self, url: &Spanned<String>) -> Result<(), Mistake> {
        let mistake = |message: String| Err(self.document.mistake(url.span(), message));
        let Some((_, rest)) = url.get_ref().split_once("://") else {
            return mistake(format!(
                "\"{}\" is no URL; expected something like \"http://origin/\"",
                url.get_ref()
            ));
        };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if authority.starts_with('[') {
            return Ok(());
        }
        let name = authority.split(':').next().unwrap_or_default();
        if self.layout.host(name).is_some() || name.parse::<std::net::Ipv4Addr>().is_ok() {
            return Ok(());
        }
        let hint = suggestion(name, self.layout.hosts.iter().map(|host| host.name.as_str()));
        mistake(format!("the world has no host \"{name}\"{hint}"))
    }

    fn host(&self, name: &Spanned<String>) -> Result<(), Mistake> {
        if self.layout.host(name.get_ref()).is_some() {
            return Ok(());
        }
        let hint = suggestion(name.get_ref(), self.layout.hosts.iter().map(|host| host.name.as_str()));
        Err(self.document.mistake(name.span(), format!("unknown host \"{}\"{hint}", name.get_ref())))
    }
}

/// Names of sides become names of files.
fn is_file_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    (1..=60).contains(&name.len()) && name.chars().all(is_plain) && !name.starts_with(['.', '-'])
}

/// The command line of a probe. Each one draws a schedule of its own.
fn arguments(probe: &file::Probe, index: usize) -> Vec<String> {
    let mut arguments: Vec<String> = [
        ("--rate", probe.rate.to_string()),
        ("--duration", units::duration::show(probe.duration)),
        ("--arrival", probe.arrival.name().to_owned()),
        ("--connections", probe.connections.name().to_owned()),
        ("--protocol", probe.protocol.name().to_owned()),
        ("--seed", (index + 1).to_string()),
    ]
    .into_iter()
    .flat_map(|(flag, value)| [flag.to_owned(), value])
    .collect();
    if probe.insecure {
        arguments.push("--insecure".to_owned());
    }
    arguments
}

#[cfg(test)]
mod tests;
