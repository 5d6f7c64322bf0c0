//! Checks each class of responses of an edge with httplint, the linter of REDbot (<https://redbot.org>).

mod origin;
mod response;

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context, ensure};
use serde::Deserialize;
use serde_json::json;

use self::response::{Fields, responses};
use super::{Ended, data_centre, free_port, install, longhaul};
use crate::{release, root};

struct Class {
    name: &'static str,
    requests: &'static [&'static str],
    status: &'static str,
}

#[derive(Debug, Deserialize)]
struct Note {
    name: String,
    level: String,
    summary: String,
}

pub(crate) fn judge() -> anyhow::Result<()> {
    let python = install::python("httplint", "httplint", VERSION)?;
    release::build()?;
    let folder = tempfile::tempdir()?;
    let (origin, front) = (origin::start()?, free_port()?);
    let network = NETWORK.replace("ORIGIN", &origin.to_string());
    let _edge =
        data_centre(longhaul(), folder.path(), &network, &["--listen", &format!("127.0.0.1:{front}")])?;
    let mut linter = Linter::start(&python, folder.path())?;
    let mut bad = BTreeSet::new();
    for class in CLASSES {
        let notes = linter.judge(class, front).with_context(|| class.name)?;
        let count = |level: &str| notes.iter().filter(|note| note.level == level).count();
        println!(
            "{:34} {}  good {:2}, warnings {}, bad {}",
            class.name,
            class.status,
            count("good"),
            count("warning"),
            count("bad")
        );
        for note in notes.iter().filter(|note| note.level != "good" && note.level != "info") {
            println!("    {:8} {}: {}", note.level, note.name, note.summary);
        }
        bad.extend(
            notes
                .into_iter()
                .filter(|note| note.level == "bad")
                .map(|note| (class.name.to_owned(), note.name)),
        );
    }
    let known = known()?;
    let new: Vec<_> = bad.difference(&known).collect();
    let gone: Vec<_> = known.difference(&bad).collect();
    println!(
        "{} classes of answer, {} bad notes, all of them known: {}",
        CLASSES.len(),
        bad.len(),
        new.is_empty()
    );
    ensure!(
        new.is_empty(),
        "httplint reports as bad, and xtask/src/judge/lint/known.txt does not explain: {new:?}"
    );
    ensure!(
        gone.is_empty(),
        "httplint no longer reports as bad; remove from xtask/src/judge/lint/known.txt: {gone:?}"
    );
    Ok(())
}

fn known() -> anyhow::Result<BTreeSet<(String, String)>> {
    let text = fs::read_to_string(root().join("xtask/src/judge/lint/known.txt"))?;
    let read = |line: &str| {
        let mut parts = line.splitn(3, '|').map(str::trim);
        let (class, note, why) = (parts.next()?, parts.next()?, parts.next()?);
        (!why.is_empty()).then(|| (class.to_owned(), note.to_owned()))
    };
    text.lines()
        .map(|line| read(line).with_context(|| format!("expected CLASS | NOTE | WHY: {line}")))
        .collect()
}

struct Linter(Ended);

impl Linter {
    fn start(python: &Path, folder: &Path) -> anyhow::Result<Self> {
        let script = folder.join("lint.py");
        fs::write(&script, include_str!("lint/lint.py"))?;
        let child = Command::new(python).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        Ok(Self(Ended(child)))
    }

    fn judge(&mut self, class: &Class, front: u16) -> anyhow::Result<Vec<Note>> {
        let mut said = Vec::new();
        for request in class.requests {
            said = ask(front, request)?;
        }
        let request = class.requests.last().copied().unwrap_or_default();
        let (line, fields) = request.split_once('\n').unwrap_or((request, ""));
        let (method, path) = line.split_once(' ').context("a request without a target")?;
        let responses = responses(&said, method == "HEAD")
            .with_context(|| format!("{request}: {}", String::from_utf8_lossy(&said)))?;
        let status = responses.last().map(|last| last.status.as_str());
        ensure!(status == Some(class.status), "status {status:?}, expected {}", class.status);
        let fields = fields.lines().filter_map(|line| line.split_once(": "));
        let fields: Fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let target =
            if path.starts_with('/') { format!("http://shop.example{path}") } else { path.to_owned() };
        let asked = json!({ "method": method, "target": target, "fields": fields });
        let exchange = json!({ "request": asked, "responses": responses });
        let linter = &mut self.0.0;
        writeln!(linter.stdin.as_mut().context("the linter's input")?, "{exchange}")?;
        let mut notes = String::new();
        BufReader::new(linter.stdout.as_mut().context("the linter's output")?).read_line(&mut notes)?;
        serde_json::from_str(&notes).context("the linter ended")
    }
}

