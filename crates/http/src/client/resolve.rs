//! From a host's name to its addresses, in the order in which they are tried.

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr, ToSocketAddrs},
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::OnceCell;

use super::{
    config::{Config, Known, Lookups},
    trace::Trace,
};
use crate::{Failure, Family, Origin, clock::Clock, limits};

/// The system's resolver, perhaps with a memory.
pub(crate) struct Resolver {
    given: Vec<Known>,
    lookups: Lookups,
    family: Family,
    clock: Clock,
    remembered: Mutex<HashMap<String, Arc<OnceCell<Vec<IpAddr>>>>>,
}

impl Resolver {
    pub(crate) fn new(config: &Config, clock: Clock) -> Self {
        let Config { lookups, family, .. } = *config;
        Self { given: config.known.clone(), lookups, family, clock, remembered: Mutex::default() }
    }

    /// The addresses of an origin, of the family that is used; of both, alternating between IPv6 and IPv4. Phase `dns`
    /// stays absent if nothing was looked up.
    pub(crate) async fn resolve(
        &self,
        origin: &Origin,
        trace: &mut Trace,
    ) -> Result<Vec<SocketAddr>, Failure> {
        let port = origin.port;
        if let Ok(literal) = origin.host.parse::<IpAddr>() {
            return with_port(&[literal], self.family, port);
        }
        let given = self.given.iter().filter(|given| given.host == origin.host && given.port == port);
        let given: Vec<_> = given.map(|given| given.address).collect();
        if !given.is_empty() {
            return with_port(&interleaved(&given), self.family, port);
        }
        let started = self.clock.now();
        let addresses = match self.memory(&origin.host) {
            Some(memory) => {
                if let Some(known) = memory.get() {
                    return with_port(known, self.family, port);
                }
                // Requests for a name that is being looked up wait for that lookup, and count the wait.
                memory.get_or_try_init(|| look_up(origin.host.clone())).await?.clone()
            }
            None => look_up(origin.host.clone()).await?,
        };
        trace.dns = Some(self.clock.now().saturating_sub(started));
        with_port(&addresses, self.family, port)
    }

    fn memory(&self, host: &str) -> Option<Arc<OnceCell<Vec<IpAddr>>>> {
        if self.lookups == Lookups::EachConnection {
            return None;
        }
        let mut remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(memory) = remembered.get(host) {
            return Some(Arc::clone(memory));
        }
        if remembered.len() >= limits::ORIGINS {
            return None;
        }
        Some(Arc::clone(remembered.entry(host.to_owned()).or_default()))
    }
}

/// Calls getaddrinfo, which asks for A and AAAA at once and returns when it has both.
async fn look_up(host: String) -> Result<Vec<IpAddr>, Failure> {
    let found = tokio::task::spawn_blocking(move || (host.as_str(), 0).to_socket_addrs()).await;
    let found: Vec<IpAddr> = match found {
        Ok(Ok(addresses)) => addresses.map(|address| address.ip()).collect(),
        Ok(Err(_)) | Err(_) => return Err(Failure::Dns),
    };
    if found.is_empty() { Err(Failure::Dns) } else { Ok(interleaved(&found)) }
}

/// Alternates between the families, IPv6 first, and keeps the resolver's order within each (RFC 8305 section
/// 4).
fn interleaved(addresses: &[IpAddr]) -> Vec<IpAddr> {
    let mut v6 = addresses.iter().filter(|address| address.is_ipv6());
    let mut v4 = addresses.iter().filter(|address| address.is_ipv4());
    let mut ordered = Vec::with_capacity(addresses.len());
    for _ in 0..addresses.len() {
        ordered.extend(v6.next());
        ordered.extend(v4.next());
    }
    ordered
}

/// The addresses of a family. The resolver was asked for both, as by any program that then uses one.
fn with_port(addresses: &[IpAddr], family: Family, port: u16) -> Result<Vec<SocketAddr>, Failure> {
    let wanted = addresses.iter().filter(|address| family.has(**address));
    let found: Vec<_> = wanted.map(|&address| SocketAddr::new(address, port)).collect();
    if found.is_empty() { Err(Failure::NoAddress(family)) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_alternate_and_ipv6_is_first() {
        let parse =
            |text: &str| text.split(' ').map(|address| address.parse().unwrap()).collect::<Vec<IpAddr>>();
        assert_eq!(
            interleaved(&parse("1.1.1.1 2.2.2.2 3.3.3.3 ::1 ::2")),
            parse("::1 1.1.1.1 ::2 2.2.2.2 3.3.3.3")
        );
        assert_eq!(interleaved(&parse("1.1.1.1")), parse("1.1.1.1"));
    }

    #[test]
    fn one_family_may_be_wanted() {
        let found: Vec<IpAddr> = ["::1", "1.1.1.1"].map(|address| address.parse().unwrap()).to_vec();
        let of = |family| with_port(&found, family, 80).unwrap();
        assert_eq!(of(Family::Any).len(), 2);
        assert_eq!(of(Family::V4), ["1.1.1.1:80".parse().unwrap()]);
        assert_eq!(of(Family::V6), ["[::1]:80".parse().unwrap()]);
        assert_eq!(with_port(&found[..1], Family::V4, 80), Err(Failure::NoAddress(Family::V4)));
    }
}
