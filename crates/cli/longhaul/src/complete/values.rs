//! Completion of values that depend on the machine: planets, hosts, cities, and metrics of
//! recordings.

use planet::Planet;
use recording::Metric;
use world::Layout;

use super::walk::{Candidate, Next, Reached};
use crate::lab::{Which, layout_of};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Planet,
    Host,
    City,
    HostOrCity,
    Server,
    FileOrHost,
    Link,
    Group,
    Prefix,
    Access,
    Fault,
    Metric,
    Phase,
    File,
}

/// Command, argument id and kind of value. An empty command matches all commands.
const KINDS: [(&str, &str, Kind); 19] = [
    ("", "planet", Kind::Planet),
    ("", "metric", Kind::Metric),
    ("", "exclude_phase", Kind::Phase),
    ("lab exec", "host", Kind::Host),
    ("lab logs", "host", Kind::Host),
    ("lab cp", "paths", Kind::FileOrHost),
    ("lab publish", "server", Kind::Server),
    ("lab publish", "from", Kind::HostOrCity),
    ("lab capture", "hosts", Kind::Host),
    ("lab capture", "link", Kind::Link),
    ("lab catchment", "prefix", Kind::Prefix),
    ("lab fault", "link", Kind::Link),
    ("lab fault city", "city", Kind::City),
    ("lab fault host", "host", Kind::Host),
    ("lab fault host", "access", Kind::Access),
    ("lab fault partition", "groups", Kind::Group),
    ("lab fault withdraw", "prefix", Kind::Prefix),
    ("lab fault withdraw", "host", Kind::Host),
    ("lab fault lift", "fault", Kind::Fault),
];

/// Arguments that take file names although their type does not imply it.
const FILES: [(&str, &str, Kind); 1] = [("compare", "recordings", Kind::File)];

pub(super) fn of(reached: &Reached<'_>, argument: &str, current: &str) -> Option<Next> {
    let mut known = KINDS.iter().chain(&FILES);
    let &(_, _, kind) =
        known.find(|(command, id, _)| *id == argument && (command.is_empty() || *command == reached.path))?;
    let candidates = match kind {
        Kind::Planet => planets(),
        Kind::Metric => metrics(&Metric::ALL),
        Kind::Phase => metrics(&Metric::PHASES),
        Kind::File => Vec::new(),
        // No candidates if the planet is not reachable.
        _ => on_planet(reached, kind, current).unwrap_or_default(),
    };
    Some(Next { candidates, files: matches!(kind, Kind::File | Kind::FileOrHost) })
}

fn planets() -> Vec<Candidate> {
    let names = Planet::running().unwrap_or_default();
    names.into_iter().map(|name| Candidate::new(name, "a planet that is up")).collect()
}

fn metrics(all: &[Metric]) -> Vec<Candidate> {
    all.iter().map(|metric| Candidate::new(metric.name(), "")).collect()
}

fn on_planet(reached: &Reached<'_>, kind: Kind, current: &str) -> anyhow::Result<Vec<Candidate>> {
    let which = Which { planet: reached.value("planet").map(str::to_owned) };
    let planet = which.find_silently()?;
    if kind == Kind::Fault {
        let faults = planet.brief_status()?.faults;
        let numbers = faults.into_iter().map(|fault| Candidate::new(fault.number.to_string(), fault.what));
        return Ok(numbers.chain([Candidate::new("all", "all faults")]).collect());
    }
    if kind == Kind::Server
        && let Some((host, _)) = current.rsplit_once(':')
    {
        let ports = planet.listening(host)?;
        return Ok(ports.iter().map(|port| Candidate::new(format!("{host}:{port}"), "listens")).collect());
    }
    let layout = layout_of(&planet)?;
    Ok(match kind {
        Kind::Host => hosts(&layout, "").collect(),
        Kind::FileOrHost | Kind::Server => hosts(&layout, ":").collect(),
        Kind::City => cities(&layout).collect(),
        Kind::HostOrCity => hosts(&layout, "").chain(cities(&layout)).collect(),
        Kind::Link => links(&layout, current),
        Kind::Group => group(&layout, current),
        Kind::Prefix => {
            let name = |anycast: &world::Anycast| Candidate::new(&*anycast.name, "an anycast prefix");
            layout.anycast.iter().map(name).collect()
        }
        Kind::Access => lines(&layout, reached.value("host").unwrap_or_default()),
        Kind::Planet | Kind::Fault | Kind::Metric | Kind::Phase | Kind::File => Vec::new(),
    })
}

