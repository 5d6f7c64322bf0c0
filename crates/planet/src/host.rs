//! Makes a host: a network namespace with one TUN device, addresses, routes and kernel settings.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    net::IpAddr,
    os::{fd::AsRawFd, unix::fs::MetadataExt},
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
};

use nix::{
    sched::{CloneFlags, setns, unshare},
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use world::Layout;

use crate::{
    device::Netlink,
    error::{Doing, Error},
    sys::tun::{self, Tun},
};

/// A host that exists. Its namespace, and the device in it, live as long as something runs in it or holds it.
pub(crate) struct Host {
    /// Where its packets come from and go to.
    pub tun: Tun,
    /// For entering it.
    namespace: File,
    netlink: Netlink,
    is_frozen: AtomicBool,
}

impl Host {
    /// Makes the host, and leaves the calling thread inside its network namespace.
    pub(crate) fn make(host: &world::Host, layout: &Layout) -> Result<Self, Error> {
        let name = &host.name;
        unshare(CloneFlags::CLONE_NEWNET).doing(|| format!("make a network namespace for {name}"))?;
        let namespace =
            File::open("/proc/thread-self/ns/net").doing(|| format!("open {name}'s namespace"))?;
        let tun = Tun::open().doing(|| format!("open {} for {name}", tun::PATH))?;
        let netlink = configure(host, layout)?;
        Ok(Self { tun, namespace, netlink, is_frozen: AtomicBool::new(false) })
    }

    /// One of its devices.
    pub(crate) fn tun(&self, _number: usize) -> &Tun {
        &self.tun
    }

    /// Gives one of its devices a carrier or takes it. Without one the kernel knows that nothing passes.
    pub(crate) fn set_carrier(&self, number: usize, is_there: bool) -> io::Result<()> {
        self.tun(number).set_carrier(is_there)
    }

    /// Stops its processes, or lets them go on.
    pub(crate) fn freeze(&self, is_frozen: bool) -> io::Result<()> {
        if self.is_frozen.swap(is_frozen, Ordering::Relaxed) != is_frozen {
            self.signal_all(if is_frozen { Signal::SIGSTOP } else { Signal::SIGCONT })?;
        }
        Ok(())
    }

    /// Sends a signal to all its processes: those in its network namespace, but never to the planet itself. How many.
    pub(crate) fn signal_all(&self, signal: Signal) -> io::Result<usize> {
        let namespace = self.namespace.metadata()?;
        let mut count = 0;
        for entry in std::fs::read_dir("/proc")? {
            let name = entry?.file_name();
            let Some(pid) = name.to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
            // A process may end at any moment, also between two looks at it.
            let Ok(its) = std::fs::metadata(format!("/proc/{pid}/ns/net")) else { continue };
            let is_ours = (its.dev(), its.ino()) == (namespace.dev(), namespace.ino());
            if is_ours && pid > 1 && kill(Pid::from_raw(pid), signal).is_ok() {
                count += 1;
            }
        }
        Ok(count)
    }

    /// The number of its network namespace's descriptor, by which others find it in `/proc`.
    pub(crate) fn namespace_number(&self) -> i32 {
        self.namespace.as_raw_fd()
    }

    /// The TCP ports on which its programs listen.
    pub(crate) fn listening(&self) -> io::Result<Vec<u16>> {
        // A namespace is entered by a thread, and a thread that has can be let go.
        let look = || {
            setns(&self.namespace, CloneFlags::CLONE_NEWNET)?;
            let tables =
                ["/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"].map(std::fs::read_to_string);
            // A kernel without IPv6 has no second table.
            Ok(tables.into_iter().flatten().flat_map(|table| listening_ports(&table)).collect())
        };
        std::thread::scope(|scope| scope.spawn(look).join()).expect("reading two files does not panic")
    }

    /// Packets that it sent and that the switch did not read in time: drops that no link model asked for.
    pub(crate) fn dropped(&self) -> io::Result<u64> {
        self.netlink.device(tun::NAME).map(|device| device.dropped)
    }
}

/// The local ports of sockets in state LISTEN in a table of `/proc/net/tcp`.
fn listening_ports(table: &str) -> Vec<u16> {
    let port = |line: &str| {
        let mut fields = line.split_whitespace().skip(1);
        let (local, _remote, state) = (fields.next()?, fields.next()?, fields.next()?);
        let (_, port) = local.rsplit_once(':')?;
        (state == LISTEN).then(|| u16::from_str_radix(port, 16).ok())?
    };
    table.lines().skip(1).filter_map(port).collect()
}

fn configure(host: &world::Host, layout: &Layout) -> Result<Netlink, Error> {
    let name = &host.name;
    let netlink = Netlink::open().doing(|| format!("open a netlink socket in {name}"))?;
    let loopback = netlink.device("lo").doing(|| format!("find the loopback device of {name}"))?;
    netlink.switch_on(loopback.index, None).doing(|| format!("switch on the loopback device of {name}"))?;

    let has_ipv6 = PathBuf::from("/proc/sys/net/ipv6").exists();
    if has_ipv6 {
        for (key, value) in QUIET_IPV6 {
            set_sysctl(name, key, value)?;
        }
    }
    // A connection must not inherit what an earlier one learnt about the path: each measurement stands alone.
    set_sysctl(name, "net.ipv4.tcp_no_metrics_save", "1")?;
    for (key, value) in &host.sysctl {
        set_sysctl(name, key, value)?;
    }

    let device = netlink.device(tun::NAME).doing(|| format!("find the network device of {name}"))?;
    netlink
        .switch_on(device.index, Some(QUEUE_LENGTH))
        .doing(|| format!("switch on the network device of {name}"))?;
    let port = &layout.ports[host.ports.start];
    let addresses = [IpAddr::V4(port.v4), IpAddr::V6(port.v6)];
    for address in addresses.into_iter().filter(|address| address.is_ipv4() || has_ipv6) {
        netlink.add_address(device.index, address).doing(|| format!("give {name} the address {address}"))?;
        let congestion = host.congestion.as_deref();
        netlink.add_default_route(device.index, address, congestion).doing(|| match congestion {
            Some(control) => format!("route {name} with congestion control \"{control}\" (is it in net.ipv4.tcp_available_congestion_control?)"),
            None => format!("route {name} from {address}"),
        })?;
    }
    Ok(netlink)
}

/// Writes a kernel setting of the calling thread's network namespace.
fn set_sysctl(host: &str, key: &str, value: &str) -> Result<(), Error> {
    let path = PathBuf::from("/proc/sys").join(key.replace('.', "/"));
    let write = || OpenOptions::new().write(true).open(&path)?.write_all(value.as_bytes());
    write().doing(|| {
        format!("set {key} = \"{value}\" on {host} (some settings need root, and some are not a host's own)")
    })
}

/// A TUN device drops what does not fit between host and switch, and TCP takes that for congestion. The kernel's
/// default of 500 packets is less than one congestion window.
const QUEUE_LENGTH: u32 = 20_000;

/// TCP_LISTEN in hexadecimal, as the tables print it (net/tcp_states.h).
const LISTEN: &str = "0A";

/// No link-local address and so no router solicitations or multicast listener reports: nobody would answer.
const QUIET_IPV6: [(&str, &str); 2] =
    [("net.ipv6.conf.net0.addr_gen_mode", "1"), ("net.ipv6.conf.net0.accept_ra", "0")];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listening_sockets_are_told_from_connected_ones() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue\n   0: 00000000:0050 00000000:0000 0A 0:0\n   1: \
                     0100007F:1F90 0100007F:C000 01 0:0\n   2: 00000000000000000000000000000000:01BB \
                     00000000000000000000000000000000:0000 0A 0:0\nrubbish\n";
        assert_eq!(listening_ports(table), [80, 443]);
    }
}
