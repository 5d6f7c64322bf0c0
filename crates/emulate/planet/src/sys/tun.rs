//! A TUN device: the switch's end of a host's network.

#![expect(unsafe_code, reason = "ioctls on /dev/net/tun have no safe wrapper")]

use std::{
    fs::{File, OpenOptions},
    io::{self, IoSlice, Read, Write},
    os::{
        fd::{AsFd, AsRawFd, BorrowedFd},
        unix::fs::OpenOptionsExt,
    },
};

#[derive(Debug)]
pub(crate) struct Tun(File);

impl Tun {
    /// Binds to the calling thread's network namespace. Frames have a virtio header, and
    /// super-packets of TCP (and UDP, if supported) are not split.
    pub(crate) fn open(number: usize) -> io::Result<Self> {
        let name = name(number);
        let file = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(PATH)?;
        let mut request = InterfaceRequest { name: [0; libc::IFNAMSIZ], flags: FLAGS, padding: [0; 22] };
        request.name[..name.len()].copy_from_slice(name.as_bytes());
        ioctl(&file, TUNSETIFF, (&raw mut request).expose_provenance())?;
        // Otherwise each device is removed when its descriptor closes, at 25 ms each, and not
        // together with the namespace.
        ioctl(&file, TUNSETPERSIST, 1)?;
        let little_endian: libc::c_int = 1;
        ioctl(&file, TUNSETVNETLE, (&raw const little_endian).expose_provenance())?;
        let offload = |bits| ioctl(&file, TUNSETOFFLOAD, bits);
        offload(TCP_OFFLOAD | UDP_OFFLOAD).or_else(|_| offload(TCP_OFFLOAD))?;
        Ok(Self(file))
    }

    pub(crate) fn has_udp_offload(&self) -> bool {
        ioctl(&self.0, TUNSETOFFLOAD, TCP_OFFLOAD | UDP_OFFLOAD).is_ok()
    }

    pub(crate) fn set_carrier(&self, has_carrier: bool) -> io::Result<()> {
        let has_carrier = libc::c_int::from(has_carrier);
        ioctl(&self.0, TUNSETCARRIER, (&raw const has_carrier).expose_provenance())
    }

    pub(crate) fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match (&self.0).read(buffer) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The host's network stack runs inside this call.
    pub(crate) fn write_whole(&self, frame: &[u8]) -> io::Result<()> {
        (&self.0).write(frame).map(drop)
    }

    pub(crate) fn write(&self, headers: &[u8], payload: &[u8]) -> io::Result<()> {
        (&self.0).write_vectored(&[IoSlice::new(headers), IoSlice::new(payload)]).map(drop)
    }
}

pub(crate) fn name(number: usize) -> String {
    format!("net{number}")
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn ioctl(file: &File, request: libc::Ioctl, argument: usize) -> io::Result<()> {
    // SAFETY: the descriptor is open, and each request gets what tuntap's interface defines for it: TUNSETIFF
    // a pointer to an ifreq of full size, TUNSETVNETLE and TUNSETCARRIER pointers to an int, TUNSETOFFLOAD
    // and TUNSETPERSIST a number. All outlive the call.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), request, argument) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[repr(C)]
struct InterfaceRequest {
    name: [u8; libc::IFNAMSIZ],
    flags: u16,
    padding: [u8; 22],
}

pub(crate) const PATH: &str = "/dev/net/tun";

const TUNSETIFF: libc::Ioctl = 0x4004_54ca;
const TUNSETPERSIST: libc::Ioctl = 0x4004_54cb;
const TUNSETOFFLOAD: libc::Ioctl = 0x4004_54d0;
const TUNSETCARRIER: libc::Ioctl = 0x4004_54e2;
const TUNSETVNETLE: libc::Ioctl = 0x4004_54dc;
/// IFF_TUN | IFF_NO_PI | IFF_VNET_HDR
const FLAGS: u16 = 0x0001 | 0x1000 | 0x4000;
/// TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN
const TCP_OFFLOAD: usize = 0x01 | 0x02 | 0x04 | 0x08;
/// TUN_F_USO4 | TUN_F_USO6: since Linux 6.2, and only together.
const UDP_OFFLOAD: usize = 0x20 | 0x40;
