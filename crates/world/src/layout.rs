//! A world with every name resolved: who lives where, under which address, and what lies between.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    time::Duration,
};

use link::Receive;
use toml::Spanned;

use crate::{
    Document, Mistake,
    document::suggestion,
    file::{self, ETHERNET, LAST_MILE, Network, World},
    gazetteer,
    geography::{Place, great_circle_km, propagation},
};

/// Index of a city in [`Layout::cities`].
pub type CityId = usize;
/// Index of a host in [`Layout::hosts`].
pub type HostId = usize;

/// A world that can run.
#[derive(Debug, Clone)]
pub struct Layout {
    /// The planet's name.
    pub name: String,
    /// Where randomness starts.
    pub seed: u64,
    /// How segments reach a receiver.
    pub receive: Receive,
    /// How late a packet may be on a short way.
    pub lateness: Duration,
    /// All cities that have a host or were declared.
    pub cities: Vec<City>,
    /// All hosts, in the file's order.
    pub hosts: Vec<Host>,
    inflation: f64,
    access_inflation: f64,
    links: BTreeMap<(CityId, CityId), file::Link>,
}

/// A city.
#[derive(Debug, Clone)]
pub struct City {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub place: Place,
}

/// A host.
#[derive(Debug, Clone)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub city: CityId,
    /// What it is attached to.
    pub network: Network,
    /// Round trip over its last mile.
    pub last_mile: Duration,
    /// Its IPv4 address, in 10.0.0.0/8.
    pub v4: Ipv4Addr,
    /// Its IPv6 address, in a unique local prefix.
    pub v6: Ipv6Addr,
    /// Its connections' congestion control.
    pub congestion: Option<String>,
    /// Its kernel settings.
    pub sysctl: BTreeMap<String, String>,
}

impl World {
    /// Resolves and checks every name.
    pub fn layout(&self, document: &Document) -> Result<Layout, Mistake> {
        let settings = &self.settings;
        for (key, inflation) in
            [("inflation", settings.inflation), ("access_inflation", settings.access_inflation)]
        {
            if !(1.0..=10.0).contains(&inflation) {
                let message =
                    format!("{key} = {inflation}: no way is shorter than the great circle; expected 1 to 10");
                return Err(document.mistake(0..0, message));
            }
        }
        if self.hosts.is_empty() {
            return Err(
                document.mistake(0..0, "the world has no hosts; add a [[host]] with a name and a city")
            );
        }
        if let Some(host) = self.hosts.get(MOST_HOSTS) {
            let message = format!("{} hosts are more than the limit of {MOST_HOSTS}", self.hosts.len());
            return Err(document.mistake(host.name.span(), message));
        }
        for key in settings.sysctl.keys().chain(self.hosts.iter().flat_map(|host| host.sysctl.keys())) {
            check_sysctl(key.get_ref()).map_err(|message| document.mistake(key.span(), message))?;
        }
        let cities = cities(self, document)?;
        let hosts = hosts(self, &cities, document)?;
        let links = links(self, &cities, document)?;
        Ok(Layout {
            name: settings.name.clone().unwrap_or_else(|| "planet".to_owned()),
            seed: settings.seed,
            receive: settings.receive.into(),
            lateness: settings.lateness,
            cities,
            hosts,
            inflation: settings.inflation,
            access_inflation: settings.access_inflation,
            links,
        })
    }
}

impl Layout {
    /// The host of that name.
    pub fn host(&self, name: &str) -> Option<HostId> {
        self.hosts.iter().position(|host| host.name == name)
    }

    /// The city of that name.
    pub fn city(&self, name: &str) -> Option<CityId> {
        self.cities.iter().position(|city| city.name == canonical(name))
    }

    /// The host behind an address.
    pub fn addresses(&self) -> HashMap<IpAddr, HostId> {
        let each = self.hosts.iter().enumerate();
        each.flat_map(|(id, host)| [(IpAddr::V4(host.v4), id), (IpAddr::V6(host.v6), id)]).collect()
    }

    /// The link from one city to another, both data centres.
    pub fn link(&self, from: CityId, to: CityId) -> link::Config {
        let generated = || propagation(self.distance_km(from, to), self.inflation);
        let overhead = u32::from(ETHERNET);
        let base = link::Config { receive: self.receive, overhead, ..link::Config::default() };
        let Some(given) = self.given(from, to) else {
            return link::Config { propagation: generated(), ..base };
        };
        link::Config {
            rate: given.rate,
            propagation: given.delay.or(given.rtt.map(|rtt| rtt / 2)).unwrap_or_else(generated),
            queue: given.queue.unwrap_or(base.queue),
            loss: given.loss.unwrap_or(base.loss),
            overhead: given.overhead.map_or(base.overhead, u32::from),
            receive: self.receive,
        }
    }

    /// What the way from host to host adds, in one direction, to the link between their cities: both last miles, and
    /// the detours of access networks where the link's delay was generated.
    pub fn detour(&self, from: HostId, to: HostId) -> Duration {
        let (from, to) = (&self.hosts[from], &self.hosts[to]);
        let last_miles = (from.last_mile + to.last_mile) / 2;
        let is_generated =
            self.given(from.city, to.city).is_none_or(|link| link.delay.or(link.rtt).is_none());
        if !is_generated || (from.network, to.network) == (Network::Datacentre, Network::Datacentre) {
            return last_miles;
        }
        let km = self.distance_km(from.city, to.city);
        let longer = propagation(km, self.access_inflation).saturating_sub(propagation(km, self.inflation));
        last_miles + longer
    }

