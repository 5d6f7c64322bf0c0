//! Resolves names to one address each.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use super::{Error, Family};

/// A target of pings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The name or address on the command line.
    pub host: String,
    /// The address, with its scope; the port is 0.
    pub address: SocketAddr,
}

/// The address of each host, in order. Resolves names concurrently in threads; blocks until all are
/// resolved.
///
/// # Errors
///
/// The first host that is unknown or has no address of this family.
pub fn resolve(hosts: &[String], family: Family) -> Result<Vec<Target>, Error> {
    if hosts.iter().all(|host| host.parse::<IpAddr>().is_ok()) {
        return hosts.iter().map(|host| look_up(host, family)).collect();
    }
    std::thread::scope(|scope| {
        let mut targets = Vec::with_capacity(hosts.len());
        for some in hosts.chunks(LOOKUPS) {
            let lookups: Vec<_> = some.iter().map(|host| scope.spawn(|| look_up(host, family))).collect();
            for lookup in lookups {
                targets.push(lookup.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
            }
        }
        Ok(targets)
    })
}

fn look_up(host: &str, family: Family) -> Result<Target, Error> {
    let found =
        (host, 0).to_socket_addrs().map_err(|source| Error::UnknownHost { host: host.to_owned(), source })?;
    let (family, mut wanted): (_, Vec<SocketAddr>) = match family {
        Family::Any => ("IP", found.collect()),
        Family::V4 => ("IPv4", found.filter(SocketAddr::is_ipv4).collect()),
        Family::V6 => ("IPv6", found.filter(SocketAddr::is_ipv6).collect()),
    };
    if wanted.is_empty() {
        return Err(Error::NoAddress { host: host.to_owned(), family });
    }
    Ok(Target { host: host.to_owned(), address: wanted.swap_remove(0) })
}

/// Enough to resolve three hundred names in a tolerable time.
const LOOKUPS: usize = 32;
