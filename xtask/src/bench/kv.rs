//! Cost of the key-value store: reads from memory, compared with cache hits of the same edge; durable writes;
//! pages of a long list; and a store in NATS.

mod nats;

use std::{
    fmt::Write as _,
    fs,
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};

use super::{
    edge::cpu::of_tree_us,
    program::{Running, is_installed, longhaul, run},
    row,
};

pub(super) use self::nats::bench as nats;

struct Edge {
    server: Running,
    _origin: Running,
    front: SocketAddr,
    store: SocketAddr,
    token: String,
    folder: tempfile::TempDir,
}

pub(super) fn read() -> anyhow::Result<()> {
    let edge = Edge::start()?;
    edge.kv(&["put", "k", &"v".repeat(1000)])?;
    let reading = edge.script("read.lua", "wrk.path = '/k?urlencoded=true'")?;
    let hitting = edge.script("hit.lua", "wrk.path = '/kept/a'\nwrk.headers['Authorization'] = nil")?;
    let [mut reads, mut ratios, mut hits] = [vec![], vec![], vec![]];
    for _ in 0..ROUNDS {
        let [read, hit] = [(edge.store, &reading), (edge.front, &hitting)].map(|(at, script)| {
            let before = of_tree_us(edge.server.id())?;
            let (requests, _) = wrk(at, script, 16)?;
            anyhow::Ok((of_tree_us(edge.server.id())? - before) / requests)
        });
        let (read, hit) = (read?, hit?);
        reads.push(1e6 / read);
        hits.push(1e6 / hit);
        ratios.push(read / hit);
    }
    row("reads from memory, 1 KB, a second of a core", ">= 20000", "", reads);
    row("hits of the cache, 1 KB, a second of a core", "", "", hits);
    row("processor time, read / hit", "<= 1.2", "", ratios);
    Ok(())
}

pub(super) fn write() -> anyhow::Result<()> {
    let edge = Edge::start()?;
    let script = edge.script(
        "write.lua",
        "wrk.method = 'PUT'\nwrk.body = string.rep('v', 100)\nlocal n = 0\n\
         function request() n = n + 1; return wrk.format(nil, '/k' .. n .. '?urlencoded=true') end",
    )?;
    let mut writes = Vec::new();
    for _ in 0..ROUNDS {
        let (requests, seconds) = wrk(edge.store, &script, 64)?;
        writes.push(requests / seconds);
    }
    row("durable writes of 100 bytes, 64 connections", ">= 5000", "/s", writes);
    Ok(())
}

pub(super) fn page() -> anyhow::Result<()> {
    let edge = Edge::start()?;
    let file = edge.folder.path().join("keys.jsonl");
    let mut text = String::new();
    for number in 0..1_000_000 {
        let _ = writeln!(text, "{{\"key\":\"user/{number:07}\",\"value\":\"v\"}}");
    }
    fs::write(&file, text)?;
    edge.kv(&["import", &file.display().to_string()])?;
    let mut stream = TcpStream::connect(edge.store)?;
    let (mut cursor, mut took) = (String::new(), Vec::new());
    for _ in 0..PAGES {
        let head = format!(
            "GET /?cursor={cursor} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\n\r\n",
            edge.token
        );
        let began = now();
        stream.write_all(head.as_bytes())?;
        let page = answer(&mut stream)?;
        took.push(began.elapsed().as_secs_f64() * 1000.0);
        let page: serde_json::Value = serde_json::from_slice(&page)?;
        ensure!(page["keys"].as_array().is_some_and(|keys| keys.len() == 1000), "not a page of 1000 keys");
        page["cursor"].as_str().unwrap_or_default().clone_into(&mut cursor);
    }
    row("a page of 1000 keys of 1 million", "<= 10", "ms", took);
    Ok(())
}

impl Edge {
    fn start() -> anyhow::Result<Self> {
        Self::with_store("\"kv.redb\"")
    }

