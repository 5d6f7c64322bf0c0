//! The servers under test: installation check, configuration, start, and detection of hits.

use std::{
    fs,
    net::{SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
    thread,
    time::Duration,
};

use anyhow::{Context, bail};
use nix::unistd::User;

use super::{
    client::Response,
    cpu,
    guard::Guard,
    scenario::{Protocol, Scenario, Store},
    tls,
};
use crate::bench::program::{Running, is_installed, longhaul};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Longhaul,
    /// Our server with objects in memory, compared with the same server with objects on disk.
    InMemory,
    Before,
    Nginx,
    HaProxy,
    Varnish,
    TrafficServer,
}

pub(super) static BEFORE: OnceLock<PathBuf> = OnceLock::new();

impl Kind {
    pub(super) const ALL: [Self; 7] = [
        Self::Longhaul,
        Self::InMemory,
        Self::Before,
        Self::Nginx,
        Self::HaProxy,
        Self::Varnish,
        Self::TrafficServer,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Longhaul => "Longhaul",
            Self::InMemory => "Longhaul, in memory",
            Self::Before => "Longhaul, before",
            Self::Nginx => "nginx",
            Self::HaProxy => "HAProxy",
            Self::Varnish => "Varnish",
            Self::TrafficServer => "Traffic Server",
        }
    }

    fn program(self) -> (PathBuf, &'static str) {
        match self {
            Self::Longhaul | Self::InMemory => (longhaul().get_program().into(), "--version"),
            Self::Before => (BEFORE.get().cloned().unwrap_or_default(), "--version"),
            Self::Nginx => ("nginx".into(), "-v"),
            Self::HaProxy => ("haproxy".into(), "-v"),
            Self::Varnish => ("varnishd".into(), "-V"),
            Self::TrafficServer => ("traffic_server".into(), "-V"),
        }
    }

    pub(super) fn absence(self, scenario: &Scenario) -> Option<String> {
        if !is_installed(&self.program().0.to_string_lossy()) {
            return Some(format!("{} is not installed", self.name()));
        }
        if scenario.logged && matches!(self, Self::Varnish | Self::TrafficServer) {
            return Some(format!("{} writes its log in a separate process", self.name()));
        }
        if scenario.protocol.is_tls() && matches!(self, Self::Varnish | Self::TrafficServer) {
            return Some(format!("{} is set up without TLS here", self.name()));
        }
        if scenario.protocol == Protocol::Http3 && !matches!(self, Self::Longhaul | Self::Before) {
            return Some(format!("{} of this distribution speaks no HTTP/3", self.name()));
        }
        if scenario.protocol.is_http2() {
            if self == Self::TrafficServer {
                return Some("Traffic Server speaks HTTP/2 over TLS only".to_owned());
            }
            if !is_installed("h2load") {
                return Some("h2load is not installed; on Debian: apt-get install nghttp2-client".to_owned());
            }
        }
        None
    }

    pub(super) fn version(self) -> anyhow::Result<String> {
        let (program, option) = self.program();
        let output = Command::new(&program).arg(option).output()?;
        let said = [output.stdout, output.stderr].concat();
        version(&String::from_utf8_lossy(&said))
            .with_context(|| format!("{} {option} prints no version", program.display()))
    }

    /// `None` for Traffic Server, which sends no Cache-Status and adds Age to every response.
    pub(super) fn is_hit(self, response: &Response) -> Option<bool> {
        let status = response.header("cache-status").map(str::to_ascii_lowercase);
        match (self, status) {
            (Self::TrafficServer, _) => None,
            (_, Some(status)) => Some(status.contains("; hit")),
            (_, None) => Some(response.header("age").is_some()),
        }
    }

    pub(super) fn takes_part(self, scenario: &Scenario) -> bool {
        match self {
            Self::InMemory => scenario.store == Store::Disk,
            Self::Before => BEFORE.get().is_some(),
            _ => true,
        }
    }

    fn configure(self, place: &Place) -> anyhow::Result<Command> {
        let file = place.folder.join("configuration");
        let configured = |text: &str| -> anyhow::Result<()> { Ok(fs::write(&file, place.fill(text))?) };
        let mut command = Command::new(self.program().0);
        match self {
            Self::Longhaul | Self::InMemory | Self::Before => {
                configured(include_str!("peers/longhaul.toml"))?;
                command.args(["edge", "run", "--data-centre", "lhr"]).arg(&file);
            }
            Self::Nginx => {
                configured(include_str!("peers/nginx.conf"))?;
                command.arg("-p").arg(place.folder).arg("-c").arg(&file);
            }
            Self::HaProxy => {
                configured(include_str!("peers/haproxy.cfg"))?;
                command.args(["-db", "-f"]).arg(&file);
            }
            Self::Varnish => {
                configured(include_str!("peers/varnish.vcl"))?;
                command.args(["-F", "-j", "none", "-a", &place.listen.to_string()]);
                command.args(["-s", "default,512m", "-p", "feature=+http2", "-p", "timeout_idle=300"]);
                command.arg("-n").arg(place.folder.join("varnish")).arg("-f").arg(&file);
            }
            Self::TrafficServer => {
                for folder in ["etc", "cache", "var", "log"] {
                    fs::create_dir(place.folder.join(folder))?;
                }
                for (name, text) in [
                    ("etc/records.config", include_str!("peers/trafficserver.config")),
                    ("etc/remap.config", "map / http://@origin@/\n"),
                    ("etc/storage.config", "@folder@/cache 512M\n"),
                    ("etc/ip_allow.yaml", include_str!("peers/ip_allow.yaml")),
                    ("runroot.yaml", include_str!("peers/runroot.yaml")),
                ] {
                    fs::write(place.folder.join(name), place.fill(text))?;
                }
                command.arg(format!("--run-root={}", place.folder.join("runroot.yaml").display()));
            }
        }
        Ok(command)
    }
}

