//! Brings the machine's own programs, such as a browser, to a server of a planet, over the distance from one of its hosts.
//!
//! A socket stays in the network that it was made in, whoever holds it. So the listener is made in the machine's network,
//! the process steps into the host's, and what it connects from then on goes through the planet. Names are resolved
//! there too.

use std::{
    io::{self, BufReader},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

use nix::{
    libc,
    sys::socket::{Backlog, listen, setsockopt, sockopt::Linger},
};

use crate::{
    control::Planet,
    enter::Namespaces,
    error::{Doing, Error},
    process::raise_descriptor_limit,
};

/// A server of a planet on a socket of the machine.
#[derive(Debug)]
pub struct Published {
    listener: TcpListener,
    server: String,
    from: String,
    addresses: Vec<SocketAddr>,
    /// Which of the addresses answered last, if one has: a server may listen on one of two, and a try takes a round trip.
    favourite: AtomicUsize,
    /// Whether the last connection was in vain.
    is_missing: AtomicBool,
}

impl Planet {
    /// Publishes `server`, a "host:port" of the planet, on `listener`, as seen from the host `from`. The calling process
    /// must have a single thread, and is inside the planet afterwards.
    pub fn publish(&self, server: &str, from: &str, listener: TcpListener) -> Result<Published, Error> {
        let namespaces = Namespaces::of(self, from)?;
        namespaces.enter_planet()?;
        namespaces.enter_network()?;
        raise_descriptor_limit();
        // A browser, and more so a load generator, opens many at once; who finds the queue full tries again a second later.
        listen(&listener, Backlog::MAXALLOWABLE).doing(|| "lengthen the queue of connections".to_owned())?;
        let addresses = server.to_socket_addrs().doing(|| {
            format!("find {server} on planet \"{}\" (longhaul lab status lists its hosts)", self.name())
        })?;
        Ok(Published {
            listener,
            server: server.to_owned(),
            from: from.to_owned(),
            addresses: addresses.collect(),
            favourite: AtomicUsize::new(usize::MAX),
            is_missing: AtomicBool::new(false),
        })
    }
}

impl Published {
    /// Passes connections on until the listener fails, up to 1000 at a time; more wait in the listener's queue. What keeps
    /// them from the server is told to `trouble`, and not again until one has got through.
    pub fn run(self, trouble: impl Fn(&str) + Send + Sync + 'static) -> Result<(), Error> {
        let (give_back, places) = mpsc::sync_channel(MOST);
        for () in [(); MOST] {
            give_back.send(()).expect("there is room for all of them");
        }
        let shared = Arc::new((self, trouble));
        loop {
            places.recv().expect("this function holds a sender itself");
            let client = shared.0.accept()?;
            let (shared, give_back) = (Arc::clone(&shared), give_back.clone());
            let serve = move || {
                let (published, trouble) = &*shared;
                published.serve(client, trouble);
                // If nobody accepts any more, nobody needs the place.
                let _ = give_back.send(());
            };
            thread::Builder::new().spawn(serve).doing(|| "start a thread for a connection".to_owned())?;
        }
    }

    fn accept(&self) -> Result<TcpStream, Error> {
        loop {
            match self.listener.accept() {
                // It went away while it waited.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                other => return other.map(|(client, _)| client).doing(|| "accept connections".to_owned()),
            }
        }
    }

    /// Passes one connection on. The client learns of what goes wrong by its end, as from any server.
    fn serve(&self, client: TcpStream, trouble: &impl Fn(&str)) {
        match self.connect() {
            Ok(server) => {
                self.is_missing.store(false, Ordering::Relaxed);
                // A connection that breaks is the business of its two ends, and they know.
                let _ = Pair { client, server, is_broken: AtomicBool::new(false) }.pass();
            }
            Err(error) if !self.is_missing.swap(true, Ordering::Relaxed) => {
                trouble(&format!(
                    "{} cannot be reached from {}: {error}; connections are closed until it can",
                    self.server, self.from
                ));
            }
            Err(_) => {}
        }
    }

    /// Connects to the address that answered last, or else to the one that answers first now.
    fn connect(&self) -> io::Result<TcpStream> {
        if let Some(address) = self.addresses.get(self.favourite.load(Ordering::Relaxed))
            && let Ok(server) = TcpStream::connect(address)
        {
            return Ok(server);
        }
        let (tell, answers) = mpsc::channel();
        for (number, address) in self.addresses.iter().copied().enumerate() {
            let tell = tell.clone();
            // Nobody listens any more to who comes second.
            let attempt = move || drop(tell.send((number, TcpStream::connect(address))));
            thread::Builder::new().spawn(attempt)?;
        }
        drop(tell);
        let mut failure = io::ErrorKind::AddrNotAvailable.into();
        for (number, answer) in answers {
            match answer {
                Ok(server) => {
                    self.favourite.store(number, Ordering::Relaxed);
                    return Ok(server);
                }
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }
}

/// The two connections that make one.
struct Pair {
    client: TcpStream,
    server: TcpStream,
    /// Whether either was reset.
    is_broken: AtomicBool,
}

impl Pair {
    /// Passes bytes on both ways, as they come, until both ways have ended.
    fn pass(&self) -> io::Result<()> {
        self.client.set_nodelay(true)?;
        self.server.set_nodelay(true)?;
        thread::scope(|threads| {
            thread::Builder::new().spawn_scoped(threads, || self.forward(&self.client, &self.server))?;
            self.forward(&self.server, &self.client);
            Ok(())
        })
    }

    /// One way. An end is passed on as an end and a reset as a reset; who is slow makes the other wait.
    fn forward(&self, from: &TcpStream, mut to: &TcpStream) {
        match io::copy(&mut BufReader::with_capacity(BUFFER, from), &mut to) {
            Ok(_) if !self.is_broken.load(Ordering::Relaxed) => {
                // It may be closed already.
                let _ = to.shutdown(Shutdown::Write);
            }
            Ok(_) => {}
            Err(_) => self.break_off(),
        }
    }

    /// Lets both be reset when they are closed, and ends the wait for more of either.
    fn break_off(&self) {
        self.is_broken.store(true, Ordering::Relaxed);
        for stream in [&self.client, &self.server] {
            // The broken one may refuse; it needs neither.
            let _ = setsockopt(stream, Linger, &libc::linger { l_onoff: 1, l_linger: 0 });
            let _ = stream.shutdown(Shutdown::Read);
        }
    }
}

/// Connections at a time, with two threads and 128 KiB each.
const MOST: usize = 1000;

/// A super-packet of the planet in one piece.
const BUFFER: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    /// A connection's two ends.
    fn connection() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    /// A client and a server with a pair between them that runs in a thread.
    fn joined() -> (TcpStream, TcpStream, thread::JoinHandle<io::Result<()>>) {
        let ((outside, client), (server, inside)) = (connection(), connection());
        let pair = Pair { client, server, is_broken: AtomicBool::new(false) };
        (outside, inside, thread::spawn(move || pair.pass()))
    }

    #[test]
    fn an_end_is_passed_on_and_the_other_way_goes_on() {
        let (mut client, mut server, pair) = joined();
        // More than any buffer on the way: the sender has to wait, and nothing is lost.
        let sent: Vec<u8> = (0..20_000_000_u32).map(|n| n.to_le_bytes()[0]).collect();
        let upload = sent.clone();
        let uploading = thread::spawn(move || {
            client.write_all(&upload).unwrap();
            client.shutdown(Shutdown::Write).unwrap();
            let mut answer = String::new();
            client.read_to_string(&mut answer).unwrap();
            answer
        });
        let mut received = Vec::new();
        server.read_to_end(&mut received).unwrap();
        assert!(received == sent);
        server.write_all(b"thanks").unwrap();
        drop(server);
        assert_eq!(uploading.join().unwrap(), "thanks");
        pair.join().unwrap().unwrap();
    }

    #[test]
    fn a_reset_is_passed_on_as_a_reset() {
        let (mut client, server, pair) = joined();
        setsockopt(&server, Linger, &libc::linger { l_onoff: 1, l_linger: 0 }).unwrap();
        drop(server);
        assert_eq!(client.read(&mut [0]).unwrap_err().kind(), io::ErrorKind::ConnectionReset);
        pair.join().unwrap().unwrap();
    }
}
