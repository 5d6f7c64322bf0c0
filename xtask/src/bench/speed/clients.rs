//! A thousand concurrent clients, each receiving or sending 1 Mbit/s: whether all of them reach it, and the
//! memory of the server.

use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use anyhow::Context;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use super::{admit, quiet::Quiet, serve};
use crate::bench::{edge::cpu::of_tree_us, program::memory_mb, row};

pub(in crate::bench) fn bench() -> anyhow::Result<()> {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, most, most).context("cannot open a thousand connections")?;
    for way in [Way::Down, Way::Up] {
        let (mut failed, mut late, mut memory, mut server_busy, mut own_busy) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut doubts = Vec::new();
        for _ in 0..ROUNDS {
            let per_address = (2 * CLIENTS).to_string();
            let (server, address) = serve(&["--transfers-per-address", &per_address])?;
            let quiet = Quiet::begin()?;
            let came = all(way, &address)?;
            let stretch = quiet.end()?;
            let of_server = of_tree_us(server.id())? / 1e6 / stretch.seconds;
            failed.push(f64::from(came.failed));
            late.push(came.latest.saturating_sub(EXPECTED).as_secs_f64() * 1e3);
            memory.push(memory_mb(server.id(), "VmHWM")?);
            server_busy.push(of_server);
            own_busy.push((stretch.ours - of_server).max(0.0));
            doubts.extend(stretch.doubt());
            doubts.extend(came.why.map(|why| format!("a client failed: {why}")));
        }
        let what = way.what();
        row(
            &format!("{CLIENTS} clients that {what} 1 Mbit/s each for {} s: failed", EXPECTED.as_secs()),
            "0",
            "",
            failed,
        );
        row("delay of the last client after that time", "", "ms", late);
        row("most memory of the server", "< 300", "MB", memory);
        row("processors that the server used", "", "", server_busy);
        row("processors that the clients used, all in one thread", "< 0.9", "", own_busy);
        admit(&doubts);
    }
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Down,
    Up,
}

impl Way {
    fn what(self) -> &'static str {
        match self {
            Self::Down => "take",
            Self::Up => "send",
        }
    }

    fn head(self, address: &str) -> String {
        match self {
            Self::Down => format!("GET /__down?bytes={BODY} HTTP/1.1\r\nHost: {address}\r\n\r\n"),
            Self::Up => format!("POST /__up HTTP/1.1\r\nHost: {address}\r\nContent-Length: {BODY}\r\n\r\n"),
        }
    }
}

struct Came {
    failed: u32,
    why: Option<String>,
    latest: Duration,
}

fn all(way: Way, address: &str) -> anyhow::Result<Came> {
    let mut clients = (0..CLIENTS).map(|_| Client::ask(way, address)).collect::<anyhow::Result<Vec<_>>>()?;
    let began = now();
    let (mut failed, mut why, mut latest) = (0, None, Duration::ZERO);
    while !clients.is_empty() {
        let ms = usize::try_from(began.elapsed().as_millis()).unwrap_or(usize::MAX);
        let may = ms.saturating_mul(BYTES_A_MS).min(BODY);
        clients.retain_mut(|client| match client.go_on(way, may) {
            Ok(Progress::UnderWay) if began.elapsed() < LONGEST => true,
            Ok(Progress::UnderWay) => {
                failed += 1;
                why = Some(format!("{} of {BODY} bytes after {} s", client.moved, LONGEST.as_secs()));
                false
            }
            Ok(Progress::Ready) => {
                latest = began.elapsed();
                false
            }
            Err(error) => {
                failed += 1;
                why = Some(format!("{error:#}"));
                false
            }
        });
        pause();
    }
    Ok(Came { failed, why, latest })
}

struct Client {
    stream: TcpStream,
    moved: usize,
    head: Option<Vec<u8>>,
}

enum Progress {
    UnderWay,
    Ready,
}

impl Client {
    fn ask(way: Way, address: &str) -> anyhow::Result<Self> {
        let mut stream = TcpStream::connect(address)?;
        stream.write_all(way.head(address).as_bytes())?;
        stream.set_nonblocking(true)?;
        Ok(Self { stream, moved: 0, head: Some(Vec::new()) })
    }

    fn go_on(&mut self, way: Way, may: usize) -> anyhow::Result<Progress> {
        match way {
            Way::Down => self.take(may),
            Way::Up => self.send(may),
        }
    }

    fn take(&mut self, may: usize) -> anyhow::Result<Progress> {
        let mut room = [0; 16 << 10];
        while self.moved < may {
            let most = if self.head.is_some() { 1024 } else { room.len().min(may - self.moved) };
            let Some(came) = self.read(&mut room[..most])? else { return Ok(Progress::UnderWay) };
            self.moved += match self.head.as_mut() {
                None => came,
                Some(head) => {
                    head.extend_from_slice(&room[..came]);
                    let Some(end) = end_of_head(head)? else { continue };
                    let of_body = head.len() - end;
                    self.head = None;
                    of_body
                }
            };
        }
        Ok(if self.moved == BODY { Progress::Ready } else { Progress::UnderWay })
    }

    fn send(&mut self, may: usize) -> anyhow::Result<Progress> {
        while self.moved < may {
            let more = (may - self.moved).min(ZEROS.len());
            match self.stream.write(&ZEROS[..more]) {
                Ok(sent) => self.moved += sent,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Progress::UnderWay),
                Err(error) => return Err(error.into()),
            }
        }
        if self.moved < BODY {
            return Ok(Progress::UnderWay);
        }
        let mut room = [0; 1024];
        let Some(came) = self.read(&mut room)? else { return Ok(Progress::UnderWay) };
        let head = self.head.get_or_insert_default();
        head.extend_from_slice(&room[..came]);
        let Some(end) = end_of_head(head)? else { return Ok(Progress::UnderWay) };
        let is_counted = String::from_utf8_lossy(&head[end..]).contains(&format!("\"bytes\":{BODY},"));
        Ok(if is_counted { Progress::Ready } else { Progress::UnderWay })
    }

    fn read(&mut self, room: &mut [u8]) -> anyhow::Result<Option<usize>> {
        match self.stream.read(room) {
            Ok(0) => anyhow::bail!("the server closed the connection after {} bytes", self.moved),
            Ok(came) => Ok(Some(came)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

fn end_of_head(head: &[u8]) -> anyhow::Result<Option<usize>> {
    let Some(at) = head.windows(4).position(|four| four == b"\r\n\r\n") else { return Ok(None) };
    let text = String::from_utf8_lossy(&head[..at]);
    let status = text.lines().next().unwrap_or_default();
    anyhow::ensure!(status.starts_with("HTTP/1.1 200"), "the server responded: {status}");
    Ok(Some(at + 4))
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "slow clients are slow because they wait")]
fn pause() {
    thread::sleep(Duration::from_millis(50));
}

const CLIENTS: usize = 1000;
const BYTES_A_MS: usize = 125;
const EXPECTED: Duration = Duration::from_secs(10);
const BODY: usize = 1_250_000;
const LONGEST: Duration = Duration::from_secs(60);
const ROUNDS: usize = 3;
static ZEROS: [u8; 16 << 10] = [0; 16 << 10];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_ends_where_its_body_begins_and_says_200() {
        assert_eq!(end_of_head(b"HTTP/1.1 200 OK\r\nA: b\r\n").unwrap(), None);
        assert_eq!(end_of_head(b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nxy").unwrap(), Some(25));
        let refused = end_of_head(b"HTTP/1.1 429 Too Many Requests\r\n\r\n").unwrap_err();
        assert!(refused.to_string().contains("429"), "{refused}");
    }
}
