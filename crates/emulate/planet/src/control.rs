//! The control protocol between a planet and other processes of the same user: one line of JSON in
//! each direction over a Unix socket.
//!
//! The socket's address is abstract. Running planets are listed in `/proc/net/unix`.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    os::{
        fd::{AsFd, OwnedFd},
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixListener, UnixStream},
    },
    time::Duration,
};

use claim::Journal;
use nix::{
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::socket::{getsockopt, sockopt::PeerCredentials},
    unistd::{Pid, getuid},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tracing::debug;
use world::file::Fault;

use crate::{
    error::{Doing, Error},
    status::{Catchment, Status},
    sys::process::{kill, pidfd},
};

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Request {
    Status,
    Brief,
    Locate {
        host: String,
    },
    Fault(Box<Fault>),
    Lift {
        number: Option<u64>,
    },
    Catchment {
        /// The prefix or its name.
        prefix: String,
    },
    World,
    Journal,
    Capture(Tap),
    Listening {
        host: String,
    },
    Down,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reply {
    Status(Box<Status>),
    Namespace(i32),
    NoHost(String),
    Fault(u64),
    Catchment(Box<Catchment>),
    World(String),
    Journal(Box<Journal>),
    Ports(Vec<u16>),
    Done,
    Refused(String),
}

/// The packets to capture; all hosts if neither hosts nor links are given.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Tap {
    /// Packets that these hosts send and receive.
    pub hosts: Vec<String>,
    /// Packets on the links between these cities, in both directions.
    pub links: Vec<[String; 2]>,
    /// Bytes to keep of each packet; `None` keeps all.
    pub snap: Option<u32>,
}

/// A running planet, seen from another process.
#[derive(Debug, Clone)]
pub struct Planet {
    name: String,
    pid: Pid,
}

impl Planet {
    /// The planet with this name, or the only running planet.
    pub fn find(name: Option<&str>) -> Result<Self, Error> {
        let running = Self::running()?;
        let found = match name {
            Some(name) => running.iter().find(|running| *running == name),
            None if running.len() == 1 => running.first(),
            None => None,
        };
        let Some(name) = found else {
            return Err(Error::NoPlanet { wanted: name.map(str::to_owned), running });
        };
        let (_, pid) = dial(name).doing(|| format!("reach planet \"{name}\""))?;
        Ok(Self { name: name.clone(), pid })
    }

    /// The names of this user's running planets.
    pub fn running() -> Result<Vec<String>, Error> {
        let sockets = std::fs::read_to_string("/proc/net/unix")
            .doing(|| "look for planets in /proc/net/unix".to_owned())?;
        let prefix = format!("@{}", address(""));
        let names =
            sockets.lines().filter_map(|line| line.split_once(&prefix)).map(|(_, name)| name.to_owned());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names.dedup();
        // Any process can bind such a name; only a process of this user is a valid planet.
        names.retain(|name| dial(name).is_ok());
        Ok(names)
    }

    /// The most recently started planet of this user, and the number of running planets.
    pub fn last() -> Result<Option<(Self, usize)>, Error> {
        let running = Self::running()?;
        let planets = running.iter().filter_map(|name| Self::find(Some(name)).ok());
        let last = planets.max_by_key(|planet| (started(planet.pid), planet.pid.as_raw()));
        Ok(last.map(|planet| (planet, running.len())))
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The process id, of the first process in its process namespace.
    pub fn pid(&self) -> i32 {
        self.pid.as_raw()
    }

    /// A descriptor that becomes readable when the planet has ended.
    pub fn watch(&self) -> Result<OwnedFd, Error> {
        pidfd(self.pid).doing(|| format!("watch planet \"{}\"", self.name))
    }

    /// The status.
    pub fn status(&self) -> Result<Status, Error> {
        self.ask_status(&Request::Status)
    }

    /// The status without hosts and links.
    pub fn brief_status(&self) -> Result<Status, Error> {
        self.ask_status(&Request::Brief)
    }

    /// The delays since the planet started, with their times.
    pub fn journal(&self) -> Result<Journal, Error> {
        // The journal of a long run is large.
        match self.ask_within(&Request::Journal, LONG_PATIENCE)? {
            Reply::Journal(journal) => Ok(*journal),
            Reply::Refused(reason) => Err(self.refused(&reason)),
            _ => Err(self.refused("it gave no journal")),
        }
    }

    fn ask_status(&self, request: &Request) -> Result<Status, Error> {
        match self.ask(request)? {
            Reply::Status(status) => Ok(*status),
            Reply::Refused(reason) => Err(self.refused(&reason)),
            _ => Err(self.refused("it gave no status")),
        }
    }

    pub(crate) fn locate(&self, host: &str) -> Result<i32, Error> {
        match self.ask(&Request::Locate { host: host.to_owned() })? {
            Reply::Namespace(number) => Ok(number),
            Reply::NoHost(known) => {
                Err(Error::NoHost { name: host.to_owned(), planet: self.name.clone(), known })
            }
            Reply::Refused(reason) => Err(self.refused(&reason)),
            _ => Err(self.refused("it did not report where its hosts are")),
        }
    }

    /// Starts or schedules a fault. Returns the number for [`Self::lift`].
    pub fn fault(&self, fault: &Fault) -> Result<u64, Error> {
        match self.ask(&Request::Fault(Box::new(fault.clone())))? {
            Reply::Fault(number) => Ok(number),
            Reply::Refused(reason) => Err(self.refused(&reason)),
            _ => Err(self.refused("it gave the fault no number")),
        }
    }

    /// Ends one fault or all faults early.
    pub fn lift(&self, number: Option<u64>) -> Result<(), Error> {
        match self.ask(&Request::Lift { number })? {
            Reply::Refused(reason) => Err(self.refused(&reason)),
            _ => Ok(()),
        }
    }

    /// The site of an anycast prefix that serves each city.
    pub fn catchment(&self, prefix: &str) -> Result<Catchment, Error> {
        match self.ask(&Request::Catchment { prefix: prefix.to_owned() })? {
            Reply::Catchment(catchment) => Ok(*catchment),
            Reply::Refused(reason) => Err(self.refused(&reason)),
            _ => Err(self.refused("it gave no catchment")),
        }
    }

    /// The world of the planet, as a file.
    pub fn world(&self) -> Result<String, Error> {
        match self.ask(&Request::World)? {
            Reply::World(text) => Ok(text),
            Reply::Refused(reason) => Err(self.refused(&reason)),
            _ => Err(self.refused("it did not show its world")),
        }
    }

    /// Starts a live pcapng stream, to be read with [`Blocks`](crate::capture::Blocks).
    pub fn capture(&self, tap: &Tap) -> Result<UnixStream, Error> {
        let begin = || -> io::Result<(UnixStream, Reply)> {
            let (mut stream, _) = dial(&self.name)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            write_line(&mut stream, &Request::Capture(tap.clone()))?;
            let reply = read_unbuffered_line(&mut stream)?;
            stream.set_read_timeout(None)?;
            Ok((stream, reply))
        };
        match begin() {
            Ok((stream, Reply::Done)) => Ok(stream),
            Ok((_, Reply::Refused(reason))) => Err(self.refused(&reason)),
            Ok(_) => Err(self.refused("it does not capture")),
            Err(source) => Err(self.unheard(&source, PATIENCE)),
        }
    }

    /// The TCP ports on which programs of a host listen.
    pub fn listening(&self, host: &str) -> Result<Vec<u16>, Error> {
        match self.ask(&Request::Listening { host: host.to_owned() })? {
            Reply::Ports(ports) => Ok(ports),
            Reply::Refused(reason) => Err(self.refused(&reason)),
            _ => Err(self.refused("it named no ports")),
        }
    }

    /// Ends the planet with all its processes, and returns when they have ended.
    pub fn down(&self) -> Result<(), Error> {
        let process = self.watch()?;
        // The planet may end before it replies.
        let _ = self.ask(&Request::Down);
        let mut wanted = [PollFd::new(process.as_fd(), PollFlags::POLLIN)];
        let ended = poll(&mut wanted, PollTimeout::from(PATIENCE_MS))
            .doing(|| format!("wait for planet \"{}\" to end", self.name))?;
        if ended == 0 {
            kill(&process).doing(|| format!("kill planet \"{}\"", self.name))?;
            poll(&mut wanted, PollTimeout::NONE)
                .doing(|| format!("wait for planet \"{}\" to end", self.name))?;
        }
        Ok(())
    }

    fn ask(&self, request: &Request) -> Result<Reply, Error> {
        self.ask_within(request, PATIENCE)
    }

    fn ask_within(&self, request: &Request, patience: Duration) -> Result<Reply, Error> {
        let talk = || -> io::Result<Reply> {
            let (mut stream, _) = dial(&self.name)?;
            stream.set_read_timeout(Some(patience))?;
            write_line(&mut stream, request)?;
            read_line(&stream)
        };
        talk().map_err(|source| self.unheard(&source, patience))
    }

    fn unheard(&self, source: &io::Error, patience: Duration) -> Error {
        match source.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => self.refused(&format!(
                "no reply within {} s; it, or the machine, is too busy: try again",
                patience.as_secs()
            )),
            _ => Error::Gone { name: self.name.clone(), detail: format!(": {source}") },
        }
    }

    fn refused(&self, reason: &str) -> Error {
        Error::Refused { planet: self.name.clone(), reason: reason.to_owned() }
    }
}

pub(crate) fn listen(name: &str, uid: u32) -> Result<UnixListener, Error> {
    let bind = || UnixListener::bind_addr(&SocketAddr::from_abstract_name(address_of(uid, name))?);
    bind().map_err(|source| match source.kind() {
        io::ErrorKind::AddrInUse => Error::NameTaken { name: name.to_owned() },
        _ => Error::System { operation: format!("listen for planet \"{name}\""), needs: None, source },
    })
}

/// The client must be the owner of the planet, because an abstract socket has no permissions.
/// Inside the planet's user namespace only its owner is user 0.
pub(crate) fn answer(
    mut client: UnixStream,
    reply: impl FnOnce(Request, &UnixStream) -> Option<Reply>,
) -> io::Result<()> {
    client.set_read_timeout(Some(PATIENCE))?;
    // A client that does not read must not block the others.
    client.set_write_timeout(Some(READING))?;
    if getsockopt(&client, PeerCredentials)?.uid() != getuid().as_raw() {
        return write_line(&mut client, &Reply::Refused("it belongs to another user".to_owned()));
    }
    match read_line(&client) {
        Ok(request) => {
            debug!(?request, "asked");
            let reply = reply(request, &client);
            reply.map_or(Ok(()), |reply| write_line(&mut client, &reply))
        }
        // `find` connects to identify the listener, and sends no request.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(()),
        Err(error) => write_line(&mut client, &Reply::Refused(error.to_string())),
    }
}

pub(crate) fn write_line(stream: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    stream.write_all(&line)
}

pub(crate) fn read_line<T: DeserializeOwned>(stream: impl Read) -> io::Result<T> {
    let mut line = String::new();
    if BufReader::new(stream.take(LONGEST_LINE)).read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    serde_json::from_str(&line).map_err(Into::into)
}

fn read_unbuffered_line<T: DeserializeOwned>(stream: &mut impl Read) -> io::Result<T> {
    let (mut line, mut byte) = (Vec::new(), [0]);
    while line.len() < 65_536 && stream.read(&mut byte)? == 1 && byte[0] != b'\n' {
        line.push(byte[0]);
    }
    serde_json::from_slice(&line).map_err(Into::into)
}

/// Returns the process id. Any process can bind an abstract address, so the listener's user is
/// checked.
fn dial(name: &str) -> io::Result<(UnixStream, Pid)> {
    let stream = UnixStream::connect_addr(&SocketAddr::from_abstract_name(address(name))?)?;
    let peer = getsockopt(&stream, PeerCredentials)?;
    if peer.uid() != getuid().as_raw() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "another user listens under its name"));
    }
    Ok((stream, Pid::from_raw(peer.pid())))
}