    /// The round trip between two hosts without queues or transmission times.
    pub fn rtt(&self, a: HostId, b: HostId) -> Duration {
        let one_way = |from: HostId, to: HostId| {
            self.link(self.hosts[from].city, self.hosts[to].city).propagation + self.detour(from, to)
        };
        one_way(a, b) + one_way(b, a)
    }

    /// The seed of one direction of a link: each draws its own losses. The multipliers are SplitMix64's, which spread
    /// neighbouring numbers over the whole range (Steele, Lea and Flood, 2014).
    pub fn link_seed(&self, from: CityId, to: CityId) -> u64 {
        let mix = |value: u64| {
            let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            value ^ (value >> 31)
        };
        mix(mix(mix(self.seed) ^ from as u64) ^ to as u64)
    }

    fn distance_km(&self, a: CityId, b: CityId) -> f64 {
        great_circle_km(self.cities[a].place, self.cities[b].place)
    }

    fn given(&self, a: CityId, b: CityId) -> Option<&file::Link> {
        self.links.get(&(a.min(b), a.max(b)))
    }
}

/// A planet may change what belongs to a host's network, and nothing of the machine's.
fn check_sysctl(key: &str) -> Result<(), String> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-');
    if key.starts_with("net.") && key.chars().all(is_plain) && !key.contains("..") {
        return Ok(());
    }
    Err(format!("\"{key}\" is no setting of a host's network; expected one such as net.ipv4.tcp_rmem"))
}

/// The declared cities, then those that only hosts name.
fn cities(world: &World, document: &Document) -> Result<Vec<City>, Mistake> {
    let mut cities: Vec<City> = Vec::new();
    for city in &world.cities {
        let name = canonical(city.name.get_ref());
        if cities.iter().any(|known| known.name == name) {
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
        cities.push(City { name: name.to_owned(), place });
    }
    for host in &world.hosts {
        let name = canonical(host.city.get_ref());
        if cities.iter().all(|city| city.name != name) {
            cities.push(City { name: name.to_owned(), place: known_place(&host.city, document)? });
        }
    }
    Ok(cities)
}

/// One city has one name, whether a file says "london", "London" or "LHR".
fn canonical(name: &str) -> &str {
    gazetteer::find(name).map_or(name, |city| city.name.as_str())
}

fn known_place(name: &Spanned<String>, document: &Document) -> Result<Place, Mistake> {
    gazetteer::find(name.get_ref()).map(|city| Place { lat: city.lat, lon: city.lon }).ok_or_else(|| {
        let hint = suggestion(name.get_ref(), gazetteer::cities().iter().map(|city| city.name.as_str()));
        let message = format!("unknown city \"{}\"{hint} (a new city needs lat and lon)", name.get_ref());
        document.mistake(name.span(), message)
    })
}

fn hosts(world: &World, cities: &[City], document: &Document) -> Result<Vec<Host>, Mistake> {
    let mut names = BTreeSet::new();
    let resolve = |(index, host): (usize, &file::Host)| {
        let name = host.name.get_ref();
        if !is_host_name(name) {
            let message = format!(
                "\"{name}\" cannot be a host's name; expected a letter and up to 62 more of a-z, 0-9 and \"-\", and not \"localhost\""
            );
            return Err(document.mistake(host.name.span(), message));
        }
        if !names.insert(name.clone()) {
            return Err(document.mistake(host.name.span(), format!("host \"{name}\" is declared twice")));
        }
        let default_last_mile = match host.network {
            Network::Datacentre => Duration::ZERO,
            Network::Access => LAST_MILE,
        };
        let number = u32::try_from(index + 1).expect("bounded by MOST_HOSTS");
        let all = world.settings.sysctl.iter().chain(&host.sysctl);
        let sysctl = all.map(|(key, value)| (key.get_ref().clone(), value.clone())).collect();
        Ok(Host {
            name: name.clone(),
            city: cities
                .iter()
                .position(|city| city.name == canonical(host.city.get_ref()))
                .expect("collected from the hosts"),
            network: host.network,
            last_mile: host.last_mile.unwrap_or(default_last_mile),
            v4: Ipv4Addr::from(u32::from(V4_BASE) + number),
            v6: Ipv6Addr::from(u128::from(V6_BASE) + u128::from(number)),
            congestion: host.congestion.as_ref().map(|name| name.get_ref().clone()),
            sysctl,
        })
    };
    world.hosts.iter().enumerate().map(resolve).collect()
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
    let message = if link.rtt.is_some() && link.delay.is_some() {
        "a link has a delay (one way) or an rtt (both ways), not both"
    } else if link.queue.is_some() && link.rate.is_none() {
        "a link without a rate never queues; give it a rate, or leave out the queue"
    } else {
        return Ok(());
    };
    Err(document.mistake(link.between[0].span(), message))
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

/// Three file descriptors a host, and a kernel's default limit of 20 000 of them.
const MOST_HOSTS: usize = 5000;

/// Hosts are numbered from here: the first one is 10.0.0.1.
const V4_BASE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 0);

/// The first host is fd6c:6f6e:6768::1. The prefix is unique local (RFC 4193); its bytes spell "longh".
const V6_BASE: Ipv6Addr = Ipv6Addr::new(0xfd6c, 0x6f6e, 0x6768, 0, 0, 0, 0, 0);

#[cfg(test)]
mod tests;