pub(super) struct Server {
    pub(super) kind: Kind,
    pub(super) address: SocketAddr,
    pub(super) loaded: SocketAddr,
    running: Running,
}

impl Server {
    pub(super) fn start(
        kind: Kind,
        scenario: &Scenario,
        origin: SocketAddr,
        core: usize,
        folder: &Path,
        guard: &mut Guard,
    ) -> anyhow::Result<Self> {
        let folder = folder.join(format!("{kind:?}"));
        fs::create_dir(&folder)?;
        let [address, http2, tls] = [free_address()?, free_address()?, free_address()?];
        let Scenario { sendfile, logged, .. } = *scenario;
        let is_on_disk = matches!(kind, Kind::Longhaul | Kind::Before) && scenario.store == Store::Disk;
        let tls = scenario.protocol.is_tls().then_some(tls);
        let place =
            Place { folder: &folder, listen: address, http2, tls, origin, sendfile, logged, is_on_disk };
        let running = start(&kind.configure(&place)?, core, &folder, address, guard)
            .with_context(|| format!("{} did not start", kind.name()))?;
        // nginx and HAProxy need a separate address for cleartext HTTP/2; the others detect the protocol from
        // the first bytes.
        let apart = scenario.protocol == Protocol::Http2 && matches!(kind, Kind::Nginx | Kind::HaProxy);
        let loaded = tls.unwrap_or(if apart { http2 } else { address });
        Ok(Self { kind, address, loaded, running })
    }

    pub(super) fn cpu_us(&self) -> anyhow::Result<f64> {
        cpu::of_tree_us(self.running.id()).with_context(|| self.kind.name())
    }
}

#[expect(clippy::disallowed_methods, reason = "nothing tells when a program begins to listen")]
pub(super) fn start(
    command: &Command,
    core: usize,
    folder: &Path,
    address: SocketAddr,
    guard: &mut Guard,
) -> anyhow::Result<Running> {
    let mut pinned = Command::new("taskset");
    pinned.args(["-c", &core.to_string()]).arg(command.get_program()).args(command.get_args());
    let log = folder.join("said");
    let mut running = Running::logging(&mut pinned, &log)?;
    guard.watch(running.id())?;
    for _ in 0..1000 {
        if TcpStream::connect(address).is_ok() {
            return Ok(running);
        }
        if running.has_ended()? {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    let said = fs::read_to_string(&log).unwrap_or_default();
    bail!("no listener at {address}; output: {}", said.trim())
}

pub(super) fn free_address() -> anyhow::Result<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

struct Place<'p> {
    folder: &'p Path,
    listen: SocketAddr,
    http2: SocketAddr,
    tls: Option<SocketAddr>,
    origin: SocketAddr,
    sendfile: bool,
    logged: bool,
    is_on_disk: bool,
}

impl Place<'_> {
    fn fill(&self, text: &str) -> String {
        let sendfile = if self.sendfile { "on" } else { "off" };
        let folder = self.folder.display().to_string();
        let log = |with: &str, without: &str| {
            if self.logged { with.replace('@', &folder) } else { without.to_owned() }
        };
        let runs = self.folder.parent().unwrap_or(self.folder);
        let tls = |piece: &str| self.tls.map_or_else(String::new, |tls| tls::listening(piece, tls, runs));
        let disk = if self.is_on_disk {
            format!("memory = \"1MB\"\ndisk = \"{folder}/disk\"")
        } else {
            String::new()
        };
        fill(
            text,
            &[
                ("user", &user()),
                ("log-of-longhaul", &log("access_log = \"@/access.jsonl\"", "")),
                ("log-of-nginx", &log("@/access.log combined buffer=64k flush=1s", "off")),
                ("tls-of-longhaul", &tls(tls::OF_LONGHAUL)),
                ("tls-of-nginx", &tls(tls::OF_NGINX)),
                ("tls-of-haproxy", &tls(tls::OF_HAPROXY)),
                ("disk-of-longhaul", &disk),
                ("log-of-haproxy", &log("log stdout format raw local0\n    option httplog", "no log")),
                ("folder", &folder),
                ("listen", &self.listen.to_string()),
                ("listen-host", &self.listen.ip().to_string()),
                ("listen-port", &self.listen.port().to_string()),
                ("listen-http2", &self.http2.to_string()),
                ("origin", &self.origin.to_string()),
                ("origin-host", &self.origin.ip().to_string()),
                ("origin-port", &self.origin.port().to_string()),
                ("sendfile", sendfile),
            ],
        )
    }
}

