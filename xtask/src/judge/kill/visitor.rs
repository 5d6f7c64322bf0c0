//! Clients that verify each byte, and their results.

use std::{
    fmt,
    io::{BufRead, BufReader, ErrorKind, Write},
    net::TcpStream,
    sync::{
        Mutex, PoisonError,
        atomic::{
            AtomicBool, AtomicU64,
            Ordering::{Relaxed, SeqCst},
        },
    },
    thread,
    time::Duration,
};

use anyhow::{Context, anyhow, ensure};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::body::{OBJECTS, bytes, length};

#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) is_over: AtomicBool,
    pub(super) is_up: AtomicBool,
    pub(super) lives: AtomicU64,
    whole: AtomicU64,
    parts: AtomicU64,
    hits: AtomicU64,
    cut: AtomicU64,
    bytes: AtomicU64,
    wrong: Mutex<Vec<String>>,
}

impl Seen {
    pub(super) fn wrong(&self) -> Vec<String> {
        self.wrong.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn has_all_kinds(&self) -> bool {
        [&self.whole, &self.parts, &self.hits, &self.cut].iter().all(|count| count.load(Relaxed) > 0)
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |of: &AtomicU64| of.load(Relaxed);
        write!(
            f,
            "{} whole bodies and {} parts, {} of them hits, {:.1} GB; {} cut off by a kill; {} wrong",
            count(&self.whole),
            count(&self.parts),
            count(&self.hits),
            count(&self.bytes) as f64 / 1e9,
            count(&self.cut),
            self.wrong().len()
        )
    }
}

pub(super) fn visit(port: u16, seed: u64, seen: &Seen) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    while !seen.is_over.load(SeqCst) {
        // The smaller of two draws: some objects are requested often, others rarely.
        let object = (random.next_u64() % OBJECTS).min(random.next_u64() % OBJECTS);
        let (length, draw) = (length(object), random.next_u64());
        let part = (draw % 2 == 0 && length > 0).then(|| {
            let first = random.next_u64() % length;
            first..(first + 1 + random.next_u64() % 200_000).min(length)
        });
        let (lives, was_up) = (seen.lives.load(SeqCst), seen.is_up.load(SeqCst));
        let asked = ask(port, object, part.clone(), seen);
        let is_same_life = was_up && seen.lives.load(SeqCst) == lives;
        match asked {
            Ok(()) => {
                if part.is_some() { &seen.parts } else { &seen.whole }.fetch_add(1, Relaxed);
            }
            Err(Ended::Cut(_)) if !is_same_life => {
                seen.cut.fetch_add(u64::from(was_up), Relaxed);
                wait();
            }
            Err(Ended::Cut(error) | Ended::Wrong(error)) => {
                let wrong = format!("object {object}, part {part:?}: {error:#}");
                seen.wrong.lock().unwrap_or_else(PoisonError::into_inner).push(wrong);
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "nobody is there to be asked")]
fn wait() {
    thread::sleep(Duration::from_millis(10));
}

enum Ended {
    /// It ended early, which is allowed if its server was killed.
    Cut(anyhow::Error),
    Wrong(anyhow::Error),
}

impl From<std::io::Error> for Ended {
    fn from(error: std::io::Error) -> Self {
        Self::Cut(error.into())
    }
}

fn ask(port: u16, object: u64, part: Option<std::ops::Range<u64>>, seen: &Seen) -> Result<(), Ended> {
    let mut connection = TcpStream::connect(("127.0.0.1", port))?;
    let range = part
        .as_ref()
        .map_or_else(String::new, |part| format!("Range: bytes={}-{}\r\n", part.start, part.end - 1));
    write!(connection, "GET /{object} HTTP/1.1\r\nHost: a.example\r\n{range}Connection: close\r\n\r\n")?;
    let mut response = BufReader::with_capacity(1 << 16, connection);
    let head = Head::read(&mut response)?;
    // A range request for an object that is still being filled without a known length gets the whole body.
    let expected = match (head.status, part) {
        (206, Some(part)) => part,
        (200, _) => 0..length(object),
        (status, _) => return Err(Ended::Wrong(anyhow!("status {status}"))),
    };
    let mut body = Body { response, left: head.length, is_chunked: head.is_chunked };
    let (mut at, mut piece) = (expected.start, vec![0; 1 << 16]);
    loop {
        let count = body.read(&mut piece)?;
        if count == 0 {
            break;
        }
        let end = at + count as u64;
        let is_right = end <= expected.end && piece[..count] == bytes(object, at, end);
        if !is_right {
            return Err(Ended::Wrong(anyhow!("wrong bytes between {at} and {end}, a hit: {}", head.is_hit)));
        }
        seen.bytes.fetch_add(count as u64, Relaxed);
        at = end;
    }
    if at != expected.end {
        return Err(Ended::Wrong(anyhow!("it ends at {at} and not at {}", expected.end)));
    }
    seen.hits.fetch_add(u64::from(head.is_hit), Relaxed);
    Ok(())
}

struct Head {
    status: u16,
    length: u64,
    is_chunked: bool,
    is_hit: bool,
}

impl Head {
    fn read(response: &mut impl BufRead) -> Result<Self, Ended> {
        let mut text = String::new();
        while !text.ends_with("\r\n\r\n") {
            if response.read_line(&mut text)? == 0 {
                return Err(std::io::Error::from(ErrorKind::UnexpectedEof).into());
            }
        }
        Self::parse(&text.to_ascii_lowercase()).map_err(Ended::Wrong)
    }

    fn parse(text: &str) -> anyhow::Result<Self> {
        let status = text.get(9..12).and_then(|status| status.parse().ok()).context("no status")?;
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        let is_chunked = field("transfer-encoding").is_some();
        let length = field("content-length").map(str::parse).transpose()?;
        ensure!(is_chunked != length.is_some(), "a body has a length or chunks");
        let is_hit = field("cache-status").is_some_and(|told| told.contains("; hit"));
        Ok(Self { status, length: length.unwrap_or(0), is_chunked, is_hit })
    }
}

struct Body<R> {
    response: R,
    /// Remaining bytes of the body, or of the current chunk.
    left: u64,
    is_chunked: bool,
}

impl<R: BufRead> Body<R> {
    /// Returns 0 at the end.
    fn read(&mut self, piece: &mut [u8]) -> Result<usize, Ended> {
        if self.left == 0 && self.is_chunked {
            self.left = self.next_chunk()?;
        }
        if self.left == 0 {
            return Ok(0);
        }
        let most = piece.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let count = self.response.read(&mut piece[..most])?;
        if count == 0 {
            return Err(std::io::Error::from(ErrorKind::UnexpectedEof).into());
        }
        self.left -= count as u64;
        Ok(count)
    }

    /// Skips the line end of the previous chunk.
    fn next_chunk(&mut self) -> Result<u64, Ended> {
        let mut line = String::new();
        while line.trim().is_empty() {
            line.clear();
            if self.response.read_line(&mut line)? == 0 {
                return Err(std::io::Error::from(ErrorKind::UnexpectedEof).into());
            }
        }
        u64::from_str_radix(line.trim(), 16).map_err(|error| Ended::Wrong(error.into()))
    }
}
