//! From names to numbers: cities, hosts, links, anycast prefixes and faults of a world file, checked.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    net::{Ipv4Addr, Ipv6Addr},
    time::Duration,
};

use toml::Spanned;

use super::{Anycast, Bias, City, CityId, Given, Host, HostId, Layout, Line, Port, Prefix, Timed, canonical};
use crate::{
    Document, Mistake, access,
    document::suggestion,
    file::{self, ETHERNET, LAST_MILE, Network, World},
    gazetteer,
    geography::Place,
    impairment::Way,
    matrix::{Matrix, Source},
};

impl World {
    /// Resolves and checks every name.
    pub fn layout(&self, document: &Document) -> Result<Layout, Mistake> {
        let world = &settle(self, document)?;
        check_settings(world, document)?;
        let settings = &world.settings;
        let cities = cities(world, document)?;
        let (hosts, ports) = hosts(world, &cities, document)?;
        let links = links(world, &cities, document)?;
        let mut layout = Layout {
            name: settings.name.clone().unwrap_or_else(|| "planet".to_owned()),
            seed: settings.seed,
            receive: settings.receive.into(),
            lateness: settings.lateness,
            threads: settings.threads,
            via: vias(&links, &cities, document)?,
            measured: measured(world, &cities, document)?,
            anycast: anycast(world, &cities, &hosts, document)?,
            cities,
            hosts,
            ports,
            faults: Vec::new(),
            inflation: settings.inflation,
            access_inflation: settings.access_inflation,
            links: given(&links, world, document)?,
        };
        layout.faults = faults(world, &layout, document)?;
        Ok(layout)
    }
}

/// The round trips of the matrix between cities of the world.
fn measured(
    world: &World,
    cities: &[City],
    document: &Document,
) -> Result<BTreeMap<(CityId, CityId), Duration>, Mistake> {
    let Some(source) = &world.settings.matrix else { return Ok(BTreeMap::new()) };
    let mistake = |message: String| document.mistake(source.span(), message);
    let Source::Pairs(pairs) = source.get_ref() else {
        return Err(mistake(
            "a text that is no file cannot name a matrix; give the pairs themselves".to_owned(),
        ));
    };
    let matrix = Matrix::new(pairs, &world.known_cities()).map_err(mistake)?;
    let ids: BTreeMap<_, _> = cities.iter().enumerate().map(|(id, city)| (city.name.as_str(), id)).collect();
    let here = |((a, b), rtt): (&(String, String), &Duration)| {
        let (a, b) = (*ids.get(a.as_str())?, *ids.get(b.as_str())?);
        Some(((a.min(b), a.max(b)), *rtt))
    };
    Ok(matrix.pairs.iter().filter_map(here).collect())
}

/// The world with its visitors among the hosts.
fn settle<'w>(world: &'w World, document: &Document) -> Result<Cow<'w, World>, Mistake> {
    if world.visitors.is_empty() {
        return Ok(Cow::Borrowed(world));
    }
    let mut settled = world.clone();
    for visitors in settled.visitors.split_off(0) {
        let count = *visitors.count.get_ref() as usize;
        if settled.hosts.len() + count > MOST_HOSTS {
            let message =
                format!("with {count} visitors there are more hosts than the limit of {MOST_HOSTS}");
            return Err(document.mistake(visitors.count.span(), message));
        }
        let hosts = visitors.hosts().map_err(|message| document.mistake(visitors.count.span(), message))?;
        settled.hosts.extend(hosts);
    }
    Ok(Cow::Owned(settled))
}

