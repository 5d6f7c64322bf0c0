//! `IP_LOCAL_PORT_RANGE`: the range of ports of one socket, since Linux 6.3.
//!
//! Source: ip(7) and `do_ip_setsockopt()` in net/ipv4/ip_sockglue.c. It is an option of level IP for IPv6
//! sockets too. 0 at either end selects that end of the network namespace's range; an end outside of that
//! range is ignored.

use std::os::fd::AsFd;

use nix::{errno::Errno, sys::socket::setsockopt};

pub(super) fn set_local_port_range(socket: &impl AsFd, low: u16, high: u16) -> Result<(), Errno> {
    setsockopt(socket, LocalPortRange, &(u32::from(high) << 16 | u32::from(low)))
}

#[derive(Debug, Clone, Copy)]
struct LocalPortRange;

nix::setsockopt_impl!(
    LocalPortRange,
    libc::IPPROTO_IP,
    IP_LOCAL_PORT_RANGE,
    u32,
    nix::sys::socket::sockopt::SetStruct<'_, u32>
);

/// linux/in.h
const IP_LOCAL_PORT_RANGE: libc::c_int = 51;
