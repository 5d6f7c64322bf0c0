//! Three linked data centres on loopback: the cost of a request through two of them, and of a purge in all of
//! them.

use std::{
    fmt::Write as _,
    fs,
    net::{SocketAddr, TcpStream},
    thread,
    time::Duration,
};

use anyhow::{bail, ensure};
use serde_json::Value;

use super::nginx;
use crate::bench::{
    edge::cpu::of_tree_us,
    kv::{free, wrk},
    program::{Running, is_installed, longhaul, run},
    row,
};

const NAMES: [&str; 3] = ["lhr", "fra", "nyc"];

struct Centres {
    servers: Vec<Running>,
    _serving: Running,
    origin: SocketAddr,
    fronts: Vec<SocketAddr>,
    admins: Vec<SocketAddr>,
    token: String,
    folder: tempfile::TempDir,
}

pub(crate) fn upper() -> anyhow::Result<()> {
    let centres = Centres::start()?;
    // Enough objects that the first data centre has evicted each before its next request.
    let through = format!(
        "wrk.headers['Host'] = 'shop.example'\nlocal n = 0\n\
         function request() n = (n + 1) % {OBJECTS}; return wrk.format(nil, '/kept/' .. n) end"
    );
    let through = centres.script("through.lua", &through)?;
    let passed = centres.script("passed.lua", "wrk.path = '/passed/a'")?;
    let [lower, _, upper] = centres.fronts[..] else { bail!("there are three data centres") };
    // Repeats until all objects have been requested, because each run starts with the first object.
    while wrk(upper, &through, 16)?.0 < f64::from(OBJECTS) {}
    let mut peer = match is_installed("nginx") {
        true => Some(nginx::Pair::start(&centres.folder.path().join("authority"), centres.origin)?),
        false => None,
    };
    let before = centres.hits(UPPER)?;
    let [mut misses, mut proxied, mut ratios] = [vec![], vec![], vec![]];
    let [mut peers, mut peers_proxied, mut peers_ratios, mut beside] = [vec![], vec![], vec![], vec![]];
    let mut requests = 0.0;
    for round in 0..ROUNDS {
        let cost = |script| {
            let before = centres.cpu_us()?;
            let (requests, _) = wrk(lower, script, 16)?;
            anyhow::Ok(((centres.cpu_us()? - before) / requests, requests))
        };
        let in_turn = |first, then| anyhow::Ok((cost(first)?, cost(then)?));
        let ((miss, count), (pass, _)) = if round % 2 == 0 {
            in_turn(&through, &passed)?
        } else {
            let (pass, miss) = in_turn(&passed, &through)?;
            (miss, pass)
        };
        requests += count;
        misses.push(miss);
        proxied.push(pass);
        ratios.push(miss / pass);
        if let Some(peer) = &mut peer {
            let (its_miss, its_pass) = (peer.miss_us()?, peer.passed_us()?);
            peers.push(its_miss);
            peers_proxied.push(its_pass);
            peers_ratios.push(its_miss / its_pass);
            beside.push(miss / its_miss);
        }
    }
    let hits = centres.hits(UPPER)? - before;
    ensure!(
        hits >= 0.95 * requests,
        "the upper tier had {hits} of {requests} requests, so something else was measured"
    );
    row("a miss that hits in an upper tier, 1 KB", "", "us of processor time", misses);
    row("a request that is forwarded to the origin", "", "us of processor time", proxied);
    row("that miss / that request", "<= 2.2", "x", ratios);
    if peer.is_some() {
        row("a miss that hits in another nginx, 1 KB", "", "us of processor time", peers);
        row("a request that nginx forwards to the origin", "", "us of processor time", peers_proxied);
        row("that miss / that request", "", "x", peers_ratios);
        row("our miss / nginx's", "", "x", beside);
    }
    Ok(())
}

/// Each response is sent after all three data centres have purged.
pub(crate) fn purges() -> anyhow::Result<()> {
    let centres = Centres::start()?;
    let script = format!(
        "wrk.method = 'POST'\nwrk.headers['Authorization'] = 'Bearer {}'\nlocal n = 0\n\
         function request() n = n + 1; \
         return wrk.format(nil, '/client/v4/zones/shop/purge_cache', nil, '{{\"tags\":[\"t' .. n .. '\"]}}') end",
        centres.token
    );
    let script = centres.script("purge.lua", &script)?;
    let mut rates = Vec::new();
    for _ in 0..ROUNDS {
        let (requests, seconds) = wrk(centres.admins[0], &script, 32)?;
        rates.push(requests / seconds);
    }
    row("purges acknowledged by three data centres", ">= 1000", "/s", rates);
    Ok(())
}

