//! Resolves the hosts of a world, their devices and lines.

use std::{
    collections::BTreeSet,
    net::{Ipv4Addr, Ipv6Addr},
    time::Duration,
};

use config_file::{Diagnostic, Document, suggestion};
use toml::Spanned;

use crate::{
    access,
    file::{self, ETHERNET, LAST_MILE, Network, World},
    gazetteer::canonical,
    impairment::Way,
    layout::{City, Host, HostId, Line, Port},
};

pub(super) fn hosts(
    world: &World,
    cities: &[City],
    document: &Document,
) -> Result<(Vec<Host>, Vec<Port>), Diagnostic> {
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

/// Hosts are numbered from 1, and each device number has a separate address range.
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

fn lines(host: &file::Host, world: &World, document: &Document) -> Result<Vec<Option<Line>>, Diagnostic> {
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
        let access = known().find(|access| access.own.name == *name).ok_or_else(|| {
            let hint = suggestion(name.get_ref(), known().map(|access| access.own.name.get_ref().as_str()));
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

pub(super) fn plain_line(last_mile: Duration, world: &World) -> Line {
    let way = link::Config {
        propagation: last_mile / 2,
        receive: world.settings.receive.into(),
        overhead: u32::from(ETHERNET),
        ..link::Config::default()
    };
    Line { name: None, up: way.clone(), down: way }
}

fn access_line(access: &file::Access, world: &World, document: &Document) -> Result<Line, Diagnostic> {
    let base = plain_line(LAST_MILE, world).up;
    let one_way = |way| {
        let config = access.direction(way).apply(&base, document)?;
        let propagation = access.own.rtt.map_or(config.propagation, |rtt| rtt / 2);
        Ok(link::Config { propagation, ..config })
    };
    Ok(Line {
        name: Some(access.own.name.get_ref().clone()),
        up: one_way(Way::Up)?,
        down: one_way(Way::Down)?,
    })
}

pub(super) fn is_host_name(name: &str) -> bool {
    // A numeric name would be parsed as an address.
    let starts_well = name.starts_with(|c: char| c.is_ascii_lowercase());
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    starts_well && name.len() <= 63 && name.chars().all(is_plain) && name != "localhost"
}

const MOST_LINES: usize = 4;

const V4_DEVICE_BITS: u32 = 20;
const V6_DEVICE_BITS: u32 = 64;

/// The first host is 10.0.0.1.
const V4_BASE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 0);

/// The first host is fd6c:6f6e:6768::1. The prefix is unique local (RFC 4193); its bytes spell
/// "longh".
const V6_BASE: Ipv6Addr = Ipv6Addr::new(0xfd6c, 0x6f6e, 0x6768, 0, 0, 0, 0, 0);