/// Checks what concerns no name.
fn check_settings(world: &World, document: &Document) -> Result<(), Mistake> {
    let settings = &world.settings;
    if let Some(include) = settings.include.first() {
        let message = "a text that is no file cannot include others";
        return Err(document.mistake(include.span(), message));
    }
    for (key, inflation) in
        [("inflation", settings.inflation), ("access_inflation", settings.access_inflation)]
    {
        if !(1.0..=10.0).contains(&inflation) {
            let message =
                format!("{key} = {inflation}: no way is shorter than the great circle; expected 1 to 10");
            return Err(document.mistake(0..0, message));
        }
    }
    if world.hosts.is_empty() {
        return Err(document.mistake(0..0, "the world has no hosts; add a [[host]] with a name and a city"));
    }
    if let Some(host) = world.hosts.get(MOST_HOSTS) {
        let message = format!("{} hosts are more than the limit of {MOST_HOSTS}", world.hosts.len());
        return Err(document.mistake(host.name.span(), message));
    }
    for key in settings.sysctl.keys().chain(world.hosts.iter().flat_map(|host| host.sysctl.keys())) {
        check_sysctl(key.get_ref()).map_err(|message| document.mistake(key.span(), message))?;
    }
    Ok(())
}

/// A planet may change what belongs to a host's network, and nothing of the machine's.
fn check_sysctl(key: &str) -> Result<(), String> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-');
    if key.starts_with("net.") && key.chars().all(is_plain) && !key.contains("..") {
        return Ok(());
    }
    Err(format!("\"{key}\" is no setting of a host's network; expected one such as net.ipv4.tcp_rmem"))
}

/// The declared cities, then those that only hosts or links name.
fn cities(world: &World, document: &Document) -> Result<Vec<City>, Mistake> {
    let mut places: Vec<(String, Place)> = Vec::new();
    for city in &world.cities {
        let name = canonical(city.name.get_ref());
        if places.iter().any(|(known, _)| known == name) {
            return Err(document.mistake(city.name.span(), format!("city \"{name}\" is declared twice")));
        }
        let place = match (city.lat, city.lon) {
            (Some(lat), Some(lon)) if lat.abs() <= 90.0 && lon.abs() <= 180.0 => Place { lat, lon },
            (Some(_), Some(_)) => {
                let message = "coordinates are out of range; expected lat in -90..90 and lon in -180..180";
                return Err(document.mistake(city.name.span(), message));
            }
            (None, None) => known_place(&city.name, document)?,
            _ => return Err(document.mistake(city.name.span(), "a city needs both lat and lon, or neither")),
        };
        places.push((name.to_owned(), place));
    }
    let vias = world.links.iter().flat_map(|link| &link.via);
    for named in world.hosts.iter().map(|host| &host.city).chain(vias) {
        let name = canonical(named.get_ref());
        if places.iter().all(|(known, _)| known != name) {
            places.push((name.to_owned(), known_place(named, document)?));
        }
    }
    let router = |(number, (name, place)): (usize, (String, Place))| {
        let number = u32::try_from(number + 1).expect("far fewer cities than 2^32");
        City {
            name,
            place,
            v4: Ipv4Addr::from(u32::from(ROUTER_V4_BASE) + number),
            v6: Ipv6Addr::from(u128::from(ROUTER_V6_BASE) + u128::from(number)),
        }
    };
    if places.len() > MOST_CITIES {
        let message = format!("{} cities are more than the limit of {MOST_CITIES}", places.len());
        return Err(document.mistake(0..0, message));
    }
    Ok(places.into_iter().enumerate().map(router).collect())
}

fn known_place(name: &Spanned<String>, document: &Document) -> Result<Place, Mistake> {
    gazetteer::find(name.get_ref()).map(|city| Place { lat: city.lat, lon: city.lon }).ok_or_else(|| {
        let hint = suggestion(name.get_ref(), gazetteer::cities().iter().map(|city| city.name.as_str()));
        let message = format!("unknown city \"{}\"{hint} (a new city needs lat and lon)", name.get_ref());
        document.mistake(name.span(), message)
    })
}

