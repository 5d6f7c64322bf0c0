//! Observes connections for a while: lists the sockets at the beginning and at the end, and samples active
//! ones in between. Read-only.

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

/// Selects connections.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only connections of this process.
    pub pid: Option<u32>,
    /// Only connections with this port at either end.
    pub port: Option<u16>,
    /// Only connections with this address at either end.
    pub end: Option<End>,
}

/// An end of connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// Alternative addresses: a name may have several.
    pub addresses: Vec<IpAddr>,
    /// The port; `None` matches all ports.
    pub port: Option<u16>,
}

/// Observes the connections of the calling thread's network namespace.
#[derive(Debug)]
pub struct Observer {
    diag: Diag,
    filter: Filter,
}

impl Observer {
    /// Opens the network namespace of the calling thread.
    pub fn open(filter: Filter) -> Result<Self, Error> {
        Ok(Self { diag: Diag::open()?, filter })
    }

    /// Observes for this time, or until `go_on` breaks; it is called at least every 50 ms. Connections that
    /// start meanwhile are ignored. Fails if there is no connection at the beginning.
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

    /// All listeners are included, because a selected connection may wait for any of them.
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
                let mut looks = Vec::with_capacity(2);
                looks.push(Look { at: clock.now(), socket, multipath: None });
                seen.push(Seen { looks, has_closed: false, process: None, chosen: None });
            }
        })?;
        // The list must be read to its end before the next request.
        for look in beginning.seen.iter_mut().flat_map(|each| each.looks.first_mut()) {
            self.add_multipath(look)?;
        }
        Ok(beginning)
    }

    fn add_multipath(&self, look: &mut Look) -> Result<(), Error> {
        if let Some(token) = look.socket.mptcp_token {
            look.multipath = self.diag.multipath(token)?;
        }
        Ok(())
    }

    fn look_again(&self, seen: &mut Seen, clock: Clock) -> Result<(), Error> {
        let key = seen.looks[0].socket.key;
        if !seen.has_closed {
            // In `TIME_WAIT` there is no `tcp_info`.
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
            remedy: "longhaul tcp explain without options shows all".to_owned(),
        }
    }
}

#[derive(Debug, Default)]
struct Beginning {
    seen: Vec<Seen>,
    listeners: Vec<Listener>,
    count: Count,
    ended: u64,
}

impl Filter {
    fn admits(&self, local: SocketAddr, remote: SocketAddr) -> bool {
        let is_end = |end: &End, at: SocketAddr| {
            end.addresses.contains(&at.ip().to_canonical()) && end.port.is_none_or(|port| port == at.port())
        };
        self.port.is_none_or(|port| [local.port(), remote.port()].contains(&port))
            && self.end.as_ref().is_none_or(|end| is_end(end, local) || is_end(end, remote))
    }
}

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

/// A sample takes about 10 us: 32 of them every 20 ms, as in an observation of a second, use 2 % of a
/// processor.
const MOST_WATCHED: usize = 32;
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
