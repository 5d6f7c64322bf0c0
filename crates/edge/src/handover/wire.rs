//! Lines and file descriptors over a Unix socket. The other process may be another version or another
//! program.

use std::{
    io::{self, Error, ErrorKind, IoSlice, IoSliceMut, Read as _, Write as _},
    mem::MaybeUninit,
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::net::UnixStream,
    },
    time::Duration,
};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

#[derive(Debug)]
pub(crate) struct Wire {
    stream: UnixStream,
}

impl Wire {
    pub(super) fn new(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { stream })
    }

    pub(super) fn say(&mut self, line: &str) -> io::Result<()> {
        self.stream.write_all(format!("{line}\n").as_bytes())
    }

    /// The next line. Reads byte by byte, because the byte after the line may carry descriptors.
    pub(super) fn hear(&mut self) -> io::Result<String> {
        let mut line = Vec::new();
        loop {
            let mut byte = [0];
            self.stream.read_exact(&mut byte).map_err(in_words)?;
            match byte {
                [b'\n'] => return Ok(String::from_utf8_lossy(&line).into_owned()),
                [byte] if line.len() < LONGEST_LINE => line.push(byte),
                _ => return Err(unexpected("a line of more than 500 bytes")),
            }
        }
    }

    pub(super) fn expect(&mut self, line: &str) -> io::Result<()> {
        match self.hear()? {
            heard if heard == line => Ok(()),
            heard => Err(unexpected(&heard)),
        }
    }

    /// Sends the number of descriptors and copies of them.
    pub(super) fn send(&mut self, descriptors: &[OwnedFd]) -> io::Result<()> {
        self.say(&format!("sockets {}", descriptors.len()))?;
        for chunk in descriptors.chunks(CHUNK) {
            let chunk: Vec<_> = chunk.iter().map(|descriptor| descriptor.as_fd()).collect();
            let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(CHUNK))];
            let mut ancillary = SendAncillaryBuffer::new(&mut room);
            assert!(ancillary.push(SendAncillaryMessage::ScmRights(&chunk)), "there is room for a chunk");
            sendmsg(&self.stream, &[IoSlice::new(b"+")], &mut ancillary, SendFlags::NOSIGNAL)?;
        }
        Ok(())
    }

    /// Receives the descriptors of [`Self::send`].
    pub(super) fn receive(&mut self) -> io::Result<Vec<OwnedFd>> {
        let heard = self.hear()?;
        if let Some(why) = heard.strip_prefix("refused ") {
            return Err(Error::new(ErrorKind::PermissionDenied, why.to_owned()));
        }
        let count = heard.strip_prefix("sockets ").and_then(|count| count.parse::<usize>().ok());
        let count = count.filter(|count| *count <= MOST).ok_or_else(|| unexpected(&heard))?;
        let mut descriptors = Vec::new();
        while descriptors.len() < count {
            let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(CHUNK))];
            let mut ancillary = RecvAncillaryBuffer::new(&mut room);
            let mut byte = [0];
            let parts = &mut [IoSliceMut::new(&mut byte)];
            let came = recvmsg(&self.stream, parts, &mut ancillary, RecvFlags::CMSG_CLOEXEC);
            let came = came.map_err(|error| in_words(error.into()))?;
            let before = descriptors.len();
            for message in ancillary.drain() {
                if let RecvAncillaryMessage::ScmRights(some) = message {
                    descriptors.extend(some);
                }
            }
            if came.bytes == 0 {
                return Err(in_words(ErrorKind::UnexpectedEof.into()));
            }
            if came.flags.contains(ReturnFlags::CTRUNC) {
                return Err(Error::other("the limit of open files is too low: raise `ulimit -n`"));
            }
            if descriptors.len() == before {
                return Err(unexpected("a byte without sockets"));
            }
        }
        Ok(descriptors)
    }

    /// Waits until the other process exits and its end is closed.
    pub(super) fn wait_for_end(&mut self) {
        let _ = self.stream.set_read_timeout(None);
        while matches!(self.stream.read(&mut [0; 64]), Ok(1..)) {}
    }
}

fn unexpected(heard: &str) -> Error {
    Error::new(ErrorKind::InvalidData, format!("the other process sent \"{heard}\", which was not expected"))
}

/// Adds an explanation to a read error.
fn in_words(error: Error) -> Error {
    match error.kind() {
        ErrorKind::UnexpectedEof => Error::new(ErrorKind::UnexpectedEof, "the other process ended"),
        ErrorKind::WouldBlock => {
            let why = format!("the other process sent nothing for {} s", PATIENCE.as_secs());
            Error::new(ErrorKind::TimedOut, why)
        }
        _ => error,
    }
}

/// The timeout for a line: the other process may have to write to or read from a slow disk. Its exit is
/// noticed immediately.
const PATIENCE: Duration = Duration::from_secs(120);
const LONGEST_LINE: usize = 500;
/// The kernel limit is 253 per message.
const CHUNK: usize = 64;
/// The maximum number of received descriptors.
const MOST: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use std::{net::TcpListener, thread};

    use super::*;

    fn pair() -> (Wire, Wire) {
        let (one, other) = UnixStream::pair().unwrap();
        (Wire::new(one).unwrap(), Wire::new(other).unwrap())
    }

    #[test]
    fn many_sockets_arrive_between_lines() {
        let (mut one, mut other) = pair();
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        let sockets: Vec<OwnedFd> = (0..200).map(|_| socket.try_clone().unwrap().into()).collect();
        let sending = thread::spawn(move || {
            one.say("before").unwrap();
            one.send(&sockets).unwrap();
            one.say("after").unwrap();
        });
        other.expect("before").unwrap();
        let received = other.receive().unwrap();
        assert_eq!(received.len(), 200);
        assert!(received.into_iter().all(|one| TcpListener::from(one).local_addr().unwrap() == address));
        other.expect("after").unwrap();
        sending.join().unwrap();
        assert_eq!(other.hear().unwrap_err().to_string(), "the other process ended");
    }

    #[test]
    fn what_is_not_expected_is_told() {
        for (said, why) in [
            ("refused it is another's\n", "it is another's"),
            ("sockets -1\n", "the other process sent \"sockets -1\", which was not expected"),
            ("sockets 99999999\n", "the other process sent \"sockets 99999999\", which was not expected"),
            ("sockets 2\nxx", "the other process sent \"a byte without sockets\", which was not expected"),
            ("sockets 1\n", "the other process ended"),
            ("sock", "the other process ended"),
        ] {
            let (mut one, mut other) = pair();
            one.stream.write_all(said.as_bytes()).unwrap();
            drop(one);
            assert_eq!(other.receive().unwrap_err().to_string(), why);
        }
        let (mut one, mut other) = pair();
        one.stream.write_all(&[b'x'; 1000]).unwrap();
        assert!(other.hear().unwrap_err().to_string().contains("more than 500 bytes"));
    }
}