/// The hosts and, in their order, their devices.
fn hosts(world: &World, cities: &[City], document: &Document) -> Result<(Vec<Host>, Vec<Port>), Mistake> {
    let mut names = BTreeSet::new();
    let (mut hosts, mut ports) = (Vec::new(), Vec::new());
    for host in &world.hosts {
        let name = host.name.get_ref();
        if !is_host_name(name) {
            let message = format!(
                "\"{name}\" cannot be a host's name; expected a letter and up to 62 more of a-z, 0-9 and \"-\", and not \"localhost\""
            );
            return Err(document.mistake(host.name.span(), message));
        }
        if !names.insert(name) {
            return Err(document.mistake(host.name.span(), format!("host \"{name}\" is declared twice")));
        }
        if host.mptcp.is_some() && host.access.len() < 2 {
            let message = "mptcp needs a second line; expected two or more in access";
            return Err(document.mistake(host.name.span(), message));
        }
        let lines = lines(host, world, document)?;
        let first = ports.len();
        for (number, line) in lines.into_iter().enumerate() {
            ports.push(port(hosts.len(), number, line));
        }
        let all = world.settings.sysctl.iter().chain(&host.sysctl);
        let is_person = host.network == Network::Access || !host.access.is_empty();
        hosts.push(Host {
            name: name.clone(),
            city: cities
                .iter()
                .position(|city| city.name == canonical(host.city.get_ref()))
                .expect("collected from the hosts"),
            network: if is_person { Network::Access } else { Network::Datacentre },
            ports: first..ports.len(),
            mptcp: host.mptcp,
            nic: host.nic,
            congestion: host.congestion.as_ref().map(|name| name.get_ref().clone()),
            sysctl: all.map(|(key, value)| (key.get_ref().clone(), value.clone())).collect(),
        });
    }
    Ok((hosts, ports))
}

/// A device of a host. Hosts are numbered from 1, and each number of a device has a range of its own.
fn port(host: HostId, number: usize, line: Option<Line>) -> Port {
    let own = u32::try_from(host + 1).expect("bounded by MOST_HOSTS");
    let device = u32::try_from(number).expect("bounded by MOST_LINES");
    Port {
        host,
        number,
        v4: Ipv4Addr::from(u32::from(V4_BASE) + (device << V4_DEVICE_BITS) + own),
        v6: Ipv6Addr::from(u128::from(V6_BASE) + (u128::from(device) << V6_DEVICE_BITS) + u128::from(own)),
        line,
    }
}

/// What connects a host: its access lines, a plain last mile, or nothing.
fn lines(host: &file::Host, world: &World, document: &Document) -> Result<Vec<Option<Line>>, Mistake> {
    if host.access.len() > MOST_LINES {
        let message = format!("{} access lines are more than the limit of {MOST_LINES}", host.access.len());
        return Err(document.mistake(host.name.span(), message));
    }
    if host.access.is_empty() {
        let default = if host.network == Network::Access { LAST_MILE } else { Duration::ZERO };
        let last_mile = host.last_mile.unwrap_or(default);
        return Ok(vec![(!last_mile.is_zero()).then(|| plain_line(last_mile, world))]);
    }
    let line = |name: &Spanned<String>| {
        let known = || world.access.iter().chain(access::presets());
        let access = known().find(|access| access.name == *name).ok_or_else(|| {
            let hint = suggestion(name.get_ref(), known().map(|access| access.name.get_ref().as_str()));
            document.mistake(name.span(), format!("unknown access line \"{}\"{hint}", name.get_ref()))
        })?;
        let mut line = access_line(access, world, document)?;
        if let Some(last_mile) = host.last_mile {
            (line.up.propagation, line.down.propagation) = (last_mile / 2, last_mile / 2);
        }
        Ok(Some(line))
    };
    host.access.iter().map(line).collect()
}

fn plain_line(last_mile: Duration, world: &World) -> Line {
    let way = link::Config {
        propagation: last_mile / 2,
        receive: world.settings.receive.into(),
        overhead: u32::from(ETHERNET),
        ..link::Config::default()
    };
    Line { name: None, up: way.clone(), down: way }
}

