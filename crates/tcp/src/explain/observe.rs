//! Looking at connections for a while: the list of sockets at the beginning and at the end, and those that are at work
//! in between. Reads only.

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
    ops::ControlFlow,
    time::Duration,
};

use super::{Chosen, Listener, Look, Observation, Queue, Seen, ports::Count};
use crate::{
    Error,
    clock::Clock,
    diag::{Diag, Key, Socket, State, States},
    kernel::Version,
    processes::Processes,
    settings::Settings,
};

/// Which connections to look at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only those of this process.
    pub pid: Option<u32>,
    /// Only those with this port at either end.
    pub port: Option<u16>,
    /// Only those with this address at either end.
    pub end: Option<End>,
}

/// An end of connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// Any of these: a name may have several.
    pub addresses: Vec<IpAddr>,
    /// Any port, if it is absent.
    pub port: Option<u16>,
}

/// Looks at the connections of the calling thread's network namespace.
#[derive(Debug)]
pub struct Observer {
    diag: Diag,
    filter: Filter,
}

impl Observer {
    /// In the network namespace that the calling thread is in.
    pub fn open(filter: Filter) -> Result<Self, Error> {
        Ok(Self { diag: Diag::open()?, filter })
    }

    /// Looks for this long, or until `go_on` says no; it is asked every 50 ms or oftener. Connections that begin meanwhile
    /// are not looked at. Fails if there is nothing to look at from the beginning on.
    pub fn observe(
        &self,
        span: Duration,
        mut go_on: impl FnMut() -> ControlFlow<()>,
    ) -> Result<Observation, Error> {
        let clock = Clock::start();
        let own = self.filter.pid.map(Processes::one).transpose()?;
        let Beginning { mut seen, mut listeners, count, ended } = self.begin(own.as_ref(), clock)?;
        let has_full = listeners.iter().any(|each| each.before.is_full());
        if seen.is_empty() && ended == 0 && !has_full && self.filter != Filter::default() {
            return Err(self.nothing(own.is_some()));
        }
        // Time that would be spent waiting.
        let processes = own.unwrap_or_else(Processes::all);
        let (kernel, settings) = (Version::running().ok(), Settings::read()?);
        let watched = most_active(&seen);
        let interval = (span / 50).clamp(SHORTEST, LONGEST);
        let mut due = interval;
        while due < span {
            clock.wait_until(due);
            if go_on().is_break() {
                break;
            }
            for &index in &watched {
                self.look_again(&mut seen[index], clock)?;
            }
            due = clock.now().max(due + interval);
        }
        if go_on().is_continue() {
            clock.wait_until(span);
        }
        self.end(&mut seen, &mut listeners, clock)?;
        for each in &mut listeners {
            each.process = processes.of(each.inode).cloned();
        }
        for each in &mut seen {
            let inode = each.looks[0].socket.inode;
            each.process = processes.of(inode).cloned();
        }
        for index in watched {
            let each = &mut seen[index];
            let inode = each.looks[0].socket.inode;
            each.chosen = each.process.as_ref().and_then(|process| Chosen::read(process, inode));
        }
        let ports = if self.filter.pid.is_some() { Vec::new() } else { count.in_range(&settings) };
        let ports =
            ports.into_iter().filter(|each| self.filter.admits(SocketAddr::new(each.local, 0), each.remote));
        Ok(Observation { kernel, ports: ports.collect(), settings, connections: seen, listeners, ended })
    }

    /// The first look at every connection that is asked for, and which ports are taken. Who listens is of interest whatever is
    /// asked for, as it is what a connection that is asked for may wait for.
    fn begin(&self, own: Option<&Processes>, clock: Clock) -> Result<Beginning, Error> {
        let mut beginning = Beginning::default();
        let Beginning { seen, listeners, count, ended } = &mut beginning;
        self.diag.all(States::ALL, |socket| {
            count.add(&socket);
            let is_own = own.is_none_or(|own| own.of(socket.inode).is_some());
            let is_asked_for = is_own && self.filter.admits(socket.local, socket.remote);
            if socket.state == State::Listen {
                listeners.push(Listener::new(&socket, is_asked_for));
            } else if is_asked_for && socket.state == State::TimeWait {
                *ended += 1;
            } else if is_asked_for && socket.info.is_some() {
                // Most are looked at twice.
                let mut looks = Vec::with_capacity(2);
                looks.push(Look { at: clock.now(), socket, multipath: None });
                seen.push(Seen { looks, has_closed: false, process: None, chosen: None });
            }
        })?;
        // A list is read to its end before the next question.
        for look in beginning.seen.iter_mut().flat_map(|each| each.looks.first_mut()) {
            self.add_multipath(look)?;
        }
        Ok(beginning)
    }

    /// What is told of the MPTCP connection that a subflow belongs to.
    fn add_multipath(&self, look: &mut Look) -> Result<(), Error> {
        if let Some(token) = look.socket.mptcp_token {
            look.multipath = self.diag.multipath(token)?;
        }
        Ok(())
    }

    /// One more look, if it is still there.
    fn look_again(&self, seen: &mut Seen, clock: Clock) -> Result<(), Error> {
        let key = seen.looks[0].socket.key;
        if !seen.has_closed {
            // In `TIME_WAIT` nothing is told of it any more.
            match self.diag.again(&key)?.filter(|socket| socket.info.is_some()) {
                Some(socket) => {
                    let mut look = Look { at: clock.now(), socket, multipath: None };
                    self.add_multipath(&mut look)?;
                    seen.looks.push(look);
                }
                None => seen.has_closed = true,
            }
        }
        Ok(())
    }

