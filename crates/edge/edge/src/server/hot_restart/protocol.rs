//! Lines and file descriptors over a Unix socket. The other process may be another version or
//! another program.

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
pub(crate) struct HandoverChannel {
    stream: UnixStream,
}

impl HandoverChannel {
    pub(super) fn new(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(RESPONSE_TIMEOUT))?;
        stream.set_write_timeout(Some(RESPONSE_TIMEOUT))?;
        Ok(Self { stream })
    }

    pub(super) fn send_line(&mut self, line: &str) -> io::Result<()> {
        self.stream.write_all(format!("{line}\n").as_bytes())
    }

    /// Reads byte by byte, because the byte after the line may carry descriptors.
    pub(super) fn receive_line(&mut self) -> io::Result<String> {
        let mut line = Vec::new();
        loop {
            let mut byte = [0];
            self.stream.read_exact(&mut byte).map_err(describe_error)?;
            match byte {
                [b'\n'] => return Ok(String::from_utf8_lossy(&line).into_owned()),
                [byte] if line.len() < MAX_LINE_BYTES => line.push(byte),
                _ => return Err(unexpected_line("a line of more than 500 bytes")),
            }
        }
    }

    pub(super) fn expect_line(&mut self, line: &str) -> io::Result<()> {
        match self.receive_line()? {
            received if received == line => Ok(()),
            received => Err(unexpected_line(&received)),
        }
    }

    pub(super) fn send_sockets(&mut self, descriptors: &[OwnedFd]) -> io::Result<()> {
        self.send_line(&format!("sockets {}", descriptors.len()))?;
        for chunk in descriptors.chunks(MAX_SOCKETS_PER_MESSAGE) {
            let chunk: Vec<_> = chunk.iter().map(|descriptor| descriptor.as_fd()).collect();
            let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_SOCKETS_PER_MESSAGE))];
            let mut ancillary = SendAncillaryBuffer::new(&mut room);
            assert!(ancillary.push(SendAncillaryMessage::ScmRights(&chunk)), "there is room for a chunk");
            sendmsg(&self.stream, &[IoSlice::new(b"+")], &mut ancillary, SendFlags::NOSIGNAL)?;
        }
        Ok(())
    }

    pub(super) fn receive_sockets(&mut self) -> io::Result<Vec<OwnedFd>> {
        let received = self.receive_line()?;
        if let Some(why) = received.strip_prefix("refused ") {
            return Err(Error::new(ErrorKind::PermissionDenied, why.to_owned()));
        }
        let count = received.strip_prefix("sockets ").and_then(|count| count.parse::<usize>().ok());
        let count = count.filter(|count| *count <= MAX_SOCKETS).ok_or_else(|| unexpected_line(&received))?;
        let mut descriptors = Vec::new();
        while descriptors.len() < count {
            let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_SOCKETS_PER_MESSAGE))];
            let mut ancillary = RecvAncillaryBuffer::new(&mut room);
            let mut byte = [0];
            let parts = &mut [IoSliceMut::new(&mut byte)];
            let message = recvmsg(&self.stream, parts, &mut ancillary, RecvFlags::CMSG_CLOEXEC);
            let message = message.map_err(|error| describe_error(error.into()))?;
            let before = descriptors.len();
            for message in ancillary.drain() {
                if let RecvAncillaryMessage::ScmRights(some) = message {
                    descriptors.extend(some);
                }
            }
            if message.bytes == 0 {
                return Err(describe_error(ErrorKind::UnexpectedEof.into()));
            }
            if message.flags.contains(ReturnFlags::CTRUNC) {
                return Err(Error::other("the limit of open files is too low: raise `ulimit -n`"));
            }
            if descriptors.len() == before {
                return Err(unexpected_line("a byte without sockets"));
            }
        }
        Ok(descriptors)
    }

    pub(super) fn wait_for_end(&mut self) {
        let _ = self.stream.set_read_timeout(None);
        while matches!(self.stream.read(&mut [0; 64]), Ok(1..)) {}
    }
}

fn unexpected_line(received: &str) -> Error {
    Error::new(
        ErrorKind::InvalidData,
        format!("the other process sent \"{received}\", which was not expected"),
    )
}

fn describe_error(error: Error) -> Error {
    match error.kind() {
        ErrorKind::UnexpectedEof => Error::new(ErrorKind::UnexpectedEof, "the other process ended"),
        ErrorKind::WouldBlock => {
            let why = format!("the other process sent nothing for {} s", RESPONSE_TIMEOUT.as_secs());
            Error::new(ErrorKind::TimedOut, why)
        }
        _ => error,
    }
}

/// The other process may have to write to or read from a slow disk. Its exit is noticed
/// immediately.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(120);
const MAX_LINE_BYTES: usize = 500;
/// The kernel limit is 253 per message.
const MAX_SOCKETS_PER_MESSAGE: usize = 64;
const MAX_SOCKETS: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use std::{net::TcpListener, thread};

    use super::*;

    fn pair() -> (HandoverChannel, HandoverChannel) {
        let (one, other) = UnixStream::pair().unwrap();
        (HandoverChannel::new(one).unwrap(), HandoverChannel::new(other).unwrap())
    }

    #[test]
    fn many_sockets_arrive_between_lines() {
        let (mut one, mut other) = pair();
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        let sockets: Vec<OwnedFd> = (0..200).map(|_| socket.try_clone().unwrap().into()).collect();
        let sending = thread::spawn(move || {
            one.send_line("before").unwrap();
            one.send_sockets(&sockets).unwrap();
            one.send_line("after").unwrap();
        });
        other.expect_line("before").unwrap();
        let received = other.receive_sockets().unwrap();
        assert_eq!(received.len(), 200);
        assert!(received.into_iter().all(|one| TcpListener::from(one).local_addr().unwrap() == address));
        other.expect_line("after").unwrap();
        sending.join().unwrap();
        assert_eq!(other.receive_line().unwrap_err().to_string(), "the other process ended");
    }

    #[test]
    fn unexpected_line_is_reported() {
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
            assert_eq!(other.receive_sockets().unwrap_err().to_string(), why);
        }
        let (mut one, mut other) = pair();
        one.stream.write_all(&[b'x'; 1000]).unwrap();
        assert!(other.receive_line().unwrap_err().to_string().contains("more than 500 bytes"));
    }
}
