//! A lenient origin that accepts anything that resembles a request.

use std::{
    collections::HashMap,
    fmt,
    io::{BufRead, BufReader, Read as _, Write as _},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prefers {
    TransferEncoding,
    ContentLength,
}

impl fmt::Display for Prefers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::TransferEncoding => "Transfer-Encoding",
            Self::ContentLength => "Content-Length",
        })
    }
}

pub(super) struct Origin {
    pub(super) port: u16,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    seen: AtomicUsize,
    connections: Mutex<HashMap<usize, TcpStream>>,
}

impl Origin {
    pub(super) fn start(prefers: Prefers) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared::default());
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for (number, stream) in listener.incoming().filter_map(Result::ok).enumerate() {
                let shared = Arc::clone(&accepting);
                thread::spawn(move || {
                    let Ok(copy) = stream.try_clone() else { return };
                    shared.connections().insert(number, copy);
                    let _ = serve(&stream, prefers, &shared.seen);
                    shared.connections().remove(&number);
                });
            }
        });
        Ok(Self { port, shared })
    }

    /// Closes all connections, so that a message cannot continue an earlier one.
    pub(super) fn forget(&self) {
        for stream in self.shared.connections().values() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        self.shared.seen.store(0, SeqCst);
    }

    pub(super) fn seen(&self) -> usize {
        self.shared.seen.load(SeqCst)
    }
}

impl Shared {
    fn connections(&self) -> std::sync::MutexGuard<'_, HashMap<usize, TcpStream>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn serve(stream: &TcpStream, prefers: Prefers, seen: &AtomicUsize) -> std::io::Result<()> {
    let (mut reader, mut writer) = (BufReader::new(stream), stream);
    loop {
        let mut first = line(&mut reader)?;
        while first.is_empty() {
            first = line(&mut reader)?;
        }
        // A request without a complete head or body counts too: the origin has started to process it.
        seen.fetch_add(1, SeqCst);
        let mut fields = Vec::new();
        loop {
            let field = line(&mut reader)?.to_ascii_lowercase();
            match fields.last_mut() {
                _ if field.is_empty() => break,
                Some(last) if field.starts_with([' ', '\t']) => *last = format!("{last}{field}"),
                _ => fields.push(field),
            }
        }
        let is_chunked = fields.iter().any(|field| named(field, "transfer") && field.contains("chunked"));
        let length =
            fields.iter().rev().find(|field| named(field, "content-length")).map(|field| number(field));
        match (is_chunked, length) {
            (true, None) => chunks(&mut reader)?,
            (true, Some(_)) if prefers == Prefers::TransferEncoding => chunks(&mut reader)?,
            (_, Some(length)) => skip(&mut reader, length)?,
            (false, None) => {}
        }
        writer.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")?;
    }
}

fn named(field: &str, name: &str) -> bool {
    field.split(':').next().is_some_and(|before| before.trim().starts_with(name))
}

fn number(field: &str) -> u64 {
    let digits = field.split_once(':').map_or("", |(_, value)| value);
    let digits: String = digits
        .chars()
        .skip_while(|letter| !letter.is_ascii_digit())
        .take_while(char::is_ascii_digit)
        .collect();
    digits.parse().unwrap_or(0)
}

/// A line that ends with LF or CR LF, without its end; an error at the end of the stream.
fn line(reader: &mut impl BufRead) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    if reader.read_until(b'\n', &mut bytes)? == 0 || bytes.pop() != Some(b'\n') {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    if bytes.last() == Some(&b'\r') {
        bytes.pop();
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn chunks(reader: &mut impl BufRead) -> std::io::Result<()> {
    loop {
        let size = line(reader)?;
        let digits: String = size.trim().chars().take_while(char::is_ascii_hexdigit).collect();
        match u64::from_str_radix(&digits, 16).unwrap_or(0) {
            0 => break,
            size => skip(reader, size)?,
        }
        line(reader)?;
    }
    while !line(reader)?.is_empty() {}
    Ok(())
}

fn skip(reader: &mut impl BufRead, length: u64) -> std::io::Result<()> {
    let skipped = std::io::copy(&mut reader.take(length), &mut std::io::sink())?;
    if skipped == length { Ok(()) } else { Err(std::io::ErrorKind::UnexpectedEof.into()) }
}
