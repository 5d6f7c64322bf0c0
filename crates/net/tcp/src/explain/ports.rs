//! Source ports: a destination that uses most of the range will soon be unreachable.
//!
//! Every connection to one address and port occupies a separate local port, including its minute in
//! `TIME_WAIT`.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::{IpAddr, SocketAddr},
};

use super::{Explanation, Limit, Observation, limit::source_ports};
use crate::{
    diag::{Socket, State},
    settings::Settings,
};

/// Number of source ports in use by connections from one address to one destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortUse {
    /// The source address.
    pub local: IpAddr,
    /// The destination.
    pub remote: SocketAddr,
    /// Ports in use.
    pub taken: u64,
    /// Ports of connections in `TIME_WAIT`, included in `taken`.
    pub waiting: u64,
}

impl PortUse {
    /// Ports in `TIME_WAIT` are available after a second where the kernel reuses them, by default
    /// on loopback.
    fn out_of_reach(&self, settings: &Settings) -> u64 {
        let reuses = match settings.tcp_tw_reuse {
            Some(1) => true,
            Some(2) => self.remote.ip().to_canonical().is_loopback(),
            _ => false,
        };
        if reuses { self.taken.saturating_sub(self.waiting) } else { self.taken }
    }
}

#[derive(Debug, Default)]
pub(super) struct Count {
    connections: Vec<(SocketAddr, SocketAddr, bool)>,
    listening: BTreeSet<u16>,
}

impl Count {
    pub(super) fn add(&mut self, socket: &Socket) {
        match socket.state {
            State::Listen => drop(self.listening.insert(socket.local.port())),
            state => self.connections.push((socket.local, socket.remote, state == State::TimeWait)),
        }
    }

    pub(super) fn in_range(&self, settings: &Settings) -> Vec<PortUse> {
        let Some([first, last]) = settings.ip_local_port_range else { return Vec::new() };
        let mut uses: BTreeMap<(IpAddr, SocketAddr), (u64, u64)> = BTreeMap::new();
        for (local, remote, is_waiting) in &self.connections {
            let port = local.port();
            if (first..=last).contains(&u64::from(port)) && !self.listening.contains(&port) {
                let (taken, waiting) = uses.entry((local.ip(), *remote)).or_default();
                *taken += 1;
                *waiting += u64::from(*is_waiting);
            }
        }
        let uses = uses.into_iter();
        uses.map(|((local, remote), (taken, waiting))| PortUse { local, remote, taken, waiting }).collect()
    }
}

pub(super) fn judge(observation: &Observation) -> impl Iterator<Item = Explanation> + use<'_> {
    let Observation { settings, kernel, ports, .. } = observation;
    let range = settings.ip_local_port_range;
    let scarce = ports.iter().filter_map(move |each| {
        let [first, last] = range?;
        let size = (last + 1).saturating_sub(first).max(1);
        let is_scarce = each.out_of_reach(settings) as f64 >= size as f64 * SCARCE;
        is_scarce.then(|| (each, source_ports::finding(each, [first, last], size, *kernel, settings)))
    });
    scarce.map(|(each, finding)| {
        let local = format!("{}:*", bracketed(each.local));
        Explanation::without_connection(local, each.remote.to_string(), Limit::SourcePorts, finding)
    })
}

fn bracketed(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

/// From this share on all even ports are in use, if nothing else shares the range.
const SCARCE: f64 = 0.5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_that_the_kernel_uses_again_are_not_out_of_reach() {
        let of = |remote: &str, reuse| {
            let local = IpAddr::from([127, 0, 0, 1]);
            let uses = PortUse { local, remote: remote.parse().unwrap(), taken: 15_000, waiting: 14_000 };
            uses.out_of_reach(&Settings { tcp_tw_reuse: reuse, ..Settings::default() })
        };
        // 2, the default since Linux 4.19, applies to loopback only; 1 everywhere, 0 nowhere. Older kernels
        // have no value.
        for (remote, reuse, expected) in [
            ("127.0.0.1:80", Some(2), 1000),
            ("[::1]:80", Some(2), 1000),
            ("[::ffff:127.0.0.1]:80", Some(2), 1000),
            ("10.0.0.2:80", Some(2), 15_000),
            ("10.0.0.2:80", Some(1), 1000),
            ("127.0.0.1:80", Some(0), 15_000),
            ("127.0.0.1:80", None, 15_000),
        ] {
            assert_eq!(of(remote, reuse), expected, "{remote} {reuse:?}");
        }
    }
}