pub(super) fn fill(text: &str, values: &[(&str, &str)]) -> String {
    values.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("@{name}@"), value))
}

/// As root, nginx would run its workers as another user without access to the folder.
pub(super) fn user() -> String {
    let user = User::from_uid(nix::unistd::getuid()).ok().flatten();
    user.map_or_else(|| "root".to_owned(), |user| user.name)
}

fn version(said: &str) -> Option<String> {
    let words = said.split(|sign: char| sign.is_whitespace() || "()/".contains(sign));
    words.map(|word| word.trim_start_matches("varnish-")).find_map(|word| {
        let number = word.split(['-', '+']).next()?;
        let is_number = number.contains('.') && number.split('.').all(|part| part.parse::<u32>().is_ok());
        is_number.then(|| number.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found() {
        for (said, expected) in [
            ("nginx version: nginx/1.22.1\n", "1.22.1"),
            ("HAProxy version 2.6.12-1+deb12u4 2026/10/17 - https://haproxy.org/", "2.6.12"),
            ("varnishd (varnish-7.1.1 revision 7cee1c5)\nCopyright (c) 2006 Verdens Gang AS", "7.1.1"),
            ("Traffic Server 9.2.9 Apr  4 2026 14:52:39 localhost", "9.2.9"),
            ("longhaul 0.1.0", "0.1.0"),
        ] {
            assert_eq!(version(said).as_deref(), Some(expected), "{said}");
        }
        assert_eq!(version("no such program"), None);
    }

    #[test]
    fn hits_are_told_by_status_or_age() {
        let response = |headers: &[(&str, &str)]| Response {
            status: 200,
            headers: headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            body: Vec::new(),
        };
        for (kind, headers, expected) in [
            (Kind::Nginx, &[("cache-status", "nginx; HIT")][..], Some(true)),
            (Kind::Longhaul, &[("cache-status", "lhr; hit; ttl=86398")], Some(true)),
            (Kind::Varnish, &[("cache-status", "varnish; fwd=miss"), ("age", "0")], Some(false)),
            (Kind::HaProxy, &[("age", "0")], Some(true)),
            (Kind::HaProxy, &[], Some(false)),
            (Kind::TrafficServer, &[("age", "0")], None),
        ] {
            assert_eq!(kind.is_hit(&response(headers)), expected, "{kind:?} {headers:?}");
        }
    }

    #[test]
    fn no_name_is_left_in_a_configuration() {
        let address = SocketAddr::from(([127, 0, 0, 1], 80));
        let place = Place {
            folder: Path::new("/f"),
            listen: address,
            http2: address,
            tls: Some(address),
            origin: address,
            sendfile: true,
            logged: true,
            is_on_disk: true,
        };
        for text in [
            include_str!("peers/longhaul.toml"),
            include_str!("peers/nginx.conf"),
            include_str!("peers/haproxy.cfg"),
            include_str!("peers/varnish.vcl"),
            include_str!("peers/trafficserver.config"),
            include_str!("peers/runroot.yaml"),
        ] {
            let filled = place.fill(text);
            assert!(!filled.contains('@') && filled != text, "{filled}");
        }
    }
}
