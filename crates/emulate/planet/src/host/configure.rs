//! Configures a new host's addresses, routes and kernel settings, with route netlink and
//! `/proc/sys`.

use std::{
    fs::OpenOptions,
    io::{self, Write},
    net::IpAddr,
    path::PathBuf,
};

use world::{HostId, Layout, Port};

use crate::{
    device::{Netlink, Table},
    error::{Doing, Error},
    host::{all::Common, multipath},
    sys::tun,
};

pub(super) fn configure(host: &world::Host, common: Common<'_>) -> Result<Netlink, Error> {
    let Common { layout, has_ipv6, .. } = common;
    let name = &host.name;
    let netlink = Netlink::open().doing(|| format!("open a netlink socket in {name}"))?;
    let loopback = netlink.device("lo").doing(|| format!("find the loopback device of {name}"))?;
    netlink.switch_on(loopback.index).doing(|| format!("switch on the loopback device of {name}"))?;

    let new = New { host, netlink, has_ipv6 };
    let ports = &layout.ports[host.ports.clone()];
    new.settings(ports.len())?;
    for port in ports {
        new.device(port, ports.len())?;
    }
    new.anycast(layout, ports[0].host, loopback.index)?;
    if common.has_mptcp {
        multipath::set_up(host, layout, has_ipv6)?;
    }
    Ok(new.netlink)
}

struct New<'a> {
    host: &'a world::Host,
    netlink: Netlink,
    has_ipv6: bool,
}

impl New<'_> {
    fn settings(&self, devices: usize) -> Result<(), Error> {
        for device in (0..devices).map(tun::name) {
            if self.has_ipv6 {
                for (key, value) in QUIET_IPV6 {
                    self.set(&format!("net.ipv6.conf.{device}.{key}"), value)?;
                }
            }
            if devices > 1 {
                self.set(&format!("net.ipv4.conf.{device}.rp_filter"), "0")?;
            }
        }
        if devices > 1 {
            // The kernel uses the stricter of this value and a device's value.
            self.set("net.ipv4.conf.all.rp_filter", "0")?;
        }
        // A connection must not inherit path metrics from an earlier one: measurements are
        // independent.
        self.set("net.ipv4.tcp_no_metrics_save", "1")?;
        self.host.sysctl.iter().try_for_each(|(key, value)| self.set(key, value))
    }

    /// Packets without a source address use the first device. With several devices each has a
    /// routing table, so that an address is never used on another line.
    fn device(&self, port: &Port, devices: usize) -> Result<(), Error> {
        let name = &self.host.name;
        let device_name = tun::name(port.number);
        let device =
            self.netlink.device(&device_name).doing(|| format!("find device {device_name} of {name}"))?;
        self.netlink
            .make_room(device.index, QUEUE_LENGTH)
            .doing(|| format!("make room in device {device_name} of {name}"))?;
        if self.host.nic.is_none() {
            // On failure, the device keeps a queue in which packets never wait.
            let _ = self.netlink.leave_out_discipline(device.index);
        }
        self.netlink.switch_on(device.index).doing(|| format!("switch on device {device_name} of {name}"))?;
        if let Some(rate) = self.host.nic {
            self.netlink
                .limit_rate(device.index, rate)
                .map_err(no_tbf)
                .doing(|| format!("limit device {device_name} of {name} to its network card's {rate}"))?;
        }
        for address in self.versions([port.v4.into(), port.v6.into()]) {
            self.netlink
                .add_address(device.index, address)
                .doing(|| format!("give {name} the address {address}"))?;
            if port.number == 0 {
                self.route(device.index, address, Table::MAIN)?;
            }
            if devices > 1 {
                let table = Table::of_device(port.number);
                self.route(device.index, address, table)?;
                self.netlink
                    .add_source_rule(address, table)
                    .doing(|| format!("tie the address {address} of {name} to device {device_name}"))?;
            }
        }
        Ok(())
    }

    fn route(&self, device: u32, address: IpAddr, table: Table) -> Result<(), Error> {
        let name = &self.host.name;
        let congestion = self.host.congestion.as_deref();
        self.netlink.add_default_route(device, address, table, congestion).doing(|| match congestion {
            Some(control) => format!("route {name} with congestion control \"{control}\" (is it in net.ipv4.tcp_available_congestion_control?)"),
            None => format!("route {name} from {address}"),
        })
    }

    /// Makes all addresses local. The switch decides whether packets arrive.
    fn anycast(&self, layout: &Layout, host: HostId, loopback: u32) -> Result<(), Error> {
        let announced = layout.anycast.iter().filter(|any| any.hosts.contains(&host));
        for prefix in announced.flat_map(|any| &any.prefixes) {
            for address in self.versions([prefix.address()]) {
                self.netlink
                    .add_local_prefix(loopback, address, prefix.length())
                    .doing(|| format!("give {} the prefix {prefix}", self.host.name))?;
                if address.is_ipv6() {
                    // Unlike in IPv4, programs can bind only to configured IPv6 addresses, even if
                    // an address is local.
                    self.set("net.ipv6.ip_nonlocal_bind", "1")?;
                }
            }
        }
        Ok(())
    }

    fn versions<const N: usize>(&self, addresses: [IpAddr; N]) -> impl Iterator<Item = IpAddr> + use<N> {
        let has_ipv6 = self.has_ipv6;
        addresses.into_iter().filter(move |address| address.is_ipv4() || has_ipv6)
    }

    fn set(&self, key: &str, value: &str) -> Result<(), Error> {
        let path = PathBuf::from("/proc/sys").join(key.replace('.', "/"));
        let write = || OpenOptions::new().write(true).open(&path)?.write_all(value.as_bytes());
        write().doing(|| {
            format!(
                "set {key} = \"{value}\" on {} (some settings need root, and some are not a host's own)",
                self.host.name
            )
        })
    }
}

fn no_tbf(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(libc::ENOENT) => io::Error::other(
            "this kernel has no token bucket filter (CONFIG_NET_SCH_TBF, module sch_tbf); leave out nic in the world",
        ),
        _ => error,
    }
}

/// In packets. TCP takes a drop for congestion, and the kernel's default of 500 is smaller than a
/// congestion window.
const QUEUE_LENGTH: u32 = 20_000;

/// No link-local address, and therefore no router solicitations or multicast listener reports.
const QUIET_IPV6: [(&str, &str); 2] = [("addr_gen_mode", "1"), ("accept_ra", "0")];