    /// The last look at each that is still there. Of one that waits for the peer's end alone nothing is told any more.
    fn end(&self, seen: &mut [Seen], listeners: &mut [Listener], clock: Clock) -> Result<(), Error> {
        let mut queues: HashMap<Key, &mut Listener> =
            listeners.iter_mut().map(|each| (each.key, each)).collect();
        let keys = seen.iter().enumerate().map(|(index, each)| (each.looks[0].socket.key, index));
        let mut missing: HashMap<Key, usize> = keys.collect();
        self.diag.all(States::CONNECTED_OR_LISTENING, |socket| {
            if socket.state == State::Listen {
                if let Some(listener) = queues.get_mut(&socket.key) {
                    listener.after = Some(Queue::of(&socket));
                }
            } else if socket.info.is_some()
                && let Some(index) = missing.remove(&socket.key)
            {
                seen[index].looks.push(Look { at: clock.now(), socket, multipath: None });
            }
        })?;
        for index in missing.into_values() {
            seen[index].has_closed = true;
        }
        for look in seen.iter_mut().filter(|each| !each.has_closed).flat_map(|each| each.looks.last_mut()) {
            self.add_multipath(look)?;
        }
        Ok(())
    }

    /// Why there is nothing to look at.
    fn nothing(&self, has_process: bool) -> Error {
        let of = match &self.filter {
            Filter { pid: Some(pid), port: None, end: None } if has_process => {
                return Error::Input {
                    what: format!("process {pid} has no TCP connection in this network namespace"),
                    remedy: format!(
                        "if it lives in another one: nsenter --net --target {pid} longhaul tcp explain"
                    ),
                };
            }
            Filter { port: Some(port), end: None, .. } => format!(" with port {port}"),
            Filter { end: Some(end), .. } => {
                let address = end.addresses.first().map(ToString::to_string).unwrap_or_default();
                end.port
                    .map_or_else(|| format!(" with {address}"), |port| format!(" with {address} port {port}"))
            }
            _ => String::new(),
        };
        Error::Input {
            what: format!("there is no TCP connection{of} in this network namespace"),
            remedy: "longhaul tcp explain, without more, shows those that there are".to_owned(),
        }
    }
}

/// What is there when an observation begins.
#[derive(Debug, Default)]
struct Beginning {
    seen: Vec<Seen>,
    listeners: Vec<Listener>,
    count: Count,
    /// Connections that have ended (`TIME_WAIT`).
    ended: u64,
}

impl Filter {
    /// Whether a connection between these is asked for, as far as that depends on its ends.
    fn admits(&self, local: SocketAddr, remote: SocketAddr) -> bool {
        let is_end = |end: &End, at: SocketAddr| {
            end.addresses.contains(&at.ip().to_canonical()) && end.port.is_none_or(|port| port == at.port())
        };
        self.port.is_none_or(|port| [local.port(), remote.port()].contains(&port))
            && self.end.as_ref().is_none_or(|end| is_end(end, local) || is_end(end, remote))
    }
}

/// Those that are at work, at most [`MOST_WATCHED`]: data waits, or has just moved.
fn most_active(seen: &[Seen]) -> Vec<usize> {
    let idle_ms = |socket: &Socket| {
        let info = socket.info.as_ref();
        let last = info.map_or(u32::MAX, |info| info.last_data_sent_ms.min(info.last_data_recv_ms));
        if socket.send_queue > 0 || socket.receive_queue > 0 { 0 } else { last }
    };
    let mut all: Vec<_> = (0..seen.len()).collect();
    all.sort_by_cached_key(|&index| idle_ms(&seen[index].looks[0].socket));
    all.truncate(MOST_WATCHED);
    all
}

/// A look at one costs some 10 us: 32 of them every 20 ms, as in an observation of a second, are 2 % of a processor.
const MOST_WATCHED: usize = 32;
/// How long to wait between two looks.
const SHORTEST: Duration = Duration::from_millis(10);
const LONGEST: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        net::{TcpListener, TcpStream},
    };

    use super::*;
    use crate::{alone::alone, explain::judge};

    /// The peer has not closed: this end is in `FIN_WAIT_2`, where the kernel keeps little of a connection.
    #[test]
    fn a_connection_that_this_end_closes_meanwhile_is_explained() {
        alone("explain::observe::tests::a_connection_that_this_end_closes_meanwhile_is_explained", || {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let port = listener.local_addr().unwrap().port();
            let mut client = Some(TcpStream::connect(("127.0.0.1", port)).unwrap());
            let (mut server, _) = listener.accept().unwrap();
            let local = client.as_ref().unwrap().local_addr().unwrap();
            let filter = Filter { port: Some(local.port()), ..Filter::default() };
            let observer = Observer::open(filter).unwrap();
            let go_on = || {
                if let Some(mut client) = client.take() {
                    client.write_all(&[0; 1000]).unwrap();
                    drop(client);
                    // Its end of file says that the other side knows.
                    assert_eq!(server.read_to_end(&mut Vec::new()).unwrap(), 1000);
                }
                ControlFlow::Continue(())
            };
            let all = judge(&observer.observe(Duration::from_millis(300), go_on).unwrap());
            let ends = all.iter().map(|each| (each.local.clone(), each.has_closed)).collect::<Vec<_>>();
            assert!(ends.contains(&(local.to_string(), true)), "{all:#?}");
        });
    }
}