fn access_line(access: &file::Access, world: &World, document: &Document) -> Result<Line, Mistake> {
    let base = plain_line(access.rtt.unwrap_or(LAST_MILE), world).up;
    Ok(Line {
        name: Some(access.name.get_ref().clone()),
        up: access.keys(Way::Up).apply(&base, document)?,
        down: access.keys(Way::Down).apply(&base, document)?,
    })
}

/// Links by their cities in order of index. A link that names both cities wins over those with "*".
fn links(
    world: &World,
    cities: &[City],
    document: &Document,
) -> Result<BTreeMap<(CityId, CityId), file::Link>, Mistake> {
    let mut links = BTreeMap::new();
    let is_wild = |link: &&file::Link| link.between.iter().any(|name| name.get_ref() == "*");
    let (wild, exact): (Vec<_>, Vec<_>) = world.links.iter().partition(is_wild);
    for link in exact {
        check_link(link, document)?;
        let [a, b] = link.between.each_ref();
        let (a_id, b_id) = (end(a, cities, document)?, end(b, cities, document)?);
        if a_id == b_id {
            let message =
                format!("a link from \"{}\" to itself; two different cities are expected", a.get_ref());
            return Err(document.mistake(b.span(), message));
        }
        add(link, (a_id, b_id), &mut links, cities, document)?;
    }
    let mut rest = BTreeMap::new();
    for link in wild {
        check_link(link, document)?;
        let named = link.between.iter().find(|name| name.get_ref() != "*");
        let named = named.map(|name| end(name, cities, document)).transpose()?;
        let pairs = (0..cities.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
        for (a, b) in pairs.filter(|&(a, b)| named.is_none_or(|named| named == a || named == b)) {
            if !links.contains_key(&(b, a)) {
                add(link, (a, b), &mut rest, cities, document)?;
            }
        }
    }
    links.append(&mut rest);
    Ok(links)
}

fn check_link(link: &file::Link, document: &Document) -> Result<(), Mistake> {
    if link.rtt.is_some() && link.delay.is_some() {
        let message = "a link has a delay (one way) or an rtt (both ways), not both";
        return Err(document.mistake(link.between[0].span(), message));
    }
    Ok(())
}

/// What the files's links are to their engines.
fn given(
    links: &BTreeMap<(CityId, CityId), file::Link>,
    world: &World,
    document: &Document,
) -> Result<BTreeMap<(CityId, CityId), Given>, Mistake> {
    let base = plain_line(Duration::ZERO, world).up;
    let given = |(&ends, link): (&(CityId, CityId), &file::Link)| {
        let config = link.keys().apply(&base, document)?;
        let by_netem = (!config.propagation.is_zero()).then_some(config.propagation);
        let propagation = link.delay.or(link.rtt.map(|rtt| rtt / 2)).or(by_netem);
        let is_named = link.between.iter().all(|city| city.get_ref() != "*");
        Ok((ends, Given { config, propagation, is_named }))
    };
    links.iter().map(given).collect()
}

fn add(
    link: &file::Link,
    (a, b): (CityId, CityId),
    links: &mut BTreeMap<(CityId, CityId), file::Link>,
    cities: &[City],
    document: &Document,
) -> Result<(), Mistake> {
    if links.insert((a.min(b), a.max(b)), link.clone()).is_none() {
        return Ok(());
    }
    let message =
        format!("the link between \"{}\" and \"{}\" is described twice", cities[a].name, cities[b].name);
    Err(document.mistake(link.between[0].span(), message))
}

/// The city at one end of a link.
fn end(name: &Spanned<String>, cities: &[City], document: &Document) -> Result<CityId, Mistake> {
    let found = cities.iter().position(|city| city.name == canonical(name.get_ref()));
    found.ok_or_else(|| {
        let hint = suggestion(name.get_ref(), cities.iter().map(|city| city.name.as_str()));
        let message = format!("a link to nowhere: no host lives in \"{}\"{hint}", name.get_ref());
        document.mistake(name.span(), message)
    })
}

fn is_host_name(name: &str) -> bool {
    // A name of digits would be taken for an address.
    let starts_well = name.starts_with(|c: char| c.is_ascii_lowercase());
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    starts_well && name.len() <= 63 && name.chars().all(is_plain) && name != "localhost"
}

/// The cities between the ends of links that have some.
fn vias(
    links: &BTreeMap<(CityId, CityId), file::Link>,
    cities: &[City],
    document: &Document,
) -> Result<BTreeMap<(CityId, CityId), Vec<CityId>>, Mistake> {
    let mut vias = BTreeMap::new();
    for (&(a, b), link) in links.iter().filter(|(_, link)| !link.via.is_empty()) {
        let has_more =
            link.rtt.is_some() || link.delay.is_some() || link.rate.is_some() || link.loss.is_some();
        if has_more || link.via.len() > MOST_VIAS {
            let message = if has_more {
                "a link with via is made of others, and has no rtt, delay, rate or loss of its own".to_owned()
            } else {
                format!("{} cities in between are more than the limit of {MOST_VIAS}", link.via.len())
            };
            return Err(document.mistake(link.via[0].span(), message));
        }
        let mut way =
            link.via.iter().map(|name| end(name, cities, document)).collect::<Result<Vec<_>, _>>()?;
        for (at, city) in way.iter().enumerate() {
            if [a, b].contains(city) || way[..at].contains(city) {
                let message = format!("the way passes \"{}\" twice", cities[*city].name);
                return Err(document.mistake(link.via[at].span(), message));
            }
        }
        if canonical(link.between[0].get_ref()) != cities[a].name {
            way.reverse();
        }
        vias.insert((a, b), way);
    }
    let is_made = |hop: &(CityId, CityId)| vias.contains_key(hop);
    if let Some(link) = vias.iter().flat_map(|(ends, way)| hops(*ends, way)).find(is_made) {
        let (a, b) = (&cities[link.0].name, &cities[link.1].name);
        let message = format!(
            "the way between \"{a}\" and \"{b}\" is made of links, so no other link can be made of it"
        );
        return Err(document.mistake(links[&link].via[0].span(), message));
    }
    Ok(vias)
}

/// The links of a way, each with its lower city first.
fn hops((a, b): (CityId, CityId), way: &[CityId]) -> Vec<(CityId, CityId)> {
    let all: Vec<_> = std::iter::once(a).chain(way.iter().copied()).chain([b]).collect();
    all.windows(2).map(|pair| (pair[0].min(pair[1]), pair[0].max(pair[1]))).collect()
}

/// The anycast prefixes.
fn anycast(
    world: &World,
    cities: &[City],
    hosts: &[Host],
    document: &Document,
) -> Result<Vec<Anycast>, Mistake> {
    let mut all: Vec<Anycast> = Vec::new();
    let host_of = |name: &Spanned<String>| {
        hosts.iter().position(|host| host.name == *name.get_ref()).ok_or_else(|| {
            let hint = suggestion(name.get_ref(), hosts.iter().map(|host| host.name.as_str()));
            document.mistake(name.span(), format!("no host \"{}\"{hint}", name.get_ref()))
        })
    };
    for (index, any) in world.anycast.iter().enumerate() {
        let mut prefixes: Vec<Prefix> = Vec::new();
        for text in &any.prefix {
            let mistake = |message: String| document.mistake(text.span(), message);
            let prefix: Prefix = text.get_ref().parse().map_err(mistake)?;
            let others = all.iter().flat_map(|other| &other.prefixes).chain(&prefixes);
            if let Some(other) = others.copied().find(|&other| other.overlaps(prefix)) {
                return Err(mistake(format!(
                    "{prefix} overlaps {other}; anycast prefixes have no address in common"
                )));
            }
            if let Some(taken) =
                TAKEN.iter().find(|taken| taken.parse().is_ok_and(|taken: Prefix| taken.overlaps(prefix)))
            {
                return Err(mistake(format!(
                    "{prefix} overlaps {taken}, which a planet uses itself; expected one such as 192.0.2.0/24"
                )));
            }
            prefixes.push(prefix);
        }
        let place = any.prefix.first().map_or(0..0, Spanned::span);
        if any.hosts.is_empty() || prefixes.is_empty() {
            return Err(document.mistake(place, "an anycast prefix has at least one host that announces it"));
        }
        let name =
            any.name.as_ref().map_or_else(|| format!("anycast-{}", index + 1), |name| name.get_ref().clone());
        let is_taken =
            hosts.iter().any(|host| host.name == name) || all.iter().any(|other| other.name == name);
        if is_taken || !is_host_name(&name) {
            let message = format!("\"{name}\" cannot name an anycast prefix: it is taken, or no host's name");
            return Err(document.mistake(any.name.as_ref().map_or(place, Spanned::span), message));
        }
        let bias = any.bias.iter().map(|bias| {
            let from = bias.from.as_ref().map(|city| end(city, cities, document)).transpose()?;
            Ok(Bias { from, host: host_of(&bias.host)?, cost: bias.cost })
        });
        all.push(Anycast {
            name,
            prefixes,
            hosts: any.hosts.iter().map(host_of).collect::<Result<_, _>>()?,
            bias: bias.collect::<Result<_, _>>()?,
            convergence: any.convergence.unwrap_or(CONVERGENCE),
            transient: any.transient,
        });
    }
    Ok(all)
}

/// The faults of the file, in order of time.
fn faults(world: &World, layout: &Layout, document: &Document) -> Result<Vec<Timed>, Mistake> {
    let resolve = |spanned: &Spanned<file::Fault>| {
        let fault = spanned.get_ref().clone();
        let effect = layout.effect(&fault).map_err(|message| document.mistake(spanned.span(), message))?;
        let at = fault.at.ok_or_else(|| {
            document.mistake(spanned.span(), "this fault has no time; expected at = \"10s\"")
        })?;
        Ok(Timed { at, lasts: fault.lasts, fault, effect })
    };
    let mut faults = world.faults.iter().map(resolve).collect::<Result<Vec<_>, _>>()?;
    faults.sort_by_key(|fault| fault.at);
    Ok(faults)
}

/// Three file descriptors a host, and a kernel's default limit of 20 000 of them.
const MOST_HOSTS: usize = 5000;

/// Devices of one host.
const MOST_LINES: usize = 4;

/// Each pair of cities can have a link of its own in both directions.
const MOST_CITIES: usize = 2000;

/// Cities on the way between two others.
const MOST_VIAS: usize = 16;

/// What is known of withdrawn prefixes: from 20 s to minutes. The short end, so that nobody waits for it unasked.
const CONVERGENCE: Duration = Duration::from_secs(20);

/// Bits of an IPv4 address below the number of the device, and of an IPv6 address.
const V4_DEVICE_BITS: u32 = 20;
const V6_DEVICE_BITS: u32 = 64;

/// Prefixes that no anycast prefix may touch: those of hosts and routers, loopback, and multicast.
const TAKEN: [&str; 6] =
    ["10.0.0.0/8", "127.0.0.0/8", "224.0.0.0/3", "fd6c:6f6e:6768::/48", "::1/128", "ff00::/8"];

/// Routers of cities are numbered from here.
const ROUTER_V4_BASE: Ipv4Addr = Ipv4Addr::new(10, 255, 0, 0);
const ROUTER_V6_BASE: Ipv6Addr = Ipv6Addr::new(0xfd6c, 0x6f6e, 0x6768, 0xffff, 0, 0, 0, 0);

/// Hosts are numbered from here: the first one is 10.0.0.1.
const V4_BASE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 0);

/// The first host is fd6c:6f6e:6768::1. The prefix is unique local (RFC 4193); its bytes spell "longh".
const V6_BASE: Ipv6Addr = Ipv6Addr::new(0xfd6c, 0x6f6e, 0x6768, 0, 0, 0, 0, 0);