/// In ticks since boot: field 22 of `/proc/PID/stat` (proc_pid_stat(5)); 0 if the process has
/// ended. Field 2, the name, may contain blanks and parentheses.
fn started(process: Pid) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let behind_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    behind_name.split_whitespace().nth(22 - 3).and_then(|ticks| ticks.parse().ok()).unwrap_or(0)
}

/// A name appears in an address, in messages and on command lines.
pub(crate) fn check_name(name: &str) -> Result<(), Error> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(is_plain) && !name.starts_with('-') {
        return Ok(());
    }
    Err(Error::Name { name: name.to_owned(), longest: LONGEST_NAME })
}

fn address(name: &str) -> String {
    address_of(getuid().as_raw(), name)
}

fn address_of(uid: u32, name: &str) -> String {
    format!("longhaul/{uid}/{name}")
}

/// An abstract address has room for 107 bytes, which include the user id.
const LONGEST_NAME: usize = 60;

/// A planet replies between two packets; a longer silence means that it will not reply.
const PATIENCE: Duration = Duration::from_secs(5);
const PATIENCE_MS: u16 = 5000;

/// For replies that take long to assemble.
const LONG_PATIENCE: Duration = Duration::from_secs(60);

/// For clients that do not read; shorter than the timeout of other waiting clients.
const READING: Duration = Duration::from_secs(1);

/// 350 bytes for each link in use are 220 MB for a full mesh of 800 cities.
const LONGEST_LINE: u64 = 1 << 30;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planet_that_is_busy_is_not_said_to_be_gone() {
        let planet = Planet { name: "atlantic".to_owned(), pid: Pid::this() };
        let said = |kind: io::ErrorKind| planet.unheard(&kind.into(), PATIENCE).to_string();
        let busy = "planet \"atlantic\": no reply within 5 s; it, or the machine, is too busy: try again";
        assert_eq!(said(io::ErrorKind::WouldBlock), busy);
        assert!(said(io::ErrorKind::BrokenPipe).starts_with("planet \"atlantic\" ended unexpectedly"));
    }
}
