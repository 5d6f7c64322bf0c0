//! Gathers the writes of one poll of an HTTP/2 connection and sends them with one system call.
//!
//! h2 writes and flushes each DATA frame separately. So writes are buffered, flushes have no
//! effect, and the data is sent after each poll of the connection.

use std::{
    cell::Cell,
    io::{self, IoSlice},
    mem,
    pin::{Pin, pin},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::kernel_send_limit::Backlog;

pub(super) struct WriteCoalescer<S>(Arc<Mutex<Outbox<S>>>);

pub(super) struct Sender<S>(Arc<Mutex<Outbox<S>>>);

struct Outbox<S> {
    stream: S,
    unsent: Vec<u8>,
    at: usize,
    is_unflushed: bool,
    backlog: Option<Backlog>,
}

pub(super) fn gathered<S>(stream: S, backlog: Option<Backlog>) -> (WriteCoalescer<S>, Sender<S>) {
    let outbox = Outbox { stream, unsent: Vec::new(), at: 0, is_unflushed: false, backlog };
    let outbox = Arc::new(Mutex::new(outbox));
    (WriteCoalescer(Arc::clone(&outbox)), Sender(outbox))
}

impl<S: AsyncRead + AsyncWrite + Unpin> Sender<S> {
    pub(super) async fn drive(self, connection: impl Future) {
        let mut connection = pin!(connection);
        std::future::poll_fn(|cx| {
            let ended = connection.as_mut().poll(cx).map(|_| ());
            match lock(&self.0).send(cx) {
                Poll::Ready(Err(_)) => Poll::Ready(()),
                _ => ended,
            }
        })
        .await;
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Outbox<S> {
    fn send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.unsent.is_empty() {
            while self.at < self.unsent.len() {
                let sent = ready!(Pin::new(&mut self.stream).poll_write(cx, &self.unsent[self.at..]))?;
                self.wrote(sent);
                self.took(sent)?;
            }
            self.emptied();
        }
        if self.is_unflushed {
            ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
            self.is_unflushed = false;
        }
        Poll::Ready(Ok(()))
    }

    fn send_with(&mut self, cx: &mut Context<'_>, parts: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        loop {
            let waiting = &self.unsent[self.at..];
            let all: Vec<_> = std::iter::once(IoSlice::new(waiting)).chain(parts.iter().copied()).collect();
            let sent = ready!(Pin::new(&mut self.stream).poll_write_vectored(cx, &all))?;
            let of_waiting = sent.min(waiting.len());
            self.wrote(sent);
            if sent > of_waiting {
                self.emptied();
                return Poll::Ready(Ok(sent - of_waiting));
            }
            self.took(of_waiting)?;
        }
    }

    fn wrote(&mut self, bytes: usize) {
        self.is_unflushed = true;
        if let Some(backlog) = &mut self.backlog {
            backlog.wrote(bytes);
        }
    }

    fn took(&mut self, sent: usize) -> io::Result<()> {
        self.at += sent;
        if sent == 0 { Err(io::ErrorKind::WriteZero.into()) } else { Ok(()) }
    }

    fn emptied(&mut self) {
        self.unsent.clear();
        self.at = 0;
        SPARE.set(mem::take(&mut self.unsent));
    }

    fn write(&mut self, cx: &mut Context<'_>, parts: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let length = parts.iter().map(|part| part.len()).sum();
        if length > COPIED {
            return self.send_with(cx, parts);
        }
        if self.unsent.len() >= MOST {
            ready!(self.send(cx))?;
        }
        if self.unsent.capacity() == 0 {
            self.unsent = SPARE.take();
        }
        parts.iter().for_each(|part| self.unsent.extend_from_slice(part));
        Poll::Ready(Ok(length))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for WriteCoalescer<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut lock(&self.0).stream).poll_read(cx, buf)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for WriteCoalescer<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        lock(&self.0).write(cx, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        lock(&self.0).write(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// [`Sender::drive`] flushes.
    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut outbox = lock(&self.0);
        ready!(outbox.send(cx))?;
        Pin::new(&mut outbox.stream).poll_shutdown(cx)
    }
}

fn lock<T>(outbox: &Mutex<T>) -> MutexGuard<'_, T> {
    outbox.lock().unwrap_or_else(PoisonError::into_inner)
}

thread_local! {
    /// A buffer for the next active connection, so that idle connections need none.
    static SPARE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

const COPIED: usize = 4096;
/// Beyond it, everything is sent before more is accepted.
const MOST: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn what_is_written_arrives_in_its_order_and_not_before_the_poll_is_over() {
        let (near, mut far) = tokio::io::duplex(1 << 20);
        let (mut stream, sender) = gathered(near, None);
        let large = vec![7; 100_000];
        let written = large.clone();
        let (told, asked) = tokio::sync::oneshot::channel();
        let connection = async move {
            stream.write_all(b"one").await.unwrap();
            stream.flush().await.unwrap();
            stream.write_all(b"two").await.unwrap();
            assert_eq!(lock(&stream.0).unsent, b"onetwo");
            asked.await.unwrap();
            assert!(lock(&stream.0).unsent.is_empty());
            stream.write_all(b"three").await.unwrap();
            stream.write_all(&written).await.unwrap();
            for _ in 0..20_000 {
                stream.write_all(b"four").await.unwrap();
            }
            stream.shutdown().await.unwrap();
        };
        let reading = async {
            let mut read = vec![0; 6];
            far.read_exact(&mut read).await.unwrap();
            told.send(()).unwrap();
            far.read_to_end(&mut read).await.unwrap();
            read
        };
        let ((), read) = tokio::join!(sender.drive(connection), reading);
        assert!(read == [&b"onetwothree"[..], &large, &b"four".repeat(20_000)].concat());
    }

    #[tokio::test]
    async fn a_reader_that_takes_little_holds_the_writer_back() {
        let (near, mut far) = tokio::io::duplex(1000);
        let (mut stream, sender) = gathered(near, None);
        let connection = async move {
            for number in 0..100_000_u32 {
                stream.write_all(&number.to_be_bytes()).await.unwrap();
                assert!(lock(&stream.0).unsent.len() <= MOST + COPIED);
            }
            stream.shutdown().await.unwrap();
        };
        let reading = async {
            let mut read = Vec::new();
            far.read_to_end(&mut read).await.unwrap();
            read
        };
        let ((), read) = tokio::join!(sender.drive(connection), reading);
        assert!(read.chunks(4).eq((0..100_000_u32).map(u32::to_be_bytes)));
    }

    /// A stream that accepts all data but, like TLS, passes on only what fits; the rest is sent by a
    /// flush.
    struct Holding<S> {
        stream: S,
        held: Vec<u8>,
    }

    impl<S: AsyncWrite + Unpin> AsyncWrite for Holding<S> {
        fn poll_write(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            self.held.extend_from_slice(bytes);
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            let Self { stream, held } = &mut *self;
            while !held.is_empty() {
                let sent = ready!(Pin::new(&mut *stream).poll_write(cx, held))?;
                held.drain(..sent);
            }
            Pin::new(stream).poll_flush(cx)
        }

        fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.stream).poll_shutdown(cx)
        }
    }

    impl<S: AsyncRead + Unpin> AsyncRead for Holding<S> {
        fn poll_read(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            buf: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            Pin::new(&mut self.stream).poll_read(cx, buf)
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_the_stream_holds_back_is_sent_although_nothing_more_is_written() {
        for large in [10, 10_000] {
            let (near, mut far) = tokio::io::duplex(100);
            let (mut stream, sender) = gathered(Holding { stream: near, held: Vec::new() }, None);
            let connection = async move {
                stream.write_all(&vec![7; large]).await.unwrap();
                stream.write_all(&[8; 2000]).await.unwrap();
                std::future::pending::<()>().await;
            };
            let mut read = vec![0; large + 2000];
            let hour = std::time::Duration::from_secs(3600);
            tokio::select! {
                () = sender.drive(connection) => panic!("it goes on"),
                all = tokio::time::timeout(hour, far.read_exact(&mut read)) => {
                    assert_eq!(all.expect("all of it comes").unwrap(), large + 2000);
                }
            }
        }
    }
}
