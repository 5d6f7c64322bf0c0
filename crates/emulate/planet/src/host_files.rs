//! Sets up a planet's view of the file system: the hosts file, and the name resolution. The
//! machine's files are not changed.

use std::{fs, net::IpAddr, path::Path};

use nix::mount::{MntFlags, MsFlags, mount, umount2};

use world::Layout;

use crate::{
    error::{Doing, Error},
    sys::tun,
};

pub(crate) fn furnish(layout: &Layout) -> Result<(), Error> {
    let nothing: Option<&str> = None;
    mount(nothing, "/", nothing, MsFlags::MS_REC | MsFlags::MS_PRIVATE, nothing)
        .doing(|| "keep the planet's mounts to itself".to_owned())?;

    // A file can be bind-mounted only from a mounted file system.
    mount(Some("longhaul"), "/tmp", Some("tmpfs"), MsFlags::empty(), Some("mode=0755"))
        .doing(|| "mount a file system for the planet's files".to_owned())?;
    cover("hosts", "/etc/hosts", &hosts_file(layout))?;
    for (name, path, content) in RESOLVER {
        if Path::new(path).exists() {
            cover(name, path, content)?;
        }
    }
    umount2("/tmp", MntFlags::MNT_DETACH)
        .doing(|| "unmount the file system of the planet's files".to_owned())?;
    if Path::new(FOLDERS).is_dir() {
        make_folders(layout)?;
    }

    // The kernel refuses a new mount in containers that cover parts of /proc. The old one shows
    // additional processes, and the planet works with it.
    let _ = mount(Some("proc"), "/proc", Some("proc"), MsFlags::empty(), nothing);
    Ok(())
}

fn make_folders(layout: &Layout) -> Result<(), Error> {
    mount(Some("longhaul"), FOLDERS, Some("tmpfs"), MsFlags::empty(), Some("mode=0755,size=25%"))
        .doing(|| format!("mount a file system for the hosts' folders over {FOLDERS}"))?;
    let make = |path: String| fs::create_dir_all(&path).doing(|| format!("make the folder {path}"));
    make(RECORDS.to_owned())?;
    layout.hosts.iter().try_for_each(|host| make(format!("{FOLDERS}/{}/log", host.name)))
}

fn cover(name: &str, path: &str, content: &str) -> Result<(), Error> {
    let nothing: Option<&str> = None;
    let own = Path::new("/tmp").join(name);
    fs::write(&own, content).doing(|| format!("write the planet's {path}"))?;
    mount(Some(&own), path, nothing, MsFlags::MS_BIND, nothing).doing(|| format!("mount the planet's {path}"))
}

fn hosts_file(layout: &Layout) -> String {
    let local = "127.0.0.1 localhost\n::1 localhost\n".to_owned();
    // A host's name refers to its first device; "phone.net1" is the second.
    let hosts = layout.ports.iter().map(|port| {
        let host = &layout.hosts[port.host].name;
        let name = if port.number == 0 { host.clone() } else { format!("{host}.{}", tun::name(port.number)) };
        (name, vec![IpAddr::V4(port.v4), IpAddr::V6(port.v6)])
    });
    let anycast = layout
        .anycast
        .iter()
        .map(|any| (any.name.clone(), any.prefixes.iter().map(|prefix| prefix.first()).collect()));
    let routers = layout
        .cities
        .iter()
        .map(|city| (format!("{}.router", city.name), vec![IpAddr::V4(city.v4), IpAddr::V6(city.v6)]));
    let all = hosts.chain(anycast).chain(routers);
    all.flat_map(|(name, addresses)| addresses.into_iter().map(move |address| format!("{address} {name}\n")))
        .fold(local, |text, line| text + &line)
}

/// In memory, and limited to a quarter of the machine's memory.
pub(crate) const FOLDERS: &str = "/srv";

/// The name is not valid for a host.
pub(crate) const RECORDS: &str = "/srv/.programs";

const RESOLVER: [(&str, &str, &str); 3] = [
    // The hosts file first, regardless of the machine's configuration.
    (
        "nsswitch.conf",
        "/etc/nsswitch.conf",
        "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n",
    ),
    // Without a name server, a query for another name fails immediately instead of after a timeout.
    ("resolv.conf", "/etc/resolv.conf", "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n"),
    // Hosts have unique local IPv6 addresses, to which RFC 6724 (section 2.1) prefers IPv4; glibc
    // has an older table (gai.conf(5)).
    ("gai.conf", "/etc/gai.conf", "precedence ::ffff:0:0/96 100\n"),
];