fn hosts(layout: &Layout, behind: &str) -> impl Iterator<Item = Candidate> {
    layout.hosts.iter().map(move |host| {
        let city = &layout.cities[host.city].name;
        Candidate::new(format!("{}{behind}", host.name), format!("a host in {city}"))
    })
}

fn cities(layout: &Layout) -> impl Iterator<Item = Candidate> {
    layout.cities.iter().map(|city| Candidate::new(&*city.name, "a city"))
}

/// First one city with its hyphen, then the other: a list of all pairs would be too long.
fn links(layout: &Layout, current: &str) -> Vec<Candidate> {
    let first = layout
        .cities
        .iter()
        .find(|city| current.strip_prefix(&*city.name).is_some_and(|rest| rest.starts_with('-')));
    match first {
        None => cities(layout).map(|city| Candidate::new(city.value + "-", "a city of a link")).collect(),
        Some(first) => {
            let others = cities(layout).filter(|city| city.value != first.name);
            let link = |city: Candidate| Candidate::new(format!("{}-{}", first.name, city.value), "a link");
            others.map(link).collect()
        }
    }
}

fn group(layout: &Layout, current: &str) -> Vec<Candidate> {
    let before = current.rfind(',').map_or("", |at| &current[..=at]);
    let is_new = |city: &Candidate| before.split(',').all(|known| known != city.value);
    let member = |city: Candidate| Candidate::new(format!("{before}{}", city.value), city.what);
    cities(layout).filter(is_new).map(member).collect()
}

fn lines(layout: &Layout, host: &str) -> Vec<Candidate> {
    let ports = layout.ports.iter().filter(|port| layout.hosts[port.host].name == host);
    let line = |port: &world::Port| {
        let kind = port.line.as_ref().and_then(|line| line.name.clone());
        Candidate::new(kind.unwrap_or_else(|| format!("net{}", port.number)), "an access line")
    };
    ports.map(line).collect()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use world::{Document, World};

    use super::*;
    use crate::Cli;

    #[test]
    fn whatever_is_completed_is_an_argument() {
        let root = Cli::command();
        for (path, id, _) in KINDS.iter().chain(&FILES).filter(|(path, ..)| !path.is_empty()) {
            let command = path.split(' ').try_fold(&root, |command, name| command.find_subcommand(name));
            let command = command.unwrap_or_else(|| panic!("no command {path}"));
            assert!(command.get_arguments().any(|arg| arg.get_id() == id), "{path} has no {id}");
        }
    }

    fn values(candidates: &[Candidate]) -> Vec<&str> {
        candidates.iter().map(|candidate| candidate.value.as_str()).collect()
    }

    #[test]
    fn links_and_groups_are_completed_city_by_city() {
        let text = "[[host]]\nname = 'a'\ncity = 'london'\naccess = ['dsl', 'lte']\n\
                    [[host]]\nname = 'b'\ncity = 'newyork'\n[[host]]\nname = 'c'\ncity = 'paris'\n";
        let (_, layout) = World::read(&Document::new("w.toml", text)).unwrap();
        assert_eq!(values(&links(&layout, "lo")), ["london-", "newyork-", "paris-"]);
        assert_eq!(values(&links(&layout, "london-n")), ["london-newyork", "london-paris"]);
        assert_eq!(values(&group(&layout, "london,p")), ["london,newyork", "london,paris"]);
        assert_eq!(values(&lines(&layout, "a")), ["dsl", "lte"]);
        assert_eq!(values(&lines(&layout, "b")), ["net0"]);
        let all: Vec<_> = hosts(&layout, ":").collect();
        assert_eq!((values(&all), &*all[0].what), (vec!["a:", "b:", "c:"], "a host in london"));
    }
}
