//! How other processes of the same user talk to a planet: one line of JSON each way over a Unix socket.
//!
//! The socket's address is abstract: it is not a file, and vanishes with the process that listens. Finding the planets
//! that are up is reading `/proc/net/unix`.

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

/// What a planet can be asked.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Request {
    /// How it is.
    Status,
    /// The same without hosts and links.
    Brief,
    /// Where a host's network is.
    Locate {
        /// The host's name.
        host: String,
    },
    /// To let something go wrong, or to plan it.
    Fault(Box<Fault>),
    /// To end a fault, or all of them.
    Lift {
        /// Its number.
        number: Option<u64>,
    },
    /// Which site serves which city.
    Catchment {
        /// The prefix or its name.
        prefix: String,
    },
    /// For the world that it runs.
    World,
    /// What it held up, and when.
    Journal,
    /// To send a pcapng stream over this connection from now on.
    Capture(Tap),
    /// On which TCP ports a host listens.
    Listening {
        /// The host's name.
        host: String,
    },
    /// To end.
    Down,
}

/// What it answers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reply {
    /// How it is.
    Status(Box<Status>),
    /// The planet's descriptor of a host's network namespace.
    Namespace(i32),
    /// No such host; these are some that there are.
    NoHost(String),
    /// The number of a fault.
    Fault(u64),
    /// Which site serves which city.
    Catchment(Box<Catchment>),
    /// The world, as a file.
    World(String),
    /// What it held up, and when.
    Journal(Box<Journal>),
    /// TCP ports.
    Ports(Vec<u16>),
    /// Done.
    Done,
    /// Not done, and why.
    Refused(String),
}

/// What to capture; without hosts and links it is all hosts.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Tap {
    /// Packets that these hosts send and receive.
    pub hosts: Vec<String>,
    /// Packets on the links between these cities, both ways.
    pub links: Vec<[String; 2]>,
    /// Bytes kept of each; absent: all.
    pub snap: Option<u32>,
}

/// A planet that is up, seen from another process.
#[derive(Debug, Clone)]
pub struct Planet {
    name: String,
    pid: Pid,
}

impl Planet {
    /// The planet of that name, or the only one that is up.
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

    /// The names of this user's planets that are up.
    pub fn running() -> Result<Vec<String>, Error> {
        let sockets = std::fs::read_to_string("/proc/net/unix")
            .doing(|| "look for planets in /proc/net/unix".to_owned())?;
        let prefix = format!("@{}", address(""));
        let names =
            sockets.lines().filter_map(|line| line.split_once(&prefix)).map(|(_, name)| name.to_owned());
        let mut names: Vec<_> = names.collect();
        // A connection to a planet is listed under its name as well.
        names.sort();
        names.dedup();
        // Anybody can listen under our name; only who runs as us is ours.
        names.retain(|name| dial(name).is_ok());
        Ok(names)
    }