impl Centres {
    fn start() -> anyhow::Result<Self> {
        ensure!(is_installed("wrk"), "wrk is not installed");
        let folder = tempfile::tempdir()?;
        let authority = folder.path().join("authority");
        run(longhaul().args(["edge", "ca", "new"]).arg(&authority))?;
        let token: Value = serde_json::from_str(&run(longhaul().args(["edge", "token", "--json"]))?.output)?;
        let [token, hash] =
            ["token", "sha256"].map(|field| token[field].as_str().unwrap_or_default().to_owned());
        let origin = free()?;
        let mut text = format!(
            "[network]\nname = \"bench\"\nauthority = \"{0}/ca.pem\"\n[admin]\ntokens = [\"{hash}\"]\n",
            authority.display()
        );
        let [mut fronts, mut admins] = [vec![], vec![]];
        for name in NAMES {
            run(longhaul().args(["edge", "ca", "issue"]).arg(&authority).arg(name))?;
            let [front, admin, link] = [free()?, free()?, free()?];
            let memory = if name == "nyc" { "1GB" } else { "1MB" };
            write!(
                text,
                "[[data_centre]]\nname = \"{name}\"\nlisten = [\"{front}\"]\nadmin = \"{admin}\"\n\
                 address = \"{link}\"\nmemory = \"{memory}\"\n\
                 link_certificate = \"{0}/{name}.pem\"\nlink_key = \"{0}/{name}-key.pem\"\n",
                authority.display()
            )?;
            fronts.push(front);
            admins.push(admin);
        }
        write!(
            text,
            "[[zone]]\nname = \"shop\"\nhosts = [\"*\"]\norigin = [\"http://{origin}\"]\n\
             tiers = {{ lhr = \"nyc\", fra = \"nyc\" }}\n\
             [[zone.rule]]\npath = \"/kept/*\"\nedge_ttl = \"1h\"\n\
             [[zone.rule]]\npath = \"/passed/*\"\nbypass = true\n"
        )?;
        let file = folder.path().join("network.toml");
        fs::write(&file, text)?;
        let mut serve = longhaul();
        let serving =
            Running::start(serve.args(["serve", "--body", "1KB", "--listen", &origin.to_string()]))?;
        let mut servers = Vec::new();
        for name in NAMES {
            let mut command = longhaul();
            servers.push(Running::start(
                command.args(["edge", "run"]).arg(&file).args(["--data-centre", name]),
            )?);
        }
        let centres = Self { servers, _serving: serving, origin, fronts, admins, token, folder };
        for _ in 0..200 {
            if TcpStream::connect(origin).is_ok() && (0..NAMES.len()).all(|at| centres.is_linked(at)) {
                return Ok(centres);
            }
            thread::park_timeout(Duration::from_millis(50));
        }
        bail!("the data centres are not linked after 10 s")
    }

    fn status(&self, at: usize) -> anyhow::Result<Value> {
        let mut command = longhaul();
        command.args(["edge", "status", "--json", "--admin", &self.admins[at].to_string()]);
        Ok(serde_json::from_str(&run(&mut command)?.output)?)
    }

    fn is_linked(&self, at: usize) -> bool {
        self.status(at).is_ok_and(|status| {
            let up = status["links"].as_array().into_iter().flatten().filter(|link| link["up"] == true);
            up.count() + 1 == NAMES.len()
        })
    }

    fn hits(&self, at: usize) -> anyhow::Result<f64> {
        let status = self.status(at)?;
        Ok(status["requests_of_others"]["by_cache_status"]["hit"].as_f64().unwrap_or_default())
    }

    fn cpu_us(&self) -> anyhow::Result<f64> {
        self.servers.iter().map(|server| of_tree_us(server.id())).sum()
    }

    fn script(&self, name: &str, text: &str) -> anyhow::Result<std::path::PathBuf> {
        let file = self.folder.path().join(name);
        fs::write(&file, text)?;
        Ok(file)
    }
}

const ROUNDS: usize = 5;

const OBJECTS: u32 = 20_000;

const UPPER: usize = 2;
