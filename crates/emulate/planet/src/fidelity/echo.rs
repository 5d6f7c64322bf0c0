//! A packet that travels from a program through a kernel to the switch and back: the route between
//! two hosts without the link.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, UdpSocket},
    os::fd::{AsFd, BorrowedFd},
    time::Duration,
};

use nix::sched::{CloneFlags, unshare};

use crate::{
    device::{Netlink, Table},
    frame::VIRTIO_HEADER,
    sys::tun::{self, Tun},
};

#[derive(Debug)]
pub(crate) struct Echo {
    tun: Tun,
    socket: UdpSocket,
}

impl Echo {
    pub(crate) fn new() -> io::Result<Self> {
        // A thread cannot leave a network namespace, so a temporary thread enters it.
        let made = std::thread::spawn(Self::make).join();
        made.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    fn make() -> io::Result<Self> {
        unshare(CloneFlags::CLONE_NEWNET)?;
        let tun = Tun::open(0)?;
        let netlink = Netlink::open()?;
        let device = netlink.device(&tun::name(0))?;
        // On failure, the device keeps a queue in which packets never wait.
        let _ = netlink.leave_out_discipline(device.index);
        netlink.switch_on(device.index)?;
        netlink.add_address(device.index, IpAddr::V4(HERE))?;
        netlink.add_default_route(device.index, IpAddr::V4(HERE), Table::MAIN, None)?;
        let socket = UdpSocket::bind((HERE, PORT))?;
        socket.connect((THERE, PORT))?;
        socket.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { tun, socket })
    }

    pub(crate) fn go_round(&self, number: u64) -> io::Result<()> {
        loop {
            self.socket.send(&number.to_ne_bytes())?;
            loop {
                let mut back = [0; 8];
                match self.socket.recv(&mut back) {
                    Ok(_) if u64::from_ne_bytes(back) == number => return Ok(()),
                    // A reply to an earlier packet that timed out.
                    Ok(_) => {}
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) => return Err(error),
                }
            }
        }
    }

    pub(crate) fn answer(&self, came: impl Fn()) -> io::Result<()> {
        let mut frame = [0; 128];
        while let Some(length) = self.tun.read(&mut frame)? {
            if turn_round(&mut frame[..length]) {
                came();
                self.tun.write_whole(&frame[..length])?;
            }
        }
        Ok(())
    }
}

impl AsFd for Echo {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.tun.as_fd()
    }
}

/// False for other packets of the kernel. Checksums remain valid, because the sum does not depend
/// on the order of the addresses and both ports are equal.
fn turn_round(frame: &mut [u8]) -> bool {
    let Some(packet) = frame.get_mut(VIRTIO_HEADER..) else { return false };
    let is_ours = packet.len() >= IP_HEADER_BYTES && packet[0] >> 4 == 4 && packet[16..20] == THERE.octets();
    if is_ours {
        let (from, to) = packet[12..20].split_at_mut(4);
        from.swap_with_slice(to);
    }
    is_ours
}

const HERE: Ipv4Addr = Ipv4Addr::new(10, 255, 255, 1);
const THERE: Ipv4Addr = Ipv4Addr::new(10, 255, 255, 2);
const PORT: u16 = 9;

const IP_HEADER_BYTES: usize = 20;

/// The packet is then sent again, in case a kernel without memory has dropped it.
const PATIENCE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_packets_to_the_far_address_are_turned_round() {
        let mut frame = [0; VIRTIO_HEADER + 28];
        let packet = &mut frame[VIRTIO_HEADER..];
        packet[0] = 0x45;
        packet[12..16].copy_from_slice(&HERE.octets());
        packet[16..20].copy_from_slice(&THERE.octets());
        assert!(turn_round(&mut frame));
        assert_eq!(frame[VIRTIO_HEADER + 12..][..8], [10, 255, 255, 2, 10, 255, 255, 1]);
        assert!(!turn_round(&mut frame), "that one goes the other way");
        assert!(!turn_round(&mut frame[..VIRTIO_HEADER + 19]) && !turn_round(&mut []));
    }
}