fn ask(front: u16, request: &str) -> anyhow::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(("127.0.0.1", front))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let (line, fields) = request.split_once('\n').unwrap_or((request, ""));
    let host = if fields.contains("Host:") { "" } else { "Host: shop.example\r\n" };
    let fields: String =
        fields.lines().filter(|field| *field != "Host:").map(|field| format!("{field}\r\n")).collect();
    stream.write_all(format!("{line} HTTP/1.1\r\n{host}{fields}Connection: close\r\n\r\n").as_bytes())?;
    let mut said = Vec::new();
    stream.read_to_end(&mut said).context("no response before the timeout")?;
    Ok(said)
}

const VERSION: &str = "2026.10.4";
const PATIENCE: Duration = Duration::from_secs(20);

const NETWORK: &str = "\
[network]
name = \"judged\"
[[data_centre]]
name = \"lhr\"
listen = [\"127.0.0.1:0\"]
[[zone]]
name = \"shop\"
hosts = [\"shop.example\"]
origin = [\"http://127.0.0.1:ORIGIN\"]
first_byte = \"500ms\"
compress = [\"zstd\", \"br\", \"gzip\"]
";

const CLASSES: &[Class] = &[
    Class { name: "miss", requests: &["GET /fresh"], status: "200" },
    Class { name: "hit", requests: &["GET /fresh", "GET /fresh"], status: "200" },
    Class { name: "HEAD, hit", requests: &["HEAD /fresh"], status: "200" },
    Class { name: "HEAD, passed on", requests: &["HEAD /page?2"], status: "200" },
    Class {
        name: "the client has it, by its tag",
        requests: &["GET /fresh\nIf-None-Match: \"v1\""],
        status: "304",
    },
    Class {
        name: "the client has it, by its date",
        requests: &["GET /fresh\nIf-Modified-Since: Mon, 02 Nov 2026 08:00:00 GMT"],
        status: "304",
    },
    Class { name: "a part", requests: &["GET /fresh\nRange: bytes=2-4"], status: "206" },
    Class { name: "several parts", requests: &["GET /fresh\nRange: bytes=0-1, 8-9"], status: "206" },
    Class { name: "a part that there is not", requests: &["GET /fresh\nRange: bytes=99-"], status: "416" },
    Class { name: "confirmed by the origin", requests: &["GET /asked", "GET /asked"], status: "200" },
    Class { name: "stale while it is asked for", requests: &["GET /while", "GET /while"], status: "200" },
    Class { name: "stale as the origin fails", requests: &["GET /failing", "GET /failing"], status: "200" },
    Class { name: "gzip, miss", requests: &["GET /page\nAccept-Encoding: gzip"], status: "200" },
    Class { name: "gzip, hit", requests: &["GET /page\nAccept-Encoding: gzip"], status: "200" },
    Class { name: "br", requests: &["GET /page\nAccept-Encoding: br"], status: "200" },
    Class { name: "zstd", requests: &["GET /page\nAccept-Encoding: zstd"], status: "200" },
    Class { name: "what could be coded, as it came", requests: &["GET /page"], status: "200" },
    Class {
        name: "the client has it, coded",
        requests: &["GET /page\nAccept-Encoding: br\nIf-None-Match: W/\"v1\""],
        status: "304",
    },
    Class { name: "HEAD, coded", requests: &["HEAD /page\nAccept-Encoding: br"], status: "200" },
    Class { name: "not stored", requests: &["GET /own"], status: "200" },
    Class {
        name: "in pieces, with trailers",
        requests: &["GET /pieces\nTE: trailers\nConnection: te"],
        status: "200",
    },
    Class { name: "POST", requests: &["POST /own\nContent-Length: 0"], status: "200" },
    Class { name: "without a body", requests: &["GET /empty"], status: "204" },
    Class { name: "moved", requests: &["GET /old", "GET /old"], status: "301" },
    Class { name: "not found", requests: &["GET /missing", "GET /missing"], status: "404" },
    Class { name: "hints first", requests: &["GET /hints"], status: "200" },
    Class { name: "the origin breaks off", requests: &["GET /broken"], status: "502" },
    Class { name: "the origin is too slow", requests: &["GET /slow"], status: "504" },
    Class {
        name: "only if it is stored",
        requests: &["GET /own\nCache-Control: only-if-cached"],
        status: "504",
    },
    Class { name: "no host", requests: &["GET /fresh\nHost:"], status: "400" },
    Class {
        name: "two lengths",
        requests: &["POST /own\nContent-Length: 1\nContent-Length: 2"],
        status: "400",
    },
    Class { name: "a tunnel", requests: &["CONNECT shop.example:80\nHost: shop.example:80"], status: "405" },
    Class { name: "another host", requests: &["GET /fresh\nHost: elsewhere.example"], status: "421" },
    Class {
        name: "a coding that is not known",
        requests: &["POST /own\nTransfer-Encoding: gzip, chunked"],
        status: "501",
    },
    Class {
        name: "it was here before",
        requests: &["GET /own\nCDN-Loop: longhaul;network=judged;data-centre=lhr"],
        status: "508",
    },
];
