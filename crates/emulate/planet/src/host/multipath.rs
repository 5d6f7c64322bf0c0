//! Enables a new host's Multipath TCP (RFC 8684) on all of its devices.

use std::net::IpAddr;

use tcp::mptcp::{Endpoint, Limits, PathManager, Purpose};
use world::{Layout, file::Mptcp};

use crate::error::{Doing, Error};

/// For the calling thread's network namespace. Must not be called in a world without MPTCP, so that
/// it runs on kernels without MPTCP.
pub(super) fn set_up(host: &world::Host, layout: &Layout, has_ipv6: bool) -> Result<(), Error> {
    let set = || -> Result<(), tcp::Error> {
        let paths = PathManager::open()?;
        // Also on hosts with one device: both ends limit a connection.
        paths.set_limits(LIMITS)?;
        let Some(how) = host.mptcp else { return Ok(()) };
        // The first subflow uses the first device's addresses and needs no endpoint.
        let others = &layout.ports[host.ports.clone()][1..];
        let addresses = others.iter().flat_map(|port| [IpAddr::from(port.v4), IpAddr::from(port.v6)]);
        for address in addresses.filter(|address| address.is_ipv4() || has_ipv6) {
            paths.add(&endpoint(address, how))?;
        }
        Ok(())
    };
    set().map_err(std::io::Error::other).doing(|| format!("set up MPTCP on {}", host.name))
}

fn endpoint(address: IpAddr, how: Mptcp) -> Endpoint {
    let (purpose, is_backup) = match how {
        Mptcp::Subflow => (Purpose::Subflow, false),
        Mptcp::Backup => (Purpose::Subflow, true),
        Mptcp::Signal => (Purpose::Signal, false),
    };
    Endpoint { address, purpose, is_backup }
}

/// The maximum in Linux (MPTCP_PM_ADDR_MAX).
const LIMITS: Limits = Limits { subflows: 8, accepted_addresses: 8 };
