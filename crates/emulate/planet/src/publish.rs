//! Makes a server of a planet available to programs of the machine, such as a browser, over the
//! distance from one of its hosts.
//!
//! The listener is created in the machine's network before the process enters the host's, because a
//! socket remains in its network namespace.

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
    error::{Doing, Error},
    exec::Namespaces,
    process::raise_descriptor_limit,
};

/// A server of a planet on a socket of the machine.
#[derive(Debug)]
pub struct Published {
    listener: TcpListener,
    server: String,
    from: String,
    addresses: Vec<SocketAddr>,
    /// A server may listen on one of two addresses, and each attempt takes a round trip.
    favourite: AtomicUsize,
    is_missing: AtomicBool,
}

impl Planet {
    /// Publishes `server`, a "host:port" of the planet, with connections from the host `from`. Call
    /// it in a process with a single thread; it is inside the planet afterwards.
    pub fn publish(&self, server: &str, from: &str, listener: TcpListener) -> Result<Published, Error> {
        let namespaces = Namespaces::of(self, from)?;
        namespaces.enter_planet()?;
        namespaces.enter_network()?;
        raise_descriptor_limit();
        // Browsers open many connections concurrently, and retry after a second if the queue is
        // full.
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
    /// Forwards connections, at most 1000 concurrently, until the listener fails. A failure to
    /// reach the server is reported to `trouble` once.
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
                // If the accept loop has ended, the place is not needed.
                let _ = give_back.send(());
            };
            thread::Builder::new().spawn(serve).doing(|| "start a thread for a connection".to_owned())?;
        }
    }

    fn accept(&self) -> Result<TcpStream, Error> {
        loop {
            match self.listener.accept() {
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                other => return other.map(|(client, _)| client).doing(|| "accept connections".to_owned()),
            }
        }
    }

    fn serve(&self, client: TcpStream, trouble: &impl Fn(&str)) {
        match self.connect() {
            Ok(server) => {
                self.is_missing.store(false, Ordering::Relaxed);
                // A broken connection is visible at both ends and needs no report.
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

    fn connect(&self) -> io::Result<TcpStream> {
        if let Some(address) = self.addresses.get(self.favourite.load(Ordering::Relaxed))
            && let Ok(server) = TcpStream::connect(address)
        {
            return Ok(server);
        }
        let (tell, answers) = mpsc::channel();
        for (number, address) in self.addresses.iter().copied().enumerate() {
            let tell = tell.clone();
            // The receiver has been dropped if another attempt succeeded.
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

struct Pair {
    client: TcpStream,
    server: TcpStream,
    is_broken: AtomicBool,
}

impl Pair {
    fn pass(&self) -> io::Result<()> {
        self.client.set_nodelay(true)?;
        self.server.set_nodelay(true)?;
        thread::scope(|threads| {
            thread::Builder::new().spawn_scoped(threads, || self.forward(&self.client, &self.server))?;
            self.forward(&self.server, &self.client);
            Ok(())
        })
    }

    /// FIN and RST are forwarded as such, and a slow receiver blocks the sender.
    fn forward(&self, from: &TcpStream, mut to: &TcpStream) {
        match io::copy(&mut BufReader::with_capacity(BUFFER, from), &mut to) {
            Ok(_) if !self.is_broken.load(Ordering::Relaxed) => {
                let _ = to.shutdown(Shutdown::Write);
            }
            Ok(_) => {}
            Err(_) => self.break_off(),
        }
    }

    fn break_off(&self) {
        self.is_broken.store(true, Ordering::Relaxed);
        for stream in [&self.client, &self.server] {
            // A broken connection may refuse these options and does not need them.
            let _ = setsockopt(stream, Linger, &libc::linger { l_onoff: 1, l_linger: 0 });
            let _ = stream.shutdown(Shutdown::Read);
        }
    }
}

const MOST: usize = 1000;

const BUFFER: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    fn connection() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    fn joined() -> (TcpStream, TcpStream, thread::JoinHandle<io::Result<()>>) {
        let ((outside, client), (server, inside)) = (connection(), connection());
        let pair = Pair { client, server, is_broken: AtomicBool::new(false) };
        (outside, inside, thread::spawn(move || pair.pass()))
    }

    #[test]
    fn an_end_is_passed_on_and_the_other_way_goes_on() {
        let (mut client, mut server, pair) = joined();
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
