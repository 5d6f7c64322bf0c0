//! Kernel configuration of hosts without a switch. The tests create network namespaces, which needs
//! root.

use std::{
    io::Read,
    process::{Child, Command, Stdio},
};

use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use tcp::mptcp::{Endpoint, Limits, PathManager, Purpose};
use world::{Document, World};

use super::*;

const WORLD: &str = "
[[access]]
name = 'wifi'
[[access]]
name = 'cell'
[[host]]
name = 'phone'
city = 'london'
access = ['wifi', 'cell']
mptcp = 'backup'
nic = '1Gbit'
[[host]]
name = 'server'
city = 'paris'
[[anycast]]
prefix = ['192.0.2.0/24', '2001:db8::/48']
hosts = ['server']
";

fn in_host<T: Send>(host: usize, look: impl FnOnce(&Host) -> T + Send) -> T {
    let layout = World::read(&Document::new("w.toml", WORLD)).unwrap().1;
    let inside = || look(&Host::make(&layout.hosts[host], Common::of(&layout)).unwrap());
    std::thread::scope(|scope| scope.spawn(inside).join().unwrap())
}

fn said(command: &str) -> String {
    let words: Vec<_> = command.split(' ').collect();
    let output = Command::new(words[0]).args(&words[1..]).output().unwrap();
    assert!(output.status.success(), "{command}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn hosts_are_in_the_order_of_the_layout_whoever_made_them() {
    let world = "[[visitors]]\ncount = 70\ncities = ['rome', 'oslo']\n";
    let layout = World::read(&Document::new("w.toml", world)).unwrap().1;
    let hosts = all::make_all(&layout).unwrap();
    assert_eq!(hosts.len(), 70);
    for (host, made) in hosts.iter().enumerate().step_by(23) {
        let look = || {
            setns(made.namespace.as_fd(), CloneFlags::CLONE_NEWNET).unwrap();
            said("ip -brief -4 address show net0")
        };
        let addresses = std::thread::scope(|scope| scope.spawn(look).join().unwrap());
        assert!(addresses.contains(&format!("{}/32", layout.first_port(host).v4)), "{host}: {addresses}");
    }
}

#[test]
fn listening_sockets_are_told_from_connected_ones() {
    let table = "  sl  local_address rem_address   st tx_queue rx_queue\n   0: 00000000:0050 00000000:0000 0A 0:0\n   1: \
                 0100007F:1F90 0100007F:C000 01 0:0\n   2: 00000000000000000000000000000000:01BB \
                 00000000000000000000000000000000:0000 0A 0:0\nrubbish\n";
    assert_eq!(listening_ports(table), [80, 443]);
}

#[test]
fn a_device_that_a_program_removed_has_no_carrier_to_lose() {
    in_host(1, |host| {
        said("ip link del net0");
        for has_carrier in [false, true] {
            host.set_carrier(0, has_carrier).unwrap();
        }
    });
}

#[test]
fn each_address_leaves_by_its_own_device() {
    in_host(0, |host| {
        assert_eq!(host.tuns.len(), 2);
        let unbound = said("ip route get 10.9.9.9");
        assert!(unbound.contains("dev net0 src 10.0.0.1"), "{unbound}");
        for (from, device) in [("10.0.0.1", "net0"), ("10.16.0.1", "net1"), ("fd6c:6f6e:6768:1::1", "net1")] {
            let to = if from.contains(':') { "2001:db8::9" } else { "10.9.9.9" };
            let way = said(&format!("ip route get {to} from {from}"));
            assert!(way.contains(&format!("dev {device}")), "{way}");
        }
        assert_eq!(said("cat /proc/sys/net/ipv4/conf/net1/rp_filter"), "0\n");
    });
}

#[test]
fn a_site_answers_for_its_whole_prefix() {
    let lookup = |address: &str| said(&format!("ip route get {address}"));
    in_host(1, |_| {
        for address in ["192.0.2.1", "192.0.2.255", "2001:db8:0:ffff::9"] {
            assert!(lookup(address).starts_with("local "), "{address}");
        }
        std::net::TcpListener::bind("[2001:db8::1]:0").unwrap();
    });
    in_host(0, |_| assert!(!lookup("192.0.2.1").starts_with("local ")));
}

#[test]
fn multipath_knows_the_further_devices() {
    let limits = Limits { subflows: 8, accepted_addresses: 8 };
    let endpoint = |address: &str| Endpoint {
        address: address.parse().unwrap(),
        purpose: Purpose::Subflow,
        is_backup: true,
    };
    let paths = || PathManager::open().unwrap();
    in_host(0, |_| {
        let mut endpoints = paths().endpoints().unwrap();
        endpoints.sort_by_key(|endpoint| endpoint.address);
        assert_eq!(endpoints, [endpoint("10.16.0.1"), endpoint("fd6c:6f6e:6768:1::1")]);
        assert_eq!(paths().limits().unwrap(), limits);
    });
    in_host(1, |_| {
        assert_eq!(paths().endpoints().unwrap(), []);
        assert_eq!(paths().limits().unwrap(), limits, "of a server, which must admit what others open");
    });
}

#[test]
fn a_network_card_has_a_rate() {
    in_host(0, |_| {
        // 2 ms of 1 Gbit/s are 250 000 bytes.
        let queue = said("tc qdisc show dev net1");
        assert!(queue.contains("tbf") && queue.contains("rate 1Gbit burst 250000b lat 50ms"), "{queue}");
    });
}

#[test]
fn a_host_sees_its_cable_pulled() {
    in_host(0, |host| {
        let has_no_carrier = || said("ip link show net1").contains("NO-CARRIER");
        assert!(!has_no_carrier());
        host.set_carrier(1, false).unwrap();
        assert!(has_no_carrier());
        assert!(!said("ip link show net0").contains("NO-CARRIER"));
        host.set_carrier(1, true).unwrap();
        assert!(!has_no_carrier());
    });
}

fn program() -> Child {
    let mut program =
        Command::new("sh").args(["-c", "sleep 1000 & echo up; wait"]).stdout(Stdio::piped()).spawn().unwrap();
    program.stdout.as_mut().unwrap().read_exact(&mut [0; 3]).unwrap();
    program
}

#[test]
fn signals_reach_all_processes_of_a_host_and_no_other() {
    in_host(1, |neighbour| {
        let mut other = program();
        in_host(1, |host| {
            let mut program = program();
            let pid = Pid::from_raw(program.id().try_into().unwrap());
            let next = |flags| waitpid(pid, Some(flags)).unwrap();
            assert_eq!(host.signal_all(Signal::SIGSTOP).unwrap(), 2);
            assert_eq!(next(WaitPidFlag::WUNTRACED), WaitStatus::Stopped(pid, Signal::SIGSTOP));
            assert_eq!(host.signal_all(Signal::SIGCONT).unwrap(), 2);
            assert_eq!(next(WaitPidFlag::WCONTINUED), WaitStatus::Continued(pid));
            assert_eq!(host.signal_all(Signal::SIGKILL).unwrap(), 2);
            assert_eq!(next(WaitPidFlag::empty()), WaitStatus::Signaled(pid, Signal::SIGKILL, false));
            assert!(program.wait().is_err(), "it was waited for already");
        });
        assert!(other.try_wait().unwrap().is_none());
        assert_eq!(neighbour.signal_all(Signal::SIGKILL).unwrap(), 2);
        other.wait().unwrap();
    });
}