    fn with_store(kept: &str) -> anyhow::Result<Self> {
        ensure!(is_installed("wrk"), "wrk is not installed");
        let folder = tempfile::tempdir()?;
        let [origin, front, store] = [free()?, free()?, free()?];
        let mut serve = longhaul();
        let serving =
            Running::start(serve.args(["serve", "--body", "1KB", "--listen", &origin.to_string()]))?;
        let token = run(longhaul().args(["edge", "token", "--json"]))?.output;
        let token: serde_json::Value = serde_json::from_str(&token)?;
        let [token, hash] =
            ["token", "sha256"].map(|field| token[field].as_str().unwrap_or_default().to_owned());
        let network = format!(
            "[network]\nname = \"bench\"\n[[data_centre]]\nname = \"lhr\"\nlisten = [\"{front}\"]\n\
             [[zone]]\nname = \"shop\"\nhosts = [\"*\"]\norigin = [\"http://{origin}\"]\n\
             [[zone.rule]]\npath = \"/kept/*\"\nedge_ttl = \"1h\"\n\
             [kv]\nlisten = [\"{store}\"]\nstore = {kept}\n\
             [[kv.namespace]]\nname = \"bench\"\ntokens = [\"{hash}\"]\n"
        );
        let file = folder.path().join("network.toml");
        fs::write(&file, network)?;
        let server = Running::start(longhaul().args(["edge", "run"]).arg(&file).current_dir(folder.path()))?;
        for _ in 0..200 {
            if TcpStream::connect(store).is_ok() && TcpStream::connect(front).is_ok() {
                return Ok(Self { server, _origin: serving, front, store, token, folder });
            }
            thread::park_timeout(Duration::from_millis(50));
        }
        anyhow::bail!("the edge did not start")
    }

    fn kv(&self, words: &[&str]) -> anyhow::Result<()> {
        let mut command = longhaul();
        command.args(["edge", "kv"]).args(words).args(["--at", &self.store.to_string()]);
        run(command.env("LONGHAUL_TOKEN", &self.token)).map(drop)
    }

    fn script(&self, name: &str, more: &str) -> anyhow::Result<std::path::PathBuf> {
        let file = self.folder.path().join(name);
        fs::write(&file, format!("wrk.headers['Authorization'] = 'Bearer {}'\n{more}\n", self.token))?;
        Ok(file)
    }
}

pub(super) fn wrk(at: SocketAddr, script: &Path, connections: usize) -> anyhow::Result<(f64, f64)> {
    let (connections, duration) = (connections.to_string(), format!("{SECONDS}s"));
    let mut command = Command::new("wrk");
    command
        .args(["-t", "1", "-c", &connections, "-d", &duration, "-s"])
        .arg(script)
        .arg(format!("http://{at}/"));
    let said = run(&mut command)?.output;
    let wrong = ["Non-2xx", "Socket errors"].iter().any(|words| said.contains(words));
    ensure!(!wrong, "some requests failed: {said}");
    let line = said.lines().find(|line| line.contains(" requests in ")).context("wrk counted nothing")?;
    let mut words = line.split_whitespace();
    let requests: f64 = words.next().context("wrk counted nothing")?.parse()?;
    let took = words.nth(2).and_then(|took| took.trim_end_matches([',', 's']).parse().ok());
    Ok((requests, took.unwrap_or(SECONDS)))
}

fn answer(stream: &mut TcpStream) -> anyhow::Result<Vec<u8>> {
    let mut came = Vec::new();
    let mut room = vec![0; 1 << 16];
    loop {
        let read = stream.read(&mut room)?;
        ensure!(read > 0, "the connection ended");
        came.extend_from_slice(&room[..read]);
        let Some(end) = came.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&came[..end]);
        let length =
            head.lines().find_map(|line| line.strip_prefix("content-length: ")).context("no length")?;
        if came.len() == end + 4 + length.parse::<usize>()? {
            return Ok(came.split_off(end + 4));
        }
    }
}

pub(super) fn free() -> anyhow::Result<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

#[expect(clippy::disallowed_methods, reason = "a benchmark times requests")]
fn now() -> Instant {
    Instant::now()
}

const ROUNDS: usize = 5;
const PAGES: usize = 200;
const SECONDS: f64 = 3.0;