    /// Of this user's planets that are up, the one that came up last, and how many there are; none if there is none.
    pub fn last() -> Result<Option<(Self, usize)>, Error> {
        let running = Self::running()?;
        // One that has ended since then is as if it had never been.
        let planets = running.iter().filter_map(|name| Self::find(Some(name)).ok());
        let last = planets.max_by_key(|planet| (started(planet.pid), planet.pid.as_raw()));
        Ok(last.map(|planet| (planet, running.len())))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its process, which is the first of its process namespace.
    pub fn pid(&self) -> i32 {
        self.pid.as_raw()
    }

    /// A descriptor that becomes readable when it has ended.
    pub fn watch(&self) -> Result<OwnedFd, Error> {
        pidfd(self.pid).doing(|| format!("watch planet \"{}\"", self.name))
    }

    /// How it is.
    pub fn status(&self) -> Result<Status, Error> {
        self.ask_status(&Request::Status)
    }

    /// How it is, without its hosts and links, of which a large world has ten thousands.
    pub fn brief_status(&self) -> Result<Status, Error> {
        self.ask_status(&Request::Brief)
    }

    /// What it held up since it came up, and when: packets by flow, programs of hosts, the machine.
    pub fn journal(&self) -> Result<Journal, Error> {
        // There is much of it after a long run, and without it the figures of that run have no error.
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

    /// The number, among its process' descriptors, of a host's network namespace.
    pub(crate) fn locate(&self, host: &str) -> Result<i32, Error> {
        match self.ask(&Request::Locate { host: host.to_owned() })? {
            Reply::Namespace(number) => Ok(number),
            Reply::NoHost(known) => {
                Err(Error::NoHost { name: host.to_owned(), planet: self.name.clone(), known })
            }
            Reply::Refused(reason) => Err(self.refused(&reason)),
            _ => Err(self.refused("it did not say where its hosts are")),
        }
    }

    /// Lets something go wrong: at once, or at its time since the planet came up. The number by which it can be lifted.
    pub fn fault(&self, fault: &Fault) -> Result<u64, Error> {
        match self.ask(&Request::Fault(Box::new(fault.clone())))? {
            Reply::Fault(number) => Ok(number),
            Reply::Refused(reason) => Err(self.refused(&reason)),
            _ => Err(self.refused("it gave the fault no number")),
        }
    }

    /// Ends a fault before its time, or all of them.
    pub fn lift(&self, number: Option<u64>) -> Result<(), Error> {
        match self.ask(&Request::Lift { number })? {
            Reply::Refused(reason) => Err(self.refused(&reason)),
            _ => Ok(()),
        }
    }

    /// Which site of an anycast prefix serves which city.
    pub fn catchment(&self, prefix: &str) -> Result<Catchment, Error> {
        match self.ask(&Request::Catchment { prefix: prefix.to_owned() })? {
            Reply::Catchment(catchment) => Ok(*catchment),
            Reply::Refused(reason) => Err(self.refused(&reason)),
            _ => Err(self.refused("it gave no catchment")),
        }
    }

    /// The world that it runs, as a file.
    pub fn world(&self) -> Result<String, Error> {
        match self.ask(&Request::World)? {
            Reply::World(text) => Ok(text),
            Reply::Refused(reason) => Err(self.refused(&reason)),
            _ => Err(self.refused("it did not show its world")),
        }
    }

    /// A stream of packets in pcapng ([`Blocks`](crate::capture::Blocks) reads it), from now on. Who shuts down the writing side
    /// gets what is left and the counts of what was missed, and then the end.
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

    /// The TCP ports on which programs of a host listen, over IPv4 or IPv6.
    pub fn listening(&self, host: &str) -> Result<Vec<u16>, Error> {
        match self.ask(&Request::Listening { host: host.to_owned() })? {
            Reply::Ports(ports) => Ok(ports),
            Reply::Refused(reason) => Err(self.refused(&reason)),
            _ => Err(self.refused("it named no ports")),
        }
    }

    /// Ends it, with everything that runs on it, and returns when all of it is gone.
    pub fn down(&self) -> Result<(), Error> {
        let process = self.watch()?;
        // It may be gone before it has answered.
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

    /// Why it did not answer in that time: it is busy, or gone.
    fn unheard(&self, source: &io::Error, patience: Duration) -> Error {
        match source.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => self.refused(&format!(
                "no answer within {} s; it, or the machine, is too busy: try again",
                patience.as_secs()
            )),
            _ => Error::Gone { name: self.name.clone(), detail: format!(": {source}") },
        }
    }

    fn refused(&self, reason: &str) -> Error {
        Error::Refused { planet: self.name.clone(), reason: reason.to_owned() }
    }
}

/// Takes the name of a planet; fails if another one has it.
pub(crate) fn listen(name: &str, uid: u32) -> Result<UnixListener, Error> {
    let bind = || UnixListener::bind_addr(&SocketAddr::from_abstract_name(address_of(uid, name))?);
    bind().map_err(|source| match source.kind() {
        io::ErrorKind::AddrInUse => Error::NameTaken { name: name.to_owned() },
        _ => Error::System { operation: format!("listen for planet \"{name}\""), needs: None, source },
    })
}

/// Answers one request of one client, unless `reply` has done so itself, and if the client is who owns the planet: an
/// abstract socket has no permissions of its own. Inside the planet's user namespace its owner, and nobody else, is user 0.
pub(crate) fn answer(
    mut client: UnixStream,
    reply: impl FnOnce(Request, &UnixStream) -> Option<Reply>,
) -> io::Result<()> {
    client.set_read_timeout(Some(PATIENCE))?;
    // Nor may one that does not read keep the others waiting.
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
        // `find` connects to learn who listens, and says nothing.
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

/// Reads a line and nothing after it.
fn read_unbuffered_line<T: DeserializeOwned>(stream: &mut impl Read) -> io::Result<T> {
    let (mut line, mut byte) = (Vec::new(), [0]);
    while line.len() < 65_536 && stream.read(&mut byte)? == 1 && byte[0] != b'\n' {
        line.push(byte[0]);
    }
    serde_json::from_slice(&line).map_err(Into::into)
}

/// Connects to a planet of ours and says which process it is. An abstract address can be taken by anybody, so whoever
/// listens there must be the same user.
fn dial(name: &str) -> io::Result<(UnixStream, Pid)> {
    let stream = UnixStream::connect_addr(&SocketAddr::from_abstract_name(address(name))?)?;
    let peer = getsockopt(&stream, PeerCredentials)?;
    if peer.uid() != getuid().as_raw() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "another user listens under its name"));
    }
    Ok((stream, Pid::from_raw(peer.pid())))
}

/// When a process began, in ticks since the machine did: the 22nd field of `/proc/PID/stat` (proc_pid_stat(5)). The second is
/// its name, which may have blanks and parentheses. 0 if it is gone.
fn started(process: Pid) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let behind_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    behind_name.split_whitespace().nth(22 - 3).and_then(|ticks| ticks.parse().ok()).unwrap_or(0)
}

/// Refuses what cannot be a planet's name: it stands in an address, in messages and on command lines.
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

/// An abstract address has room for 107 bytes, and a user's number needs some.
const LONGEST_NAME: usize = 60;

/// A planet answers between two packets; if it takes this long, it never will.
const PATIENCE: Duration = Duration::from_secs(5);
const PATIENCE_MS: u16 = 5000;

/// For what takes long to put together.
const LONG_PATIENCE: Duration = Duration::from_secs(60);

/// Who has not read a byte for this long may not want the answer. Less than the patience of those who wait behind him.
const READING: Duration = Duration::from_secs(1);

/// A status has some 350 bytes for each link in use, which for a full mesh of 800 cities is 220 MB, and a world brings its
/// recordings along, each of up to 16 MiB.
const LONGEST_LINE: u64 = 1 << 30;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planet_that_is_busy_is_not_said_to_be_gone() {
        let planet = Planet { name: "atlantic".to_owned(), pid: Pid::this() };
        let said = |kind: io::ErrorKind| planet.unheard(&kind.into(), PATIENCE).to_string();
        let busy = "planet \"atlantic\": no answer within 5 s; it, or the machine, is too busy: try again";
        assert_eq!(said(io::ErrorKind::WouldBlock), busy);
        assert!(said(io::ErrorKind::BrokenPipe).starts_with("planet \"atlantic\" ended unexpectedly"));
    }
}
